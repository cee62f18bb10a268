"""One user's memories as columns: built from the log, kept up by its new entries, filtered and scored by reads.

Holds no content. Equals the log up to ``head.seq``, and is never trusted without a refresh. A changed memory gets a
new row and its old row is dead; rows are never rewritten. Vectors of another embedder than the partition's are not
kept: such rows are pending and found by their terms only. Serves one request at a time.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from recollect.columns import MISSING, UNKNOWN, GrowingColumn, JsonColumn, LabelColumn, TextsColumn
from recollect.errors import CorruptData
from recollect.lexical import LexicalIndex
from recollect.model import Columns, Entry, Head, Memory, Operation, Status, Touch, is_expired
from recollect.scan import Mask, Vectors, decode

_NUMBERS = {
    "importance": ("importance", np.float64),
    "created_at": ("created_at_ms", np.int64),
    "updated_at": ("updated_at_ms", np.int64),
    "occurred_at": ("occurred_at_ms", np.int64),
    "expires_at": ("expires_at_ms", np.int64),
    "valid_until": ("valid_until_ms", np.int64),
    "pinned": ("pinned", np.bool_),
}
_LABELS = ("type", "status", "agent_id", "session_id", "actor")
_TEXTS = ("tags", "flags")
LATE_TOUCH_MS = 5_000  # how much later than its time a touch may turn up in the log


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
        self._seqs_of: dict[str, list[int]] = {}
        self._last_version_of: dict[str, int] = {}
        self._purged: set[str] = set()
        self._row_of_identity: dict[bytes, int] = {}
        self._labels = {name: LabelColumn() for name in _LABELS}
        self._texts = {name: TextsColumn() for name in _TEXTS}
        self._numbers = {name: GrowingColumn(dtype) for name, (_, dtype) in _NUMBERS.items()}
        self._metadata = JsonColumn()
        self._use = {"access_count": GrowingColumn(np.int64), "last_accessed_at": GrowingColumn(np.int64)}
        self._recent: dict[str, int] = {}
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
    def actors(self) -> Sequence[str]:
        """Names of all actors that a memory has ever had here."""
        return self._labels["actor"].values

    @property
    def memory_ids(self) -> Sequence[str]:
        """The memory of each row; not to be changed."""
        return self._memory_ids

    @property
    def touched_ms(self) -> int:
        """From when on touches of the last entry may still be new; epoch milliseconds, 0 for all of them."""
        return max(0, max(self._recent.values(), default=0) - LATE_TOUCH_MS)

    def apply(self, records: Sequence[Entry | Touch], head: Head) -> None:
        """Take in the entries after ``head.seq`` and the touches between them; a touch counts once.

        Raises
        ------
        CorruptData
            If a number is missing between the partition's head and the new one.
        """
        entries = [record for record in records if isinstance(record, Entry)]
        numbers = [entry.seq for entry in entries]
        if numbers != list(range(self.head.seq + 1, head.seq + 1)):
            raise CorruptData("the log has a gap", first=self.head.seq + 1, last=head.seq, found=len(numbers))
        row = self.row_count
        self._append([entry for entry in entries if entry.columns is not None])
        for record in records:
            if isinstance(record, Touch):
                self._count(record)
            else:
                self._follow(record, row)
                row += record.columns is not None
        self._recent = {touch_id: at_ms for touch_id, at_ms in self._recent.items() if at_ms >= self.touched_ms}
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

    def last_version_of(self, memory_id: str) -> int | None:
        """Give the last version number that a memory had, deleted or not; ``None`` if there never was such a memory."""
        return self._last_version_of.get(memory_id)

    def seqs_of(self, memory_id: str) -> Sequence[int]:
        """Give the numbers of all entries about a memory, deleted or not, in order."""
        return self._seqs_of.get(memory_id, [])

    def is_purged(self, memory_id: str) -> bool:
        """Tell whether a memory was purged."""
        return memory_id in self._purged

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
        """Give a column of numbers, one for each row.

        Parameters
        ----------
        name : str
            ``importance`` (float64), ``pinned`` (bool), ``access_count`` (int64), or a time such as ``created_at``
            or ``last_accessed_at`` (int64, epoch milliseconds, ``columns.UNKNOWN`` where it is not known).
        """
        return (self._use[name] if name in self._use else self._numbers[name]).view

    def with_use(self, memory: Memory) -> Memory:
        """Tell in a memory how often and when last it was used."""
        row = self._row_of.get(memory.memory_id)
        if row is None:
            return memory
        count, last = (int(self.number(name)[row]) for name in self._use)
        return replace(memory, access_count=count, last_accessed_at_ms=None if last == UNKNOWN else last)

    def labels(self, name: str) -> LabelColumn:
        """Give a column of single texts: ``type``, ``status``, ``agent_id``, ``session_id``, ``actor``."""
        return self._labels[name]

    def texts(self, name: str) -> TextsColumn:
        """Give a column of lists of texts: ``tags``, ``flags``."""
        return self._texts[name]

    def metadata_at(self, path: tuple[str, ...]) -> Sequence[object]:
        """Give each row's metadata value at a path of names, ``columns.MISSING`` where there is none."""
        return self._metadata.values_at(path)

    def actor_rows(self, actors: Sequence[str]) -> Mask:
        """Find the rows whose actor is one of these.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        return self._labels["actor"].matching(lambda actor: actor in actors)

    def present(self, now_ms: int) -> Mask:
        """Find the live rows that have not expired.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        expires_at = self.number("expires_at")
        return np.asarray(self.live & ((expires_at == UNKNOWN) | (expires_at > now_ms)))

    def active(self, now_ms: int) -> Mask:
        """Find the live rows of active memories that have not expired.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        return np.asarray(self.present(now_ms) & self.labelled("status", Status.ACTIVE))

    def labelled(self, name: str, value: str | None) -> Mask:
        """Find the rows that have this text in a column of single texts, or none.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        wanted = MISSING if value is None else value
        return self._labels[name].matching(lambda text: text == wanted)

    def _append(self, entries: Sequence[Entry]) -> None:
        columns = [entry.columns for entry in entries if entry.columns is not None]
        self._memory_ids += [entry.memory_id for entry in entries]
        self._versions += [entry.version for entry in entries]
        self._columns += columns
        self._live.extend(np.zeros(len(columns), dtype=np.bool_))
        self._use["access_count"].extend(np.zeros(len(columns), dtype=np.int64))
        self._use["last_accessed_at"].extend(np.full(len(columns), UNKNOWN, dtype=np.int64))
        for name, labels in self._labels.items():
            values = [getattr(row, name) for row in columns]
            labels.extend([None if value is None else str(value) for value in values])
        for name, (attribute, _) in _NUMBERS.items():
            values = [getattr(row, attribute) for row in columns]
            self._numbers[name].extend([UNKNOWN if value is None else value for value in values])
        for name, texts in self._texts.items():
            texts.extend([getattr(row, name) for row in columns])
        self._metadata.extend([row.metadata_json for row in columns])
        self._text_keys.extend([row.text_key for row in columns])
        self.lexical.extend([row.term_counts for row in columns])
        self._append_vectors(columns)

    def _append_vectors(self, columns: Sequence[Columns]) -> None:
        zeros = bytes(self._dimension)
        usable = [row.embedder == self.embedder and len(row.codes) == self._dimension for row in columns]
        codes = b"".join(row.codes if ok else zeros for row, ok in zip(columns, usable, strict=True))
        self._vectors.extend(decode(np.frombuffer(codes, dtype=np.int8).reshape(-1, self._dimension)))
        self._has_vector.extend(usable)

    def _count(self, touch: Touch) -> None:
        if touch.touch_id in self._recent:
            return
        self._recent[touch.touch_id] = touch.at_ms
        rows = [self._row_of[memory_id] for memory_id in set(touch.memory_ids) if memory_id in self._row_of]
        count, last = (column.view for column in self._use.values())
        count[rows] += 1
        last[rows] = np.maximum(last[rows], touch.at_ms)

    def _inherit(self, row: int, old: int | None) -> None:
        """Let a row go on with the use of its memory's last row, and of the one whose place the memory takes."""
        supersedes = self._columns[row].supersedes
        is_new = old is None or self._columns[old].supersedes != supersedes
        count, last = (column.view for column in self._use.values())
        for other in (old, self._row_of.get(supersedes or "") if is_new else None):
            if other is not None:
                count[row] += count[other]
                last[row] = max(last[row], last[other])

    def _follow(self, entry: Entry, row: int) -> None:
        self._recent.clear()
        self._seqs_of.setdefault(entry.memory_id, []).append(entry.seq)
        self._last_version_of[entry.memory_id] = entry.version
        if entry.operation is Operation.PURGE:
            self._purged.add(entry.memory_id)
        old = self._row_of.pop(entry.memory_id, None)
        if old is not None:
            self._live.view[old] = False
            if self._row_of_identity.get(self._columns[old].identity) == old:
                del self._row_of_identity[self._columns[old].identity]
        if entry.columns is None:
            return
        self._inherit(row, old)
        self._row_of[entry.memory_id] = row
        self._live.view[row] = True
        if entry.columns.status is Status.ACTIVE:
            self._row_of_identity[entry.columns.identity] = row
