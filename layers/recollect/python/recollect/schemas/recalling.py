"""What a search and a context are asked, and what they answer."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from recollect import context
from recollect.answers import ContextBlock, ContextPart, Explanation, SearchQuery, SearchResult, Why
from recollect.filters import limits, within_reach
from recollect.ordering import Order, OrderBy
from recollect.ranking import DEFAULT_WEIGHTS, Mode, TypeWeights, Weights
from recollect.schemas.fields import Between, Closed, Instant, MemoryId, Query, unique
from recollect.schemas.filters import FilterInput, filter_of
from recollect.schemas.inputs import AS_OF, ORDER, Direction
from recollect.schemas.outputs import MemoryOutput, memory_output

K_MAX = 100
EXPLAIN_MAX_COUNT = 10
TOKEN_BUDGET_MIN = 50
TOKEN_BUDGET_MAX = 100_000
_Weight = Annotated[float, Field(strict=True), Between(0, 1)]
_DIVERSITY = (
    "how much it counts against a memory that it is like one that comes before it (maximal marginal relevance); the "
    "order is then no more that of the scores. 0: nothing is thinned. 0.2 helps where the same was said more than "
    "once, and costs a little where it was not; more than 0.3 costs much"
)
_NOW = (
    'when it is asked, for what the query says relative to it ("last week", "in May", "two days ago") and for recency; '
    "the time of as_of, or the real one, unless given"
)
_TypeWeight = Annotated[float, Field(strict=True), Between(0, 2)]
_REINFORCE = "whether the memories that come back count as used (access_count); archived ones are active from then on"


class TypeWeightsInput(Closed):
    """How much memories of each type are wanted: 1 leaves a score as it is, 2 nearly doubles one that is low.

    The higher a score, the less it changes; none becomes 0, and a memory with the query's very text stays first.
    """

    episodic: _TypeWeight = 1.0
    semantic: _TypeWeight = 1.0
    procedural: _TypeWeight = 1.0

    def to_weights(self) -> TypeWeights:
        """Turn the request into the core's value."""
        return TypeWeights(self.episodic, self.semantic, self.procedural)


class WeightsInput(Closed):
    """How much else than relevance lifts a score: each lifts what is relevant, none buries what is old."""

    recency: _Weight = DEFAULT_WEIGHTS.recency
    importance: _Weight = DEFAULT_WEIGHTS.importance
    reinforcement: _Weight = DEFAULT_WEIGHTS.reinforcement
    types: TypeWeightsInput = Field(default_factory=TypeWeightsInput)

    def to_weights(self) -> Weights:
        """Turn the request into the core's value."""
        return Weights(self.recency, self.importance, self.reinforcement, self.types.to_weights())


def _without_default(schema: dict[str, Any]) -> None:
    del schema["default"]  # to send it is an error in the other modes


class SearchInput(Closed):
    """What to look for.

    Mode ``exact`` needs no ``query``: it answers the first ``k`` memories of the filter in the given order, each with
    score 1. The other modes order by score; ``diversity`` thins what is alike.
    """

    mode: Mode = Mode.HYBRID
    query: Query | None = Field(None, validate_default=True, description="required, except in mode exact")
    k: Annotated[int, Field(strict=True), Between(1, K_MAX)] = 10
    min_score: Annotated[float, Field(strict=True), Between(0, 1)] = 0.0
    filter: FilterInput | None = None
    as_of: Instant | None = Field(None, description=AS_OF)
    order: OrderBy = Field(OrderBy.CREATED_AT, description=ORDER, json_schema_extra=_without_default)
    direction: Direction = Field("desc", description="asc or desc, in mode exact", json_schema_extra=_without_default)
    diversity: Annotated[float, Field(strict=True), Between(0, 1)] = Field(0.0, description=_DIVERSITY)
    now: Instant | None = Field(None, description=_NOW)
    weights: WeightsInput = Field(default_factory=WeightsInput)
    explain: bool = Field(False, strict=True, description="answer what each score was made of")
    explain_ids: Annotated[list[MemoryId], AfterValidator(unique)] = Field(
        default_factory=list,
        max_length=EXPLAIN_MAX_COUNT,
        description="memories of which to tell, in `explained`, why they are among the hits or not",
    )
    reinforce: bool = Field(True, strict=True, description=_REINFORCE)

    @field_validator("query")
    @classmethod
    def _is_there(cls, query: str | None, info: ValidationInfo) -> str | None:
        if query is None and info.data.get("mode") is not Mode.EXACT:
            raise PydanticCustomError("missing", "must be given, except in mode exact")
        return query

    @field_validator("order", "direction")
    @classmethod
    def _is_of_the_mode(cls, value: Any, info: ValidationInfo) -> Any:
        if info.data.get("mode", Mode.EXACT) is not Mode.EXACT:
            raise PydanticCustomError("mode", "must be left out, except in mode exact: the other modes order by score")
        return value

    def to_query(self) -> SearchQuery:
        """Turn the request into the core's value."""
        wanted = filter_of(self.filter)
        conditions = {} if self.filter is None else self.filter.conditions("/filter")
        return SearchQuery(
            text=self.query or "",
            k=self.k,
            mode=self.mode,
            min_score=self.min_score,
            filter=within_reach(wanted, self.as_of),
            order=Order(self.order, self.direction == "desc"),
            diversity=self.diversity,
            weights=self.weights.to_weights(),
            now_ms=self.as_of if self.now is None else self.now,
            reinforces=self.reinforce,
            explained_ids=tuple(self.explain_ids),
            conditions=conditions | limits(wanted, self.as_of),
        )


