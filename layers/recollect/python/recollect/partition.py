"""One user's memories as columns: built from the log, kept up by its new entries, filtered and scored by reads.

Holds no content. Equals the log up to ``head.seq``, and is never trusted without a refresh. A changed memory gets a
new row and its old row is dead; rows are never rewritten. Vectors of another embedder than the partition's are not
kept: such rows are pending and found by their terms only. Serves one request at a time.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recollect.columns import GrowingColumn
from recollect.errors import CorruptData
from recollect.filters import Filter, Range
from recollect.lexical import LexicalIndex
from recollect.model import Columns, Entry, Head, Status, is_expired
from recollect.scan import Mask, Vectors, decode

_NEVER = np.iinfo(np.int64).max
_UNKNOWN = np.iinfo(np.int64).min
_NUMBERS = {
    "importance": np.float64,
    "created_at_ms": np.int64,
    "updated_at_ms": np.int64,
    "occurred_at_ms": np.int64,
    "expires_at_ms": np.int64,
}
_LABELS = ("type", "status", "agent_id", "session_id", "actor")


class Partition:
    """Columns of one user's memories.

    Parameters
    ----------
    embedder : str
        Name of the embedder whose vectors can be compared.
    dimension : int
        Length of its vectors.
    """

    def __init__(self, embedder: str, dimension: int) -> None:
        self.embedder = embedder
        self.head = Head()
        self.lexical = LexicalIndex()
        self._dimension = dimension
        self._memory_ids: list[str] = []
        self._columns: list[Columns] = []
        self._versions: list[int] = []
        self._row_of: dict[str, int] = {}
        self._row_of_identity: dict[bytes, int] = {}
        self._rows_of_tag: dict[str, list[int]] = {}
        self._codes_of: dict[str, dict[str, int]] = {name: {} for name in _LABELS}
        self._labels = {name: GrowingColumn(np.int32) for name in _LABELS}
        self._numbers = {name: GrowingColumn(dtype) for name, dtype in _NUMBERS.items()}
        self._live = GrowingColumn(np.bool_)
        self._text_keys = GrowingColumn(np.uint64)
        self._vectors = GrowingColumn(np.float32, dimension)
        self._has_vector = GrowingColumn(np.bool_)

    def __len__(self) -> int:
        """Count the live rows."""
        return len(self._row_of)

    @property
    def row_count(self) -> int:
        """All rows, dead ones included."""
        return len(self._memory_ids)

    @property
    def vectors(self) -> Vectors:
        """Ndarray of shape (row_count, dim), float32: unit rows; zeros where a row is pending."""
        return self._vectors.view

    @property
    def has_vector(self) -> Mask:
        """Ndarray of shape (row_count,), bool: rows that can be compared with a query's embedding."""
        return self._has_vector.view

    @property
    def live(self) -> Mask:
        """Ndarray of shape (row_count,), bool: rows that are the newest of a memory that is not deleted."""
        return self._live.view

    @property
    def text_keys(self) -> npt.NDArray[np.uint64]:
        """Ndarray of shape (row_count,), uint64: equal for equal texts; see ``text.text_key``."""
        return self._text_keys.view

    @property
    def actors(self) -> Iterable[str]:
        """Names of all actors that a memory has ever had here."""
        return self._codes_of["actor"].keys()

    def apply(self, entries: Sequence[Entry], head: Head) -> None:
        """Take in the entries after ``head.seq``.

        Raises
        ------
        CorruptData
            If a number is missing between the partition's head and the new one.
        """
        numbers = [entry.seq for entry in entries]
        if numbers != list(range(self.head.seq + 1, head.seq + 1)):
            raise CorruptData("the log has a gap", first=self.head.seq + 1, last=head.seq, found=len(numbers))
        row = self.row_count
        self._append([entry for entry in entries if entry.columns is not None])
        for entry in entries:
            self._follow(entry, row)
            row += entry.columns is not None
        self.head = head

    def memory_id(self, row: int) -> str:
        """Name the memory of a row."""
        return self._memory_ids[row]

    def columns_of(self, row: int) -> Columns:
        """Give what is known of a row's memory."""
        return self._columns[row]

    def version_of(self, memory_id: str) -> int | None:
        """Give a live memory's version, ``None`` if there is no such memory."""
        row = self._row_of.get(memory_id)
        return None if row is None else self._versions[row]

    def columns_of_memory(self, memory_id: str) -> Columns | None:
        """Give what is known of a live memory, ``None`` if there is no such memory."""
        row = self._row_of.get(memory_id)
        return None if row is None else self._columns[row]

    def same_statement(self, identity: bytes, now_ms: int) -> str | None:
        """Name the active memory with this identity that has not expired, if there is one."""
        row = self._row_of_identity.get(identity)
        if row is None or is_expired(self._columns[row].expires_at_ms, now_ms):
            return None
        return self._memory_ids[row]

    def number(self, name: str) -> npt.NDArray[Any]:
        """Give a numeric column: importance float64, times int64 (epoch ms), one value for each row."""
        return self._numbers[name].view

    def mask(self, wanted: Filter, now_ms: int) -> Mask:
        """Find the rows that a filter lets through, at a time.

        Returns
        -------
        ndarray of shape (row_count,), bool
            Dead and expired rows are never in it.
        """
        mask = self.live & (self.number("expires_at_ms") > now_ms)
        for name, values in (("status", wanted.statuses), ("type", wanted.types)):
            if values:
                mask &= self._any_label(name, values)
        for name in ("agent_id", "session_id", "actor"):
            value = getattr(wanted, name)
            if value is not None:
                mask &= self._any_label(name, (value,))
        for tag in wanted.tags_all:
            mask &= self._any_tag((tag,))
        if wanted.tags_any:
            mask &= self._any_tag(wanted.tags_any)
        for name in ("importance", "created_at_ms", "updated_at_ms", "occurred_at_ms"):
            bounds = getattr(wanted, name)
            if bounds is not None:
                mask &= self._within(name, bounds)
        return mask

    def actor_rows(self, actors: Sequence[str]) -> Mask:
        """Find the rows whose actor is one of these.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        return self._any_label("actor", actors)

    def _any_label(self, name: str, values: Sequence[str]) -> Mask:
        codes = [self._codes_of[name][value] for value in values if value in self._codes_of[name]]
        return np.isin(self._labels[name].view, np.asarray(codes, dtype=np.int32))

    def _any_tag(self, tags: Sequence[str]) -> Mask:
        mask = np.zeros(self.row_count, dtype=np.bool_)
        for tag in tags:
            mask[self._rows_of_tag.get(tag, [])] = True
        return mask

    def _within(self, name: str, bounds: Range) -> Mask:
        values = self.number(name)
        mask: Mask = values != _UNKNOWN
        if bounds.gte is not None:
            mask &= values >= bounds.gte
        if bounds.gt is not None:
            mask &= values > bounds.gt
        if bounds.lte is not None:
            mask &= values <= bounds.lte
        if bounds.lt is not None:
            mask &= values < bounds.lt
        return mask

    def _append(self, entries: Sequence[Entry]) -> None:
        columns = [entry.columns for entry in entries if entry.columns is not None]
        first = self.row_count
        self._memory_ids += [entry.memory_id for entry in entries]
        self._versions += [entry.version for entry in entries]
        self._columns += columns
        self._live.extend(np.zeros(len(columns), dtype=np.bool_))
        for name in _LABELS:
            codes_of = self._codes_of[name]
            values = [getattr(row, name) for row in columns]
            self._labels[name].extend([-1 if v is None else codes_of.setdefault(v, len(codes_of)) for v in values])
        for name in _NUMBERS:
            absent = _NEVER if name == "expires_at_ms" else _UNKNOWN
            values = [getattr(row, name) for row in columns]
            self._numbers[name].extend([absent if value is None else value for value in values])
        for row, kept in enumerate(columns, start=first):
            for tag in kept.tags:
                self._rows_of_tag.setdefault(tag, []).append(row)
        self._text_keys.extend([row.text_key for row in columns])
        self.lexical.extend([row.term_counts for row in columns])
        self._append_vectors(columns)

    def _append_vectors(self, columns: Sequence[Columns]) -> None:
        zeros = bytes(self._dimension)
        usable = [row.embedder == self.embedder and len(row.codes) == self._dimension for row in columns]
        codes = b"".join(row.codes if ok else zeros for row, ok in zip(columns, usable, strict=True))
        self._vectors.extend(decode(np.frombuffer(codes, dtype=np.int8).reshape(-1, self._dimension)))
        self._has_vector.extend(usable)

    def _follow(self, entry: Entry, row: int) -> None:
        old = self._row_of.pop(entry.memory_id, None)
        if old is not None:
            self._live.view[old] = False
            if self._row_of_identity.get(self._columns[old].identity) == old:
                del self._row_of_identity[self._columns[old].identity]
        if entry.columns is None:
            return
        self._row_of[entry.memory_id] = row
        self._live.view[row] = True
        if entry.columns.status is Status.ACTIVE:
            self._row_of_identity[entry.columns.identity] = row
