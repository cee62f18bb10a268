"""What requests may say, and how it becomes the core's values."""

import json
from typing import Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    RootModel,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from recollect.changes import Patch
from recollect.filters import AllOf, Compare, Filter, Operator, within_reach
from recollect.keys import VERSION_MAX
from recollect.model import BATCH_MAX_COUNT, MemoryType, NewMemory, Status
from recollect.nominating import OnSimilar, ToStore
from recollect.ordering import Order, OrderBy
from recollect.schemas.fields import (
    IN_DIGITS,
    Between,
    Closed,
    Content,
    Importance,
    Instant,
    Label,
    MemoryId,
    Metadata,
    Tags,
)
from recollect.schemas.filters import FilterText, filter_of
from recollect.undoing import Resolution

LIMIT_MAX = 200
ORDER = (
    "created_at, updated_at, occurred_at, last_accessed_at or importance; memories without the value are last; the "
    "memory id decides between equals"
)
Direction = Literal["asc", "desc"]
AS_OF = (
    "an instant: what was valid then, that is created by then, not superseded and not expired by then, and active or "
    "superseded now unless the status is asked for; each memory is compared and shown as it is now"
)


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
    pinned: bool = Field(False, strict=True, description="never archived by decay")
    on_similar: OnSimilar = Field(
        OnSimilar.RECONCILE,
        description="when something close is stored: reconcile by rules, create all the same, or reject with 409",
    )
    supersedes: MemoryId | None = Field(None, description="the memory whose place this one takes, by your word")

    def to_store(self) -> ToStore:
        """Turn the request into the core's value."""
        return ToStore(self._to_new(), self.on_similar, self.supersedes)

    def _to_new(self) -> NewMemory:
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
            pinned=self.pinned,
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


_NOT_PLAIN = {"metadata", "tags", "approved"}
_NOT_NULLABLE = ("content", "type", "importance", "pinned", "approved", "status")


def _describe_patch(schema: dict[str, Any]) -> None:
    schema["minProperties"] = 1
    for name in _NOT_NULLABLE:
        value, _ = schema["properties"][name].pop("anyOf")
        schema["properties"][name] |= value


class MemoryPatch(Closed):
    """What to change in a memory; fields that are left out stay, ``null`` takes a value away.

    ``metadata`` is merged: names with ``null`` are removed, other names are set.
    """

    model_config = ConfigDict(json_schema_extra=_describe_patch)

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
    pinned: Annotated[bool, Field(strict=True)] | None = None
    approved: Literal[True] | None = Field(None, description="takes the flags away, so that the context may use it")
    status: Literal[Status.ACTIVE] | None = Field(None, description="brings an archived memory back")

    @model_validator(mode="after")
    def _is_sensible(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("empty", "must name at least one field to change")
        for name in _NOT_NULLABLE:
            if name in self.model_fields_set and getattr(self, name) is None:
                raise PydanticCustomError("not_nullable", "{name} must not be null", {"name": name})
        return self

    def to_patch(self) -> Patch:
        """Turn the request into the core's value."""
        names = {"occurred_at": "occurred_at_ms", "expires_at": "expires_at_ms"}
        values: dict[str, Any] = {
            names.get(name, name): getattr(self, name) for name in self.model_fields_set - _NOT_PLAIN
        }
        if self.approved:
            values["flags"] = ()
        if "tags" in self.model_fields_set:
            values["tags"] = tuple(self.tags or ())
        clears_metadata = "metadata" in self.model_fields_set and self.metadata is None
        return Patch(values, self.metadata, clears_metadata)


class ListInput(Closed):
    """Which memories to list, in which order, and which page of them; what narrows must all hold."""

    limit: Annotated[int, Between(1, LIMIT_MAX), IN_DIGITS] = 50
    cursor: str | None = Field(None, description="of the page before, of the same user, filter and order")
    order: OrderBy = Field(OrderBy.CREATED_AT, description=ORDER)
    direction: Direction = Field("desc", description="asc or desc")
    filter: FilterText | None = Field(None, description="a FilterInput as JSON; the parameters below are shorthands")
    as_of: Instant | None = Field(None, description=AS_OF)
    type: list[MemoryType] = Field(default_factory=list, description="one of these")
    status: list[Status] = Field(
        default_factory=list, description="one of these; active, unless this or the filter mentions the status"
    )
    tag: Tags = Field(default_factory=list, description="tags that a memory must all have")
    agent_id: Label | None = None
    session_id: Label | None = None
    actor: Label | None = None

    def to_filter(self) -> Filter:
        """Turn the request into the core's value."""
        parts = [filter_of(self.filter)]
        for name, choices in (("type", self.type), ("status", self.status)):
            if choices:
                parts.append(Compare((name,), Operator.IN, tuple(choice.value for choice in choices)))
        parts += [Compare(("tags",), Operator.CONTAINS, tag) for tag in self.tag]
        for name in ("agent_id", "session_id", "actor"):
            if getattr(self, name) is not None:
                parts.append(Compare((name,), Operator.EQ, getattr(self, name)))
        return within_reach(AllOf(tuple(parts)), self.as_of)

    def to_order(self) -> Order:
        """Turn the request into the core's value."""
        return Order(self.order, self.direction == "desc")


class RestoreInput(Closed):
    """Which version to bring back."""

    version: Annotated[int, Field(strict=True), Between(1, VERSION_MAX)]


class ResolveInput(Closed):
    """How to settle the conflict with another memory.

    ``keep_both``: they do not contradict each other. ``keep_this``: the other is archived. ``supersede``: this one
    takes the other's place.
    """

    other_id: MemoryId
    resolution: Resolution
