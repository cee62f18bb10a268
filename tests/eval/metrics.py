"""How good a ranking is: the measures of information retrieval for binary relevance, and means over questions.

Pure. A ranking is a sequence of distinct ids, best first; it may be shorter than the cut-off. Every measure is in
[0, 1], higher is better, and needs at least one relevant id.

References
----------
Manning, Raghavan, Schütze: Introduction to Information Retrieval (2008), chapter 8.
Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques (2002).
"""

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

RANKS = 20  # ranks that are looked at; MRR counts a first relevant id behind them as 0


def recall_at(k: int, ranking: Sequence[str], relevant: Collection[str]) -> float:
    """Give the share of the relevant ids among the first `k`: ``|relevant ∩ first k| / |relevant|``."""
    return len(set(ranking[:k]) & set(relevant)) / len(relevant)


def hit_at(k: int, ranking: Sequence[str], relevant: Collection[str]) -> float:
    """Tell whether any relevant id is among the first `k`: 1 or 0."""
    return float(any(name in relevant for name in ranking[:k]))


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str]) -> float:
    """Give ``1 / rank`` of the first relevant id, ranks from 1; 0 if there is none."""
    return next((1.0 / rank for rank, name in enumerate(ranking, start=1) if name in relevant), 0.0)


def ndcg_at(k: int, ranking: Sequence[str], relevant: Collection[str]) -> float:
    """Give the normalised discounted cumulative gain of the first `k`.

    Notes
    -----
    ``DCG = Σ 1 / log2(rank + 1)`` over the relevant ids among the first `k`; divided by the DCG of a ranking that
    puts all relevant ids first.
    """
    gain = sum(_discount(rank) for rank, name in enumerate(ranking[:k], start=1) if name in relevant)
    ideal = sum(_discount(rank) for rank in range(1, min(k, len(relevant)) + 1))
    return gain / ideal


def measures(ranking: Sequence[str], relevant: Collection[str]) -> dict[str, float]:
    """Measure one ranking by all measures, by name."""
    return {
        "recall_at_5": recall_at(5, ranking, relevant),
        "recall_at_10": recall_at(10, ranking, relevant),
        "recall_at_20": recall_at(20, ranking, relevant),
        "ndcg_at_10": ndcg_at(10, ranking, relevant),
        "mrr": reciprocal_rank(ranking[:RANKS], relevant),
        "hit_at_10": hit_at(10, ranking, relevant),
    }


def mean(measured: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Average each measure over questions, every question with the same weight; nothing for no questions."""
    if not measured:
        return {}
    return {name: sum(one[name] for one in measured) / len(measured) for name in measured[0]}


def interval(values: Sequence[float], repeats: int = 2_000) -> tuple[float, float]:
    """Give the 95 % bootstrap interval of a mean: that of as many values, drawn with repeats; always the same draws.

    Parameters
    ----------
    values : sequence of float
        At least one.
    """
    measured = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(0)
    means = measured[rng.integers(0, measured.size, (repeats, measured.size))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5]).tolist()
    return low, high


def percentile(share: float, values: Sequence[float]) -> float:
    """Give the smallest value that at least this share of the values does not exceed (nearest rank).

    Parameters
    ----------
    share : float
        In (0, 1].
    values : sequence of float
        At least one.
    """
    return sorted(values)[math.ceil(share * len(values)) - 1]


def _discount(rank: int) -> float:
    return 1.0 / math.log2(rank + 1)
