"""Thins what is alike among the best rows of a search, by the vectors that the partition holds already. Pure.

References
----------
Carbonell, Goldstein: The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing Summaries (1998).
"""

import numpy as np
import numpy.typing as npt

from recollect.partition import Partition
from recollect.ranking import Ranked, best, taken
from recollect.scan import Rows, Scores, Vectors

OTHERS = 100  # rows beside the k best that may take the place of what is alike


def varied(partition: Partition, ranked: Ranked, k: int, min_score: float, diversity: float) -> Ranked:
    """Select `k` rows that score more than nothing and at least `min_score`, and are less alike than the best ones are.

    Parameters
    ----------
    diversity : float
        In [0, 1]; with 0 they are the best ones.

    Notes
    -----
    Maximal marginal relevance: one after the other, of the ``k + 100`` best the row with the highest
    ``(1 - d) · score - d · likeness``, where ``likeness`` is its highest cosine with a row that is selected already, at
    least 0, and 1 for one with the same text. Of equal ones the better one. A row without a vector is like nothing but
    its own text. Rows with the query's very text, which score 1, come first, whatever they are like.
    """
    if diversity == 0.0:
        return best(ranked, k, min_score)
    candidates = best(ranked, k + OTHERS, min_score)
    texts, vectors = _texts_and_vectors(partition, candidates.rows)
    likeness = np.zeros(candidates.rows.size, dtype=np.float32)
    is_left = np.ones(candidates.rows.size, dtype=np.bool_)
    order: list[int] = []
    for _ in range(min(k, candidates.rows.size)):
        gains = np.float32(1.0 - diversity) * candidates.scores - np.float32(diversity) * likeness
        gains[candidates.scores == 1.0] = np.inf
        gains[~is_left] = -np.inf
        place = int(gains.argmax())
        order.append(place)
        is_left[place] = False
        np.maximum(likeness, _likeness(texts, vectors, place), out=likeness)
    return taken(candidates, np.array(order, dtype=np.int64))


def most_like(partition: Partition, row: int, rows: Rows) -> int:
    """Name the row that is most like another one; of equal ones the first.

    Parameters
    ----------
    rows : ndarray of shape (n,), int64, n >= 1
        No row twice, and not `row`.
    """
    texts, vectors = _texts_and_vectors(partition, np.array([row, *rows.tolist()]))
    return int(rows[_likeness(texts, vectors, 0)[1:].argmax()])


def _texts_and_vectors(partition: Partition, rows: Rows) -> tuple[npt.NDArray[np.uint64], Vectors]:
    """Give what tells texts apart, and the unit vectors, of some rows in any order."""
    order = np.argsort(rows)
    texts = partition.gather(rows[order], lambda part: part.text_keys)
    codes = partition.gather(rows[order], lambda part: part.vectors.codes).astype(np.float32)
    vectors = codes / np.maximum(np.linalg.norm(codes, axis=1, keepdims=True), np.float32(1.0))
    back = np.argsort(order)
    return texts[back], vectors[back]


def _likeness(texts: npt.NDArray[np.uint64], vectors: Vectors, place: int) -> Scores:
    cosines = np.clip(vectors @ vectors[place], 0.0, 1.0)
    return np.where(texts == texts[place], np.float32(1.0), cosines).astype(np.float32)
