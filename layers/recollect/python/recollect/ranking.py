"""How relevant a row is to a query: the one place where vector and lexical scores are fused.

Every part is in [0, 1] and absolute: it does not depend on what else is stored beyond the statistics of terms, so
that a minimum score means the same for every user. A text equal to the query scores 1. Recency, importance and use
only lift what is relevant, and never above what is much more relevant: nothing is buried for being old.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from recollect import lexical, signs
from recollect.columns import UNKNOWN
from recollect.named_times import Span
from recollect.partition import Partition
from recollect.scan import Mask, Rows, Scores, Vector, top_k
from recollect.shortlist import CONTEXT_REACH, promising
from recollect.text import query_term_counts, text_key

ALONE = 0.8  # share of its own relevance that a memory has as context where no turn around it has more
HALF_LIFE_MS = 30 * 24 * 3600 * 1000
USES_OF_HALF = 4
LEAST_SEMANTIC = 1e-6  # so that a row with a vector is a hit whenever the filter and k let it be one
BEST_OF_OTHER_TEXTS = 0.9989  # so that the query's very text, at 1, is first


class Mode(StrEnum):
    """Which scores a search uses; ``exact`` uses none."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    LEXICAL = "lexical"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class TypeWeights:
    """How much memories of each type are wanted; each in [0, 2], 1 leaves their scores as they are."""

    episodic: float = 1.0
    semantic: float = 1.0
    procedural: float = 1.0


@dataclass(frozen=True, slots=True)
class Weights:
    """How much a memory's recency, importance and use may lift its score, each in [0, 1]; and what its type counts."""

    recency: float = 0.1
    importance: float = 0.1
    reinforcement: float = 0.05
    types: TypeWeights = TypeWeights()


DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Signals:
    """How much each signal of relevance counts; each in [0, 1].

    The values are those that did best on the 1st, 3rd, 5th … conversation of LoCoMo; see ``tests/eval``.

    Parameters
    ----------
    semantic : float
        Share of the vectors in a memory's own relevance; the rest is that of words.
    asking : float
        Share that a short text with a question mark loses: what asks does not answer.
    context, time, actor : float
        Share of what is left to 1 that a memory gains from the turns around it, from having happened when the query
        says, from being said by whom the query names.
    """

    semantic: float = 0.5
    asking: float = 0.2
    context: float = 0.7
    time: float = 0.2
    actor: float = 0.2


SIGNALS = Signals()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What rows are scored against.

    Parameters
    ----------
    vector : ndarray of shape (dim,), float32, unit norm, or None
        The query's embedding; without it only the lexical score counts.
    now_ms : int
        When it is asked, epoch milliseconds.
    times : sequence of (int, int)
        Those that the query names, from the first to before the second; epoch milliseconds. Those beside events that it
        names come to them.
    """

    text: str
    vector: Vector | None
    mode: Mode
    weights: Weights
    now_ms: int
    times: Sequence[Span] = ()
    signals: Signals = SIGNALS


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rows of a partition with their scores and what those were made of.

    Parameters
    ----------
    rows : ndarray of shape (n,), int64
    scores : ndarray of shape (n,), float32, in [0, 1]
    parts : mapping of str to ndarray of shape (n,), float32, in [0, 1]
        ``semantic``, ``lexical``: those that the mode used; ``asking``, ``context``, ``time``, ``actor``,
        ``recency``, ``importance``, ``reinforcement``; ``type``, which is the weight of its type, in [0, 2].
    """

    rows: Rows
    scores: Scores
    parts: Mapping[str, Scores]


def score(partition: Partition, mask: Mask, asked: Asked, *, leaves_out: bool = True) -> Ranked:
    """Score the rows under a mask.

    Parameters
    ----------
    mask : ndarray of shape (n,), bool
    leaves_out : bool
        Whether of many rows those that can hardly be among the best are left out.

    Returns
    -------
    Ranked
        Rows under the mask in ascending order: all of them if they are few, otherwise those that can be best.

    Notes
    -----
    ``semantic = max(1e-6, cosine)``, and 0 for a row without a vector; ``lexical``: see ``lexical.score``;
    ``own = w · semantic + (1 - w) · lexical``, and lexical alone for a row without a vector.

    Turns of a conversation are about what is said around them: ``context`` is the best `own` among the turns up to
    two before and two after it in its session that the mask lets through, and no less than 0.8 of its own.
    ``asking`` is 1 for a short text with a question mark. ``time`` is 1 for what happened at a time that the query
    names, or on the side of an event that it names, and half of that for each week that is between. ``actor`` is 1
    where the query names the actor.
    With the weights of `Signals`, one after the other: ``r = own · (1 - w · asking)``, then for context, time and
    actor ``r = r + w · part · (1 - r)``. Time and actor make no hit of what is none without them. Then for its type
    ``r = r + r · (1 - r) · (w - 1)``: about `w` times as much where it is little, and less of a change the closer it is
    to 1.

    ``recency = 2^(-age / half-life)``, with the age since it happened, was changed or was used, whichever is last;
    ``reinforcement = uses / (uses + 4)``. ``score = r + r · (1 - r) · lift``, where ``lift`` is the weighted sum of
    recency, importance and reinforcement, divided by the sum of the weights where that is more than 1.
    A row with the query's very text scores 1 in every mode, and no other row does.
    """
    rows = np.flatnonzero(mask).astype(np.int64)
    asked = replace(asked, times=[*asked.times, *signs.beside_events(asked.text, partition, rows, asked.now_ms)])
    words = None if asked.mode is Mode.SEMANTIC else lexical.score(query_term_counts(asked.text), partition.corpus)
    if leaves_out:
        rows = promising(partition, rows, _same_text(partition, rows, asked), words, asked.vector)
    has_vector = partition.gather(rows, lambda part: part.has_vector)
    parts = _matches(partition, rows, words, asked.vector)
    if "semantic" in parts:
        parts["semantic"] = np.where(has_vector, parts["semantic"], np.float32(0.0))
    own = _own(parts, has_vector, asked.signals)
    parts |= _signs(partition, rows, own, asked)
    relevance = _relevance(own, parts, asked.signals)
    parts["type"] = _type_weights(partition, rows, asked.weights.types)
    relevance = _raised(relevance, relevance * (parts["type"] - np.float32(1.0)))
    lifts = _lift_parts(partition, rows, asked.now_ms)
    lifted = _raised(relevance, relevance * _lift(lifts, asked.weights))
    scores = np.minimum(lifted, np.float32(BEST_OF_OTHER_TEXTS))
    scores[_same_text(partition, rows, asked)] = 1.0
    return Ranked(rows, scores, parts | lifts)


