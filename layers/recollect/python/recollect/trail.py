"""The half of the memory controller that tells what was: the versions of a memory, and the log as an audit trail.

Every read refreshes the partition first: it knows which memories there ever were, which of them were purged, and
whether the user is being erased, when there is nothing to tell. A purged memory keeps its trail, without its text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect import archive, folding, keys, replay
from recollect.chunks import ANSWER_MAX_BYTES, answer_bytes
from recollect.commit import Surroundings
from recollect.cursors import read_mark, write_mark
from recollect.erasure import redacted
from recollect.errors import CorruptData, NotFound
from recollect.model import Entry, is_expired
from recollect.object_store import ObjectStore
from recollect.partition import Partition
from recollect.partitions import Partitions
from recollect.ports import MemoryStore, Version
from recollect.replay import Replay


@dataclass(frozen=True, slots=True)
class VersionPage:
    """Some versions of a memory, newest first, and where the next page starts (``None``: nowhere)."""

    versions: tuple[Version, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some entries of a log, and where the next page starts (``None``: nowhere)."""

    entries: tuple[Entry, ...]
    cursor: str | None


class Trail:
    """Reads versions and events."""

    _store: MemoryStore
    _objects: ObjectStore
    _surroundings: Surroundings
    _partitions: Partitions

    def versions(self, user_id: str, memory_id: str, limit: int, cursor: str | None = None) -> VersionPage:
        """List the versions of a memory, newest first; of a deleted one too.

        Raises
        ------
        NotFound
            If the user never had such a memory, or it has expired.
        InvalidInput
            If the cursor is not one of this user and memory.
        """
        listing = ("versions", user_id, memory_id)
        below = None if cursor is None else read_mark(cursor, *listing)
        found = self._versions(user_id, memory_id, below, limit + 1)
        page = _fitting(found[:limit])
        has_more = len(found) > len(page)
        return VersionPage(tuple(page), write_mark(page[-1].memory.version, *listing) if has_more else None)

    def version(self, user_id: str, memory_id: str, number: int) -> Version:
        """Read one version of a memory, of a deleted one too.

        Raises
        ------
        NotFound
            If the user never had such a memory, it has no such version, or it has expired.
        """
        for version in self._versions(user_id, memory_id, number + 1, 1):
            if version.memory.version == number:
                return version
        raise NotFound

    def events(
        self,
        user_id: str,
        limit: int,
        cursor: str | None = None,
        memory_id: str | None = None,
        *,
        is_descending: bool = True,
    ) -> EventPage:
        """List the entries of the log, of all memories, or those that made or ended a version of one.

        Raises
        ------
        InvalidInput
            If the cursor is not one of this user and listing.
        """
        partition = self._partitions.refresh(user_id)
        listing = ("events", user_id, partition.head.epoch, "desc" if is_descending else "asc", memory_id)
        of_all = range(1, partition.head.seq + 1)
        seqs: Sequence[int] = of_all if memory_id is None else self._seqs_of(user_id, partition, memory_id)
        if is_descending:
            seqs = seqs[::-1]
        if cursor is not None:
            seqs = _after(seqs, read_mark(cursor, *listing), is_descending)
        page = seqs[:limit]
        entries = self._entries(user_id, partition, page)
        return EventPage(tuple(entries), write_mark(page[-1], *listing) if len(seqs) > limit else None)

    def replay(
        self, user_id: str, seq: int | None = None, at_ms: int | None = None, *, verifies: bool = False
    ) -> Replay:
        """Tell which memories were there after an entry, or at a time, from the log, its archives and the versions.

        Parameters
        ----------
        seq : int or None
            After this entry; the last one unless said.
        at_ms : int or None
            After the last entry up to this time, instead; epoch milliseconds.
        verifies : bool
            Compare the partition as it is now with what log and versions make of it.

        Raises
        ------
        NotFound
            If there is no such entry, or the user is being erased.
        Unavailable
            If a store does not answer.
        CorruptSegment, CorruptData
            If something stored has another form.
        """
        base, records, head = self._partitions.load(user_id)
        if head.erasing_since_ms is not None or not 0 <= (seq or 0) <= head.seq:
            raise NotFound
        entries = self._entries(user_id, self._partitions.refresh(user_id), range(1, head.seq + 1))
        versions = list(self._store.every_version(user_id))
        if self._store.read_head(user_id).epoch != head.epoch:  # erased meanwhile
            raise NotFound
        last = head.seq if seq is None else seq
        if at_ms is not None:
            last = replay.seq_at(entries, at_ms)
        found = replay.replay([entry for entry in entries if entry.seq <= last], versions, last)
        if not verifies or not head.epoch:
            return found
        expected = replay.rebuilt(entries, versions, base.embedder, base.dimension)
        try:
            wrong = replay.differences(folding.whole(base, records, head), expected)
        except CorruptData as error:
            wrong = [f"the partition: {error.message}"]
        return replace(found, disagreements=(*found.disagreements, *wrong))

    def _seqs_of(self, user_id: str, partition: Partition, memory_id: str) -> list[int]:
        last = partition.last_seq_of(memory_id)
        if last is None:
            return []
        # A purge after a delete ended no version; of a memory that is there, the last may be of an embedding.
        is_gone = partition.version_of(memory_id) is None
        return sorted({*self._store.seqs_of(user_id, memory_id), *([last] if is_gone else [])})

    def _entries(self, user_id: str, partition: Partition, seqs: Sequence[int]) -> list[Entry]:
        """Read entries from the log, and those that are not there any more from its archives."""
        found = {entry.seq: entry for entry in self._store.read_entries(user_id, seqs)} if seqs else {}
        missing = sorted(seq for seq in seqs if seq not in found)
        if missing:
            found |= self._archived(user_id, partition, missing)
        return [found[seq] for seq in seqs if seq in found]

    def _archived(self, user_id: str, partition: Partition, missing: Sequence[int]) -> dict[int, Entry]:
        """Read archived entries, with the hashes of those that were purged since."""
        epoch = partition.head.epoch
        found: dict[int, Entry] = {}
        place = ""
        while left := [seq for seq in missing if seq not in found]:
            after = max(place, keys.archive(user_id, epoch, left[0] - 1))
            places = self._objects.list_objects(keys.archives(user_id, epoch), after, 1)
            if not places:
                break
            place = places[0].key
            found |= {entry.seq: entry for entry in archive.decode(self._objects.get(place), place)}
        found = {seq: found[seq] for seq in missing if seq in found}
        purged = sorted(partition.purged() & {entry.memory_id for entry in found.values()})
        hash_of = {
            (memory_id, version.memory.version): version.content_hash
            for memory_id in purged
            for version in self._store.versions(user_id, memory_id, None, keys.VERSION_MAX)
        }
        return {
            seq: replace(entry, content_hash=hash_of.get((entry.memory_id, entry.version), entry.content_hash))
            for seq, entry in found.items()
        }

    def _versions(self, user_id: str, memory_id: str, below: int | None, limit: int) -> list[Version]:
        partition = self._partitions.refresh(user_id)
        if partition.last_version_of(memory_id) is None:
            raise NotFound
        is_purged = partition.is_purged(memory_id)
        newest = self._newest(user_id, memory_id)
        if newest is None:  # the user was erased in the meantime
            raise NotFound
        if is_expired(newest.memory.expires_at_ms, self._surroundings.now_ms()) and not is_purged:
            raise NotFound
        found: list[Version] = []
        if below is None or newest.memory.version < below:
            found.append(newest)
            below = newest.memory.version
        if len(found) < limit:
            found += self._store.versions(user_id, memory_id, below, limit - len(found))
        return [redacted(version) for version in found] if is_purged else found

    def _newest(self, user_id: str, memory_id: str) -> Version | None:
        # The present one first: an update that comes between the two reads then shows as a version more, not less.
        present = self._store.fetch(user_id, (memory_id,)).get(memory_id)
        if present is not None:
            return Version(present)
        return next(iter(self._store.versions(user_id, memory_id, None, 1)), None)


def _after(seqs: Sequence[int], last: int, is_descending: bool) -> Sequence[int]:
    return [seq for seq in seqs if (seq < last if is_descending else seq > last)]


def _fitting(versions: Sequence[Version]) -> Sequence[Version]:
    used = 0
    for number, version in enumerate(versions):
        used += answer_bytes(version.memory)
        if used > ANSWER_MAX_BYTES and number:
            return versions[:number]
    return versions
