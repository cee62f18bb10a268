"""The half of the memory controller that makes text and users go away for good. Talks; `erasure` decides.

A purge is a commit, after which nothing reads the memory any more, and then a redaction of what the table still holds
of it. An erasure first fences the user's head: from then on there is nothing to read, and every commit that was in
flight fails on its condition. It waits for the touches of searches in flight; one that comes later still is void, and
goes by its time to live. Then it deletes, in steps that each move the head, so that nothing is counted twice and a
process that was asleep cannot delete what a later life of the user has written: items in the transaction that moves the
head; objects after it, which is as safe because their keys are never used twice. Both may die anywhere and be called
again, or run twice at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recollect import erasure, keys, telemetry
from recollect.changes import Decision, Embeddings, Outcome
from recollect.commit import MAX_ATTEMPTS, MAX_WAIT_S, Committer, Request, Surroundings, commit_embedding
from recollect.compacting import Compactor
from recollect.consolidating import deriving
from recollect.consolidating.purging import Doomed, Purging
from recollect.erasure import OBJECTS, Erasure, ErasureState
from recollect.errors import Conflict, NotFound, Unavailable
from recollect.model import Entry, Head, Memory, is_memory_id
from recollect.object_store import ObjectStore, ObjectVersion
from recollect.partition import Partition
from recollect.partitions import Partitions
from recollect.ports import Embedder, Item, MemoryStore, Version

BUDGET_MS = 15_000  # of the 29 s that a request may take
COUNT_BUDGET_MS = 5_000
SETTLING_MS = 3_000  # after the fence, for searches in flight to keep their touches; see writing.TOUCH_WITHIN_MS
ITEMS_PER_READ = 500
ITEMS_PER_DELETE = 25  # the largest memories with their entries fit the 4 MB of a transaction
OBJECTS_PER_DELETE = 1_000
OBJECTS_PER_COUNT = 20_000
VERSIONS_PER_READ = 20


class Erasing:
    """Purges memories and erases users."""

    _store: MemoryStore
    _objects: ObjectStore
    _surroundings: Surroundings
    _partitions: Partitions
    _committer: Committer
    _embedder: Embedder
    _compactor: Compactor

    def epoch_of(self, user_id: str) -> str | None:
        """Name the present life of the user's partition; nothing if there is none, or it is being erased.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        head = self._store.read_head(user_id)
        return head.epoch if head.epoch and head.erasing_since_ms is None else None

    def purge(self, request: Request, memory_id: str, expected_version: int | None = None) -> Outcome:
        """Hide one memory at once, as a delete, and redact its text everywhere; deleted ones too.

        With it goes every memory that was ever made of it, and what a derived memory was made of; of what else those
        held another memory is made.

        Raises
        ------
        NotFound
            If the user never had such a memory.
        StaleVersion
            If the memory is at another version than expected, and not purged yet.
        Unavailable
            If the store does not answer, or the memory has more versions than fit the time. The memory is hidden, or
            it is as it was; a repeat completes the redaction.
        """
        if not is_memory_id(memory_id):
            raise NotFound
        deadline = self._surroundings.now_ms() + BUDGET_MS
        doomed = Doomed()  # in the present attempt

        def reads(partition: Partition) -> list[str]:
            nonlocal doomed
            doomed = self._doomed(request.user_id, partition, memory_id)
            return deriving.family(partition, doomed.memory_ids)

        def decide(partition: Partition, memories: Mapping[str, Memory], embeddings: Embeddings) -> Decision:
            now_ms = self._surroundings.now_ms()
            primary = erasure.purge(partition, memory_id, memories.get(memory_id), expected_version, now_ms)
            return Purging(partition, memories, doomed, embeddings, self._surroundings.new_id, now_ms).with_all(primary)

        outcomes: tuple[Outcome, ...] = ()
        while not outcomes:  # more was made of it than one transaction holds
            outcomes = commit_embedding(self._committer, self._embedder, request, decide, reads=reads)
        if not doomed.own:  # a stored answer was found, and the request that it was given to may have died since
            doomed = self._doomed(request.user_id, self._partitions.refresh(request.user_id), memory_id)
        with telemetry.stage("redact"):
            for one in doomed.memory_ids:  # the last one is the one that tells which the others are
                versions = self._redact_versions(request.user_id, one, deadline)
                self._redact_entries(request.user_id, one, versions, deadline)
                self._compactor.expunge(request.user_id, one)
        return outcomes[-1]

    def erase(self, user_id: str) -> Erasure:
        """Delete everything of a user, as far as the time allows; call again until it is done.

        Raises
        ------
        Unavailable
            If the store does not answer, or others kept coming first; a repeat goes on.
        """
        deadline = self._surroundings.now_ms() + BUDGET_MS
        self._partitions.forget(user_id)
        with telemetry.stage("erase"):
            head = self._fenced(user_id)
            if head is None:
                return self._erased(Head())
            self._settle(head)
            while True:
                if versions := self._versions_of_objects(user_id, OBJECTS_PER_DELETE):
                    head, is_over = self._erase_objects(user_id, head, versions)
                elif items := self._store.items(user_id, ITEMS_PER_READ):
                    head, is_over = self._erase_items(user_id, head, items, deadline)
                else:
                    break
                if is_over:
                    return self._erased(head)
                if self._is_past(deadline):
                    counts, is_partial = self._count(user_id)
                    return self._progress(ErasureState.ERASING, head.erased, sum(counts.values()), is_partial)
            self._end(user_id, head)
            return self._erased(head)

    def count_erasable(self, user_id: str) -> Erasure:
        """Count what an erasure would delete, and delete nothing.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        counts, is_partial = self._count(user_id)
        return self._progress(ErasureState.COUNTED, counts, sum(counts.values()), is_partial)

    def _doomed(self, user_id: str, partition: Partition, memory_id: str) -> Doomed:
        """Find what goes with a memory: what it was made of, and all that was ever made of one of those."""
        kept = self._ever(user_id, memory_id)
        sources = kept[0].derived_from if kept else ()
        derived: dict[str, None] = {}
        for one in (*sources, memory_id):
            derived |= dict.fromkeys(partition.derived_from(one))
            ever = kept if one == memory_id else self._ever(user_id, one)
            derived |= {memory.consolidated_into: None for memory in ever if memory.consolidated_into is not None}
        known = [one for one in derived if one != memory_id and partition.last_version_of(one) is not None]
        return Doomed(
            tuple(known), (*(one for one in sources if partition.last_version_of(one) is not None), memory_id)
        )

    def _ever(self, user_id: str, memory_id: str) -> list[Memory]:
        """Read a memory as it is, if it is there, and as it ever was, newest first."""
        memories = list(self._store.fetch(user_id, (memory_id,)).values())
        below: int | None = None
        while versions := self._store.versions(user_id, memory_id, below, VERSIONS_PER_READ):
            memories += [version.memory for version in versions]
            below = versions[-1].memory.version
        return memories

    def _redact_versions(self, user_id: str, memory_id: str, deadline: int) -> list[Version]:
        all_redacted: list[Version] = []
        below: int | None = None
        while versions := self._store.versions(user_id, memory_id, below, VERSIONS_PER_READ):
            for version in versions:
                all_redacted.append(erasure.redacted(version))
                if all_redacted[-1] != version:
                    self._check_time(deadline)
                    self._store.redact_version(user_id, all_redacted[-1])
            below = versions[-1].memory.version
        return all_redacted

    def _redact_entries(self, user_id: str, memory_id: str, versions: Sequence[Version], deadline: int) -> None:
        """Redact what the log holds of a memory: entries that made a version of it, or embedded one."""
        hash_of = {version.memory.version: version.content_hash for version in versions}
        for entry in self._store.read_log(user_id, 0)[0]:
            if isinstance(entry, Entry) and entry.memory_id == memory_id and entry.columns is not None:
                self._check_time(deadline)
                redacted = replace(entry, columns=None, content_hash=hash_of.get(entry.version))
                self._store.redact_entry(user_id, redacted)

    def _fenced(self, user_id: str) -> Head | None:
        """Make sure that the user's erasure has begun; ``None`` if there is nothing to erase."""
        for _ in range(MAX_ATTEMPTS):
            seen = self._store.read_head(user_id)
            if seen.erasing_since_ms is not None:
                return seen
            if not seen.epoch and not self._keeps_anything(user_id):
                return None
            head = erasure.erasing_head(seen, self._surroundings.new_id(), self._surroundings.now_ms())
            try:
                self._store.begin_erasure(user_id, head, seen)
            except Conflict:
                self._wait()
            else:
                return head
        raise Unavailable("other writers of this user kept coming first; retry later")

    def _settle(self, head: Head) -> None:
        left_ms = (head.erasing_since_ms or 0) + SETTLING_MS - self._surroundings.now_ms()
        if left_ms > 0:
            self._surroundings.sleep(left_ms / 1000)

    def _erase_objects(self, user_id: str, head: Head, versions: Sequence[ObjectVersion]) -> tuple[Head, bool]:
        """Count and delete objects, unless another call comes first; tell whether the erasure is over."""
        newer = erasure.claiming(head, versions)
        try:
            self._store.erase_items(user_id, (), newer, head)
        except Conflict:
            return self._overtaken(user_id, head)
        self._objects.delete_versions(versions)
        return newer, False

    def _erase_items(self, user_id: str, head: Head, items: list[Item], deadline: int) -> tuple[Head, bool]:
        """Delete items until the time is over or another call comes first; tell whether the erasure is over."""
        for start in range(0, len(items), ITEMS_PER_DELETE):
            batch = items[start : start + ITEMS_PER_DELETE]
            newer = erasure.erased_with(head, batch)
            try:
                self._store.erase_items(user_id, batch, newer, head)
            except Conflict:
                return self._overtaken(user_id, head)
            head = newer
            if self._is_past(deadline):
                break
        return head, False

    def _overtaken(self, user_id: str, head: Head) -> tuple[Head, bool]:
        """Read how far another call has brought the erasure; tell whether it is over."""
        self._wait()
        present = self._store.read_head(user_id)
        return (present, False) if present.epoch == head.epoch else (head, True)

    def _end(self, user_id: str, head: Head) -> None:
        try:
            self._store.end_erasure(user_id, head)
        except Conflict as error:
            if self._store.read_head(user_id).epoch == head.epoch:
                raise Unavailable("another call is erasing this user; retry later") from error
        if self._keeps_anything(user_id) and not self._store.read_head(user_id).epoch:
            raise Unavailable("something was kept of this user in the meantime; call DELETE again")

    def _count(self, user_id: str) -> tuple[dict[str, int], bool]:
        deadline = self._surroundings.now_ms() + COUNT_BUDGET_MS
        counts = erasure.counts_of(())
        last: Item | None = None
        while items := self._store.items(user_id, ITEMS_PER_READ, last):
            last = items[-1]
            counts = {kind: counts[kind] + count for kind, count in erasure.counts_of(items).items()}
            if self._is_past(deadline):
                return counts, True
        counts[OBJECTS] = len(self._versions_of_objects(user_id, OBJECTS_PER_COUNT))
        return counts, counts[OBJECTS] == OBJECTS_PER_COUNT

    def _versions_of_objects(self, user_id: str, limit: int) -> Sequence[ObjectVersion]:
        return self._objects.list_versions(keys.objects_of(user_id), limit)

    def _keeps_anything(self, user_id: str) -> bool:
        return bool(self._store.items(user_id, 1) or self._versions_of_objects(user_id, 1))

    def _erased(self, head: Head) -> Erasure:
        return self._progress(ErasureState.ERASED, {**erasure.counts_of(()), **head.erased}, 0, is_partial=False)

    def _progress(self, state: ErasureState, counts: Mapping[str, int], left: int, is_partial: bool) -> Erasure:
        return Erasure(state, counts, left, is_partial, self._surroundings.now_ms())

    def _wait(self) -> None:
        self._surroundings.sleep(self._surroundings.random() * MAX_WAIT_S)

    def _is_past(self, deadline: int) -> bool:
        return self._surroundings.now_ms() >= deadline

    def _check_time(self, deadline: int) -> None:
        if self._is_past(deadline):
            raise Unavailable("the memory is hidden, and its text not gone everywhere yet; send the same again")
