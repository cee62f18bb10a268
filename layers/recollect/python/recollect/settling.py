"""The step of maintenance that settles conflicts which evidence has decided since. Talks; `evidence` decides.

One conflict is one commit, decided on the state that it is committed against. To die anywhere and to run twice at once
does no harm.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from recollect import evidence
from recollect.changes import Decision
from recollect.commit import Committer, Request, Surroundings, chain_of
from recollect.evidence import Pair
from recollect.maintenance import BY, Run, StepReport
from recollect.model import Memory
from recollect.partition import Partition
from recollect.partitions import Partitions
from recollect.ports import MemoryStore

READ_AT_ONCE = 100


class Settling:
    """Takes away links to what is not active any more, and settles what evidence has settled.

    Parameters
    ----------
    store : MemoryStore
    partitions : Partitions
        Those that `committer` reads.
    committer : Committer
    surroundings : Surroundings
        Time.
    """

    def __init__(
        self, store: MemoryStore, partitions: Partitions, committer: Committer, surroundings: Surroundings
    ) -> None:
        self._store = store
        self._partitions = partitions
        self._committer = committer
        self._now_ms = surroundings.now_ms

    def run(self, user_id: str, run: Run) -> StepReport:
        """Settle conflicts; see ``maintenance.Step``. Looked at are conflicts; those that stay are skipped."""
        settled, left, is_done = self._pass(user_id, run)
        total, newly = settled + left, settled
        while newly and is_done and not run.is_dry_run:  # one that is settled may settle others
            newly, left, is_done = self._pass(user_id, run)
            settled += newly
        return StepReport(
            looked_at=total, changed=settled, skipped={"undecided": left} if left else {}, is_done=is_done
        )

    def _pass(self, user_id: str, run: Run) -> tuple[int, int, bool]:
        """Go through the conflicts once; tell how many were settled, how many stay, and whether the time sufficed."""
        partition = self._partitions.refresh(user_id)
        rows = np.flatnonzero(partition.present(self._now_ms()) & partition.number("in_conflict"))
        memory_ids = [name.decode() for name in partition.memory_ids_at(rows)]
        seen: dict[Pair, bool] = {}
        for start in range(0, len(memory_ids), READ_AT_ONCE):
            memories = self._read(user_id, memory_ids[start : start + READ_AT_ONCE])
            for pair in evidence.pairs(memories):
                if self._now_ms() >= run.deadline_ms:
                    return sum(seen.values()), len(seen) - sum(seen.values()), False
                if pair not in seen:
                    seen[pair] = self._settle(user_id, run, partition, memories, pair)
        return sum(seen.values()), len(seen) - sum(seen.values()), True

    def _settle(self, user_id: str, run: Run, partition: Partition, memories: Mapping[str, Memory], pair: Pair) -> bool:
        """Settle one conflict, or tell whether it would be settled."""
        decision = evidence.settle(partition, memories, pair, self._now_ms())
        if run.is_dry_run or not decision.changes:
            return bool(decision.changes)

        def reads(_: Partition) -> list[str]:
            return [one for memory_id in pair for one in chain_of(self._store, user_id, memory_id)]

        def decide(present: Partition, found: Mapping[str, Memory]) -> Decision:
            nonlocal decision
            decision = evidence.settle(present, found, pair, self._now_ms())
            return decision

        self._committer.commit(Request(user_id, BY, epoch=run.epoch), decide, reads=reads)
        return bool(decision.changes)

    def _read(self, user_id: str, memory_ids: Sequence[str]) -> Mapping[str, Memory]:
        """Read memories, and those that they are in conflict with."""
        memories = self._store.fetch(user_id, memory_ids)
        others = {other for memory in memories.values() for other in memory.conflicts_with if other not in memories}
        return {**memories, **(self._store.fetch(user_id, sorted(others)) if others else {})}
