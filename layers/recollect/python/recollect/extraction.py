"""What finds memories in a conversation, as a protocol; ``wiring.py`` chooses among its adapters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from recollect.conversation import Passage
from recollect.model import Memory, NewMemory

Recall = Callable[[str], Sequence[Memory]]
"""Gives the active memories of the user that are close to a text, best first, at most some ten."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found in a passage.

    Parameters
    ----------
    memories : tuple of NewMemory
        In the order of what they are from; each cites at least one of the passage's new messages.
    tokens : mapping of str to int
        What a model took, ``input`` and ``output``; empty without one.
    """

    memories: tuple[NewMemory, ...]
    tokens: Mapping[str, int] = field(default_factory=dict)


class Extractor(Protocol):
    """Finds what a conversation says that is worth remembering: facts, preferences, plans, instructions, how-tos."""

    @property
    def name(self) -> str:
        """Names it in requests and settings, such as ``rules``."""
        ...

    @property
    def costs_tokens(self) -> bool:
        """Whether a model is asked, so that a budget is to be looked at first."""
        ...

    def extract(self, passage: Passage, recall: Recall) -> Extraction:
        """Find the memories in a passage.

        Raises
        ------
        Unavailable
            If a model does not answer now; a repeat may succeed. Its `tokens` were taken before.
        ExtractionFailed
            If a model's reply cannot be used; a repeat will hardly do better. Its `tokens` were taken all the same.
        """
        ...
