"""What running maintenance needs from outside, as protocols: reports, the index of who is due, and a queue of work."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from recollect.maintenance import Report
from recollect.model import Head

SENT_AT_ONCE = 10


class ReportStore(Protocol):
    """Keeps the reports of users' runs."""

    def keep(self, user_id: str, report: Report, due_at_s: int | None, seen: Head, replaces: str | None = None) -> None:
        """Keep a report, and say when the user is due: both or nothing.

        Parameters
        ----------
        replaces : str or None
            Id of an earlier report, which goes.

        Raises
        ------
        Conflict
            If epoch, seq or due time of the head are not those of `seen` any more.
        Unavailable
            If the store does not answer; it may have been kept or not.
        """
        ...

    def reports(self, user_id: str, below: str | None, limit: int) -> list[Report]:
        """Read reports, newest first; only those with an id less than `below`.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...


class DueIndex(Protocol):
    """Knows who is due, a moment late."""

    def due(self, shard: str, now_s: int) -> Iterator[Sequence[str]]:
        """Name the users of a shard who are due, page by page, those first who have been so longest.

        Raises
        ------
        Unavailable
            If the index does not answer.
        """
        ...


class MaintenanceQueue(Protocol):
    """Passes users on to those who maintain them, at least once and in no order."""

    def waiting(self) -> int:
        """Tell about how many users are queued and not taken.

        Raises
        ------
        Unavailable
            If the queue does not answer.
        """
        ...

    def send(self, user_ids: Sequence[str]) -> int:
        """Queue at most ten users; tell how many of them were.

        Raises
        ------
        Unavailable
            If the queue does not answer; some may have been queued.
        """
        ...
