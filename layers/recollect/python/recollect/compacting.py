"""Makes segments of the log's tail and of each other. Talks; `compaction` decides, `folding` makes them.

In this order: the new object is put, the manifest is committed on condition that nobody else did, the folded entries
are archived and deleted, and replaced objects go later than any request that may still read them. A process that dies
anywhere leaves objects that nothing refers to, or entries that the segments hold already: the next compaction takes
them away. Two at once do the work twice; one of them commits. Writers and readers are not waited for and do not wait.

A purge raises a fence: it counts the head's revision up, so that whatever was being made of the purged text cannot be
committed any more.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace

from recollect import archive, compaction, keys, telemetry
from recollect.commit import Surroundings
from recollect.compaction import Policy, Tail
from recollect.errors import Conflict, NotFound, Unavailable
from recollect.folding import foldable, folded, live_rows, merged
from recollect.model import Entry, Head, Touch
from recollect.object_store import ObjectStore, StoredObject
from recollect.partition import Partition
from recollect.partitions import Partitions, Records, is_after
from recollect.ports import Item, MemoryStore
from recollect.publishing import Publisher

GARBAGE_AGE_MS = 15 * 60 * 1000  # longer than any request and any compaction
DELETES_PER_TRANSACTION = 99
STEPS_MAX = 12  # folds and merges of one call
ATTEMPTS = 3
OBJECTS_MAX = 100_000  # of a listing: archives of some 25 million entries


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction has done; of a dry run, what it would do first.

    Parameters
    ----------
    folded_entries, folded_touches, merged_segments : int
    written_rows, written_bytes : int
        Of new segments.
    archived_entries, deleted_objects : int
    segments : int
        Live ones now.
    """

    folded_entries: int = 0
    folded_touches: int = 0
    merged_segments: int = 0
    written_rows: int = 0
    written_bytes: int = 0
    archived_entries: int = 0
    deleted_objects: int = 0
    segments: int = 0


