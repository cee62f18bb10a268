"""What becomes of memories that were made of others: made, extended, remade, withdrawn, taken apart.

A derived memory names the memories that it was made of (`derived_from`); those are archived and name it
(`consolidated_into`). What changes one of them, so that it says something else or stands by itself again, changes in
the same commit what was made of it: it is put together again, sentence by sentence, from those that it still holds, and
with fewer than two it is withdrawn, and the one that is left active again. To delete a derived memory deletes what it
was made of too: they say the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from recollect.changes import (
    Decision,
    Embedding,
    Embeddings,
    Outcome,
    change_of,
    columns_for,
    delete,
    next_version,
    revived,
)
from recollect.citing import together
from recollect.consolidating.clusters import SMALL_MAX_BYTES
from recollect.consolidating.composing import compose, in_order
from recollect.errors import Conflict
from recollect.flags import flags_of
from recollect.model import TAG_MAX_COUNT, Change, Memory, Operation, Status, identity, is_expired
from recollect.partition import Partition

MADE = "several memories that overlap became one"
EXTENDED = "it took in memories that overlap with it"
HELD = "it is part of what was made of it and others"
REMADE = "a memory that it was made of changed"
WITHDRAWN = "too little is left of what it was made of"
GONE_TOO = "what was made of it was deleted"
ALONE = "it is not part of another memory any more"
TAKEN_APART = "taken apart as asked"
HELD_MIN_COUNT = 2


def family(partition: Partition, memory_ids: Iterable[str]) -> list[str]:
    """Name memories, what was made of them, and what they and those were made of: what `following` needs."""
    found = dict.fromkeys(memory_ids)
    found |= dict.fromkeys(one for memory_id in list(found) for one in partition.derived_from(memory_id))
    return list(
        found | dict.fromkeys(one for memory_id in list(found) for one in partition.consolidated_into(memory_id))
    )


def consolidated(
    partition: Partition,
    told: Sequence[Memory],
    content: str,
    embedded: Embedding,
    new_id: str,
    now_ms: int,
) -> Decision:
    """Decide to make one memory of several, or to let one that was made so take in more; nothing if it cannot be.

    Parameters
    ----------
    told : sequence of Memory
        Active ones. If the first was made of others, it takes in the rest; all that are taken in are archived.
    content : str
        What they say together.
    new_id : str
        Of the memory to be, if there is none yet.
    """
    into = told[0] if told[0].derived_from else None
    members = told if into is None else told[1:]
    made = _made(members, into, content, new_id, now_ms)
    known = partition.same_statement(identity(made), now_ms)
    if made.flags or known not in (None, made.memory_id, *(one.memory_id for one in members)):
        return Decision(())
    change = change_of(Operation.CONSOLIDATE, into, made, embedded, MADE if into is None else EXTENDED)
    parts = [_held(partition, one, made.memory_id, now_ms) for one in in_order(members)]
    return Decision((Outcome("consolidated", made.memory_id, made.version, change.reason),), (change, *parts))


def following(
    partition: Partition, memories: Mapping[str, Memory], decision: Decision, embeddings: Embeddings, now_ms: int
) -> Decision:
    """Add to a decision what follows from it for derived memories and for what they were made of.

    Parameters
    ----------
    memories : mapping of str to Memory
        At least the `family` of those that the decision changes.

    Raises
    ------
    NotEmbedded
        If `embeddings` does.
    """
    done = {change.memory_id: _freed(partition, change, now_ms) for change in decision.changes}
    for derived in [one for one in memories.values() if one.derived_from]:
        own = done.get(derived.memory_id)
        held = [one for one in memories.values() if one.consolidated_into == derived.memory_id]
        if own is not None and own.after is None:
            done |= _by_id(delete(one, now_ms, GONE_TOO).changes[0] for one in held if one.memory_id not in done)
        elif any(_matters(done[one]) for one in derived.derived_from if one in done):
            done |= _by_id(_remade(partition, derived, held, done, embeddings, now_ms))
        elif own is not None and own.after is not None:  # restored, it may be of fewer
            left = [one for one in held if one.memory_id not in (*own.after.derived_from, *done)]
            done |= _by_id(_alone(partition, one, now_ms) for one in left)
    return Decision(decision.outcomes, tuple(done.values()))


def taken_apart(partition: Partition, memories: Mapping[str, Memory], derived: Memory, now_ms: int) -> Decision:
    """Decide to make active again what a memory was made of, and to delete that one.

    Raises
    ------
    Conflict
        If nothing is left of what it was made of.
    """
    held = in_order(one for one in memories.values() if one.consolidated_into == derived.memory_id)
    if not held:
        raise Conflict("nothing is left of what this memory was made of")
    gone = delete(derived, now_ms, TAKEN_APART).changes[0]
    back = [replace(_alone(partition, one, now_ms), reason=TAKEN_APART) for one in held]
    outcomes = [Outcome("restored", one.memory_id, one.version, TAKEN_APART, derived.memory_id) for one in back]
    outcomes.append(Outcome("deleted", gone.memory_id, gone.version, TAKEN_APART))
    return Decision(tuple(outcomes), (*back, gone))


def replaced(
    partition: Partition, derived: Memory, held: Sequence[Memory], embeddings: Embeddings, new_id: str, now_ms: int
) -> list[Change]:
    """Make anew, as another memory, what a memory that is purged still held; see `following` for when it is too little.

    Parameters
    ----------
    held : sequence of Memory
        What stays of what it was made of.
    """
    if derived.status is Status.ACTIVE and len(held) >= HELD_MIN_COUNT:
        content = compose([one.content for one in in_order(held)])
        ids = tuple(one.memory_id for one in in_order(held))
        made = replace(
            derived,
            memory_id=new_id,
            content=content,
            flags=flags_of(content, derived.actor),
            derived_from=ids,
            sources=together(held),
            version=1,
            created_at_ms=min(one.created_at_ms for one in held),
            updated_at_ms=now_ms,
            supersedes=None,
            conflicts_with=(),
            merged_content=None,
        )
        if partition.same_statement(identity(made), now_ms) in (None, derived.memory_id):
            change = change_of(Operation.CONSOLIDATE, None, made, embeddings(content), REMADE)
            return [change, *(_held(partition, one, new_id, now_ms) for one in in_order(held))]
    return [_left(partition, derived, one, now_ms) for one in held]


def _made(members: Sequence[Memory], into: Memory | None, content: str, new_id: str, now_ms: int) -> Memory:
    ordered = in_order(members)
    all_of_them = [*([] if into is None else [into]), *ordered]
    first = all_of_them[0]
    sessions = {one.session_id for one in all_of_them}
    times = [one.occurred_at_ms for one in all_of_them if one.occurred_at_ms is not None]
    base = Memory(memory_id=new_id, content="", created_at_ms=now_ms, updated_at_ms=now_ms, version=0)
    return replace(
        next_version(base if into is None else into, now_ms),
        content=content,
        type=first.type,
        tags=tuple(dict.fromkeys(tag for one in all_of_them for tag in one.tags))[:TAG_MAX_COUNT],
        importance=max(one.importance for one in all_of_them),
        metadata_json=first.metadata_json,
        agent_id=first.agent_id,
        session_id=sessions.pop() if len(sessions) == 1 else None,
        actor=first.actor,
        occurred_at_ms=max(times, default=None),
        flags=flags_of(content, first.actor),
        sources=together(all_of_them),
        created_at_ms=min(one.created_at_ms for one in all_of_them),
        derived_from=(*(into.derived_from if into else ()), *(one.memory_id for one in ordered)),
    )


def _remade(
    partition: Partition,
    derived: Memory,
    held: Sequence[Memory],
    done: Mapping[str, Change],
    embeddings: Embeddings,
    now_ms: int,
) -> list[Change]:
    present = [done[one.memory_id].after if one.memory_id in done else one for one in held]
    kept = in_order(one for one in present if one is not None and one.consolidated_into == derived.memory_id)
    content = compose([one.content for one in kept])
    own = done.get(derived.memory_id)
    after = replace(
        next_version(derived, now_ms) if own is None or own.after is None else own.after,
        content=content,
        flags=flags_of(content, derived.actor),
        derived_from=tuple(one.memory_id for one in kept),
        sources=together(kept),
    )
    known = partition.same_statement(identity(after), now_ms)
    if len(kept) >= HELD_MIN_COUNT and known in (None, derived.memory_id):
        return [change_of(Operation.CONSOLIDATE, derived, after, embeddings(content), REMADE)]
    left = [_left(partition, derived, one, now_ms) for one in kept if one.memory_id not in done]
    return [delete(derived, now_ms, WITHDRAWN).changes[0], *left]


def _left(partition: Partition, derived: Memory, memory: Memory, now_ms: int) -> Change:
    """Let a memory stand by itself again; what was retired with the derived one stays archived."""
    if derived.status is Status.ACTIVE:
        return _alone(partition, memory, now_ms)
    after = replace(next_version(memory, now_ms), consolidated_into=None)
    return change_of(Operation.LINK, memory, after, partition.embedding_of(memory.memory_id), ALONE)


def _alone(partition: Partition, memory: Memory, now_ms: int) -> Change:
    """Make a memory active again, unless it has expired or another one says the same by now: it then stays archived."""
    free = replace(memory, consolidated_into=None)
    if _may_be_active(partition, memory, now_ms):
        return replace(revived(partition, free, now_ms, ALONE), before=memory)
    after = next_version(free, now_ms)
    return change_of(Operation.LINK, memory, after, partition.embedding_of(memory.memory_id), ALONE)


def _may_be_active(partition: Partition, memory: Memory, now_ms: int) -> bool:
    known = partition.same_statement(identity(memory), now_ms)
    return known in (None, memory.memory_id) and not is_expired(memory.expires_at_ms, now_ms)


def _held(partition: Partition, memory: Memory, into: str, now_ms: int) -> Change:
    operation = Operation.ARCHIVE if memory.status is Status.ACTIVE else Operation.LINK
    after = replace(next_version(memory, now_ms), status=Status.ARCHIVED, consolidated_into=into)
    return change_of(operation, memory, after, partition.embedding_of(memory.memory_id), HELD)


def _freed(partition: Partition, change: Change, now_ms: int) -> Change:
    """Let a change take a memory out of what was made of it, if it is not archived any more, expires or has grown."""
    after, columns = change.after, change.columns
    if after is None or columns is None or after.consolidated_into is None:
        return change
    stays = after.status is Status.ARCHIVED and after.expires_at_ms is None and columns.content_bytes <= SMALL_MAX_BYTES
    if stays:
        return change
    after = replace(after, consolidated_into=None)
    if after.status is Status.ARCHIVED and _may_be_active(partition, after, now_ms):
        after = replace(after, status=Status.ACTIVE)
    return replace(change, after=after, columns=columns_for(after, (columns.codes, columns.embedder)))


def _matters(change: Change) -> bool:
    """Tell whether a change leaves a memory saying something else, or not part of what was made of it."""
    before, after = change.before, change.after
    if before is None:
        return False
    if after is None:
        return True
    is_retired = after.status is Status.SUPERSEDED is not before.status
    return is_retired or (after.content, after.consolidated_into) != (before.content, before.consolidated_into)


def _by_id(changes: Iterable[Change]) -> dict[str, Change]:
    return {change.memory_id: change for change in changes}
