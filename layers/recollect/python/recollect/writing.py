"""The half of the memory controller that changes memories: embed first, then one commit."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields

from recollect import changes, citing, due, storing, telemetry, undoing
from recollect.changes import Decision, Embedded, NotEmbedded, Outcome, Patch
from recollect.chunks import CHANGES_MAX_COUNT
from recollect.commit import MAX_ATTEMPTS, Committer, Decide, Reads, Request, Surroundings, chain_of, commit_following
from recollect.compacting import Compactor
from recollect.consolidating import deriving
from recollect.errors import Conflict, NotFound, StaleVersion, Unavailable
from recollect.flags import flags_of
from recollect.mending import Mender
from recollect.model import Memory, NewMemory, Touch, is_expired
from recollect.nominating import Asked, Nominations, OnSimilar, ToStore, nominate
from recollect.object_store import ObjectStore
from recollect.partition import Partition
from recollect.partitions import Partitions
from recollect.ports import Embedder, MemoryStore
from recollect.trail import Trail
from recollect.undoing import Resolution

TOUCH_WITHIN_MS = 1_000  # since the head was read, so that an erasure need not wait long for touches in flight
TOUCH_TTL_S = 90 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Workings:
    """What a controller works with, so that others can work beside it with the same."""

    store: MemoryStore
    objects: ObjectStore
    embedder: Embedder
    partitions: Partitions
    committer: Committer
    compactor: Compactor
    surroundings: Surroundings


class Writing(Trail):
    """Stores, changes, deletes and restores memories.

    Parameters
    ----------
    store : MemoryStore
    objects : ObjectStore
    embedder : Embedder
    surroundings : Surroundings
        Time, ids, randomness, waiting.
    budget_bytes : int
        How much memory the warm partitions may take.
    """

    def __init__(
        self,
        store: MemoryStore,
        objects: ObjectStore,
        embedder: Embedder,
        surroundings: Surroundings,
        budget_bytes: int,
    ) -> None:
        self._store = store
        self._objects = objects
        self._embedder = embedder
        self._surroundings = surroundings
        self._partitions = Partitions(store, objects, embedder, surroundings.now_ms, budget_bytes)
        self._compactor = Compactor(store, objects, self._partitions, surroundings)
        self._partitions.mend = Mender(store, objects, embedder, surroundings).mend
        self._committer = Committer(store, self._partitions, surroundings, embedder.name, embedder.dimension)

    @property
    def workings(self) -> Workings:
        """What it works with."""
        return Workings(
            self._store,
            self._objects,
            self._embedder,
            self._partitions,
            self._committer,
            self._compactor,
            self._surroundings,
        )

    def store(self, request: Request, new: Sequence[ToStore]) -> tuple[Outcome, ...]:
        """Store memories, each reconciled with what is there as it asks.

        While the embedder does not answer they are stored all the same, without an embedding, which maintenance makes
        later; only what is word for word the same is not stored again.

        Returns
        -------
        tuple of Outcome
            One for each of `new`, in order; ``rejected`` and ``missing`` are outcomes too.

        Raises
        ------
        InvalidInput
            If the idempotency key was used for another request.
        Unavailable
            If the store does not answer; or the embedder, and a memory is to be rejected when a similar one is
            there, or was merged. Of several memories some may be stored by then; a repeat finds them `unchanged`.
        """
        stored = self._committer.stored_answer(request)
        if stored is not None:
            return stored
        asked = self._asked(new)
        outcomes: tuple[Outcome, ...] = ()
        while len(outcomes) < len(asked):
            window = asked[len(outcomes) : len(outcomes) + storing.WINDOW_MAX_COUNT]
            outcomes = self._store_window(request, window, outcomes, len(asked))
        both = zip(new, outcomes, strict=True)
        said_again = [outcome.memory_id for one, outcome in both if citing.is_use(one.memory, outcome)]
        self._reinforce(request.user_id, said_again, is_said_again=True)
        return outcomes

    def update(self, request: Request, memory_id: str, patch: Patch, expected_version: int | None = None) -> Outcome:
        """Change one memory; its earlier version is kept.

        Parameters
        ----------
        expected_version : int or None
            The version that the caller has seen, if it must still be the present one.

        Raises
        ------
        NotFound
            If the user has no such memory.
        StaleVersion
            If the memory is at another version than expected.
        Conflict
            If another memory is the same statement already.
        Unavailable
            If the store or the embedder does not answer.
        """
        content = patch.values.get("content")
        embedded = self._embed([content])[0] if content is not None else None

        def decide(partition: Partition, memories: Mapping[str, Memory]) -> Decision:
            memory = self._present(memories, memory_id, expected_version)
            return changes.update(partition, memory, patch, embedded, self._surroundings.now_ms())

        return self._commit_all(request, decide, _these(memory_id))[-1]

    def delete(self, request: Request, memory_id: str, expected_version: int | None = None) -> Outcome:
        """Hide one memory at once and everywhere; its last version is kept.

        Raises
        ------
        NotFound
            If the user has no such memory.
        StaleVersion
            If the memory is at another version than expected.
        Unavailable
            If the store does not answer.
        """

        def decide(_: Partition, memories: Mapping[str, Memory]) -> Decision:
            memory = self._present(memories, memory_id, expected_version)
            return changes.delete(memory, self._surroundings.now_ms())

        return self._commit_all(request, decide, _these(memory_id))[-1]

    def restore(self, request: Request, memory_id: str, version: int) -> Outcome:
        """Make an earlier version of a memory the present one again, also after a delete.

        Raises
        ------
        NotFound
            If there is no such version, or it was purged.
        Conflict
            If another memory is the same statement already, or the version has expired.
        Unavailable
            If the store or the embedder does not answer.
        """
        stored = self._committer.stored_answer(request)
        if stored is not None:
            return stored[-1]
        wanted = self._unredacted(request.user_id, memory_id, version)
        embedded = self._embed([wanted.content])[0]
        last = wanted  # the last version, in the present attempt

        def reads(_: Partition) -> list[str]:
            nonlocal last
            newest = self._newest(request.user_id, memory_id)
            last = wanted if newest is None else newest.memory
            links = (last.supersedes, last.superseded_by, *last.conflicts_with)
            return [memory_id, *(one for one in links if one is not None)]

        def decide(partition: Partition, memories: Mapping[str, Memory]) -> Decision:
            return undoing.restore(partition, memories, last, wanted, embedded, self._surroundings.now_ms())

        return self._commit_all(request, decide, reads)[-1]

    def unmerge(self, request: Request, memory_id: str) -> tuple[Outcome, ...]:
        """Take apart what the present version of a memory merged, or what one was made of: several memories again.

        Raises
        ------
        NotFound
            If the user has no such memory.
        Conflict
            If the present version merged nothing, or one of the two is stored elsewhere by now.
        Unavailable
            If the store or the embedder does not answer.
        """
        for _ in range(MAX_ATTEMPTS):
            with suppress(StaleVersion):  # it was changed since it was read
                return self._unmerge_as_read(request, memory_id)
        raise Unavailable("other writers of this memory kept coming first; retry later", retry_after_s=1)

    def resolve(self, request: Request, memory_id: str, other_id: str, resolution: Resolution) -> tuple[Outcome, ...]:
        """Settle a conflict between two memories.

        Raises
        ------
        NotFound
            If the user has not both.
        Conflict
            If the two are not in conflict, or one of them is not active and more is asked than to keep both.
        Unavailable
            If the store does not answer.
        """

        def reads(_: Partition) -> list[str]:
            return [of for one in (memory_id, other_id) for of in chain_of(self._store, request.user_id, one)]

        def decide(partition: Partition, memories: Mapping[str, Memory]) -> Decision:
            this, other = (self._present(memories, one) for one in (memory_id, other_id))
            return undoing.resolve(partition, memories, this, other, resolution, self._surroundings.now_ms())

        return self._committer.commit(request, decide, reads=reads, expected=2)

    def _unmerge_as_read(self, request: Request, memory_id: str) -> tuple[Outcome, ...]:
        found = self._store.fetch(request.user_id, (memory_id,)).get(memory_id)
        stored = self._committer.stored_answer(request)  # not before: see `Committer.commit`
        if stored is not None:
            return stored
        memory = self._unexpired(found)
        if memory.derived_from and memory.merged_content is None:
            return self._take_apart(request, memory)
        new = undoing.taken_out(memory, self._surroundings.new_id(), self._surroundings.now_ms())
        earlier = self._unredacted(request.user_id, memory_id, memory.version - 1)
        contents = (new.content, earlier.content)
        embedded = dict(zip(contents, self._embed(contents), strict=True))

        def decide(partition: Partition, memories: Mapping[str, Memory]) -> Decision:
            present = self._present(memories, memory_id, memory.version)
            return undoing.unmerge(partition, present, earlier, new, embedded, self._surroundings.now_ms())

        return self._committer.commit(request, decide, reads=_these(memory_id), expected=2)

    def _take_apart(self, request: Request, derived: Memory) -> tuple[Outcome, ...]:
        def decide(partition: Partition, memories: Mapping[str, Memory]) -> Decision:
            present = self._present(memories, derived.memory_id, derived.version)
            return deriving.taken_apart(partition, memories, present, self._surroundings.now_ms())

        return self._committer.commit(
            request, decide, reads=lambda partition: deriving.family(partition, [derived.memory_id])
        )

    def _commit_all(self, request: Request, decide: Decide, reads: Reads) -> tuple[Outcome, ...]:
        return commit_following(
            self._committer, self._embedder, request, decide, reads=reads, now_ms=self._surroundings.now_ms
        )

    def _store_window(
        self, request: Request, window: Sequence[Asked], earlier: tuple[Outcome, ...], expected: int
    ) -> tuple[Outcome, ...]:
        merged: dict[str, Embedded] = {}
        nominations = Nominations()  # of the present attempt

        def reads(partition: Partition) -> list[str]:
            nonlocal nominations
            nominations = nominate(partition, window, self._surroundings.now_ms())
            return nominations.needed

        def decide(partition: Partition, memories: Mapping[str, Memory]) -> Decision:
            return storing.store(partition, memories, nominations, merged)

        while True:
            try:
                return self._committer.commit(request, decide, reads=reads, earlier=earlier, expected=expected)
            except NotEmbedded as error:
                merged[error.text] = self._embed([error.text])[0]

    def _reinforce(self, user_id: str, memory_ids: Sequence[str], *, is_said_again: bool = False) -> None:
        """Count a use of memories, with one item; a use is not worth failing for."""
        if not memory_ids:
            return
        try:
            partition = self._partitions.recent(user_id, TOUCH_WITHIN_MS)
            known = tuple(dict.fromkeys(partition.known(memory_ids)))
            now_ms = self._surroundings.now_ms()
            touch = Touch(
                touch_id=self._surroundings.new_id(),
                seq=partition.head.seq,
                at_ms=now_ms,
                memory_ids=known,
                is_said_again=is_said_again,
            )
            if known:
                self._store.touch(user_id, touch, now_ms // 1000 + TOUCH_TTL_S)
                self._make_due(user_id, partition)
        except Unavailable:
            telemetry.count("lost_touches")

    def _make_due(self, user_id: str, partition: Partition) -> None:
        """Let what a use has shown to be pressing be done soon."""
        now_s = self._surroundings.now_ms() // 1000
        due_at_s = due.after_touch(partition.head, partition.touches + 1, self._embedder.name, now_s)
        if due_at_s != partition.head.due_at_s:
            with suppress(Conflict):  # the next use says it
                self._store.schedule(user_id, due_at_s, partition.head)

    def _revive(self, request: Request, memory_ids: Sequence[str]) -> None:
        """Make archived memories active that were asked for; it is tried once, and not worth failing for."""
        if not memory_ids:
            return

        def decide(partition: Partition, memories: Mapping[str, Memory]) -> Decision:
            return undoing.revive(partition, memories, self._surroundings.now_ms())

        try:
            for start in range(0, len(memory_ids), CHANGES_MAX_COUNT):
                some = memory_ids[start : start + CHANGES_MAX_COUNT]
                self._committer.commit(request, decide, reads=_these(*some), attempts=1)
        except (Conflict, Unavailable):
            telemetry.count("lost_revivals")

    def _asked(self, new: Sequence[ToStore]) -> list[Asked]:
        now_ms = self._surroundings.now_ms()
        embedded: Sequence[Embedded | None]
        try:
            embedded = self._embed([one.memory.content for one in new])
        except Unavailable:
            if any(one.on_similar is OnSimilar.REJECT for one in new):
                raise  # nobody can tell whether it is similar
            embedded = [None] * len(new)
            telemetry.count("pending_embeddings", len(new))
        return [
            Asked(_memory(one.memory, self._surroundings.new_id(), now_ms), vector, one.on_similar, one.supersedes)
            for one, vector in zip(new, embedded, strict=True)
        ]

    def _embed(self, texts: Sequence[str]) -> Sequence[Embedded]:
        with telemetry.stage("embed"):
            vectors = self._embedder.embed(texts)
        return [Embedded(vector, self._embedder.name) for vector in vectors]

    def _unredacted(self, user_id: str, memory_id: str, number: int) -> Memory:
        version = self.version(user_id, memory_id, number)
        if version.content_hash is not None:
            raise NotFound
        return version.memory

    def _present(self, memories: Mapping[str, Memory], memory_id: str, expected_version: int | None = None) -> Memory:
        memory = self._unexpired(memories.get(memory_id))
        if expected_version is not None and memory.version != expected_version:
            raise StaleVersion(f"the memory is at version {memory.version}; read it again, then decide")
        return memory

    def _unexpired(self, memory: Memory | None) -> Memory:
        if memory is None or is_expired(memory.expires_at_ms, self._surroundings.now_ms()):
            raise NotFound
        return memory


def _memory(asked: NewMemory, memory_id: str, now_ms: int) -> Memory:
    values = {field.name: getattr(asked, field.name) for field in fields(NewMemory)}
    flags = flags_of(asked.content, asked.actor)
    return Memory(memory_id=memory_id, created_at_ms=now_ms, updated_at_ms=now_ms, flags=flags, **values)


def _these(*memory_ids: str) -> Callable[[Partition], Sequence[str]]:
    return lambda _: memory_ids
