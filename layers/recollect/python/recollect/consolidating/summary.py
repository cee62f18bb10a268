"""What tells several memories in one, as a protocol; without a model `composing` does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.model import Memory


@dataclass(frozen=True, slots=True)
class Summary:
    """What several memories say, in one text.

    Parameters
    ----------
    left_out : frozenset of str
        Ids of those that it does not tell; they stay as they are.
    """

    content: str
    left_out: frozenset[str] = frozenset()


class Summariser(Protocol):
    """Tells several memories in one, adding nothing."""

    def summarise(self, memories: Sequence[Memory]) -> tuple[Summary, dict[str, int]]:
        """Tell them in one, and what a model took for it: tokens, ``input`` and ``output``.

        Raises
        ------
        Unavailable
            If a model does not answer now; its `tokens` were taken before.
        ExtractionFailed
            If a model's reply cannot be used; its `tokens` were taken all the same.
        """
        ...