class Compactor:
    """Compacts users' partitions."""

    def __init__(
        self,
        store: MemoryStore,
        objects: ObjectStore,
        partitions: Partitions,
        surroundings: Surroundings,
        policy: Policy = compaction.DEFAULT,
    ) -> None:
        self._store = store
        self._objects = objects
        self._partitions = partitions
        self._surroundings = surroundings
        self._policy = policy
        self._publisher = Publisher(store, objects, surroundings.new_id)

    def plan(self, user_id: str, *, is_forced: bool = False) -> Compaction:
        """Tell what a compaction would fold and merge first, and do nothing.

        Raises
        ------
        Unavailable
            If a store does not answer.
        """
        base, records, head = self._partitions.load(user_id)
        entries, touches, _ = self._to_fold(records, head, is_forced=is_forced)
        span = compaction.to_merge(head.manifest, live_rows(base), self._policy) or slice(0, 0)
        return Compaction(len(entries), len(touches), span.stop - span.start, segments=len(head.manifest))

    def compact(self, user_id: str, *, is_forced: bool = False) -> Compaction:
        """Fold the tail, merge segments, archive what was folded, delete what was replaced long ago.

        Parameters
        ----------
        is_forced : bool
            Whether a short tail is folded too.

        Raises
        ------
        Unavailable
            If a store does not answer, or another compaction came first; a repeat goes on.
        """
        done = Compaction()
        with telemetry.stage("compact"):
            base, records, head = self._begin(user_id)
            if not head.epoch or head.erasing_since_ms is not None:
                return done
            for _ in range(STEPS_MAX):
                step, base, head = self._step(user_id, base, records, head, is_forced=is_forced)
                if step == Compaction():
                    break
                done = _sum(done, step)
                records = [record for record in records if is_after(record, head)]
            archived = self._archive(user_id, head)
            deleted = self._collect(user_id, head)
        return replace(done, archived_entries=archived, deleted_objects=deleted, segments=len(head.manifest))

    def expunge(self, user_id: str, memory_id: str) -> None:
        """Write every segment anew that has a row of a memory which was purged, and delete the old objects at once.

        How often the memory was used is gone with it, also for one that took its place since the last compaction.

        Raises
        ------
        Unavailable
            If a store does not answer, or compactions kept coming first; a repeat goes on.
        """
        with telemetry.stage("expunge"):
            for _ in range(ATTEMPTS):
                with suppress(Conflict):
                    return self._expunge(user_id, memory_id)
        raise Unavailable("compactions of this user kept coming first; send the same again")

    def _begin(self, user_id: str) -> tuple[Partition, Records, Head]:
        """Load what is to be compacted; nothing is in it that was purged before the head that a commit will need."""
        for _ in range(ATTEMPTS):
            seen = self._store.read_head(user_id)
            base, records, head = self._partitions.load(user_id)
            if (head.epoch, head.revision) == (seen.epoch, seen.revision):
                return base, records, head
        raise _came_first()

    def _step(
        self, user_id: str, base: Partition, records: Records, head: Head, *, is_forced: bool
    ) -> tuple[Compaction, Partition, Head]:
        """Fold if there is enough, else merge if there is something to merge."""
        entries, touches, newer = self._to_fold(records, head, is_forced=is_forced)
        span: slice | None = slice(len(head.manifest), None)
        if not entries and not touches:
            span = compaction.to_merge(head.manifest, live_rows(base), self._policy)
        if span is None:
            return Compaction(), base, head
        made = folded(base, entries, touches) if entries or touches else merged(base, span)
        try:
            ref, newer, after = self._publisher.publish(user_id, base, newer, span, *made)
        except Conflict as error:
            raise _came_first() from error
        merges = len(head.manifest[span])
        return Compaction(len(entries), len(touches), merges, ref.rows, ref.size), after, newer

    def _to_fold(self, records: Records, head: Head, *, is_forced: bool) -> tuple[list[Entry], list[Touch], Head]:
        now_ms = self._surroundings.now_ms()
        entries, touches, newer = foldable(records, head, self._policy.fold_max_entries, now_ms)
        if compaction.folds(Tail(len(entries), len(touches)), self._policy, is_forced=is_forced):
            return entries, touches, newer
        return [], [], head

    def _archive(self, user_id: str, head: Head) -> int:
        """Archive and delete what the log holds of what the segments hold; tell how many entries."""
        records = [record for record in self._store.read_log(user_id, 0)[0] if not is_after(record, head)]
        entries = [record for record in records if isinstance(record, Entry)]
        if entries:
            place = keys.archive(user_id, head.epoch, entries[-1].seq)
            try:
                self._objects.put_new(place, archive.encode(entries))
            except Conflict:  # archived before and not deleted to the end, or being archived
                entries = self._archived(place, entries)
        gone = [Item("log", keys.entry(entry.seq)) for entry in entries]
        gone += [Item("log", _key(record)) for record in records if isinstance(record, Touch)]
        try:
            for start in range(0, len(gone), DELETES_PER_TRANSACTION):
                self._store.drop_items(user_id, gone[start : start + DELETES_PER_TRANSACTION], head)
        except Conflict:  # what is left goes next time, unless the user was erased meanwhile
            if entries and self._store.read_head(user_id).epoch != head.epoch:
                self._objects.delete([keys.archive(user_id, head.epoch, entries[-1].seq)])
        return len(entries)

    def _collect(self, user_id: str, head: Head) -> int:
        """Delete what nothing refers to, and what no request can still read."""
        present = self._present(user_id)
        present_head = self._store.read_head(user_id)
        if present_head.epoch != head.epoch:
            return 0
        kept = _kept(user_id, present_head, [one.key for one in present])
        return self._delete(compaction.garbage(present, kept, self._surroundings.now_ms() - GARBAGE_AGE_MS))

    def _archived(self, place: str, entries: Sequence[Entry]) -> list[Entry]:
        """Take those of entries that an archive holds."""
        try:
            there = {entry.seq for entry in archive.decode(self._objects.get(place), place)}
        except NotFound:
            return []
        return [entry for entry in entries if entry.seq in there]

    def _expunge(self, user_id: str, memory_id: str) -> None:
        present = self._present(user_id)
        head = self._store.read_head(user_id)
        if not head.epoch or head.erasing_since_ms is not None:
            return
        head = self._publisher.fence(user_id, head)
        doomed = {one.key for one in present} | _segments(user_id, head)
        base, _, seen = self._partitions.load(user_id)
        if (seen.epoch, seen.revision) != (head.epoch, head.revision):
            raise Conflict("a compaction came first")
        head = seen
        for place, segment in enumerate(list(base.segments.values())):
            if segment.rows_of([memory_id])[0] >= 0:
                span = slice(place, place + 1)
                _, head, base = self._publisher.publish(user_id, base, head, span, *merged(base, span, memory_id))
        self._delete(sorted(doomed - _kept(user_id, head, doomed)))

    def _present(self, user_id: str) -> Sequence[StoredObject]:
        return self._objects.list_objects(keys.objects_of(user_id), limit=OBJECTS_MAX)

    def _delete(self, found: Sequence[str]) -> int:
        if found:
            self._objects.delete(found)
        return len(found)


def _came_first() -> Unavailable:
    return Unavailable("another compaction of this user came first; repeat if need be")


def _segments(user_id: str, head: Head) -> set[str]:
    return {keys.segment(user_id, head.epoch, ref.segment_id) for ref in head.manifest}


def _kept(user_id: str, head: Head, present: Collection[str]) -> set[str]:
    """Name the objects that stay: the segments, and of this life of the user all archives and transcripts."""
    others = (keys.archives(user_id, head.epoch), keys.all_transcript_objects(user_id, head.epoch))
    return _segments(user_id, head) | {key for key in present if key.startswith(others)}


def _key(record: Entry | Touch) -> str:
    if isinstance(record, Touch):
        return keys.touch(record.seq, record.at_ms, record.touch_id)
    return keys.entry(record.seq)


def _sum(one: Compaction, other: Compaction) -> Compaction:
    names = [field.name for field in fields(Compaction)]
    return Compaction(**{name: getattr(one, name) + getattr(other, name) for name in names})