class ContextInput(Closed):
    """What the prompt is about, and how many tokens its memories may take.

    The filter narrows the stable part too; ``min_score`` only the volatile one.
    """

    query: Query
    token_budget: Annotated[int, Field(strict=True), Between(TOKEN_BUDGET_MIN, TOKEN_BUDGET_MAX)] = 1_000
    min_score: Annotated[float, Field(strict=True), Between(0, 1)] = 0.0
    filter: FilterInput | None = None
    as_of: Instant | None = Field(None, description=AS_OF)
    diversity: Annotated[float, Field(strict=True), Between(0, 1)] = Field(0.0, description=_DIVERSITY)
    now: Instant | None = Field(None, description=_NOW)
    weights: WeightsInput = Field(default_factory=WeightsInput)
    reinforce: bool = Field(True, strict=True, description=_REINFORCE)

    def to_query(self) -> SearchQuery:
        """Turn the request into the core's value."""
        return SearchQuery(
            text=self.query,
            min_score=self.min_score,
            filter=within_reach(filter_of(self.filter), self.as_of),
            diversity=self.diversity,
            weights=self.weights.to_weights(),
            now_ms=self.as_of if self.now is None else self.now,
            reinforces=self.reinforce,
        )


class HitOutput(BaseModel):
    """One memory that was found; ``score`` is in [0, 1], higher is better; ``parts``: what it is made of, if asked."""

    memory: MemoryOutput
    score: float
    parts: dict[str, float] | None


class ExplanationOutput(BaseModel):
    """What became of one memory of ``explain_ids``.

    ``why``: it is a ``hit``; or the first reason why not. ``unknown``: the user has no such memory; ``deleted``,
    ``purged``, ``expired``: it had; ``archived``, ``superseded``: the filter does not ask for these;
    ``invalid_then``: not valid at ``as_of``; ``filtered``: not let through by the filter; ``pending``: only its vector
    could have matched, and it has none; ``unmatched``: nothing of it matches; ``below_min_score``;
    ``not_shortlisted``: of very many memories not near enough to be looked at; ``thinned``: with ``diversity`` it gave
    way to others, for it is like the hit ``like``; ``outranked`` by ``k`` others;
    ``left_out``: the answer was full, or it was deleted in the meantime.
    ``conditions``: what does not hold for it, by its place in the request, such as ``/filter/all/0/gte``; of an ``any``
    or ``not`` the whole. ``rank``: among all that passed the filter, best first, from 1. ``rank``, ``score`` and
    ``parts`` only if it passed; in mode exact there are no parts.
    """

    memory_id: str
    why: Why
    conditions: list[str]
    pending: bool
    rank: int | None
    score: float | None
    parts: dict[str, float] | None
    like: str | None

    @classmethod
    def of(cls, explanation: Explanation) -> Self:
        """Make the answer of the core's value."""
        return cls(
            memory_id=explanation.memory_id,
            why=explanation.why,
            conditions=list(explanation.conditions),
            pending=explanation.is_pending,
            rank=explanation.rank,
            score=explanation.score,
            parts=dict(explanation.parts) or None,
            like=explanation.like,
        )


class SearchOutput(BaseModel):
    """Hits, best first.

    ``scanned``: memories that passed the filter. ``degraded``: only words counted, since the embedder did not answer;
    or for some memories, since it did not when they were stored, or has been changed, and maintenance is yet to come.
    ``truncated``: hits at the end were left out, because the answer would have been too large. ``explained``: one for
    each of ``explain_ids``, in their order.
    """

    hits: list[HitOutput]
    scanned: int
    degraded: bool
    truncated: bool
    explained: list[ExplanationOutput]

    @classmethod
    def of(cls, user_id: str, result: SearchResult, *, explains: bool) -> Self:
        """Make the answer of the core's value."""
        hits = [
            HitOutput(
                memory=memory_output(user_id, hit.memory),
                score=hit.score,
                parts=dict(hit.parts) if explains else None,
            )
            for hit in result.hits
        ]
        return cls(
            hits=hits,
            scanned=result.scanned,
            degraded=result.is_degraded,
            truncated=result.is_truncated,
            explained=[ExplanationOutput.of(one) for one in result.explained],
        )


_TOKENS = "UTF-8 bytes divided by four, rounded up"


class ContextPartOutput(BaseModel):
    """One part of the block, and the memories in it; equal texts have equal etags."""

    text: str
    memory_ids: list[str]
    estimated_tokens: Annotated[int, Field(description=_TOKENS)]
    etag: str

    @classmethod
    def of(cls, part: ContextPart) -> Self:
        """Make the answer of the core's value."""
        return cls(
            text=part.text, memory_ids=list(part.memory_ids), estimated_tokens=part.estimated_tokens, etag=part.etag
        )


class ContextOutput(BaseModel):
    """A block to put into a prompt: ``context`` is both parts, the stable one first.

    ``stable``: the user's profile, that is pinned memories, and facts and procedures tagged identity, preference,
    project or instruction; byte for byte the same, whatever the query, until one of them changes. At most half of the
    budget. ``volatile``: memories for this query. ``degraded``: as of a search.
    """

    context: str
    stable: ContextPartOutput
    volatile: ContextPartOutput
    memory_ids: list[str]
    estimated_tokens: Annotated[int, Field(description=_TOKENS)]
    degraded: bool

    @classmethod
    def of(cls, block: ContextBlock) -> Self:
        """Make the answer of the core's value."""
        text = context.joined(block.stable, block.volatile)
        return cls(
            context=text,
            stable=ContextPartOutput.of(block.stable),
            volatile=ContextPartOutput.of(block.volatile),
            memory_ids=[*block.stable.memory_ids, *block.volatile.memory_ids],
            estimated_tokens=context.estimated_tokens(text),
            degraded=block.is_degraded,
        )
