"""The step of maintenance that embeds what is pending, batch by batch, while there is time. Talks; `pending` decides.

Each batch is read, embedded and committed for itself, so that whatever ends a run loses one batch at most, and the next
run goes on where it ended. Writers come first: a memory that they change meanwhile is left to the next batch or run.
"""

from collections.abc import Mapping

from recollect import pending, telemetry
from recollect.changes import Decision, Embedded, Outcome
from recollect.commit import Committer, Request, Surroundings
from recollect.errors import Unavailable
from recollect.maintenance import Run, StepReport
from recollect.model import Memory
from recollect.partition import Partition
from recollect.partitions import Partitions
from recollect.ports import Embedder, MemoryStore


class Reembedding:
    """Embeds what another embedder has embedded, or none yet."""

    def __init__(
        self,
        store: MemoryStore,
        partitions: Partitions,
        committer: Committer,
        embedder: Embedder,
        surroundings: Surroundings,
    ) -> None:
        self._store = store
        self._partitions = partitions
        self._committer = committer
        self._embedder = embedder
        self._now_ms = surroundings.now_ms

    def run(self, user_id: str, run: Run) -> StepReport:
        """Embed as many as the time allows; see ``maintenance.Step``.

        Raises
        ------
        Conflict
            If the user was erased meanwhile.
        Unavailable
            If a store does not answer before anything was done.
        """
        waiting = self._waiting(user_id)
        if run.is_dry_run:
            return StepReport(looked_at=waiting, changed=waiting)
        with telemetry.stage("re-embed"):
            outcomes, failure = self._embed_all(user_id, run)
        changed = sum(outcome.outcome == pending.EMBEDDED for outcome in outcomes)
        skipped = len(outcomes) - changed
        left = waiting - changed if failure else self._waiting(user_id)
        return StepReport(
            looked_at=waiting,
            changed=changed,
            skipped={"changed meanwhile": skipped} if skipped else {},
            counts={"pending": left},
            is_done=not left,
            failure=failure,
        )

    def _embed_all(self, user_id: str, run: Run) -> tuple[list[Outcome], str | None]:
        """Embed batch after batch; tell what ended it early other than the time."""
        outcomes: list[Outcome] = []
        slowest_ms = 0
        try:
            while True:
                began_ms = self._now_ms()
                decided = {outcome.memory_id for outcome in outcomes}
                chosen = pending.batch(self._partitions.refresh(user_id), decided, began_ms)
                if not chosen or began_ms + slowest_ms >= run.deadline_ms:
                    return outcomes, None
                outcomes += self._embed(user_id, run, chosen)
                slowest_ms = max(slowest_ms, self._now_ms() - began_ms)
        except Unavailable as error:
            return outcomes, error.message

    def _embed(self, user_id: str, run: Run, chosen: list[str]) -> tuple[Outcome, ...]:
        found = self._store.fetch(user_id, chosen)
        memories = [found[memory_id] for memory_id in chosen if memory_id in found]
        vectors = self._embedder.embed([memory.content for memory in memories]) if memories else ()
        name = self._embedder.name
        ready = {
            memory.memory_id: (memory, Embedded(vector, name)) for memory, vector in zip(memories, vectors, strict=True)
        }

        def decide(partition: Partition, _: Mapping[str, Memory]) -> Decision:
            return pending.embed(partition, chosen, ready, self._now_ms())

        request = Request(user_id, by="maintenance", epoch=run.epoch)
        return self._committer.commit(request, decide, reads=lambda _: ())  # a version's content never changes

    def _waiting(self, user_id: str) -> int:
        return int(self._partitions.refresh(user_id).pending(self._now_ms()).sum())
