"""What memories cite: transcripts that said them, added by a store and taken away with a transcript. Pure.

A memory that was extracted cites each transcript that said it once, and at most 16: the oldest go. One without sources
is a caller's own word; it stays so, whoever says it again, and never goes with a transcript.
"""

from collections.abc import Sequence
from dataclasses import replace

from recollect.changes import Outcome
from recollect.model import SOURCE_MAX_COUNT, Memory, NewMemory, Source

SAID_AGAIN = "said again in another transcript"


def with_sources_of(memory: Memory, other: NewMemory) -> Memory:
    """Let a memory cite the transcripts of another one too, unless it is a caller's own word."""
    more = tuple(source for source in other.sources if source.transcript_id not in memory.transcripts)
    if not memory.sources or not more:
        return memory
    return replace(memory, sources=(*memory.sources, *more)[-SOURCE_MAX_COUNT:])


def is_from_there(memory: Memory, other: NewMemory) -> bool:
    """Tell whether a memory is from messages that another one is from too."""
    return not set(memory.sources).isdisjoint(other.sources)


def is_use(asked: NewMemory, outcome: Outcome) -> bool:
    """Tell whether what was stored already has been used by saying it again; of a transcript that counts once."""
    return outcome.outcome == "unchanged" and (not asked.sources or outcome.reason == SAID_AGAIN)


def together(memories: Sequence[Memory]) -> tuple[Source, ...]:
    """Give what a memory cites that is made of several; nothing if a caller's own word is among them."""
    if not all(memory.sources for memory in memories):
        return ()
    return tuple(dict.fromkeys(source for memory in memories for source in memory.sources))[-SOURCE_MAX_COUNT:]
