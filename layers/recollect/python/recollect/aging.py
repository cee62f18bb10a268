"""The steps of maintenance that follow time: expired memories go, faded ones are archived. Talks; `lifecycle` decides.

Memory after memory in transactions of bounded size, each decided on the state that it is committed against: one that a
writer changed, used or pinned meanwhile is looked at again. To die anywhere and to run twice at once does no harm.
"""

from collections.abc import Callable, Mapping
from functools import partial

from recollect import changes
from recollect.changes import Decision, Outcome
from recollect.chunks import CHANGES_MAX_COUNT, fitting
from recollect.commit import Committer, Request, Surroundings
from recollect.lifecycle import DEFAULT, Due, Policy, expired, faded, outlived
from recollect.maintenance import BY, Run, StepReport
from recollect.model import Change, Memory
from recollect.partition import Partition
from recollect.partitions import Partitions

Find = Callable[[Partition, int], Due]
Make = Callable[[Partition, str, Memory | None, int], Change | None]


def _archive(partition: Partition, _memory_id: str, memory: Memory | None, now_ms: int) -> Change | None:
    return None if memory is None else changes.archived(partition, memory, now_ms, "it faded and was never used")


class _Aging:
    """Finds memories that are due and changes them, batch by batch.

    Parameters
    ----------
    partitions : Partitions
        Those that `committer` reads.
    committer : Committer
    surroundings : Surroundings
        Time.
    """

    def __init__(self, partitions: Partitions, committer: Committer, surroundings: Surroundings) -> None:
        self._partitions = partitions
        self._committer = committer
        self._now_ms = surroundings.now_ms

    def _find(self, user_id: str, find: Find) -> Due:
        return find(self._partitions.refresh(user_id), self._now_ms())

    def _change_all(self, user_id: str, run: Run, find: Find, make: Make) -> int:
        """Change what is due as long as the time allows; tell how many."""
        changed = 0
        while self._now_ms() < run.deadline_ms:
            done = self._change_some(Request(user_id, BY, epoch=run.epoch), find, make)
            if not done:
                break
            changed += done
        return changed

    def _change_some(self, request: Request, find: Find, make: Make) -> int:
        wanted: list[str] = []
        now_ms = 0  # of the present attempt

        def reads(partition: Partition) -> list[str]:
            nonlocal wanted, now_ms
            now_ms = self._now_ms()
            wanted = [
                name.decode() for name in partition.memory_ids_at(find(partition, now_ms).rows[:CHANGES_MAX_COUNT])
            ]
            return wanted

        def decide(partition: Partition, memories: Mapping[str, Memory]) -> Decision:
            made = [make(partition, memory_id, memories.get(memory_id), now_ms) for memory_id in wanted]
            some = fitting([change for change in made if change is not None])
            outcomes = (Outcome(one.operation.value, one.memory_id, one.version, one.reason) for one in some)
            return Decision(tuple(outcomes), tuple(some))

        return len(self._committer.commit(request, decide, reads=reads))


class Expiry(_Aging):
    """Lets storage follow what reads enforce to the millisecond: what has expired is gone, as if it were deleted."""

    def run(self, user_id: str, run: Run) -> StepReport:
        """Take away what has expired; see ``maintenance.Step``."""
        due = self._find(user_id, expired)
        if run.is_dry_run or not due.rows.size:
            return StepReport(looked_at=due.looked_at, changed=due.rows.size, next_at_ms=due.next_at_ms)
        changed = self._change_all(user_id, run, expired, changes.expired)
        left = self._find(user_id, expired)
        return StepReport(
            looked_at=due.looked_at, changed=changed, is_done=not left.rows.size, next_at_ms=left.next_at_ms
        )


class Decay(_Aging):
    """Archives what has faded and was never used; deletes what was archived long ago, if the policy says so.

    Parameters
    ----------
    policy : Policy
    """

    def __init__(
        self, partitions: Partitions, committer: Committer, surroundings: Surroundings, policy: Policy = DEFAULT
    ) -> None:
        super().__init__(partitions, committer, surroundings)
        self._faded: Find = partial(faded, policy=policy)
        self._outlived: Find = partial(outlived, policy=policy)
        self._after = f"it was archived {policy.retention_days or 0:g} days ago and not asked for since"

    def run(self, user_id: str, run: Run) -> StepReport:
        """Archive what has faded; see ``maintenance.Step``."""
        fading, going = (self._find(user_id, find) for find in (self._faded, self._outlived))
        archived, deleted = int(fading.rows.size), int(going.rows.size)
        if not run.is_dry_run:
            archived = self._change_all(user_id, run, self._faded, _archive) if archived else 0
            deleted = self._change_all(user_id, run, self._outlived, self._delete) if deleted else 0
        left = [self._find(user_id, find) for find in (self._faded, self._outlived)]
        return StepReport(
            looked_at=fading.looked_at + going.looked_at,
            changed=archived + deleted,
            skipped=fading.skipped,
            counts={"archived": archived, "deleted": deleted},
            is_done=run.is_dry_run or not any(due.rows.size for due in left),
            next_at_ms=min((due.next_at_ms for due in left if due.next_at_ms is not None), default=None),
        )

    def _delete(self, _: Partition, _memory_id: str, memory: Memory | None, now_ms: int) -> Change | None:
        return None if memory is None else changes.delete(memory, now_ms, self._after).changes[0]
