"""The newest rows of a partition: what the log holds after the last compaction, as columns that grow.

One row for each entry that holds a memory; rows are never rewritten. Vectors of another embedder than the
partition's are not kept: such rows are pending and found by their words only.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recollect.columns import UNKNOWN, GrowingColumn, JsonColumn, LabelColumn, TextsColumn
from recollect.lexical import GrowingPostings
from recollect.model import Columns, Entry
from recollect.scan import Mask, Quantised, Rows, norms_of

_NUMBERS = {
    "importance": ("importance", np.float64),
    "created_at": ("created_at_ms", np.int64),
    "updated_at": ("updated_at_ms", np.int64),
    "occurred_at": ("occurred_at_ms", np.int64),
    "expires_at": ("expires_at_ms", np.int64),
    "valid_until": ("valid_until_ms", np.int64),
    "pinned": ("pinned", np.bool_),
    "in_conflict": ("in_conflict", np.bool_),
    "content_bytes": ("content_bytes", np.int64),
}
_OF_ENTRY = ("seq", "version")
_LABELS = ("type", "status", "agent_id", "session_id", "actor", "consolidated_into")
_TEXTS = ("tags", "flags", "transcripts", "derived_from")


class Tail:
    """Rows of log entries.

    Parameters
    ----------
    embedder : str
        Name of the embedder whose vectors can be compared.
    dimension : int
        Length of its vectors.
    """

    def __init__(self, embedder: str, dimension: int) -> None:
        self.lexical = GrowingPostings()
        self._embedder = embedder
        self._dimension = dimension
        self._rows: list[Columns] = []
        self._row_of: dict[str, int] = {}
        self._rows_of_identity: dict[bytes, list[int]] = {}
        self._memory_ids = GrowingColumn("S26")
        self._numbers = {name: GrowingColumn(dtype) for name, (_, dtype) in _NUMBERS.items()}
        self._numbers |= {name: GrowingColumn(np.int64) for name in _OF_ENTRY}
        self._numbers["succeeds"] = GrowingColumn(np.bool_)
        self._labels = {name: LabelColumn() for name in _LABELS}
        self._texts = {name: TextsColumn() for name in _TEXTS}
        self._metadata = JsonColumn()
        self._text_keys = GrowingColumn(np.uint64)
        self._codes = GrowingColumn(np.int8, dimension)
        self._norms = GrowingColumn(np.float32)

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """About how many bytes the rows take in memory."""
        return self.row_count * (self._dimension + 2_000)

    @property
    def memory_ids(self) -> npt.NDArray[np.bytes_]:
        """Ndarray of shape (row_count,), S26: the memory of each row."""
        return self._memory_ids.view

    @property
    def span(self) -> tuple[str, str]:
        """Ids that its memories are between."""
        return "", chr(sys.maxunicode)

    @property
    def text_keys(self) -> npt.NDArray[np.uint64]:
        """Ndarray of shape (row_count,), uint64: equal for equal texts; see ``text.text_key``."""
        return self._text_keys.view

    @property
    def has_vector(self) -> Mask:
        """Ndarray of shape (row_count,), bool: rows that can be compared with a query's embedding."""
        return np.asarray(self._norms.view > 0)

    @property
    def vectors(self) -> Quantised:
        """The vectors; without sign bits, so that they are scanned exactly."""
        return Quantised(self._codes.view, self._norms.view, None)

    def extend(self, entries: Sequence[Entry]) -> None:
        """Append a row for each entry; all of them hold a memory."""
        rows = [entry.columns for entry in entries if entry.columns is not None]
        for row, columns in enumerate(rows, start=self.row_count):
            self._rows_of_identity.setdefault(columns.identity, []).append(row)
        self._memory_ids.extend([entry.memory_id.encode() for entry in entries])
        self._numbers["succeeds"].extend([row.supersedes is not None for row in rows])
        for name in _OF_ENTRY:
            self._numbers[name].extend([getattr(entry, name) for entry in entries])
        for name, (attribute, _) in _NUMBERS.items():
            values = [getattr(row, attribute) for row in rows]
            self._numbers[name].extend([UNKNOWN if value is None else value for value in values])
        for name, labels in self._labels.items():
            values = [getattr(row, name) for row in rows]
            labels.extend([None if value is None else str(value) for value in values])
        for name, texts in self._texts.items():
            texts.extend([getattr(row, name) for row in rows])
        self._metadata.extend([row.metadata_json for row in rows])
        self._text_keys.extend([row.text_key for row in rows])
        self.lexical.extend([row.term_counts for row in rows])
        self._extend_vectors(rows)
        self._rows += rows

    def memory_id(self, row: int) -> str:
        """Name the memory of a row."""
        return bytes(self._memory_ids.view[row]).decode()

    def memory_ids_at(self, rows: Rows) -> npt.NDArray[np.bytes_]:
        """Name the memories of some rows: ndarray of shape (len(rows),), S26."""
        return self._memory_ids.view[rows]

    def place(self, memory_id: str, row: int) -> None:
        """Let a row be the one of its memory from now on."""
        self._row_of[memory_id] = row

    def rows_of(self, memory_ids: Sequence[str]) -> Rows:
        """Find the row of each memory.

        Returns
        -------
        ndarray of shape (len(memory_ids),), int64
            -1 where there is none.
        """
        return np.asarray([self._row_of.get(memory_id, -1) for memory_id in memory_ids], dtype=np.int64)

    def rows_of_identity(self, identity: bytes) -> Sequence[int]:
        """Find the rows with an identity; see ``model.identity``."""
        return self._rows_of_identity.get(identity, [])

    def number(self, name: str) -> npt.NDArray[Any]:
        """Give a column of numbers, one for each row.

        Parameters
        ----------
        name : str
            ``importance`` (float64); ``pinned``, ``in_conflict``, ``succeeds`` whether it took another memory's place
            (bool); ``seq``, ``version``, ``content_bytes``, or a time such as ``created_at`` in epoch milliseconds,
            ``columns.UNKNOWN`` where it is not known (int64).
        """
        return self._numbers[name].view

    def labels(self, name: str) -> LabelColumn:
        """Give a column of single texts: ``type``, ``status``, ``consolidated_into``, or one of the scopes."""
        return self._labels[name]

    def texts(self, name: str) -> TextsColumn:
        """Give a column of lists of texts: ``tags``, ``flags``, ``transcripts``, ``derived_from``."""
        return self._texts[name]

    def metadata_matching(self, path: tuple[str, ...], is_wanted: Callable[[object], bool]) -> Mask:
        """Find the rows whose metadata value at a path, or ``columns.MISSING``, is wanted."""
        found = map(is_wanted, self._metadata.values_at(path))
        return np.fromiter(found, dtype=np.bool_, count=self.row_count)

    def metadata_bytes(self, mask: Mask) -> int:
        """Sum the UTF-8 bytes of the metadata of rows."""
        return sum(len(self._rows[row].metadata_json.encode()) for row in np.flatnonzero(mask))

    def embedding_of(self, row: int) -> tuple[bytes, str]:
        """Give the embedding of a row, of whatever embedder: its codes and the embedder's name; empty if pending."""
        return self._rows[row].codes, self._rows[row].embedder

    def _extend_vectors(self, rows: Sequence[Columns]) -> None:
        zeros = bytes(self._dimension)
        is_usable = [row.embedder == self._embedder and len(row.codes) == self._dimension for row in rows]
        joined = b"".join(row.codes if ok else zeros for row, ok in zip(rows, is_usable, strict=True))
        codes = np.frombuffer(joined, dtype=np.int8).reshape(-1, self._dimension)
        self._codes.extend(codes)
        self._norms.extend(norms_of(codes))
