"""A segment as readers see it: immutable rows of memories, views into its bytes, whatever is derived made when asked.

Which rows are still live, and how often they were used since, is the partition's to know.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recollect.columns import Mask
from recollect.model import MemoryType, Status
from recollect.scan import Quantised, Rows, norms_of, sign_bits
from recollect.segments import ids, layout, schema
from recollect.segments.coded import CodedJson, CodedLabels, CodedTexts
from recollect.segments.dictionaries import text_of, unpacked
from recollect.segments.layout import About, Arrays
from recollect.segments.postings import Postings

_ENUMS: Mapping[str, Sequence[str]] = {
    "type": [kind.value for kind in MemoryType],
    "status": [status.value for status in Status],
}


@dataclass(frozen=True, slots=True)
class Last:
    """What is known last of a memory: number of its version and entry, ``None`` if nothing is; whether purged."""

    version: int | None = None
    seq: int | None = None
    is_purged: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """What happened to rows of an older segment until a newer one was made.

    Parameters
    ----------
    segment_id : str
    dead : ndarray of shape (d,), uint32
        Rows that are not the newest of their memory any more.
    used : ndarray of shape (u,), uint32
        Rows whose use is another one than in the older segment.
    access_count : ndarray of shape (u,), uint32
        Of those rows then.
    last_accessed_at : ndarray of shape (u,), int64
        Of those rows then; epoch milliseconds, ``columns.UNKNOWN`` for never.
    """

    segment_id: str
    dead: npt.NDArray[np.uint32]
    used: npt.NDArray[np.uint32]
    access_count: npt.NDArray[np.uint32]
    last_accessed_at: npt.NDArray[np.int64]


class Segment:
    """The rows of one segment.

    Parameters
    ----------
    columns : mapping of str to ndarray
        See ``schema.py``; not to be changed.
    about : About
    key : str
        Where they were read from.

    Raises
    ------
    CorruptSegment
        If the columns have another form.
    """

    def __init__(self, columns: Arrays, about: About, key: str = "") -> None:
        schema.check(columns, about, key)
        self.columns = columns
        self.about = about

    @classmethod
    def decode(cls, data: bytes | memoryview, key: str) -> "Segment":
        """Read the bytes of a segment; see ``layout.decode``.

        Raises
        ------
        CorruptSegment
            If they are not the bytes of a segment.
        """
        return cls(*layout.decode(data, key), key)

    @property
    def row_count(self) -> int:
        """All rows, dead ones included."""
        return self.about.rows

    @cached_property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return sum(column.nbytes for column in self.columns.values())

    @cached_property
    def memory_ids(self) -> ids.Keys:
        """Ndarray of shape (n,), S26, ascending: the memory of each row."""
        return ids.ids_of(self.columns["id_hi"], self.columns["id_lo"])

    @cached_property
    def keys(self) -> ids.Keys:
        """Ndarray of shape (n,), S16, ascending: the memory of each row, see ``ids.keys_of``."""
        return ids.keys_of(self.columns["id_hi"], self.columns["id_lo"])

    @cached_property
    def span(self) -> tuple[str, str]:
        """The first and the last memory; ``("~", "")`` if there is none."""
        return (self.memory_id(0), self.memory_id(-1)) if self.row_count else ("~", "")

    def memory_id(self, row: int) -> str:
        """Name the memory of a row."""
        return ids.id_of(int(self.columns["id_hi"][row]), int(self.columns["id_lo"][row]))

    def memory_ids_at(self, rows: Rows) -> ids.Keys:
        """Name the memories of some rows: ndarray of shape (len(rows),), S26."""
        return ids.ids_of(self.columns["id_hi"][rows], self.columns["id_lo"][rows])

    @property
    def text_keys(self) -> npt.NDArray[np.uint64]:
        """Ndarray of shape (n,), uint64: equal for equal texts; see ``text.text_key``."""
        return self.columns["text_key"]

    @property
    def identities(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Two ndarrays of shape (n,), uint64: high and low half of ``model.identity``, its first byte highest."""
        return self.columns["identity_hi"], self.columns["identity_lo"]

    @property
    def vectors(self) -> Quantised:
        """Codes, norms and sign bits of all rows; zeros where a row is pending."""
        return Quantised(self.columns["codes"], self.columns["norms"], self.columns["bits"])

    @property
    def lexical(self) -> Postings:
        """The postings of all rows."""
        names = ("terms", "postings.offsets", "postings.rows", "postings.counts", "lengths")
        return Postings(*(self.columns[name] for name in names))

    @property
    def gone_ids(self) -> ids.Keys:
        """Ndarray of shape (g,), S26, ascending: memories that were deleted when the segment was made."""
        return ids.ids_of(self.columns["gone.id_hi"], self.columns["gone.id_lo"])

    @property
    def purged_ids(self) -> ids.Keys:
        """Ndarray of shape (p,), S26, ascending: those of them that were purged."""
        of = self.columns["gone.purged"] != 0
        return ids.ids_of(self.columns["gone.id_hi"][of], self.columns["gone.id_lo"][of])

    def gone_of(self, memory_id: str) -> Last | None:
        """Tell what is known last of a memory that was deleted; ``None`` if it was not."""
        wanted = memory_id.encode("utf-8", "surrogatepass")
        places = np.flatnonzero(self.gone_ids == wanted)
        if not places.size:
            return None
        version, seq, purged = (int(self.columns[f"gone.{name}"][places[0]]) for name in ("version", "seq", "purged"))
        return Last(version, seq, bool(purged))

    @property
    def changed(self) -> Sequence[Changed]:
        """What was known of older segments' rows when this one was made."""
        return [
            Changed(
                segment_id,
                self.columns[f"dead.{number}"],
                *(self.columns[f"used.{number}.{part}"] for part in schema.USED),
            )
            for number, segment_id in enumerate(self.about.older)
        ]

    def rows_of(self, memory_ids: Sequence[str]) -> Rows:
        """Find the rows of memories.

        Returns
        -------
        ndarray of shape (len(memory_ids),), int64
            -1 for a memory that has no row here.
        """
        rows = np.full(len(memory_ids), -1, dtype=np.int64)
        first, last = self.span
        askable = [
            place
            for place, memory_id in enumerate(memory_ids)
            if first <= memory_id <= last and ids.is_in_range(memory_id)
        ]
        if not askable:
            return rows
        wanted = [memory_ids[place] for place in askable]
        rows[askable] = ids.places_among(wanted, self.columns["id_hi"], self.columns["id_lo"])
        return rows

    @property
    def has_vector(self) -> Mask:
        """Ndarray of shape (n,), bool: rows that are not pending."""
        return np.asarray(self.columns["norms"] > 0)

    def comparable(self, embedder: str, dimension: int) -> "Segment":
        """Give the segment as it is for an embedder: of another one's vectors all rows are pending."""
        if (embedder, dimension) == (self.about.embedder, self.about.dimension):
            return self
        codes = np.zeros((self.row_count, dimension), dtype=np.int8)
        pending: Arrays = {"codes": codes, "norms": norms_of(codes), "bits": sign_bits(codes)}
        return Segment({**self.columns, **pending}, replace(self.about, embedder=embedder, dimension=dimension))

    def embedding_of(self, row: int) -> tuple[bytes, str]:
        """Give the embedding of a row: its codes, and the embedder's name; empty if pending."""
        if not self.columns["norms"][row]:
            return b"", ""
        return self.columns["codes"][row].tobytes(), self.about.embedder

    def rows_of_identity(self, identity: bytes) -> Sequence[int]:
        """Find the rows with an identity; see ``model.identity``."""
        high, low = (np.uint64(int.from_bytes(half, "big")) for half in (identity[:8], identity[8:]))
        rows = np.flatnonzero(self.columns["identity_hi"] == high)
        return [int(row) for row in rows if self.columns["identity_lo"][row] == low]

    def number(self, name: str) -> npt.NDArray[Any]:
        """Give a column of numbers, one for each row.

        Parameters
        ----------
        name : str
            ``importance`` (float64), ``pinned``, ``in_conflict``, ``succeeds`` (bool), ``access_count``,
            ``content_bytes``, ``version`` (uint32), ``seq`` (uint64), or a time such as ``created_at`` or
            ``last_accessed_at`` (int64, epoch milliseconds, ``columns.UNKNOWN`` where it is not known). Use is that
            until the segment was made.
        """
        column = self.columns[name]
        return column.view(np.bool_) if name in schema.FLAGS else column

    def labels(self, name: str) -> CodedLabels:
        """Give a column of single texts: ``type``, ``status``, ``consolidated_into``, or one of the scopes."""
        return self._labels[name]

    def texts(self, name: str) -> CodedTexts:
        """Give a column of lists of texts: ``tags``, ``flags``, ``transcripts``, ``derived_from``."""
        return self._texts[name]

    def metadata_matching(self, path: tuple[str, ...], is_wanted: Callable[[object], bool]) -> Mask:
        """Find the rows whose metadata value at a path of names, or ``columns.MISSING``, is wanted.

        Returns
        -------
        ndarray of shape (n,), bool
        """
        return self._metadata.matching(path, is_wanted)

    def metadata_bytes(self, mask: Mask) -> int:
        """Sum the UTF-8 bytes of the metadata of the rows under a mask."""
        return self._metadata.bytes_of(mask)

    def written(self, name: str) -> list[bytes]:
        """Give the dictionary of a column: its texts as UTF-8, ascending."""
        return unpacked(self.columns[f"{name}.texts.offsets"], self.columns[f"{name}.texts.bytes"])

    def _dictionary(self, name: str) -> list[str]:
        return [text_of(written) for written in self.written(name)]

    @cached_property
    def _labels(self) -> Mapping[str, CodedLabels]:
        named = {name: CodedLabels(self.columns[name], self._dictionary(name)) for name in schema.LABELS}
        return named | {name: CodedLabels(self.columns[name], texts) for name, texts in _ENUMS.items()}

    @cached_property
    def _texts(self) -> Mapping[str, CodedTexts]:
        return {
            name: CodedTexts(self.columns[f"{name}.offsets"], self.columns[f"{name}.values"], self._dictionary(name))
            for name in schema.TEXTS
        }

    @cached_property
    def _metadata(self) -> CodedJson:
        return CodedJson(self.columns["metadata"], self._dictionary("metadata"))
