"""The warm partitions of an instance: least recently used first out, refreshed before every use.

A warm refresh is one Query of the log's tail. A cold one also gets the segments that the head lists, side by side.
A partition that slept through a compaction, an erasure or a new life of its user notices from the head and is loaded
anew; segments that it has already are kept. A segment that is damaged, or lost though the head lists it, is made anew.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from recollect import keys, telemetry
from recollect.errors import CorruptSegment, NotFound, Unavailable
from recollect.model import Entry, Head, SegmentRef, Touch
from recollect.object_store import ObjectStore
from recollect.partition import Partition
from recollect.ports import Embedder, MemoryStore
from recollect.segments.segment import Segment

MAX_TORN_READS = 3
MAX_LOADS = 4
NONE: Mapping[str, Segment] = MappingProxyType({})
Records = Sequence[Entry | Touch]
Mend = Callable[[str, Partition], None]


class Partitions:
    """Warm partitions within a budget of memory.

    Parameters
    ----------
    store : MemoryStore
    objects : ObjectStore
    embedder : Embedder
        Whose vectors can be compared.
    now_ms : callable
        Gives epoch milliseconds.
    budget_bytes : int
        How much memory they may take together; the one in use may take more.
    """

    def __init__(
        self,
        store: MemoryStore,
        objects: ObjectStore,
        embedder: Embedder,
        now_ms: Callable[[], int],
        budget_bytes: int,
    ) -> None:
        self._store = store
        self._objects = objects
        self._embedder = embedder.name
        self._dimension = embedder.dimension
        self._now_ms = now_ms
        self._budget_bytes = budget_bytes
        self._warm: OrderedDict[str, Partition] = OrderedDict()
        self._read_ms: dict[str, int] = {}
        self.mend: Mend | None = None  # puts a segment in the place of those that a partition lacks

    def refresh(self, user_id: str) -> Partition:
        """Bring a user's partition up to the last commit: one Query when it is warm.

        Raises
        ------
        Unavailable
            If a store does not answer, or segments keep being replaced.
        CorruptSegment, NotFound
            If a segment is damaged or lost, and cannot be made anew.
        """
        with telemetry.stage("refresh"):
            read_ms = self._now_ms()
            partition = self._warm.pop(user_id, None) or self._new()
            records, head = self._read(user_id, partition.head.seq, partition.touched_ms)
            if not _continues(partition, head):
                is_whole = partition.head.seq == 0
                partition, records, head = self._load(user_id, partition, (records, head) if is_whole else None)
            partition.apply(records, head)
            self._warm[user_id] = partition
            self._read_ms[user_id] = read_ms
            self._evict()
        return partition

    def recent(self, user_id: str, within_ms: int) -> Partition:
        """Give a user's partition as it was at most that long ago; refresh it if need be.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        partition = self._warm.get(user_id)
        if partition is None or self._now_ms() - self._read_ms[user_id] > within_ms:
            return self.refresh(user_id)
        return partition

    def forget(self, user_id: str) -> None:
        """Drop what is kept of a user."""
        self._warm.pop(user_id, None)
        self._read_ms.pop(user_id, None)

    def load(self, user_id: str) -> tuple[Partition, Records, Head]:
        """Make a user's partition anew as the segments have it; those that are at hand are not read again.

        Returns
        -------
        Partition, sequence of Entry or Touch, Head
            The partition, what the log holds after the segments, and the head.

        Raises
        ------
        Unavailable
            If a store does not answer, or segments keep being replaced.
        CorruptSegment, NotFound
            If a segment is damaged or lost, and cannot be made anew.
        """
        return self._load(user_id, self._warm.get(user_id) or self._new(), None)

    def _new(self) -> Partition:
        return Partition(self._embedder, self._dimension)

    def _read(self, user_id: str, after_seq: int, touched_ms: int = 0) -> tuple[Records, Head]:
        # What the segments hold already may be there still, until it is archived.
        # A Query is not isolated from a transaction as a whole: it may see its entries without its head (they are
        # left for the next refresh), or its head without its entries (read again).
        for _ in range(MAX_TORN_READS):
            records, head = self._store.read_log(user_id, after_seq, touched_ms)
            records = [record for record in records if record.seq <= head.seq and is_after(record, head)]
            first = max(after_seq, head.compacted_seq)
            if sum(isinstance(record, Entry) for record in records) >= head.seq - first:
                break
        return records, head

    def _load(self, user_id: str, old: Partition, read: tuple[Records, Head] | None) -> tuple[Partition, Records, Head]:
        """Load what the head describes, with segments of `old`; `read` is the whole log, if that was read just now."""
        missed: tuple[SegmentRef, ...] | None = None
        for _ in range(MAX_LOADS):
            records, head = read or self._read(user_id, 0)
            read = None
            known = old.segments if old.head.epoch == head.epoch else NONE
            try:
                partition = self._of_manifest(user_id, head, known)
            except NotFound:  # replaced since the head was read; lost, if the head still lists it
                if missed == head.manifest:
                    self._mend(user_id, head, known)
                missed = head.manifest
            except CorruptSegment:
                self._mend(user_id, head, known)
            else:
                return partition, records, head
        raise Unavailable("the segments of this user keep being replaced; retry later")

    def _of_manifest(self, user_id: str, head: Head, known: Mapping[str, Segment]) -> Partition:
        missing = [ref.segment_id for ref in head.manifest if ref.segment_id not in known]
        places = [keys.segment(user_id, head.epoch, segment_id) for segment_id in missing]
        with telemetry.stage("load"):
            data = self._objects.get_many(places) if places else []
            decoded = [Segment.decode(one, place) for one, place in zip(data, places, strict=True)]
        segments = {**known, **dict(zip(missing, decoded, strict=True))}
        comparable = [segments[ref.segment_id].comparable(self._embedder, self._dimension) for ref in head.manifest]
        return Partition(self._embedder, self._dimension, head, comparable)

    def _mend(self, user_id: str, head: Head, known: Mapping[str, Segment]) -> None:
        """Let the segments that cannot be read be made anew from those that can and the memories."""
        sound = dict(known)
        for ref in head.manifest:
            if ref.segment_id in known:
                continue
            try:
                [sound[ref.segment_id]] = self._of_manifest(
                    user_id, replace(head, manifest=(ref,)), NONE
                ).segments.values()
            except (CorruptSegment, NotFound):
                if self.mend is None:
                    raise
                telemetry.count("corrupt_segments")
        manifest = tuple(ref for ref in head.manifest if ref.segment_id in sound)
        if self.mend is not None and manifest != head.manifest:
            self.mend(user_id, self._of_manifest(user_id, replace(head, manifest=manifest), sound))

    def _evict(self) -> None:
        while len(self._warm) > 1 and sum(p.nbytes for p in self._warm.values()) > self._budget_bytes:
            user_id, _ = self._warm.popitem(last=False)
            del self._read_ms[user_id]


def _continues(partition: Partition, head: Head) -> bool:
    """Tell whether a partition has only to take in what is new."""
    is_same_life = partition.head.epoch in ("", head.epoch)
    return is_same_life and list(partition.segments) == [ref.segment_id for ref in head.manifest]


def is_after(record: Entry | Touch, head: Head) -> bool:
    """Tell whether the segments of a head do not hold a record of the log yet."""
    if isinstance(record, Touch) and record.seq == head.compacted_seq:
        return record.at_ms > head.folded_ms
    return record.seq > head.compacted_seq
