"""Makes the columns of a segment: from entries of the log, or from the live rows of older segments.

The same memories in the same state give the same columns either way, whatever the order. Texts, terms and everything
else of rows that are left out is left out with them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recollect.columns import UNKNOWN, Mask
from recollect.errors import CorruptData
from recollect.model import Columns, Entry, MemoryType, Operation, Status
from recollect.scan import Rows, norms_of, sign_bits
from recollect.segments import dictionaries, ids, postings, ragged, schema
from recollect.segments.layout import Arrays
from recollect.segments.segment import Changed, Segment

_TYPES = {kind: place for place, kind in enumerate(MemoryType)}
_STATUSES = {status: place for place, status in enumerate(Status)}
_TIMES = tuple(name for name in schema.TIMES if name != "last_accessed_at")
_CODED = (*schema.LABELS, "metadata")
_FROM_ELSEWHERE = frozenset({*_CODED, "access_count", "last_accessed_at", "norms"})


@dataclass(frozen=True, slots=True)
class Use:
    """How often and when last the memories of a segment's rows were used.

    Parameters
    ----------
    access_count : ndarray of shape (n,), integers
    last_accessed_at : ndarray of shape (n,), int64
        Epoch milliseconds, ``columns.UNKNOWN`` for never.
    """

    access_count: npt.NDArray[Any]
    last_accessed_at: npt.NDArray[np.int64]


def from_entries(entries: Sequence[Entry], embedder: str, dimension: int) -> dict[str, npt.NDArray[Any]]:
    """Make columns of the newest state of each memory in entries of the log.

    Parameters
    ----------
    entries : sequence of Entry
        In the log's order.
    embedder, dimension
        Whose vectors are kept; memories with another one's are pending.

    Returns
    -------
    dict of str to ndarray
        See ``schema.py``. Nothing was used yet, and nothing is told of older segments.

    Raises
    ------
    CorruptData
        If a memory id is no ULID.
    """
    newest = {entry.memory_id: entry for entry in entries}
    for memory_id in newest:
        if not ids.is_in_range(memory_id):
            raise CorruptData("an entry of the log names a memory by something else than an id", memory_id=memory_id)
    ordered = [newest[memory_id] for memory_id in sorted(newest)]
    gone = [entry for entry in ordered if entry.columns is None]
    purged = {entry.memory_id for entry in entries if entry.operation is Operation.PURGE}
    there = [(entry, entry.columns) for entry in ordered if entry.columns is not None]
    rows = [columns for _, columns in there]
    return {
        **_ids("", [entry for entry, _ in there]),
        "seq": np.array([entry.seq for entry, _ in there], dtype=np.uint64),
        "version": np.array([entry.version for entry, _ in there], dtype=np.uint32),
        **_scalars(rows),
        **_texts(rows),
        **_vectors(rows, embedder, dimension),
        **_terms(rows),
        **_ids("gone.", gone),
        "gone.seq": np.array([entry.seq for entry in gone], dtype=np.uint64),
        "gone.version": np.array([entry.version for entry in gone], dtype=np.uint32),
        "gone.purged": np.array([entry.memory_id in purged for entry in gone], dtype=np.uint8),
    }


def merge(parts: Sequence[Segment], live: Sequence[Mask], uses: Sequence[Use]) -> dict[str, npt.NDArray[Any]]:
    """Make columns of the live rows of segments.

    Parameters
    ----------
    parts : sequence of Segment
        At least one, oldest first. Vectors of another embedder than that of the last one are left out: such rows are
        pending.
    live : sequence of ndarray of shape (n,), bool
        For each part; every memory at most once in all.
    uses : sequence of Use
        For each part.

    Returns
    -------
    dict of str to ndarray
        See ``schema.py``. What the parts tell of older segments is not in it.

    Raises
    ------
    CorruptData
        If a memory has two live rows.
    """
    merging = _Merging(parts, live)
    counts = [np.minimum(use.access_count, np.iinfo(np.uint32).max).astype(np.uint32) for use in uses]
    return {
        **{name: merging.gathered([part.columns[name] for part in parts]) for name in _plain()},
        "access_count": merging.gathered(counts),
        "last_accessed_at": merging.gathered([use.last_accessed_at for use in uses]),
        **merging.vectors(),
        **merging.texts(),
        **merging.postings(),
        **merging.gone(),
    }


def telling(changed: Sequence[Changed]) -> dict[str, npt.NDArray[Any]]:
    """Make the columns that tell of older segments' rows, in the order of ``About.older``."""
    columns: dict[str, npt.NDArray[Any]] = {}
    for number, one in enumerate(changed):
        columns[f"dead.{number}"] = one.dead.astype(np.uint32)
        values: Sequence[npt.NDArray[Any]] = (one.used, one.access_count, one.last_accessed_at)
        for (part, dtype), column in zip(schema.USED.items(), values, strict=True):
            columns[f"used.{number}.{part}"] = column.astype(dtype)
    return columns


