"""Finds the users who are due and queues them. Talks to the index and the queue only.

It writes nothing: a user stays due until one who maintains the user has begun. While users wait in the queue, nobody is
queued again; and if it happens all the same, whoever takes the second message finds that the user is not due any more.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from recollect import due
from recollect.report_store import SENT_AT_ONCE, DueIndex, MaintenanceQueue


@dataclass(frozen=True, slots=True)
class Planned:
    """What became of a plan.

    Parameters
    ----------
    queued : int
        Users.
    waiting : int
        Users of an earlier plan who are still in the queue; then nobody is queued.
    is_done : bool
        Whether everybody who was due is queued.
    """

    queued: int
    waiting: int = 0
    is_done: bool = True


class Planner:
    """Plans maintenance.

    Parameters
    ----------
    index : DueIndex
    queue : MaintenanceQueue
    now_ms : callable
        Gives epoch milliseconds.
    """

    def __init__(self, index: DueIndex, queue: MaintenanceQueue, now_ms: Callable[[], int]) -> None:
        self._index = index
        self._queue = queue
        self.now_ms = now_ms

    def plan(self, deadline_ms: int) -> Planned:
        """Queue who is due, until the time is over.

        Raises
        ------
        Unavailable
            If index or queue do not answer; whoever is not queued stays due.
        """
        waiting = self._queue.waiting()
        if waiting:
            return Planned(0, waiting, is_done=False)
        queued, is_done = 0, True
        for batch in self._batches(self.now_ms()):
            if self.now_ms() >= deadline_ms:
                return Planned(queued, is_done=False)
            sent = self._queue.send(batch)
            queued += sent
            is_done = is_done and sent == len(batch)
        return Planned(queued, is_done=is_done)

    def _batches(self, now_ms: int) -> Iterator[list[str]]:
        """Name who is due, as many at once as the queue takes; each time another shard comes first."""
        first = now_ms // 60_000
        batch: list[str] = []
        for number in range(due.SHARDS):
            for page in self._index.due(due.shard((first + number) % due.SHARDS), now_ms // 1000):
                for user_id in page:
                    batch.append(user_id)
                    if len(batch) == SENT_AT_ONCE:
                        yield batch
                        batch = []
        if batch:
            yield batch
