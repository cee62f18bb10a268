"""What memories cite: transcripts that said them, added by a store and taken away with a transcript. Pure.

A memory that was extracted cites each transcript that said it once, and at most 16: the oldest go. One without sources
is a caller's own word; it stays so, whoever says it again, and never goes with a transcript.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from recollect import changes
from recollect.changes import Decision, Outcome, change_of, next_version
from recollect.chunks import fits
from recollect.model import SOURCE_MAX_COUNT, Change, Memory, NewMemory, Operation, Source
from recollect.partition import Partition
from recollect.scan import Mask

SAID_AGAIN = "said again in another transcript"
FORGOTTEN = "a transcript that it cites was deleted"


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


def cites_only(memory: Memory, transcript_id: str) -> bool:
    """Tell whether a memory cites a transcript and no other."""
    return memory.transcripts == (transcript_id,)


def who_cites(partition: Partition, transcript_id: str, limit: int) -> list[str]:
    """Name the oldest memories that cite a transcript, whatever their status, expired ones too."""
    return _named(partition, partition.citing(transcript_id) & partition.live)[:limit]


def half_purged(partition: Partition, transcript_id: str) -> list[str]:
    """Name memories that cited a transcript and were purged, though something of them is still there.

    Parameters
    ----------
    partition : Partition
        Loaded since, so that it knows nothing that is not there any more.
    """
    dead = _named(partition, partition.citing(transcript_id) & ~partition.live)
    return [memory_id for memory_id in dead if partition.is_purged(memory_id)]


def forget(
    partition: Partition, memories: Iterable[Memory], transcript_id: str, *, deletes: bool, now_ms: int
) -> Decision:
    """Decide what becomes of memories that cite a transcript which goes: as many of them as fit, at least one.

    Parameters
    ----------
    memories : iterable of Memory
        As they are now; what does not cite it stays as it is.
    deletes : bool
        Whether those that cite no other are deleted; otherwise they lose the reference, as those that do.
    """
    outcomes: list[Outcome] = []
    chosen: list[Change] = []
    for memory in memories:
        if transcript_id not in memory.transcripts:
            continue
        is_over = deletes and cites_only(memory, transcript_id)
        one = (
            changes.delete(memory, now_ms, FORGOTTEN)
            if is_over
            else _released(partition, memory, transcript_id, now_ms)
        )
        if chosen and not fits([*chosen, *one.changes]):
            break
        outcomes += one.outcomes
        chosen += one.changes
    return Decision(tuple(outcomes), tuple(chosen))


def _released(partition: Partition, memory: Memory, transcript_id: str, now_ms: int) -> Decision:
    kept = tuple(source for source in memory.sources if source.transcript_id != transcript_id)
    after = replace(next_version(memory, now_ms), sources=kept)
    change = change_of(Operation.CITE, memory, after, partition.embedding_of(memory.memory_id), FORGOTTEN)
    return Decision((Outcome("updated", after.memory_id, after.version, FORGOTTEN),), (change,))


def _named(partition: Partition, mask: Mask) -> list[str]:
    found = np.unique(partition.memory_ids_at(np.flatnonzero(mask)))
    return [memory_id.decode() for memory_id in found.tolist()]
