"""Undoing and deciding afterwards: restore a version, take a merge apart, settle a conflict. Pure decisions."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from recollect.changes import Decision, Embedded, Outcome, change_of, next_version, refuse_repeat, revived
from recollect.chunks import fitting
from recollect.errors import Conflict, NotFound
from recollect.flags import flags_of
from recollect.model import SOURCE_MAX_COUNT, Change, Memory, Operation, Source, Status, identity, is_expired
from recollect.partition import Partition


class Resolution(StrEnum):
    """How a conflict is settled."""

    KEEP_BOTH = "keep_both"
    KEEP_THIS = "keep_this"
    SUPERSEDE = "supersede"


def restore(
    partition: Partition, memories: Mapping[str, Memory], last: Memory, wanted: Memory, embedded: Embedded, now_ms: int
) -> Decision:
    """Decide to make an earlier version the present one again; a deleted or superseded memory comes back with it.

    It cites what it cites now, and what it did then; but for transcripts that no memory cites any more: they may be
    gone.

    Parameters
    ----------
    memories : mapping of str to Memory
        The memory as it is now, unless it was deleted, and those that it is linked with.
    last : Memory
        Its last version, deleted or not, of which the links hold.
    wanted : Memory
        The version to bring back.
    embedded : Embedded
        Of its content.

    Raises
    ------
    NotFound
        If the memory was purged, or the user erased, in the meantime.
    Conflict
        If another active memory is the same statement, or the version has expired.
    """
    last_version = partition.last_version_of(wanted.memory_id)
    if last_version is None or partition.is_purged(wanted.memory_id):
        raise NotFound
    if is_expired(wanted.expires_at_ms, now_ms):
        raise Conflict("that version has expired; with it the memory would be gone")
    predecessor, successor = (memories.get(one or "") for one in (last.supersedes, last.superseded_by))
    after = replace(
        wanted,
        version=last_version + 1,
        updated_at_ms=now_ms,
        sources=_sources(partition, last, wanted),
        status=Status.ACTIVE,
        valid_until_ms=None,
        supersedes=_if_linked(predecessor, wanted.memory_id),
        superseded_by=None,
        conflicts_with=tuple(one for one in last.conflicts_with if _conflicts(memories.get(one), wanted)),
        merged_content=None,
    )
    reason = f"version {wanted.version} restored as asked"
    changes = [change_of(Operation.RESTORE, memories.get(wanted.memory_id), after, embedded, reason)]
    refuse_repeat(partition, changes[0], now_ms)
    if successor is not None and successor.supersedes == wanted.memory_id:
        freed = replace(next_version(successor, now_ms), supersedes=None)
        changes.append(change_of(Operation.LINK, successor, freed, partition.embedding_of(successor.memory_id), reason))
    return Decision((Outcome("restored", after.memory_id, after.version, reason),), tuple(changes))


def taken_out(memory: Memory, new_id: str, now_ms: int) -> Memory:
    """Give the memory to be for what the present version of a memory merged in.

    Raises
    ------
    Conflict
        If it merged nothing.
    """
    if memory.merged_content is None:
        raise Conflict("the present version merged nothing; restore an earlier version instead")
    return replace(
        memory,
        memory_id=new_id,
        content=memory.merged_content,
        flags=flags_of(memory.merged_content, memory.actor),
        version=1,
        created_at_ms=now_ms,
        updated_at_ms=now_ms,
        merged_content=None,
        supersedes=None,
        conflicts_with=(),
    )


def unmerge(
    partition: Partition, memory: Memory, earlier: Memory, new: Memory, embedded: Mapping[str, Embedded], now_ms: int
) -> Decision:
    """Decide to take apart what the present version merged: the memory as it was before, and the other as its own.

    Parameters
    ----------
    memory, earlier : Memory
        The present version, and the one before it.
    new : Memory
        The memory to be for what was merged in, with its id; it cites what the merge added, if that is anything.
    embedded : mapping of str to Embedded
        Embeddings of both contents, by content.

    Raises
    ------
    Conflict
        If another active memory is the same statement as one of the two.
    """
    reason = "merge undone as asked"
    added = tuple(source for source in memory.sources if source.transcript_id not in earlier.transcripts)
    new = replace(new, sources=added or memory.sources)
    after = replace(earlier, version=memory.version + 1, updated_at_ms=now_ms, status=memory.status)
    changes = (
        change_of(Operation.UNMERGE, memory, after, embedded[after.content], reason),
        change_of(Operation.CREATE, None, new, embedded[new.content], reason),
    )
    for change in changes:
        refuse_repeat(partition, change, now_ms, leaving=memory.memory_id)
    outcomes = (
        Outcome("restored", after.memory_id, after.version, reason, new.memory_id),
        Outcome("created", new.memory_id, new.version, reason, after.memory_id),
    )
    return Decision(outcomes, changes)


def resolve(
    partition: Partition,
    memories: Mapping[str, Memory],
    this: Memory,
    other: Memory,
    resolution: Resolution,
    now_ms: int,
) -> Decision:
    """Decide a conflict between two memories.

    Parameters
    ----------
    memories : mapping of str to Memory
        Those whose place the two took, and those whose place those took, and so on.

    Raises
    ------
    Conflict
        If the two are not in conflict; or one of them is not active, and more is asked than to keep both.
    """
    if other.memory_id not in this.conflicts_with:
        raise Conflict("these two memories are not in conflict")
    if resolution is not Resolution.KEEP_BOTH and not this.status is other.status is Status.ACTIVE:
        raise Conflict("one of these two memories is not active any more; only keep_both settles this")
    kept = replace(next_version(this, now_ms), conflicts_with=_without(this, other))
    rest = replace(next_version(other, now_ms), conflicts_with=_without(other, this))
    links: list[tuple[Memory, Memory]] = []
    if resolution is Resolution.KEEP_THIS:
        rest = replace(rest, status=Status.ARCHIVED)
    elif resolution is Resolution.SUPERSEDE:
        kept = replace(kept, supersedes=other.memory_id)
        rest = replace(rest, status=Status.SUPERSEDED, valid_until_ms=now_ms, superseded_by=this.memory_id)
        rest, links = _lined_up(memories, this, rest, now_ms)
    reason = f"conflict settled as asked: {resolution.value}"
    changes = tuple(
        change_of(operation, before, after, partition.embedding_of(after.memory_id), reason)
        for operation, pairs in ((Operation.RESOLVE, [(this, kept), (other, rest)]), (Operation.LINK, links))
        for before, after in pairs
    )
    outcomes = tuple(
        Outcome("resolved", after.memory_id, after.version, reason, target)
        for after, target in ((kept, other.memory_id), (rest, this.memory_id))
    )
    return Decision(outcomes, changes)


def is_held(partition: Partition, memory: Memory) -> bool:
    """Tell whether a memory that is there was made of this one and others, and says what it says."""
    return memory.consolidated_into is not None and partition.version_of(memory.consolidated_into) is not None


def _sources(partition: Partition, last: Memory, wanted: Memory) -> tuple[Source, ...]:
    back = [
        source
        for source in wanted.sources
        if source.transcript_id not in last.transcripts and partition.live[partition.citing(source.transcript_id)].any()
    ]
    return (*back, *last.sources)[-SOURCE_MAX_COUNT:]


def revive(partition: Partition, memories: Mapping[str, Memory], now_ms: int) -> Decision:
    """Decide to make archived memories active again, as many as one transaction holds.

    Those that expired, or that another active memory says, stay as they are; so do those that one was made of.
    """
    found: dict[bytes, Change] = {}
    for memory in memories.values():
        said = identity(memory)
        is_free = partition.same_statement(said, now_ms) is None and not is_held(partition, memory)
        if memory.status is Status.ARCHIVED and is_free and not is_expired(memory.expires_at_ms, now_ms):
            found.setdefault(said, revived(partition, memory, now_ms, "it was asked for in the archive"))
    return Decision((), tuple(fitting(list(found.values()))))


def _if_linked(predecessor: Memory | None, memory_id: str) -> str | None:
    if predecessor is None or predecessor.superseded_by != memory_id:
        return None
    return predecessor.memory_id


def _lined_up(
    memories: Mapping[str, Memory], this: Memory, rest: Memory, now_ms: int
) -> tuple[Memory, list[tuple[Memory, Memory]]]:
    """Put what `this` took the place of behind all that `rest` did, so that one chain leads to `this`."""
    replaced = memories.get(this.supersedes or "")
    if replaced is None:
        return rest, []
    oldest = rest
    while (earlier := memories.get(oldest.supersedes or "")) is not None:
        oldest = earlier
    links = [(replaced, replace(next_version(replaced, now_ms), superseded_by=oldest.memory_id))]
    if oldest is rest:
        return replace(rest, supersedes=replaced.memory_id), links
    return rest, [*links, (oldest, replace(next_version(oldest, now_ms), supersedes=replaced.memory_id))]


def _conflicts(other: Memory | None, memory: Memory) -> bool:
    return other is not None and memory.memory_id in other.conflicts_with


def _without(memory: Memory, other: Memory) -> tuple[str, ...]:
    return tuple(memory_id for memory_id in memory.conflicts_with if memory_id != other.memory_id)
