"""The values that the core speaks of: memories, committed changes, the head of a partition, and their limits.

Frozen and plain; validated once, at the edge (``schemas.py``). Times are epoch milliseconds in UTC (``_at_ms``);
``None`` means that a time or a scope is not known.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from recollect.text import normal_form

CONTENT_MAX_CHARS = 16_000
METADATA_MAX_BYTES = 16_384
TAG_MAX_COUNT = 32
TAG_MAX_CHARS = 64
SCOPE_MAX_CHARS = 256
USER_ID_MAX_CHARS = 256
BATCH_MAX_COUNT = 100
BATCH_MAX_CONTENT_BYTES = 200_000  # embedding them takes 6 s of one vCPU in English, three times that in Korean
IDEMPOTENCY_KEY_MAX_CHARS = 128
QUERY_MAX_CHARS = 4_000
SOURCE_MAX_COUNT = 16
DERIVED_MAX_COUNT = 16  # memories that one is made of
SCHEMA_VERSION = 1
_ULID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")


class MemoryType(StrEnum):
    """What kind of memory: what happened, what is true, how to do it."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class Status(StrEnum):
    """Where a memory is in its life."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Source:
    """Messages of a transcript that a memory is from.

    Parameters
    ----------
    transcript_id : str
        ULID.
    first, last : int
        Numbers of its messages, both included.
    """

    transcript_id: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """What a caller wants to be remembered.

    Parameters
    ----------
    content : str
        What is remembered, 1..16,000 characters, not blank.
    importance : float
        In [0, 1].
    metadata_json : str
        A JSON object, at most 16 KB; kept as text so that numbers stay exact.
    agent_id, session_id, actor : str or None
        Which agent, in which conversation; who said or did it.
    occurred_at_ms, expires_at_ms : int or None
        When it happened; from when on it must not be returned any more.
    pinned : bool
        Never archived by decay.
    sources : tuple of Source
        What it was extracted from, newest last, at most 16; none of a memory that a caller stored.
    """

    content: str
    type: MemoryType = MemoryType.SEMANTIC
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    metadata_json: str = "{}"
    agent_id: str | None = None
    session_id: str | None = None
    actor: str | None = None
    occurred_at_ms: int | None = None
    expires_at_ms: int | None = None
    pinned: bool = False
    sources: tuple[Source, ...] = ()

    @property
    def transcripts(self) -> tuple[str, ...]:
        """Ids of the transcripts that it cites, each once."""
        return tuple(dict.fromkeys(source.transcript_id for source in self.sources))


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(NewMemory):
    """One retrievable record of a user.

    Parameters
    ----------
    memory_id : str
        ULID.
    version : int
        1, 2, … one more with every change.
    flags : tuple of str
        What to be careful about; see ``flags.py``.
    supersedes, superseded_by : str or None
        The memory that this one took the place of, and the one that took its place.
    valid_until_ms : int or None
        When it was superseded.
    conflicts_with : tuple of str
        Active memories that may contradict this one; nobody has decided yet.
    merged_content : str or None
        What was merged into the content by the present version, so that it can be taken out again.
    derived_from : tuple of str
        The memories that this one was made of, oldest first, at most 16; see ``consolidating``.
    consolidated_into : str or None
        The memory that holds what this one says: this one is archived, and one of those that it was made of.
    access_count : int
        How often a search returned it, or a store said it again; with what it took over from the memory that it
        superseded. Not kept with the memory: counted by its partition, 0 where nobody asked.
    last_accessed_at_ms : int or None
        When that was last.
    seq : int
        Number of the log entry that made this version; 0 until it is committed.
    """

    memory_id: str
    created_at_ms: int
    updated_at_ms: int
    version: int = 1
    status: Status = Status.ACTIVE
    flags: tuple[str, ...] = ()
    supersedes: str | None = None
    superseded_by: str | None = None
    valid_until_ms: int | None = None
    conflicts_with: tuple[str, ...] = ()
    merged_content: str | None = None
    derived_from: tuple[str, ...] = ()
    consolidated_into: str | None = None
    access_count: int = 0
    last_accessed_at_ms: int | None = None
    seq: int = field(default=0, compare=False)


class Operation(StrEnum):
    """What a log entry did to a memory.

    All but `EMBED` make a version of it or end the last one; that one gives the present version a new embedding.
    """

    CREATE = "create"
    UPDATE = "update"
    MERGE = "merge"
    UNMERGE = "unmerge"
    SUPERSEDE = "supersede"
    LINK = "link"
    CITE = "cite"
    RESOLVE = "resolve"
    RESTORE = "restore"
    CONSOLIDATE = "consolidate"
    ARCHIVE = "archive"
    REVIVE = "revive"
    EXPIRE = "expire"
    DELETE = "delete"
    PURGE = "purge"
    EMBED = "embed"


# After these the memory is not there any more.
LEAVING: Final = frozenset({Operation.DELETE, Operation.PURGE, Operation.EXPIRE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What a partition knows of a memory without its content: what filters, duplicates and ranking need.

    Parameters
    ----------
    identity : bytes
        16 bytes; see `identity`.
    text_key : int
        64 bits that equal texts share; see ``text.text_key``.
    term_counts : mapping of int to int
        Hashed terms of content, actor and date to their counts; see ``text.term_counts``.
    codes : bytes
        The embedding's int8 codes (``scan.encode``), `dimension` bytes; empty when there is none yet.
    embedder : str
        Name of the embedder that made `codes`; empty when there is none yet: the memory is pending.
    metadata_json : str
        As the memory's, for filters on metadata.
    content_bytes : int
        UTF-8 bytes of the content.
    supersedes : str or None
        The memory whose use counts as this one's from the start.
    transcripts : tuple of str
        Those that the memory cites.
    in_conflict : bool
        Whether it is linked with another memory that may contradict it.
    derived_from : tuple of str
        The memories that it was made of; their use counts as this one's from then on.
    consolidated_into : str or None
        The memory that was made of it and others.
    """

    type: MemoryType
    status: Status
    importance: float
    created_at_ms: int
    updated_at_ms: int
    occurred_at_ms: int | None
    expires_at_ms: int | None
    tags: tuple[str, ...]
    agent_id: str | None
    session_id: str | None
    actor: str | None
    pinned: bool
    flags: tuple[str, ...]
    valid_until_ms: int | None
    metadata_json: str
    content_bytes: int
    identity: bytes
    text_key: int
    term_counts: Mapping[int, int] = field(repr=False)
    codes: bytes = field(repr=False)
    embedder: str
    supersedes: str | None = None
    transcripts: tuple[str, ...] = ()
    in_conflict: bool = False
    derived_from: tuple[str, ...] = ()
    consolidated_into: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One committed change, as the log keeps it.

    Parameters
    ----------
    seq : int
        Its number in the user's log, 1, 2, … without gaps.
    by : str
        Who asked for it (the caller's subject).
    reason : str
        Why, in words; never text of a memory.
    columns : Columns or None
        The memory after the change; ``None`` after a delete, or when it was purged since.
    content_hash : str or None
        Of the content that was purged; see ``erasure.content_hash``.
    """

    seq: int
    operation: Operation
    memory_id: str
    version: int
    at_ms: int
    by: str
    reason: str
    columns: Columns | None
    content_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """A use of memories: a search returned them, or a store said them again. Counted, and no part of the trail.

    Parameters
    ----------
    touch_id : str
        ULID.
    seq : int
        The last entry that was committed then, as far as the reader knew.
    memory_ids : tuple of str
        Each counts once.
    is_said_again : bool
        Whether a store said them again: evidence where two memories are in conflict.
    """

    touch_id: str
    seq: int
    at_ms: int
    memory_ids: tuple[str, ...]
    is_said_again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One decided change that has not been committed: its log entry to be and the memory before and after.

    Without the memory before and after it is a new embedding, or a purge of what is not there any more.
    """

    operation: Operation
    memory_id: str
    version: int
    at_ms: int
    reason: str
    columns: Columns | None
    before: Memory | None = None
    after: Memory | None = None


@dataclass(frozen=True, slots=True)
class SegmentRef:
    """A segment that a manifest lists.

    Parameters
    ----------
    segment_id : str
        ULID; names the object, together with user and epoch.
    rows : int
        Memories in it, dead ones included.
    size : int
        Bytes.
    """

    segment_id: str
    rows: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The item that every commit of a user is conditioned on.

    Parameters
    ----------
    seq : int
        Number of the last committed entry; 0 for a user without any.
    epoch : str
        ULID of this life of the partition; empty for a user without any commit.
    embedder, dimension
        The embedder that made the newest embeddings, and the length of its vectors.
    erasing_since_ms : int or None
        When the erasure of the user began; from then on there is nothing to read and nothing may be committed.
    erased : mapping of str to int
        Items and objects that the erasure has deleted so far, by kind.
    erased_to : str
        Key of the last object that `erased` counts; those up to it are gone, or about to go.
    compacted_seq : int
        Up to this entry the segments hold what the log says; they never say more.
    folded_ms : int
        Of the touches after that entry, those made up to here are in the segments; of earlier ones all are.
    manifest : tuple of SegmentRef
        The live segments, oldest first.
    revision : int
        Counts the changes of manifest, `compacted_seq` and `folded_ms`, and the fences against those that were
        being prepared.
    due_at_s : int or None
        When the user is due for maintenance, epoch seconds; ``None`` for not at all. It may change at any time, which
        makes no other head of it.
    """

    seq: int = 0
    epoch: str = ""
    embedder: str = ""
    dimension: int = 0
    schema_version: int = SCHEMA_VERSION
    erasing_since_ms: int | None = None
    erased: Mapping[str, int] = field(default_factory=dict)
    compacted_seq: int = 0
    folded_ms: int = 0
    manifest: tuple[SegmentRef, ...] = ()
    revision: int = 0
    erased_to: str = ""
    due_at_s: int | None = field(default=None, compare=False)


def is_memory_id(text: str) -> bool:
    """Tell whether a text can be the id of a memory: a ULID, 26 characters of Crockford's base 32."""
    return _ULID.fullmatch(text) is not None


def identity(memory: Memory) -> bytes:
    """Digest of what makes two memories the same statement.

    The normal form of the content, the type and the actor; for an episode also its session and the time that it
    happened, since the same words at another time are another episode.

    Returns
    -------
    bytes of length 16
        BLAKE2b; equal digests are taken for equal statements.
    """
    parts = [memory.type.value, memory.actor or "", normal_form(memory.content)]
    if memory.type is MemoryType.EPISODIC:
        parts += [memory.session_id or "", str(memory.occurred_at_ms)]
    joined = "\0".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def is_expired(expires_at_ms: int | None, now_ms: int) -> bool:
    """Tell whether a memory's time is over."""
    return expires_at_ms is not None and expires_at_ms <= now_ms


def outlasts(one: NewMemory, other: NewMemory) -> bool:
    """Tell whether a memory is to be there still when another one has expired."""
    if other.expires_at_ms is None:
        return False
    return one.expires_at_ms is None or one.expires_at_ms > other.expires_at_ms
