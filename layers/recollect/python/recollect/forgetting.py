"""The part of the memory controller that lets memories forget a transcript which goes. Talks; `citing` decides.

Commits as many memories at once as fit, until none cites the transcript any more; it may die anywhere and be called
again. What a purge that died has left shows when the partition is loaded anew: rows of a memory that is purged.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from recollect import citing, telemetry
from recollect.changes import Decision, Embeddings, Outcome
from recollect.chunks import fits
from recollect.commit import Request, commit_embedding
from recollect.consolidating import deriving
from recollect.erasing import Erasing
from recollect.errors import StaleVersion
from recollect.model import Memory
from recollect.partition import Partition

AT_ONCE = 32  # memories of one transaction


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What became of the memories that cited a transcript, in one call.

    Parameters
    ----------
    deleted, released : int
        Memories that are gone, and those that have only lost the reference.
    is_done : bool
        Whether no memory cites the transcript any more.
    """

    deleted: int
    released: int
    is_done: bool


class Forgetting(Erasing):
    """Takes references to transcripts away."""

    def forget_transcript(
        self, request: Request, transcript_id: str, *, cascade: bool, purge: bool = False, deadline_ms: int
    ) -> Forgotten:
        """Let no memory cite a transcript any more, as far as the time allows; call again until it is done.

        Memories of every status lose the reference. Earlier versions keep it.

        Parameters
        ----------
        request : Request
            Whose, by whom; not under an idempotency key.
        cascade : bool
            Whether memories that cite no other transcript are deleted.
        purge : bool
            Whether those are purged instead, one by one; each may take as long as `purge`.
        deadline_ms : int
            Epoch milliseconds at which nothing more is begun.

        Raises
        ------
        Conflict
            If the user was erased since the epoch of the request.
        Unavailable
            If the store does not answer, or others kept coming first; a repeat goes on.
        """
        request = replace(request, idempotency_key=None)
        purges = cascade and purge
        counts: Counter[str] = Counter()
        with telemetry.stage("forget"):
            unfinished = self._half_purged(request.user_id, transcript_id) if purges else []
            while (found := self._citing(request.user_id, transcript_id)) or unfinished:
                if self._is_past(deadline_ms):
                    break
                if unfinished:
                    self.purge(request, unfinished.pop())
                elif purges and (memory := self._alone(request.user_id, found, transcript_id)):
                    with suppress(StaleVersion):  # it was changed since it was read
                        counts[self.purge(request, memory.memory_id, memory.version).outcome] += 1
                else:
                    outcomes = self._forget(request, found, transcript_id, cascade=cascade, spares_alone=purges)
                    counts.update(outcome.outcome for outcome in outcomes)
        return Forgotten(counts["deleted"] + counts["purged"], counts["updated"], is_done=not found and not unfinished)

    def _forget(
        self, request: Request, memory_ids: Sequence[str], transcript_id: str, *, cascade: bool, spares_alone: bool
    ) -> tuple[Outcome, ...]:
        def reads(partition: Partition) -> list[str]:
            return deriving.family(partition, memory_ids)

        def decide(partition: Partition, memories: Mapping[str, Memory], embeddings: Embeddings) -> Decision:
            now_ms = self._surroundings.now_ms()
            some = [memories[one] for one in memory_ids if one in memories]
            if spares_alone:
                some = [one for one in some if not citing.cites_only(one, transcript_id)]
            while True:
                own = citing.forget(partition, some, transcript_id, deletes=cascade, now_ms=now_ms)
                decision = deriving.following(partition, memories, own, embeddings, now_ms)
                if len(some) <= 1 or fits(decision.changes):
                    return decision
                some = some[: len(some) // 2]

        return commit_embedding(self._committer, self._embedder, request, decide, reads=reads)

    def _alone(self, user_id: str, memory_ids: Sequence[str], transcript_id: str) -> Memory | None:
        """Find one that cites no other transcript."""
        found = self._store.fetch(user_id, memory_ids)
        memories = (found[memory_id] for memory_id in memory_ids if memory_id in found)
        return next((memory for memory in memories if citing.cites_only(memory, transcript_id)), None)

    def _citing(self, user_id: str, transcript_id: str) -> list[str]:
        return citing.who_cites(self._partitions.refresh(user_id), transcript_id, AT_ONCE)

    def _half_purged(self, user_id: str, transcript_id: str) -> list[str]:
        self._partitions.forget(user_id)
        return citing.half_purged(self._partitions.refresh(user_id), transcript_id)