def _ids(prefix: str, entries: Sequence[Entry]) -> dict[str, npt.NDArray[Any]]:
    high, low = ids.halves_of([entry.memory_id for entry in entries])
    return {f"{prefix}id_hi": high, f"{prefix}id_lo": low}


def _scalars(rows: Sequence[Columns]) -> dict[str, npt.NDArray[Any]]:
    values: Mapping[str, list[Any]] = {
        "type": [_TYPES[row.type] for row in rows],
        "status": [_STATUSES[row.status] for row in rows],
        "pinned": [row.pinned for row in rows],
        "succeeds": [row.supersedes is not None for row in rows],
        "importance": [row.importance for row in rows],
        "access_count": [0] * len(rows),
        "last_accessed_at": [UNKNOWN] * len(rows),
        "content_bytes": [row.content_bytes for row in rows],
        "identity_hi": [int.from_bytes(row.identity[:8], "big") for row in rows],
        "identity_lo": [int.from_bytes(row.identity[8:], "big") for row in rows],
        "text_key": [row.text_key for row in rows],
        "lengths": [sum(row.term_counts.values()) for row in rows],
    }
    times = {name: [getattr(row, f"{name}_ms") for row in rows] for name in _TIMES}
    known = {name: [UNKNOWN if at is None else at for at in column] for name, column in times.items()}
    return {name: np.array(column, dtype=schema.SCALARS[name]) for name, column in {**values, **known}.items()}


def _texts(rows: Sequence[Columns]) -> dict[str, npt.NDArray[Any]]:
    columns: dict[str, npt.NDArray[Any]] = {}
    metadata = [None if row.metadata_json == "{}" else row.metadata_json for row in rows]
    labels = {name: [getattr(row, name) for row in rows] for name in schema.LABELS}
    for name, values in {**labels, "metadata": metadata}.items():
        columns[name], texts = dictionaries.coded(values)
        columns |= dictionaries.packed(name, texts)
    for name in schema.TEXTS:
        lists = [getattr(row, name) for row in rows]
        columns[f"{name}.values"], texts = dictionaries.coded([text for texts in lists for text in texts])
        columns[f"{name}.offsets"] = ragged.offsets_of([len(texts) for texts in lists])
        columns |= dictionaries.packed(name, texts)
    return columns


def _vectors(rows: Sequence[Columns], embedder: str, dimension: int) -> dict[str, npt.NDArray[Any]]:
    pending = bytes(dimension)
    usable = [row.embedder == embedder and len(row.codes) == dimension for row in rows]
    joined = b"".join(row.codes if ok else pending for row, ok in zip(rows, usable, strict=True))
    codes = np.frombuffer(joined, dtype=np.int8).reshape(len(rows), dimension)
    return {"codes": codes, "norms": norms_of(codes), "bits": sign_bits(codes)}


def _terms(rows: Sequence[Columns]) -> dict[str, npt.NDArray[Any]]:
    sizes = [len(row.term_counts) for row in rows]
    terms = [term for row in rows for term in row.term_counts]
    counts = [min(count, postings.COUNT_MAX) for row in rows for count in row.term_counts.values()]
    return postings.packed(
        np.array(terms, dtype=np.uint32),
        np.repeat(np.arange(len(rows), dtype=np.int64), sizes),
        np.array(counts, dtype=np.uint8),
        len(rows),
    )


def _plain() -> list[str]:
    """Name the columns that a merge only puts into a new order."""
    return [name for name in schema.SCALARS if name not in _FROM_ELSEWHERE]


