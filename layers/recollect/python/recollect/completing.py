"""The step of maintenance that brings to their end the erasure and the purges that were begun. Talks.

A purge is seen to be unfinished by what it has left: rows of the memory in segments or log, or text in a version. The
log tells of every purge until a compaction has folded it, which comes after this step.
"""

from collections.abc import Callable

from recollect import erasure
from recollect.citing import half_purged
from recollect.commit import Request
from recollect.erasing import BUDGET_MS, Erasing
from recollect.erasure import ErasureState
from recollect.maintenance import BY, Run, StepReport
from recollect.model import Entry, Operation
from recollect.partitions import Partitions, Records
from recollect.ports import MemoryStore


class Completing:
    """Completes erasures and purges.

    Parameters
    ----------
    of : Erasing
        Does them.
    store : MemoryStore
    partitions : Partitions
        Those of `of`.
    now_ms : callable
        Gives epoch milliseconds.
    """

    def __init__(self, of: Erasing, store: MemoryStore, partitions: Partitions, now_ms: Callable[[], int]) -> None:
        self._of = of
        self._store = store
        self._partitions = partitions
        self._now_ms = now_ms

    def run(self, user_id: str, run: Run) -> StepReport:
        """Go on with what was begun; see ``maintenance.Step``."""
        fresh, records, head = self._partitions.load(user_id)
        if head.erasing_since_ms is not None:
            return self._erase(user_id, run)
        fresh.apply(records, head)
        begun = {*half_purged(fresh), *self._with_text(user_id, records)}
        completed = 0
        if not run.is_dry_run:
            for memory_id in sorted(begun):
                if not self._has_time(run):
                    break
                self._of.purge(Request(user_id, BY, epoch=run.epoch), memory_id)
                completed += 1
        return StepReport(
            looked_at=len(begun),
            changed=len(begun) if run.is_dry_run else completed,
            counts={"purges": len(begun) if run.is_dry_run else completed},
            is_done=run.is_dry_run or completed == len(begun),
        )

    def _erase(self, user_id: str, run: Run) -> StepReport:
        if run.is_dry_run:
            found = self._of.count_erasable(user_id)
            return StepReport(looked_at=found.left, changed=found.left, counts=found.counts)
        while True:
            erased = self._of.erase(user_id)
            if erased.state is ErasureState.ERASED or not self._has_time(run):
                break
        gone = sum(erased.counts.values())
        is_done = erased.state is ErasureState.ERASED
        return StepReport(looked_at=gone + erased.left, changed=gone, counts=erased.counts, is_done=is_done)

    def _with_text(self, user_id: str, records: Records) -> list[str]:
        """Name memories that were purged lately, of which a version still has its text."""
        purged = [one.memory_id for one in records if isinstance(one, Entry) and one.operation is Operation.PURGE]
        return [
            memory_id
            for memory_id in purged
            if any(erasure.redacted(one) != one for one in self._store.versions(user_id, memory_id, None, 1_000))
        ]

    def _has_time(self, run: Run) -> bool:
        return self._now_ms() + BUDGET_MS < run.deadline_ms
