"""What the controller is asked and what it answers: plain values, no behaviour."""

from collections.abc import Mapping
from dataclasses import dataclass

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
    weights : Weights
        How much else than relevance lifts a score.
    reinforces : bool
        Whether the hits count as used.
    """

    text: str
    k: int = 10
    mode: Mode = Mode.HYBRID
    min_score: float = 0.0
    filter: Filter = ACTIVE
    order: Order = NEWEST_FIRST
    weights: Weights = DEFAULT_WEIGHTS
    reinforces: bool = True


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
    """

    hits: tuple[Hit, ...]
    scanned: int
    is_degraded: bool
    is_truncated: bool


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
