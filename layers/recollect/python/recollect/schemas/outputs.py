"""What the API answers."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Self

from pydantic import BaseModel, Field, JsonValue

from recollect.answers import Page, Stats
from recollect.changes import Outcome
from recollect.model import Memory, MemoryType, Status
from recollect.schemas.fields import Moment


class SourceOutput(BaseModel):
    """Messages of a transcript that a memory is from: the numbers of the first and the last one."""

    transcript_id: str
    first: int
    last: int


class AnyMemoryOutput(BaseModel):
    """What every version of a memory has; ``content`` is ``null`` in one that was purged."""

    memory_id: str
    user_id: str
    content: str | None
    type: MemoryType
    status: Status
    version: int
    tags: list[str]
    importance: float
    metadata: dict[str, JsonValue]
    agent_id: str | None
    session_id: str | None
    actor: str | None
    occurred_at: Moment | None
    expires_at: Moment | None
    created_at: Moment
    updated_at: Moment
    pinned: bool
    flags: list[str]
    supersedes: str | None
    superseded_by: str | None
    valid_until: Moment | None
    conflicts_with: list[str]
    derived_from: Annotated[list[str], Field(description="the memories that it was made of by consolidation")]
    consolidated_into: Annotated[str | None, Field(description="the memory that says what this archived one says")]
    sources: Annotated[list[SourceOutput], Field(description="what it was extracted from; none if a caller stored it")]
    access_count: Annotated[int, Field(description="how often it came back from a search, or was stored again")]
    last_accessed_at: Moment | None


class Receipt(BaseModel):
    """What became of one memory that was written."""

    outcome: Annotated[
        str, Field(description="created, unchanged, merged, superseded, conflict, revived, updated, deleted, …")
    ]
    memory_id: str
    version: int
    reason: str
    other_id: Annotated[str | None, Field(description="the other memory that is involved")] = None
    detail: Annotated[str | None, Field(description="what decided; not kept, so not repeated under a key")] = None
    pending: Annotated[
        bool,
        Field(description="stored while the embedder did not answer: found by its words only until maintenance comes"),
    ] = False

    @classmethod
    def of(cls, outcome: Outcome) -> Self:
        """Make the answer of the core's value."""
        values = asdict(outcome)
        return cls(pending=values.pop("is_pending"), **values)


class FieldError(BaseModel):
    """One fault of a request: where (RFC 6901) and what."""

    pointer: str
    detail: str


class Problem(BaseModel):
    """A problem document (RFC 9457); ``instance`` carries the request id that the log line has."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[FieldError] = Field(default_factory=list)


class BatchReceipt(Receipt):
    """What became of one memory of a batch."""

    index: int


class BatchProblem(BaseModel):
    """What kept one memory of a batch from being stored."""

    index: int
    problem: Problem


class BatchOutput(BaseModel):
    """One result for each memory of a batch, in order."""

    results: list[BatchReceipt | BatchProblem]


class ReceiptsOutput(BaseModel):
    """What became of each memory that a decision touched."""

    results: list[Receipt]

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Self:
        """Make the answer of the core's values."""
        return cls(results=[Receipt.of(outcome) for outcome in outcomes])


class MemoryOutput(AnyMemoryOutput):
    """A memory as it is now."""

    content: str


class PageOutput(BaseModel):
    """Some memories, in the order asked for; ``cursor`` leads to the next page, ``null`` if there is none."""

    memories: list[MemoryOutput]
    cursor: str | None

    @classmethod
    def of(cls, user_id: str, page: Page) -> Self:
        """Make the answer of the core's value."""
        return cls(memories=[memory_output(user_id, memory) for memory in page.memories], cursor=page.cursor)


class EmbedderOutput(BaseModel):
    """The model that makes embeddings now."""

    name: str
    dimension: int


class StatsOutput(BaseModel):
    """Totals of a user's memories of every status; those that expired do not count.

    ``bytes``: of content and metadata in UTF-8. ``pending_embeddings``: memories that are found by their words only,
    until maintenance has embedded them. ``log_entries`` counts the committed changes so far.
    """

    total: int
    by_type: dict[str, int]
    by_status: dict[str, int]
    by_tag: dict[str, int]
    mean_importance: float | None
    bytes: int
    first_created_at: Moment | None
    last_created_at: Moment | None
    last_updated_at: Moment | None
    pending_embeddings: int
    log_entries: int
    embedder: EmbedderOutput
    maintenance_due_at: Moment | None

    @classmethod
    def of(cls, stats: Stats) -> Self:
        """Make the answer of the core's value."""
        return cls(
            total=stats.total,
            by_type=dict(stats.by_type),
            by_status=dict(stats.by_status),
            by_tag=dict(stats.by_tag),
            mean_importance=stats.mean_importance,
            bytes=stats.text_bytes,
            first_created_at=stats.first_created_at_ms,
            last_created_at=stats.last_created_at_ms,
            last_updated_at=stats.last_updated_at_ms,
            pending_embeddings=stats.pending_embeddings,
            log_entries=stats.seq,
            embedder=EmbedderOutput(name=stats.embedder, dimension=stats.dimension),
            maintenance_due_at=None if stats.due_at_s is None else stats.due_at_s * 1000,
        )


class HealthOutput(BaseModel):
    """The service is up."""

    status: str
    version: str


def memory_output(user_id: str, memory: Memory) -> MemoryOutput:
    """Make the answer of the core's value."""
    return MemoryOutput(
        memory_id=memory.memory_id,
        user_id=user_id,
        content=memory.content,
        type=memory.type,
        status=memory.status,
        version=memory.version,
        tags=list(memory.tags),
        importance=memory.importance,
        metadata=json.loads(memory.metadata_json),
        agent_id=memory.agent_id,
        session_id=memory.session_id,
        actor=memory.actor,
        occurred_at=memory.occurred_at_ms,
        expires_at=memory.expires_at_ms,
        created_at=memory.created_at_ms,
        updated_at=memory.updated_at_ms,
        pinned=memory.pinned,
        flags=list(memory.flags),
        supersedes=memory.supersedes,
        superseded_by=memory.superseded_by,
        valid_until=memory.valid_until_ms,
        conflicts_with=list(memory.conflicts_with),
        derived_from=list(memory.derived_from),
        consolidated_into=memory.consolidated_into,
        sources=[SourceOutput(**asdict(source)) for source in memory.sources],
        access_count=memory.access_count,
        last_accessed_at=memory.last_accessed_at_ms,
    )