def _same_text(partition: Partition, rows: Rows, asked: Asked) -> Mask:
    wanted = np.uint64(text_key(asked.text))
    return np.asarray(partition.where(lambda part: part.text_keys == wanted)[rows])


def _matches(partition: Partition, rows: Rows, words: Scores | None, vector: Vector | None) -> dict[str, Scores]:
    parts: dict[str, Scores] = {}
    if words is not None:
        parts["lexical"] = words[rows]
    if vector is not None:
        parts["semantic"] = np.clip(partition.cosines(vector, rows), LEAST_SEMANTIC, 1.0)
    return parts


def _own(parts: Mapping[str, Scores], has_vector: Mask, signals: Signals) -> Scores:
    if len(parts) == 1:
        return next(iter(parts.values()))
    weights = np.where(has_vector, np.float32(signals.semantic), np.float32(0.0))
    return np.asarray(weights * parts["semantic"] + (np.float32(1.0) - weights) * parts["lexical"], dtype=np.float32)


def _signs(partition: Partition, rows: Rows, own: Scores, asked: Asked) -> dict[str, Scores]:
    """Tell of each row whether it asks, what it is among, and whether it is from the time and actor that are named."""
    own_of = np.zeros(partition.row_count + 1, dtype=np.float32)  # the last is no row
    own_of[rows] = own
    around = own_of[partition.around(rows, CONTEXT_REACH)].max(axis=0)
    return {
        "asking": signs.is_asking(partition, rows).astype(np.float32),
        "context": np.maximum(around, np.float32(ALONE) * own),
        "time": signs.closeness(partition, rows, asked.times),
        "actor": signs.is_named(asked.text, partition, rows).astype(np.float32),
    }


def _relevance(own: Scores, parts: Mapping[str, Scores], signals: Signals) -> Scores:
    relevance = own * (np.float32(1.0) - np.float32(signals.asking) * parts["asking"])
    relevance = _raised(relevance, np.float32(signals.context) * parts["context"])
    is_hit = relevance > 0.0
    for name, weight in (("time", signals.time), ("actor", signals.actor)):
        relevance = _raised(relevance, np.float32(weight) * parts[name] * is_hit)
    return relevance


def _type_weights(partition: Partition, rows: Rows, weights: TypeWeights) -> Scores:
    weight_of = asdict(weights)
    found = [np.zeros(0, dtype=np.float32)]
    for part, _, local in partition.split(rows):
        kinds = part.labels("type")
        found.append(np.array([weight_of[kind] for kind in kinds.values], dtype=np.float32)[kinds.codes[local]])
    return np.concatenate(found)


def _raised(scores: Scores, share: npt.NDArray[np.float32]) -> Scores:
    """Move scores up by a share of what is left to 1."""
    return np.asarray(scores + share * (np.float32(1.0) - scores), dtype=np.float32)


def _lift_parts(partition: Partition, rows: Rows, now_ms: int) -> dict[str, Scores]:
    occurred_at, updated_at, used_at, uses, importance = (
        partition.numbers_at(name, rows)
        for name in ("occurred_at", "updated_at", "last_accessed_at", "access_count", "importance")
    )
    last = np.maximum(np.where(occurred_at == UNKNOWN, updated_at, occurred_at), used_at)
    recency = np.exp2(-np.maximum(now_ms - last, 0) / HALF_LIFE_MS)
    lifts = {"recency": recency, "importance": importance, "reinforcement": uses / (uses + USES_OF_HALF)}
    return {name: part.astype(np.float32) for name, part in lifts.items()}


def _lift(parts: Mapping[str, Scores], weights: Weights) -> Scores:
    weight_of = {name: float(getattr(weights, name)) for name in parts}
    total = sum(np.float32(weight_of[name]) * part for name, part in parts.items())
    return np.asarray(total / np.float32(max(1.0, sum(weight_of.values()))), dtype=np.float32)


def best(ranked: Ranked, k: int, min_score: float) -> Ranked:
    """Select the `k` best rows that score more than nothing and at least `min_score`, best first."""
    order = top_k(ranked.scores, k)
    return taken(ranked, order[(ranked.scores[order] > 0.0) & (ranked.scores[order] >= min_score)])


def taken(ranked: Ranked, order: Rows) -> Ranked:
    """Take some of the rows, by their places, in an order."""
    parts = {name: part[order] for name, part in ranked.parts.items()}
    return Ranked(ranked.rows[order], ranked.scores[order], parts)
