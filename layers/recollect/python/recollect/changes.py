"""What a write means beside what is there: the pure decisions of create, update and delete.

No clock, randomness or I/O: times and new ids come in. A decision holds the changes to commit and, for every
thing that was asked, its outcome with a reason in words. At most one active memory has a given identity.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from recollect.errors import Conflict, InvalidInput
from recollect.flags import flags_of
from recollect.model import METADATA_MAX_BYTES, Change, Columns, Memory, Operation, Status, identity
from recollect.partition import Partition
from recollect.scan import Vector, encode
from recollect.text import term_counts, text_key
from recollect.times import MONTHS


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one thing that was asked.

    Parameters
    ----------
    outcome : str
        ``created``, ``unchanged``, ``merged``, ``superseded``, ``conflict``, ``revived``, ``rejected``, ``missing``,
        ``updated``, ``deleted``, ``restored``, ``resolved`` …
    version : int
        The memory's version afterwards.
    reason : str
        Why, in words; never text of a memory.
    other_id : str or None
        The other memory that is involved.
    detail : str or None
        What decided, in words that may be those of the memories; answered once and never kept.
    is_pending : bool
        Whether the memory was stored without an embedding, since the embedder did not answer.
    """

    outcome: str
    memory_id: str
    version: int
    reason: str
    other_id: str | None = None
    detail: str | None = None
    is_pending: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Changes to commit, and the outcomes to answer once they are."""

    outcomes: tuple[Outcome, ...]
    changes: tuple[Change, ...] = ()


NOT_EMBEDDED = (b"", "")


@dataclass(frozen=True, slots=True)
class Embedded:
    """An embedding and the name of what made it.

    Parameters
    ----------
    vector : ndarray of shape (dim,), float32, unit norm
    """

    vector: Vector = field(repr=False)
    embedder: str


Embedding = Embedded | tuple[bytes, str]
"""An embedding that was made just now, or one that a memory has: its codes and embedder, empty if it is pending."""


Embeddings = Callable[[str], Embedding]
"""Gives the embedding of a text, or raises `NotEmbedded`."""


class NotEmbedded(Exception):
    """A decision needs the embedding of a text that it has made; embed it and decide again."""

    def __init__(self, text: str) -> None:
        super().__init__("a text that was put together is not embedded yet")
        self.text = text


@dataclass(frozen=True, slots=True)
class Patch:
    """What to change in a memory.

    Parameters
    ----------
    values : mapping
        Fields of `Memory` to their new values.
    metadata : mapping or None
        Merged into the metadata as RFC 7396 says: a name with ``None`` is removed, objects are merged, every other
        value is set.
    clears_metadata : bool
        Whether the metadata is emptied.
    """

    values: Mapping[str, Any]
    metadata: Mapping[str, Any] | None = None
    clears_metadata: bool = False


def update(partition: Partition, memory: Memory, patch: Patch, embedded: Embedded | None, now_ms: int) -> Decision:
    """Decide on a change of one memory.

    Parameters
    ----------
    memory : Memory
        The memory as it is now.
    embedded : Embedded or None
        Embedding of the new content; ``None`` if the content stays.

    Raises
    ------
    Conflict
        If another active memory is the same statement as this one would become; or it is to be active, and another
        one took its place.
    InvalidInput
        If the metadata would become too large.
    """
    metadata = _merged(memory.metadata_json, patch)
    changed = replace(memory, **patch.values, metadata_json=metadata)
    if "flags" not in patch.values and (changed.content, changed.actor) != (memory.content, memory.actor):
        changed = replace(changed, flags=flags_of(changed.content, changed.actor))
    if changed == memory:
        return Decision((Outcome("unchanged", memory.memory_id, memory.version, "it is like that already"),))
    if changed.status is not memory.status is Status.SUPERSEDED:
        raise Conflict("another memory took this one's place; restore a version of it instead")
    operation = Operation.UPDATE if changed.status is memory.status else Operation.REVIVE
    change = change_of(
        operation,
        memory,
        next_version(changed, now_ms),
        embedded or partition.embedding_of(memory.memory_id),
        "changed as asked",
    )
    refuse_repeat(partition, change, now_ms)
    return Decision((Outcome("updated", memory.memory_id, change.version, "changed as asked"),), (change,))


def delete(memory: Memory, now_ms: int, reason: str = "deleted as asked") -> Decision:
    """Decide on deleting one memory: hidden at once, its last version kept."""
    version = memory.version + 1
    change = Change(
        operation=Operation.DELETE,
        memory_id=memory.memory_id,
        version=version,
        at_ms=now_ms,
        reason=reason,
        columns=None,
        before=memory,
    )
    return Decision((Outcome("deleted", memory.memory_id, version, reason),), (change,))


def expired(partition: Partition, memory_id: str, memory: Memory | None, now_ms: int) -> Change:
    """Describe that a memory is over: hidden as if it were deleted; ``None`` where its item is gone already."""
    return Change(
        operation=Operation.EXPIRE,
        memory_id=memory_id,
        version=(partition.version_of(memory_id) or 0) + 1,
        at_ms=now_ms,
        reason="its time is over",
        columns=None,
        before=memory,
    )


def archived(partition: Partition, memory: Memory, now_ms: int, reason: str) -> Change:
    """Describe that a memory leaves what is searched unless more is asked for; nothing of it is lost."""
    after = replace(next_version(memory, now_ms), status=Status.ARCHIVED)
    return change_of(Operation.ARCHIVE, memory, after, partition.embedding_of(memory.memory_id), reason)


def revived(partition: Partition, memory: Memory, now_ms: int, reason: str) -> Change:
    """Describe that an archived memory is active again, as fresh as if it had just been changed."""
    return change_of(Operation.REVIVE, memory, awake(memory, now_ms), partition.embedding_of(memory.memory_id), reason)


def awake(memory: Memory, now_ms: int) -> Memory:
    """Give the next version of an archived memory, active again."""
    return replace(next_version(memory, now_ms), status=Status.ACTIVE, consolidated_into=None)


def change_of(
    operation: Operation,
    before: Memory | None,
    after: Memory,
    embedded: Embedding,
    reason: str,
) -> Change:
    """Describe the change from one version of a memory to the next; its time is that of the new version."""
    return Change(
        operation=operation,
        memory_id=after.memory_id,
        version=after.version,
        at_ms=after.updated_at_ms,
        reason=reason,
        columns=columns_for(after, embedded),
        before=before,
        after=after,
    )


def refuse_repeat(partition: Partition, change: Change, now_ms: int, leaving: str | None = None) -> None:
    """Refuse a change that would make a second active memory of one statement.

    Parameters
    ----------
    leaving : str or None
        A memory that becomes another statement in the same commit.

    Raises
    ------
    Conflict
        If another active memory is the same statement.
    """
    if change.columns is None or change.columns.status is not Status.ACTIVE:
        return
    known = partition.same_statement(change.columns.identity, now_ms)
    if known not in (None, change.memory_id, leaving):
        raise Conflict(f"memory {known} is the same statement already; delete one of the two")


def next_version(memory: Memory, now_ms: int) -> Memory:
    """Give the memory one version on, otherwise as it is."""
    return replace(memory, version=memory.version + 1, updated_at_ms=now_ms, merged_content=None)


def columns_for(memory: Memory, embedded: Embedding) -> Columns:
    """Derive the columns of a memory from its content and an embedding, fresh or kept (codes, embedder)."""
    if isinstance(embedded, Embedded):
        codes, embedder = encode(embedded.vector).tobytes(), embedded.embedder
    else:
        codes, embedder = embedded
    return Columns(
        type=memory.type,
        status=memory.status,
        importance=memory.importance,
        created_at_ms=memory.created_at_ms,
        updated_at_ms=memory.updated_at_ms,
        occurred_at_ms=memory.occurred_at_ms,
        expires_at_ms=memory.expires_at_ms,
        tags=memory.tags,
        agent_id=memory.agent_id,
        session_id=memory.session_id,
        actor=memory.actor,
        pinned=memory.pinned,
        flags=memory.flags,
        valid_until_ms=memory.valid_until_ms,
        metadata_json=memory.metadata_json,
        content_bytes=len(memory.content.encode("utf-8", "surrogatepass")),
        identity=identity(memory),
        text_key=text_key(memory.content),
        term_counts=term_counts(_searchable(memory)),
        codes=codes,
        embedder=embedder,
        supersedes=memory.supersedes,
        transcripts=memory.transcripts,
        in_conflict=bool(memory.conflicts_with),
        derived_from=memory.derived_from,
        consolidated_into=memory.consolidated_into,
    )


def _searchable(memory: Memory) -> str:
    # Words that a question may name a memory by: what was said, who said it, and on which day ("8 may 2023").
    words = [memory.content, memory.actor or ""]
    if memory.occurred_at_ms is not None:
        day = datetime.fromtimestamp(memory.occurred_at_ms / 1000, UTC)
        words.append(f"{day.day} {MONTHS[day.month - 1].lower()} {day.year}")
    return " ".join(words)


def _merged(metadata_json: str, patch: Patch) -> str:
    if patch.clears_metadata:
        return "{}"
    if patch.metadata is None:
        return metadata_json
    merged = json.dumps(_merge(json.loads(metadata_json), patch.metadata), ensure_ascii=False)
    if len(merged.encode()) > METADATA_MAX_BYTES:
        raise InvalidInput("the metadata would be larger than 16 KB; take names away with null", pointer="/metadata")
    return merged


def _merge(old: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(old) if isinstance(old, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merge(merged.get(name), value)
    return merged
