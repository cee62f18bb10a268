"""What requests may say, and how it becomes the core's values."""

import json
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, JsonValue, RootModel, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.filters import Filter, Range
from recollect.model import BATCH_MAX_COUNT, MemoryType, NewMemory, Status
from recollect.ranking import Mode
from recollect.schemas.fields import Closed, Content, Importance, Instant, Label, Metadata, Query, Tags

K_MAX = 100
LIMIT_MAX = 200
TOKEN_BUDGET_MIN = 50
TOKEN_BUDGET_MAX = 100_000


class MemoryInput(Closed):
    """A memory to store."""

    content: Content
    type: MemoryType = MemoryType.SEMANTIC
    tags: Tags = Field(default_factory=list)
    importance: Importance = 0.5
    metadata: Metadata = Field(default_factory=dict)
    agent_id: Label | None = None
    session_id: Label | None = None
    actor: Label | None = Field(None, description="who said or did it; not part of what is embedded")
    occurred_at: Instant | None = None
    expires_at: Instant | None = None

    def to_new(self) -> NewMemory:
        """Turn the request into the core's value."""
        return NewMemory(
            content=self.content,
            type=self.type,
            tags=tuple(self.tags),
            importance=self.importance,
            metadata_json=json.dumps(self.metadata, ensure_ascii=False),
            agent_id=self.agent_id,
            session_id=self.session_id,
            actor=self.actor,
            occurred_at_ms=self.occurred_at,
            expires_at_ms=self.expires_at,
        )


class BatchInput(Closed):
    """Memories to store in one request; each is answered for itself."""

    memories: Annotated[
        list[JsonValue],
        Field(min_length=1, max_length=BATCH_MAX_COUNT),
        WithJsonSchema(
            {
                "type": "array",
                "items": {"$ref": "#/components/schemas/MemoryInput"},
                "minItems": 1,
                "maxItems": BATCH_MAX_COUNT,
            }
        ),
    ]


def _which(value: object) -> str:
    is_batch = isinstance(value, BatchInput) or (isinstance(value, dict) and "memories" in value)
    return "<batch>" if is_batch else "<memory>"


class StoreInput(
    RootModel[
        Annotated[
            Annotated[MemoryInput, Tag("<memory>")] | Annotated[BatchInput, Tag("<batch>")], Discriminator(_which)
        ]
    ]
):
    """One memory to store, or a batch."""


class MemoryPatch(Closed):
    """What to change in a memory; fields that are left out stay, ``null`` takes a value away.

    ``metadata`` is merged: names with ``null`` are removed, other names are set.
    """

    content: Content | None = None
    type: MemoryType | None = None
    tags: Tags | None = None
    importance: Importance | None = None
    metadata: Metadata | None = None
    agent_id: Label | None = None
    session_id: Label | None = None
    actor: Label | None = None
    occurred_at: Instant | None = None
    expires_at: Instant | None = None

    @model_validator(mode="after")
    def _is_sensible(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("empty", "must name at least one field to change")
        for name in ("content", "type", "importance"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise PydanticCustomError("not_nullable", "{name} must not be null", {"name": name})
        return self

    def to_patch(self) -> Patch:
        """Turn the request into the core's value."""
        names = {"occurred_at": "occurred_at_ms", "expires_at": "expires_at_ms"}
        values: dict[str, Any] = {
            names.get(name, name): getattr(self, name) for name in self.model_fields_set - {"metadata", "tags"}
        }
        if "tags" in self.model_fields_set:
            values["tags"] = tuple(self.tags or ())
        clears_metadata = "metadata" in self.model_fields_set and self.metadata is None
        return Patch(values, self.metadata, clears_metadata)


class NumberRange(Closed):
    """Bounds of a number."""

    gte: Annotated[float, Field(strict=True)] | None = None
    gt: Annotated[float, Field(strict=True)] | None = None
    lte: Annotated[float, Field(strict=True)] | None = None
    lt: Annotated[float, Field(strict=True)] | None = None

    def to_range(self) -> Range:
        """Turn the request into the core's value."""
        return Range(gte=self.gte, gt=self.gt, lte=self.lte, lt=self.lt)


class TimeRange(Closed):
    """Bounds of a time."""

    gte: Instant | None = None
    gt: Instant | None = None
    lte: Instant | None = None
    lt: Instant | None = None

    def to_range(self) -> Range:
        """Turn the request into the core's value."""
        return Range(gte=self.gte, gt=self.gt, lte=self.lte, lt=self.lt)


class FilterInput(Closed):
    """Conditions that all must hold; a condition on a field that a memory does not have never holds."""

    type: list[MemoryType] = Field(default_factory=list)
    status: list[Status] = Field(min_length=1, default_factory=lambda: [Status.ACTIVE])
    tags_all: Tags = Field(default_factory=list)
    tags_any: Tags = Field(default_factory=list)
    importance: NumberRange | None = None
    created_at: TimeRange | None = None
    updated_at: TimeRange | None = None
    occurred_at: TimeRange | None = None
    agent_id: Label | None = None
    session_id: Label | None = None
    actor: Label | None = None

    def to_filter(self) -> Filter:
        """Turn the request into the core's value."""
        return Filter(
            types=tuple(self.type),
            statuses=tuple(self.status),
            tags_all=tuple(self.tags_all),
            tags_any=tuple(self.tags_any),
            importance=self.importance.to_range() if self.importance else None,
            created_at_ms=self.created_at.to_range() if self.created_at else None,
            updated_at_ms=self.updated_at.to_range() if self.updated_at else None,
            occurred_at_ms=self.occurred_at.to_range() if self.occurred_at else None,
            agent_id=self.agent_id,
            session_id=self.session_id,
            actor=self.actor,
        )


class SearchInput(Closed):
    """What to look for."""

    query: Query
    mode: Mode = Mode.HYBRID
    k: Annotated[int, Field(strict=True, ge=1, le=K_MAX)] = 10
    min_score: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.0
    filter: FilterInput = FilterInput()

    def to_query(self) -> SearchQuery:
        """Turn the request into the core's value."""
        return SearchQuery(
            text=self.query,
            k=self.k,
            mode=self.mode,
            min_score=self.min_score,
            filter=self.filter.to_filter(),
        )


class ContextInput(Closed):
    """What the prompt is about, and how many tokens its memories may take."""

    query: Query
    token_budget: Annotated[int, Field(strict=True, ge=TOKEN_BUDGET_MIN, le=TOKEN_BUDGET_MAX)] = 1_000
    min_score: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.0
    filter: FilterInput = FilterInput()

    def to_query(self) -> SearchQuery:
        """Turn the request into the core's value."""
        return SearchQuery(text=self.query, min_score=self.min_score, filter=self.filter.to_filter())


class ListInput(Closed):
    """Which memories to list, and which page of them."""

    limit: Annotated[int, Field(ge=1, le=LIMIT_MAX)] = 50
    cursor: str | None = None
    type: list[MemoryType] = Field(default_factory=list)
    status: list[Status] = Field(default_factory=lambda: [Status.ACTIVE])
    tag: Tags = Field(default_factory=list, description="tags that a memory must all have")
    agent_id: Label | None = None
    session_id: Label | None = None
    actor: Label | None = None

    def to_filter(self) -> Filter:
        """Turn the request into the core's value."""
        return Filter(
            types=tuple(self.type),
            statuses=tuple(self.status),
            tags_all=tuple(self.tag),
            agent_id=self.agent_id,
            session_id=self.session_id,
            actor=self.actor,
        )
