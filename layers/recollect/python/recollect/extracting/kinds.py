"""What kinds of statements there are to find. Data only."""

from dataclasses import dataclass

from recollect.model import MemoryType


@dataclass(frozen=True, slots=True)
class Kind:
    """What a memory of a statement is to have.

    Parameters
    ----------
    needs_time : bool
        Whether it only counts when it says when.
    team : bool
        Whether "we" in it work together.
    """

    tags: tuple[str, ...]
    importance: float
    type: MemoryType = MemoryType.SEMANTIC
    needs_time: bool = False
    team: bool = False


INSTRUCTION = Kind(("instruction",), 0.8, MemoryType.PROCEDURAL)
HOW_TO = Kind(("how-to",), 0.7, MemoryType.PROCEDURAL, team=True)
