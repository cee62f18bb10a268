"""One user's memories as columns: segments from the object store, and after them the tail of the log.

Holds no content. Equals the log up to ``head.seq``, and is never trusted without a refresh. A changed memory gets a
new row, and its old row is dead. What changes about a row is kept here: whether it is live, and its use. Serves one
request at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from recollect.columns import UNKNOWN, GrowingColumn
from recollect.errors import CorruptData
from recollect.lexical import Corpus
from recollect.model import Entry, Head, Memory, MemoryType, NewMemory, Operation, Status, Touch
from recollect.parts import Part, Parts
from recollect.scan import Mask, Rows
from recollect.segments.segment import Last, Segment
from recollect.sessions import Sessions
from recollect.tail import Tail

NEW = Head()
LATE_TOUCH_MS = 5_000  # how much later than its time a touch may turn up in the log


@dataclass(frozen=True, slots=True)
class State:
    """What changes about the rows of a segment.

    Parameters
    ----------
    live : ndarray of shape (n,), bool
    access_count, last_accessed_at : ndarray of shape (n,), int64
        `UNKNOWN` where a row was never used.
    """

    live: Mask
    access_count: npt.NDArray[np.int64]
    last_accessed_at: npt.NDArray[np.int64]


class Partition(Parts):
    """Columns of one user's memories.

    Parameters
    ----------
    embedder : str
        Name of the embedder whose vectors can be compared.
    dimension : int
        Length of its vectors.
    head : Head
        Whose manifest it starts with; the entries after ``head.compacted_seq`` are to be applied.
    segments : sequence of Segment
        Those of the manifest, in its order.
    """

    def __init__(self, embedder: str, dimension: int, head: Head = NEW, segments: Sequence[Segment] = ()) -> None:
        self._tail = Tail(embedder, dimension)
        parts: tuple[Part, ...] = (*segments, self._tail)
        super().__init__(parts)
        self.embedder = embedder
        self.dimension = dimension
        self.segments = dict(zip((ref.segment_id for ref in head.manifest), segments, strict=True))
        self.head = replace(head, seq=head.compacted_seq)
        self._live = GrowingColumn(np.bool_)
        self._use = {"access_count": GrowingColumn(np.int64), "last_accessed_at": GrowingColumn(np.int64)}
        self._live_count = 0
        self._live_length = 0
        self._last_of: dict[str, Entry] = {}
        self._recent: dict[str, int] = {}
        self._sessions: Sessions | None = None
        self._said_again: dict[str, Touch] = {}
        self.touches = 0  # that the segments do not hold
        self._take_up(segments)

    def __len__(self) -> int:
        """Count the live rows."""
        return self._live_count

    @property
    def row_count(self) -> int:
        """All rows, dead ones included."""
        return len(self._live)

    @property
    def nbytes(self) -> int:
        """About how many bytes it takes in memory."""
        return sum(part.nbytes for part in self.parts) + 29 * self.row_count

    @property
    def live(self) -> Mask:
        """Ndarray of shape (row_count,), bool: rows that are the newest of a memory that is not deleted."""
        return self._live.view

    @property
    def corpus(self) -> Corpus:
        """The postings of all parts."""
        stops = [*self.starts[1:].tolist(), self.row_count]
        lives = [self.live[start:stop] for start, stop in zip(self.starts.tolist(), stops, strict=True)]
        parts = [(part.lexical, live) for part, live in zip(self.parts, lives, strict=True)]
        return Corpus(parts, self._live_count, self._live_length)

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
        if entries:
            self._sessions = None
            self._extend([entry for entry in entries if entry.columns is not None])
        for record in records:
            if isinstance(record, Touch):
                self._count(record)
            else:
                self._follow(record, row)
                row += record.columns is not None
        self._recent = {touch_id: at_ms for touch_id, at_ms in self._recent.items() if at_ms >= self.touched_ms}
        self.head = head

    def known(self, memory_ids: Sequence[str]) -> list[str]:
        """Leave out ids that no live memory has."""
        rows = self._live_rows_of(memory_ids).tolist()
        return [memory_id for memory_id, row in zip(memory_ids, rows, strict=True) if row >= 0]

    def row_of(self, memory_id: str) -> int | None:
        """Give a live memory's row, ``None`` if there is no such memory."""
        for part, start in zip(reversed(self.parts), reversed(self.starts.tolist()), strict=True):
            low, high = part.span
            local = int(part.rows_of([memory_id])[0]) if low <= memory_id <= high else -1
            if local >= 0 and self.live[start + local]:
                return int(start + local)
        return None

    def version_of(self, memory_id: str) -> int | None:
        """Give a live memory's version, ``None`` if there is no such memory."""
        row = self.row_of(memory_id)
        return None if row is None else self._number_at("version", row)

    def is_expired(self, memory_id: str, now_ms: int) -> bool:
        """Tell whether a live memory's time is over."""
        row = self.row_of(memory_id)
        return row is not None and self._is_expired(row, now_ms)

    def gives(self, memory_id: str, asked: NewMemory) -> bool:
        """Tell whether a live memory has the tags and the pin that a new one asks for, and stays as long."""
        row = self.row_of(memory_id)
        if row is None:
            return False
        ends_at, asked_at = self._number_at("expires_at", row), asked.expires_at_ms
        return (
            all(self._holds("tags", row, tag) for tag in asked.tags)
            and self._number_at("pinned", row) >= asked.pinned
            and (ends_at == UNKNOWN or (asked_at is not None and asked_at <= ends_at))
        )

    def embedding_of(self, memory_id: str) -> tuple[bytes, str]:
        """Give the embedding that a live memory has: int8 codes, and its embedder; empty if it has none."""
        row = self.row_of(memory_id)
        if row is None:
            return b"", ""
        part, local = self.at(row)
        return part.embedding_of(local)

    def cosine_between(self, memory_id: str, other_id: str) -> float:
        """Give the cosine of two memories' embeddings; 0 where they cannot be compared."""
        (codes, embedder), (others, another) = self.embedding_of(memory_id), self.embedding_of(other_id)
        if not codes or not others or embedder != another:
            return 0.0
        left, right = (np.frombuffer(vector, dtype=np.int8).astype(np.float32) for vector in (codes, others))
        return float(left @ right / (np.linalg.norm(left) * np.linalg.norm(right)))

    def is_pending(self, memory_id: str) -> bool:
        """Tell whether a live memory has no vector that can be compared."""
        row = self.row_of(memory_id)
        if row is None:
            return False
        part, local = self.at(row)
        return not part.has_vector[local]

    def pending(self, now_ms: int) -> Mask:
        """Find the live rows that have not expired and have no vector that can be compared.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        return np.asarray(self.present(now_ms) & ~self.where(lambda part: part.has_vector))

    def last_version_of(self, memory_id: str) -> int | None:
        """Give the last version number that a memory had, deleted or not; ``None`` if there never was such a memory."""
        last = self._last_of.get(memory_id)
        return last.version if last is not None else self._of_segments(memory_id).version

    def last_seq_of(self, memory_id: str) -> int | None:
        """Give the number of the last entry about a memory, deleted or not; ``None`` if there never was one."""
        last = self._last_of.get(memory_id)
        return last.seq if last is not None else self._of_segments(memory_id).seq

    def is_purged(self, memory_id: str) -> bool:
        """Tell whether a memory was purged."""
        last = self._last_of.get(memory_id)
        return last.operation is Operation.PURGE if last is not None else self._of_segments(memory_id).is_purged

    def purged(self) -> set[str]:
        """Name all memories that were purged."""
        found = {name.decode() for one in self.segments.values() for name in one.purged_ids.tolist()}
        return found | {name for name, last in self._last_of.items() if last.operation is Operation.PURGE}

    def same_statement(self, identity: bytes, now_ms: int, status: Status = Status.ACTIVE) -> str | None:
        """Name a memory with this identity and status that has not expired: the one active one, else the oldest."""
        found = [
            self.memory_id(row)
            for row in self._rows_of_identity(identity)
            if self._status_at(row) == status and not self._is_expired(row, now_ms)
        ]
        return min(found, default=None)

    def statements(self, identity: bytes) -> list[str]:
        """Name the memories with this identity, oldest first, whatever their status, expired ones too."""
        return sorted(self.memory_id(row) for row in self._rows_of_identity(identity))

    def citing(self, transcript_id: str) -> Mask:
        """Find the rows, dead ones too, of memories that cite a transcript.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        return self.where(lambda part: part.texts("transcripts").holding(transcript_id))

    def derived_from(self, memory_id: str) -> list[str]:
        """Name the memories that were made of one and others, whatever their status."""
        made = self.live & self.where(lambda part: part.texts("derived_from").holding(memory_id))
        return [name.decode() for name in self.memory_ids_at(np.flatnonzero(made))]

    def consolidated_into(self, memory_id: str) -> list[str]:
        """Name the memories that one was made of, and that it still holds."""
        held = self.live & self.labelled("consolidated_into", memory_id)
        return [name.decode() for name in self.memory_ids_at(np.flatnonzero(held))]

    def with_use(self, memories: Sequence[Memory]) -> list[Memory]:
        """Tell in memories how often and when last they were used."""
        rows = self._live_rows_of([memory.memory_id for memory in memories]).tolist()
        count, last = (column.view for column in self._use.values())
        return [
            memory
            if row < 0 or last[row] == UNKNOWN
            else replace(memory, access_count=int(count[row]), last_accessed_at_ms=int(last[row]))
            for memory, row in zip(memories, rows, strict=True)
        ]

    def said_again(self, memory_id: str) -> Touch | None:
        """Tell when a store said a memory again last, as far as the log's tail tells."""
        return self._said_again.get(memory_id)

    def use_of(self, memory_ids: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
        """Give ``access_count`` and ``last_accessed_at`` of live memories, in their order."""
        rows = self._live_rows_of(memory_ids)
        return {name: column.view[rows] for name, column in self._use.items()}

    def around(self, rows: Rows, reach: int) -> npt.NDArray[np.int32]:
        """Name the turns of a conversation that come up to `reach` before and after some rows in the same session.

        Turns are live episodic memories that have a session.

        Returns
        -------
        ndarray of shape (2 * reach, len(rows)), int32
            -1 where there is none.
        """
        if self._sessions is None:
            self._sessions = self._in_order()
        return self._sessions.around(rows, reach)

    def state_of(self, segment_id: str) -> State:
        """Give what has become of the rows of a segment."""
        place = list(self.segments).index(segment_id)
        start = int(self.starts[place])
        span = slice(start, start + self.parts[place].row_count)
        return State(self.live[span], *(column.view[span] for column in self._use.values()))

    def numbers_at(self, name: str, rows: Rows) -> npt.NDArray[Any]:
        """Give numbers of some rows, which ascend; ``access_count`` and ``last_accessed_at`` too."""
        return np.asarray(self._use[name].view[rows]) if name in self._use else super().numbers_at(name, rows)

    def number(self, name: str) -> npt.NDArray[Any]:
        """Give a column of numbers, one for each row.

        Parameters
        ----------
        name : str
            ``importance`` (float64), ``pinned``, ``in_conflict`` (bool), ``access_count`` (int64), or a time such as
            ``created_at`` or ``last_accessed_at`` (int64, epoch milliseconds, ``columns.UNKNOWN`` where it is unknown).
        """
        return self._use[name].view if name in self._use else self.where(lambda part: part.number(name))

    def present(self, now_ms: int) -> Mask:
        """Find the live rows that have not expired.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        return np.asarray(self.live & self.unexpired(now_ms))

    def active(self, now_ms: int) -> Mask:
        """Find the live rows of active memories that have not expired.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        return np.asarray(self.present(now_ms) & self.labelled("status", Status.ACTIVE))

    def _live_rows_of(self, memory_ids: Sequence[str]) -> Rows:
        """Find the live row of each memory, -1 where there is none."""
        found = np.full(len(memory_ids), -1, dtype=np.int64)
        first, last = min(memory_ids, default="~"), max(memory_ids, default="")
        for part, start in zip(self.parts, self.starts.tolist(), strict=True):
            low, high = part.span  # memories are old where they are in old segments: most parts need not be asked
            if last < low or high < first:
                continue
            rows = part.rows_of(memory_ids)
            there = rows >= 0
            there[there] = self.live[start + rows[there]]
            found[there] = start + rows[there]
        return found

    def _in_order(self) -> Sessions:
        sessions = self.numbered("session_id")
        turns = np.flatnonzero(self.live & (sessions >= 0) & self.labelled("type", MemoryType.EPISODIC))
        occurred_at, created_at, seq = (
            self.numbers_at(name, turns).astype(np.int64) for name in ("occurred_at", "created_at", "seq")
        )
        happened_at = np.where(occurred_at == UNKNOWN, created_at, occurred_at)
        return Sessions(self.row_count, turns, sessions[turns], happened_at, seq)

    def _take_up(self, segments: Sequence[Segment]) -> None:
        rows = sum(segment.row_count for segment in segments)
        self._live.extend(np.ones(rows, dtype=np.bool_))
        for name, column in self._use.items():
            column.extend(np.concatenate([np.zeros(0, dtype=np.int64), *(one.number(name) for one in segments)]))
        count, last = (column.view for column in self._use.values())
        start_of = dict(zip(self.segments, self.starts.tolist(), strict=False))
        for changed in (changed for segment in segments for changed in segment.changed):
            start = start_of.get(changed.segment_id)
            if start is not None:
                self.live[start + changed.dead.astype(np.int64)] = False
                used = start + changed.used.astype(np.int64)
                count[used], last[used] = changed.access_count, changed.last_accessed_at
        self._live_count = int(self.live.sum())
        self._live_length = sum(int(postings.lengths[live].sum()) for postings, live in self.corpus.parts)

    def _of_segments(self, memory_id: str) -> Last:
        """Tell what the segments know last of a memory that the tail does not mention."""
        row = self.row_of(memory_id)
        if row is not None:
            return Last(self._number_at("version", row), self._number_at("seq", row))
        for segment in reversed(self.segments.values()):
            last = segment.gone_of(memory_id)
            if last is not None:
                return last
        return Last()

    def _extend(self, entries: Sequence[Entry]) -> None:
        self._tail.extend(entries)
        self._live.extend(np.zeros(len(entries), dtype=np.bool_))
        self._use["access_count"].extend(np.zeros(len(entries), dtype=np.int64))
        self._use["last_accessed_at"].extend(np.full(len(entries), UNKNOWN, dtype=np.int64))

    def _count(self, touch: Touch) -> None:
        if touch.touch_id in self._recent:
            return
        self._recent[touch.touch_id] = touch.at_ms
        self.touches += 1
        if touch.is_said_again:
            self._said_again |= dict.fromkeys(touch.memory_ids, touch)
        found = self._live_rows_of(list(dict.fromkeys(touch.memory_ids)))
        rows = found[found >= 0]
        count, last = (column.view for column in self._use.values())
        count[rows] += 1
        last[rows] = np.maximum(last[rows], touch.at_ms)

    def _follow(self, entry: Entry, row: int) -> None:
        self._recent.clear()
        old = self.row_of(entry.memory_id)
        self._last_of[entry.memory_id] = entry
        if old is not None:
            self._turn(old, is_live=False)
        if entry.columns is not None:
            self._inherit(row, old)
            if entry.columns.supersedes is not None and not (old is not None and self._number_at("succeeds", old)):
                self._inherit(row, self.row_of(entry.columns.supersedes))
            for memory_id in entry.columns.derived_from:
                if old is None or not self._holds("derived_from", old, memory_id):
                    self._inherit(row, self.row_of(memory_id))
            self._tail.place(entry.memory_id, row - int(self.starts[-1]))
            self._turn(row, is_live=True)

    def _inherit(self, row: int, other: int | None) -> None:
        """Let a row go on with the use of another one."""
        if other is not None:
            count, last = (column.view for column in self._use.values())
            count[row] += count[other]
            last[row] = max(last[row], last[other])

    def _rows_of_identity(self, identity: bytes) -> list[int]:
        """Find the live rows with an identity."""
        return [
            start + local
            for part, start in zip(self.parts, self.starts.tolist(), strict=True)
            for local in part.rows_of_identity(identity)
            if self.live[start + local]
        ]

    def _status_at(self, row: int) -> str | None:
        part, local = self.at(row)
        return part.labels("status").at(local)

    def _is_expired(self, row: int, now_ms: int) -> bool:
        expires_at = self._number_at("expires_at", row)
        return expires_at != UNKNOWN and expires_at <= now_ms

    def _holds(self, name: str, row: int, text: str) -> bool:
        part, local = self.at(row)
        return bool(part.texts(name).holding(text)[local])

    def _number_at(self, name: str, row: int) -> int:
        part, local = self.at(row)
        return int(part.number(name)[local])

    def _turn(self, row: int, *, is_live: bool) -> None:
        part, local = self.at(row)
        self.live[row] = is_live
        sign = 1 if is_live else -1
        self._live_count += sign
        self._live_length += sign * int(part.lexical.lengths[local])


def pristine(segment: Segment) -> State:
    """Give the state of a segment's rows when it was made."""
    count, last = (segment.number(name).astype(np.int64) for name in ("access_count", "last_accessed_at"))
    return State(np.ones(segment.row_count, dtype=np.bool_), count, last)
