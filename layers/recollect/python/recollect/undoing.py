"""Undoing and deciding afterwards: restore a version, take a merge apart, settle a conflict. Pure decisions."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from recollect.changes import (
    Decision,
    Embedded,
    Outcome,
    change_of,
    kept_embedding,
    next_version,
    refuse_repeat,
)
from recollect.errors import Conflict, NotFound
from recollect.model import Memory, Operation, Status
from recollect.partition import Partition


class Resolution(StrEnum):
    """How a conflict is settled."""

    KEEP_BOTH = "keep_both"
    KEEP_THIS = "keep_this"
    SUPERSEDE = "supersede"


def restore(
    partition: Partition, memories: Mapping[str, Memory], wanted: Memory, embedded: Embedded, now_ms: int
) -> Decision:
    """Decide to make an earlier version the present one again; a deleted or superseded memory comes back with it.

    Parameters
    ----------
    memories : mapping of str to Memory
        The memory as it is now, unless it was deleted, and the one that took its place, if there is one.
    wanted : Memory
        The version to bring back.
    embedded : Embedded
        Of its content.

    Raises
    ------
    NotFound
        If the memory was purged in the meantime.
    Conflict
        If another active memory is the same statement.
    """
    if partition.is_purged(wanted.memory_id):
        raise NotFound
    present = memories.get(wanted.memory_id)
    version = (partition.last_version_of(wanted.memory_id) or wanted.version) + 1
    after = replace(
        wanted,
        version=version,
        updated_at_ms=now_ms,
        status=Status.ACTIVE,
        valid_until_ms=None,
        superseded_by=None,
        conflicts_with=(),
        merged_content=None,
    )
    reason = f"version {wanted.version} restored as asked"
    changes = [change_of(Operation.RESTORE, present, after, embedded, reason)]
    refuse_repeat(partition, changes[0], now_ms)
    successor = memories.get(present.superseded_by or "") if present is not None else None
    if successor is not None and successor.supersedes == wanted.memory_id:
        freed = replace(next_version(successor, now_ms), supersedes=None)
        changes.append(
            change_of(Operation.LINK, successor, freed, kept_embedding(partition, successor.memory_id), reason)
        )
    return Decision((Outcome("restored", after.memory_id, version, reason),), tuple(changes))


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
        The memory to be for what was merged in, with its id.
    embedded : mapping of str to Embedded
        Embeddings of both contents, by content.

    Raises
    ------
    Conflict
        If another active memory is the same statement as the new one.
    """
    reason = "merge undone as asked"
    after = replace(earlier, version=memory.version + 1, updated_at_ms=now_ms, status=memory.status)
    changes = (
        change_of(Operation.UNMERGE, memory, after, embedded[after.content], reason),
        change_of(Operation.CREATE, None, new, embedded[new.content], reason),
    )
    refuse_repeat(partition, changes[1], now_ms, leaving=memory.memory_id)
    outcomes = (
        Outcome("restored", after.memory_id, after.version, reason, new.memory_id),
        Outcome("created", new.memory_id, new.version, reason, after.memory_id),
    )
    return Decision(outcomes, changes)


def resolve(partition: Partition, this: Memory, other: Memory, resolution: Resolution, now_ms: int) -> Decision:
    """Decide a conflict between two memories.

    Raises
    ------
    Conflict
        If the two are not in conflict.
    """
    if other.memory_id not in this.conflicts_with:
        raise Conflict("these two memories are not in conflict")
    reason = f"conflict settled as asked: {resolution.value}"
    kept = replace(next_version(this, now_ms), conflicts_with=_without(this, other))
    rest = replace(next_version(other, now_ms), conflicts_with=_without(other, this))
    if resolution is Resolution.KEEP_THIS:
        rest = replace(rest, status=Status.ARCHIVED)
    elif resolution is Resolution.SUPERSEDE:
        kept = replace(kept, supersedes=other.memory_id)
        rest = replace(rest, status=Status.SUPERSEDED, valid_until_ms=now_ms, superseded_by=this.memory_id)
    changes = tuple(
        change_of(Operation.RESOLVE, before, after, kept_embedding(partition, after.memory_id), reason)
        for before, after in ((this, kept), (other, rest))
    )
    outcomes = tuple(
        Outcome("resolved", after.memory_id, after.version, reason, target)
        for after, target in ((kept, other.memory_id), (rest, this.memory_id))
    )
    return Decision(outcomes, changes)


def _without(memory: Memory, other: Memory) -> tuple[str, ...]:
    return tuple(memory_id for memory_id in memory.conflicts_with if memory_id != other.memory_id)
