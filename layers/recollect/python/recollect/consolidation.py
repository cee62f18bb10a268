"""The step of maintenance that makes one memory out of several that overlap. Talks; ``consolidating`` decides.

Cluster after cluster, each in one commit, decided on what was read before the text was made: where a writer changed one
of the memories meanwhile, nothing is done about the cluster in this run. What was stored meanwhile is left as it is. A
reply of a model that cannot be used leaves its cluster as it is; the others go on, and the step reports the failure.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recollect.budget import BudgetUsedUp, TokenBudget
from recollect.changes import Decision, Embedded
from recollect.commit import Committer, Request, Surroundings
from recollect.consolidating import clusters, deriving
from recollect.consolidating.clusters import Cluster
from recollect.consolidating.coherence import coherent
from recollect.consolidating.composing import compose, in_order
from recollect.consolidating.summary import Summariser, Summary
from recollect.errors import ExtractionFailed, Unavailable
from recollect.maintenance import BY, Run, StepReport
from recollect.model import Memory
from recollect.partition import Partition
from recollect.partitions import Partitions
from recollect.ports import Embedder, MemoryStore

ROUND_MAX_COUNT = 20
ASKED_MAX_COUNT = 20  # clusters that a model is asked about in one run
REFUSED_MAX_COUNT = 128
REFUSED_FOR_MS = 28 * 24 * 3600 * 1000  # at most


@dataclass(slots=True)
class _Tally:
    """What a run has done so far."""

    looked_at: int = 0
    changed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    seen: set[frozenset[str]] = field(default_factory=set)
    refused: dict[str, None] = field(default_factory=dict)
    is_done: bool = True
    failure: str | None = None

    def stop(self, failure: str | None = None) -> bool:
        """Leave the rest for the next run."""
        self.is_done = False
        self.failure = failure or self.failure
        return False

    def refuse(self, digest: str) -> bool:
        """Remember what came to nothing, and go on."""
        self.refused[digest] = None
        return True

    def report(self) -> StepReport:
        """Tell it."""
        return StepReport(
            looked_at=self.looked_at,
            changed=self.changed,
            skipped=dict(+self.skipped),
            counts=dict(self.counts),
            tokens=dict(self.tokens),
            is_done=self.is_done,
            failure=self.failure,
            refused=tuple(self.refused)[:REFUSED_MAX_COUNT],
        )


class Telling:
    """Lets a model tell memories in one, within the user's budget of tokens.

    Parameters
    ----------
    summariser : Summariser
    budget : TokenBudget
    """

    def __init__(self, summariser: Summariser, budget: TokenBudget) -> None:
        self._summariser = summariser
        self._budget = budget

    def tell(self, user_id: str, epoch: str, memories: Sequence[Memory]) -> tuple[Summary, Mapping[str, int]]:
        """Tell them in one, and what it took.

        Raises
        ------
        BudgetUsedUp
            If the model may not be asked for the user until tomorrow.
        ExtractionFailed, Unavailable
            As ``Summariser.summarise``.
        """
        self._budget.check(user_id)
        try:
            summary, tokens = self._summariser.summarise(memories)
        except (Unavailable, ExtractionFailed) as error:
            self._budget.add(user_id, epoch, error.tokens)
            raise
        self._budget.add(user_id, epoch, tokens)
        return summary, tokens


class Consolidation:
    """Makes one memory out of several that overlap; those are archived.

    Parameters
    ----------
    store : MemoryStore
    partitions : Partitions
        Those that `committer` reads.
    committer : Committer
    embedder : Embedder
    surroundings : Surroundings
        Time and ids.
    telling : Telling or None
        What writes the text; without it, it is put together of the memories' sentences.
    """

    def __init__(
        self,
        store: MemoryStore,
        partitions: Partitions,
        committer: Committer,
        embedder: Embedder,
        surroundings: Surroundings,
        telling: Telling | None = None,
    ) -> None:
        self._store = store
        self._partitions = partitions
        self._committer = committer
        self._embedder = embedder
        self._surroundings = surroundings
        self._telling = telling

    def run(self, user_id: str, run: Run) -> StepReport:
        """Consolidate; see ``maintenance.Step``. `changed` counts the memories that became part of another one."""
        tally = _Tally()
        partition = self._partitions.refresh(user_id)
        left = clusters.budget(partition, self._surroundings.now_ms())
        for number in range(ROUND_MAX_COUNT):
            found = clusters.find(partition, self._surroundings.now_ms(), left, tally.seen)
            if number == 0:
                tally.looked_at, tally.skipped = found.looked_at, Counter(found.skipped)
            before = tally.changed
            is_going = self._consolidate_all(user_id, run, found.clusters, tally)
            left -= tally.changed - before
            has_tried_all = found.is_whole and tally.changed == before  # it would find the same once more
            is_over = not is_going or run.is_dry_run or has_tried_all or not found.clusters
            if is_over or left < clusters.CLUSTER_MIN_COUNT:
                tally.is_done = tally.is_done and found.is_whole and is_over
                break
            partition = self._partitions.refresh(user_id)
        else:
            tally.is_done = False
        if not tally.is_done:
            tally.refused |= dict.fromkeys(sorted(run.refused))
        return tally.report()

    def _consolidate_all(self, user_id: str, run: Run, found: Sequence[Cluster], tally: _Tally) -> bool:
        """Do clusters; tell whether there may be more to do in this run."""
        for cluster in found:
            tally.seen.add(frozenset(cluster.memory_ids))
            if self._surroundings.now_ms() >= run.deadline_ms:
                return tally.stop()
            try:
                if not self._consolidate(user_id, run, cluster, tally):
                    return tally.stop()
            except ExtractionFailed as error:
                tally.tokens.update(error.tokens)
                tally.skipped["refused"] += len(cluster.memory_ids)
                tally.failure = error.message
            except BudgetUsedUp:
                tally.skipped["over_budget"] += len(cluster.memory_ids)
                return tally.stop()
            except Unavailable as error:
                tally.tokens.update(error.tokens)
                return tally.stop(error.message)
        return True

    def _consolidate(self, user_id: str, run: Run, cluster: Cluster, tally: _Tally) -> bool:
        """Do one cluster; tell whether the run may go on."""
        partition = self._partitions.refresh(user_id)
        there = self._store.fetch(user_id, cluster.memory_ids)
        members = [there[one] for one in cluster.memory_ids if one in there]
        if [one.memory_id for one in members[:1]] != [*cluster.memory_ids[:1]]:
            tally.skipped["changed"] += len(cluster.memory_ids)
            return True
        kept = coherent(members, partition.cosine_between, is_extension=cluster.is_extension)
        tally.skipped["unlike"] += len(cluster.memory_ids) - len(kept)
        if run.is_dry_run or not kept:
            self._count(tally, cluster, len(kept))
            return True
        digest = _digest(kept, self._surroundings.now_ms())
        if digest in run.refused and not run.is_forced:
            tally.skipped["refused_before"] += len(kept)
            return tally.refuse(digest)
        if self._telling is not None and tally.counts["asked"] >= ASKED_MAX_COUNT:
            return False
        try:
            summary = self._told(user_id, run, kept, tally)
        except ExtractionFailed:
            tally.refuse(digest)
            raise
        told = [one for one in kept if one.memory_id not in summary.left_out]
        tally.skipped["left_out"] += len(kept) - len(told)
        if not _are_enough(told, kept, cluster):
            return tally.refuse(digest)
        is_made = self._commit(Request(user_id, BY, epoch=run.epoch), told, summary.content)
        self._count(tally, cluster, len(told) if is_made else 0)
        tally.skipped["changed"] += 0 if is_made else len(told)
        return True

    @staticmethod
    def _count(tally: _Tally, cluster: Cluster, members: int) -> None:
        if members:
            tally.changed += members - cluster.is_extension
            tally.counts["extended" if cluster.is_extension else "made"] += 1

    def _told(self, user_id: str, run: Run, kept: Sequence[Memory], tally: _Tally) -> Summary:
        if self._telling is None:
            first, *rest = kept
            ordered = [first, *in_order(rest)] if first.derived_from else in_order(kept)
            return Summary(compose([one.content for one in ordered]))
        tally.counts["asked"] += 1
        summary, tokens = self._telling.tell(user_id, run.epoch, kept)
        tally.tokens.update(tokens)
        return summary

    def _commit(self, request: Request, told: Sequence[Memory], content: str) -> bool:
        """Make one of these, if they are what they were when they were read."""
        embedded = Embedded(self._embedder.embed([content])[0], self._embedder.name)
        new_id = self._surroundings.new_id()

        def decide(partition: Partition, memories: Mapping[str, Memory]) -> Decision:
            if any(memories.get(one.memory_id) != one for one in told):
                return Decision(())
            now_ms = self._surroundings.now_ms()
            return deriving.consolidated(partition, told, content, embedded, new_id, now_ms)

        return bool(self._committer.commit(request, decide, reads=lambda _: [one.memory_id for one in told]))


def _are_enough(told: Sequence[Memory], kept: Sequence[Memory], cluster: Cluster) -> bool:
    """Tell whether what is told of a cluster is worth to be one memory."""
    if cluster.is_extension:
        return len(told) > 1 and told[0] is kept[0]
    return len(told) >= clusters.CLUSTER_MIN_COUNT


def _digest(memories: Sequence[Memory], now_ms: int) -> str:
    """Name memories as they are now; a name is given for some weeks."""
    names = (f"{now_ms // REFUSED_FOR_MS}", *sorted(f"{one.memory_id} {one.version}" for one in memories))
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