class _Merging:
    """Where the rows of a merge come from and go to."""

    def __init__(self, parts: Sequence[Segment], live: Sequence[Mask]) -> None:
        self._parts = parts
        self._about = parts[-1].about
        self._kept: list[Rows] = [np.flatnonzero(mask) for mask in live]
        keys = np.concatenate([part.keys[kept] for part, kept in zip(parts, self._kept, strict=True)])
        self._order: Rows = np.argsort(keys, kind="stable")
        ascending = keys[self._order]
        if (ascending[1:] == ascending[:-1]).any():
            raise CorruptData("a memory has two live rows")

    def gathered(self, columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Give the rows that are kept, from a column of each part, in their new order."""
        return np.concatenate([column[kept] for column, kept in zip(columns, self._kept, strict=True)])[self._order]

    def vectors(self) -> dict[str, npt.NDArray[Any]]:
        """Give codes, norms and bits."""
        vectors = [self._usable(part) for part in self._parts]
        return {
            "codes": self.gathered([columns["codes"] for columns in vectors]),
            "norms": self.gathered([columns["norms"] for columns in vectors]),
            "bits": np.stack([self.gathered(words) for words in zip(*(c["bits"] for c in vectors), strict=True)]),
        }

    def texts(self) -> dict[str, npt.NDArray[Any]]:
        """Give labels, metadata, tags, flags and transcripts with their dictionaries."""
        columns: dict[str, npt.NDArray[Any]] = {}
        for name in _CODED:
            per_part = [part.columns[name][kept] for part, kept in zip(self._parts, self._kept, strict=True)]
            codes, texts = dictionaries.recoded(self._with_texts(name, per_part))
            columns |= {name: np.concatenate(codes)[self._order], **dictionaries.packed(name, texts)}
        for name in schema.TEXTS:
            columns |= self._lists(name)
        return columns

    def postings(self) -> dict[str, npt.NDArray[Any]]:
        """Give the postings under their new rows."""
        new_row_of = np.empty(self._order.size, dtype=np.int64)
        new_row_of[self._order] = np.arange(self._order.size)
        first = 0
        moved: list[tuple[postings.Terms, Rows, postings.Counts]] = []
        for part, kept in zip(self._parts, self._kept, strict=True):
            of_part = np.full(part.row_count, -1, dtype=np.int64)
            of_part[kept] = new_row_of[first : first + kept.size]
            moved += part.lexical.moved(of_part)
            first += kept.size
        terms, rows, counts = zip(*moved, strict=True)
        return postings.packed(np.concatenate(terms), np.concatenate(rows), np.concatenate(counts), self._order.size)

    def gone(self) -> dict[str, npt.NDArray[Any]]:
        """Give the deleted memories that no newer part has again, each as the newest part knows it."""
        still = [self._still_gone(number) for number in range(len(self._parts))]
        columns = {
            name: np.concatenate([part.columns[name][mask] for part, mask in zip(self._parts, still, strict=True)])
            for name in schema.GONE
        }
        keys = ids.keys_of(columns["gone.id_hi"], columns["gone.id_lo"])
        order = np.argsort(keys, kind="stable")
        is_last = np.ones(keys.size, dtype=np.bool_)
        is_last[:-1] = keys[order][1:] != keys[order][:-1]
        return {name: column[order[is_last]] for name, column in columns.items()}

    def _still_gone(self, number: int) -> Mask:
        columns = self._parts[number].columns
        keys = ids.keys_of(columns["gone.id_hi"], columns["gone.id_lo"])
        still = np.ones(keys.size, dtype=np.bool_)
        for newer in self._parts[number + 1 :]:
            still &= ids.places_of(keys, newer.keys) < 0
        return still

    def _usable(self, part: Segment) -> Arrays:
        if (part.about.embedder, part.about.dimension) == (self._about.embedder, self._about.dimension):
            return part.columns
        codes = np.zeros((part.row_count, self._about.dimension), dtype=np.int8)
        return {"codes": codes, "norms": norms_of(codes), "bits": sign_bits(codes)}

    def _with_texts(
        self, name: str, codes: Sequence[dictionaries.Codes]
    ) -> list[tuple[dictionaries.Codes, Sequence[bytes]]]:
        return [(one, part.written(name)) for one, part in zip(codes, self._parts, strict=True)]

    def _lists(self, name: str) -> dict[str, npt.NDArray[Any]]:
        offsets = [part.columns[f"{name}.offsets"] for part in self._parts]
        places = [ragged.places_in(at, kept) for at, kept in zip(offsets, self._kept, strict=True)]
        per_part = [part.columns[f"{name}.values"][at] for part, at in zip(self._parts, places, strict=True)]
        codes, texts = dictionaries.recoded(self._with_texts(name, per_part))
        sizes = np.concatenate([ragged.sizes_of(at)[kept] for at, kept in zip(offsets, self._kept, strict=True)])
        in_turn = ragged.places_in(ragged.offsets_of(sizes), self._order)
        return {
            f"{name}.values": np.concatenate(codes)[in_turn],
            f"{name}.offsets": ragged.offsets_of(sizes[self._order]),
            **dictionaries.packed(name, texts),
        }
