"""How many tokens a model may take for a user in a day (UTC), and how many it has taken.

Looked at before a model is asked, and counted after: what runs at the same time may go over by as much as it takes.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Protocol

from recollect.errors import RecollectError


class BudgetUsedUp(RecollectError):
    """The user's budget of the day is used up; the same can go on tomorrow."""


class TokenCounts(Protocol):
    """Durable counts of what a model took, by user and day."""

    def used(self, user_id: str, day: str) -> int:
        """Read how many tokens a user took on a day such as ``2026-05-01``, input and output together.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def add(self, user_id: str, epoch: str, day: str, tokens: Mapping[str, int]) -> None:
        """Add tokens, ``input`` and ``output``, to the counts of a day.

        Raises
        ------
        Conflict
            If the user's head is of another epoch or being erased: nothing is counted.
        Unavailable
            If the store does not answer; they may have been added or not.
        """
        ...


class TokenBudget:
    """The budget of each user.

    Parameters
    ----------
    counts : TokenCounts
    daily_tokens : int
        How many tokens a user may take in a day.
    now_ms : callable
        Gives epoch milliseconds.
    """

    def __init__(self, counts: TokenCounts, daily_tokens: int, now_ms: Callable[[], int]) -> None:
        self._counts = counts
        self._daily_tokens = daily_tokens
        self._now_ms = now_ms

    def check(self, user_id: str) -> None:
        """Let a model be asked for a user, or not.

        Raises
        ------
        BudgetUsedUp
            If it may not until tomorrow.
        Unavailable
            If the store does not answer.
        """
        day = self._day()
        if self._counts.used(user_id, day) >= self._daily_tokens:
            raise BudgetUsedUp(
                f"the budget of {self._daily_tokens:,} tokens for this user on {day} (UTC) is used up;"
                " the facts can be extracted from tomorrow on: redrive the transcript"
            )

    def add(self, user_id: str, epoch: str, tokens: Mapping[str, int]) -> None:
        """Count tokens that a model took.

        Raises
        ------
        Conflict
            If the user was erased, or is being erased.
        Unavailable
            If the store does not answer.
        """
        if any(tokens.values()):
            self._counts.add(user_id, epoch, self._day(), tokens)

    def _day(self) -> str:
        return datetime.fromtimestamp(self._now_ms() / 1000, UTC).date().isoformat()
