"""What the controller is asked and what it answers: plain values, no behaviour."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from recollect.filters import ACTIVE, Filter
from recollect.model import Memory
from recollect.ordering import NEWEST_FIRST, Order
from recollect.ranking import DEFAULT_WEIGHTS, Mode, Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """What to look for.

    Parameters
    ----------
    text : str
        Not blank; not used in mode ``exact``.
    k : int
        Hits wanted, 1..100.
    min_score : float
        In [0, 1]; hits below it are left out.
    order : Order
        Of the hits in mode ``exact``; the other modes order by score.
    diversity : float
        In [0, 1]; how much it counts against a memory that it is like a hit before it.
    weights : Weights
        How much else than relevance lifts a score.
    now_ms : int or None
        When it is asked, for times such as "last week" and for recency; now unless said.
    reinforces : bool
        Whether the hits count as used.
    explained_ids : tuple of str
        Memories of which the answer tells why they are among the hits or not.
    conditions : mapping of str to Filter
        What `filter` is made of, by where the request asks for it; all must hold. Only for those explanations.
    """

    text: str
    k: int = 10
    mode: Mode = Mode.HYBRID
    min_score: float = 0.0
    filter: Filter = ACTIVE
    order: Order = NEWEST_FIRST
    diversity: float = 0.0
    weights: Weights = DEFAULT_WEIGHTS
    now_ms: int | None = None
    reinforces: bool = True
    explained_ids: tuple[str, ...] = ()
    conditions: Mapping[str, Filter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory that a search returned.

    Parameters
    ----------
    score : float
        In [0, 1], higher is better.
    parts : mapping of str to float
        What the score was made of.
    """

    memory: Memory
    score: float
    parts: Mapping[str, float]


class Why(StrEnum):
    """Why a memory is among the hits of a search, or the first reason why it is not."""

    HIT = "hit"
    UNKNOWN = "unknown"
    DELETED = "deleted"
    PURGED = "purged"
    EXPIRED = "expired"
    ARCHIVED = "archived"
    SUPERSEDED = "superseded"
    INVALID_THEN = "invalid_then"
    FILTERED = "filtered"
    PENDING = "pending"
    UNMATCHED = "unmatched"
    BELOW_MIN_SCORE = "below_min_score"
    NOT_SHORTLISTED = "not_shortlisted"
    THINNED = "thinned"
    OUTRANKED = "outranked"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of one memory in a search.

    Parameters
    ----------
    conditions : tuple of str
        Those of the request that do not hold for it, by where the request asks for them.
    is_pending : bool
        It has no vector that can be compared.
    rank : int or None
        Its place among all memories that passed the filter, best first, from 1; as the score and its parts, only if it
        passed.
    like : str or None
        Of one that was thinned, the memory among the hits that it is most like.
    """

    memory_id: str
    why: Why
    conditions: tuple[str, ...] = ()
    is_pending: bool = False
    rank: int | None = None
    score: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    like: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, and how they were found.

    Parameters
    ----------
    scanned : int
        Memories that passed the filter and were scored.
    is_degraded : bool
        Only the lexical score was used: the embedder did not answer, or some memories are pending.
    is_truncated : bool
        Hits at the end were left out, because the answer would have been too large.
    explained : tuple of Explanation
        One for each memory that was asked about, in that order.
    """

    hits: tuple[Hit, ...]
    scanned: int
    is_degraded: bool = False
    is_truncated: bool = False
    explained: tuple[Explanation, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """Some memories of a listing, in its order, and where the next page starts (``None``: nowhere)."""

    memories: tuple[Memory, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class ContextPart:
    """A fenced text with memories in it; empty when there are none.

    Parameters
    ----------
    etag : str
        Equal for equal texts.
    """

    text: str
    memory_ids: tuple[str, ...]
    estimated_tokens: int
    etag: str


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """A prompt block: what is always worth knowing about the user, then what matters for a query.

    Parameters
    ----------
    stable : ContextPart
        Byte for byte the same until the user's profile changes, whatever the query.
    volatile : ContextPart
        Memories for the query, best first, without those of `stable`.
    """

    stable: ContextPart
    volatile: ContextPart
    is_degraded: bool


@dataclass(frozen=True, slots=True)
class Stats:
    """Totals of a user's memories; those that expired do not count.

    Parameters
    ----------
    mean_importance : float or None
        ``None`` without memories, as the times are.
    text_bytes : int
        UTF-8 bytes of content and metadata.
    pending_embeddings : int
        Memories without a vector of the present embedder: found by their words only.
    seq : int
        Number of commits' entries so far.
    due_at_s : int or None
        When maintenance is due, epoch seconds; ``None`` if nothing is to be done until the next change.
    """

    total: int
    by_type: Mapping[str, int]
    by_status: Mapping[str, int]
    by_tag: Mapping[str, int]
    mean_importance: float | None
    text_bytes: int
    first_created_at_ms: int | None
    last_created_at_ms: int | None
    last_updated_at_ms: int | None
    pending_embeddings: int
    seq: int
    embedder: str
    dimension: int
    due_at_s: int | None = None
