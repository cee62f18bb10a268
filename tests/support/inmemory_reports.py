"""Reports, the index of who is due, and the queue of maintenance in memory, beside a memory store."""

from collections.abc import Iterator, Sequence

from recollect import keys
from recollect.maintenance import Report
from recollect.model import Head

from tests.support.inmemory import InMemoryMemoryStore


class InMemoryReportStore:
    """Reports among the items of a memory store, so that an erasure finds them."""

    def __init__(self, memories: InMemoryMemoryStore) -> None:
        self._memories = memories

    def keep(self, user_id: str, report: Report, due_at_s: int | None, seen: Head, replaces: str | None = None) -> None:
        with self._memories.lock:
            self._memories.set_due(user_id, due_at_s, seen)
            self._memories.others[user_id, keys.report(report.report_id)] = report
            if replaces is not None:
                self._memories.others.pop((user_id, keys.report(replaces)), None)

    def reports(self, user_id: str, below: str | None, limit: int) -> list[Report]:
        with self._memories.lock:
            found = [of for (owner, _), of in self._memories.others.items() if owner == user_id]
        reports = [of for of in found if isinstance(of, Report) and (below is None or of.report_id < below)]
        return sorted(reports, key=lambda of: of.report_id, reverse=True)[:limit]


class InMemoryDueIndex:
    """Finds who is due in pages, and counts them."""

    def __init__(self, memories: InMemoryMemoryStore, page_size: int = 100) -> None:
        self._memories = memories
        self._page_size = page_size
        self.pages = 0

    def due(self, shard: str, now_s: int) -> Iterator[Sequence[str]]:
        found = self._memories.due_users(shard, now_s)
        for start in range(0, max(len(found), 1), self._page_size):
            self.pages += 1
            yield found[start : start + self._page_size]


class InMemoryMaintenanceQueue:
    """A queue that keeps the batches that it was sent."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.refused = 0  # of the next batch

    def waiting(self) -> int:
        return sum(map(len, self.batches))

    def send(self, user_ids: Sequence[str]) -> int:
        taken = list(user_ids)[: len(user_ids) - self.refused]
        self.refused = 0
        self.batches.append(taken)
        return len(taken)

    def take(self) -> list[str]:
        """Empty it."""
        batches, self.batches = self.batches, []
        return [user_id for batch in batches for user_id in batch]
