"""Which rows can be among the best of a search: all of a few, of many those that vector, words or context speak for.

Arrays in, arrays out.
"""

import numpy as np

from recollect.partition import Partition
from recollect.scan import Mask, Rows, Scores, Vector, top_k

CONTEXT_REACH = 2  # turns before and after
ALL_MAX_COUNT = 4_096  # up to here every row is scored in full
SHORTLIST_FOR = 100  # hits that the shortlist by vector must hold
LEXICAL_MAX_COUNT = 2_000
_STEPS = 1_024


def promising(partition: Partition, rows: Rows, same: Mask, words: Scores | None, vector: Vector | None) -> Rows:
    """Take the rows that can be among the best.

    All of a few; otherwise the best by vector, the best by words, and what was said around those.

    Parameters
    ----------
    rows : ndarray of shape (m,), int64, ascending
    same : ndarray of shape (m,), bool
        Those with the query's very text.
    words : ndarray of shape (row_count,), float32, in [0, 1], or None
        How well each row of the partition fits the query's words, if words count.
    vector : ndarray of shape (dim,), float32, unit norm, or None
        The query's embedding, if meaning counts.
    """
    if rows.size <= ALL_MAX_COUNT:
        return rows
    found = np.zeros(partition.row_count + 1, dtype=np.bool_)  # the last is no row
    found[rows[same]] = True
    if vector is not None:
        found[partition.nearest(vector, rows, SHORTLIST_FOR)] = True
    if words is not None:
        found[rows[strongest(words[rows], SHORTLIST_FOR)]] = True
    found[partition.around(np.flatnonzero(found[:-1]), CONTEXT_REACH)] = True
    if words is not None:
        found[rows[strongest(words[rows], LEXICAL_MAX_COUNT)]] = True
    return rows[found[rows]]


def strongest(scores: Scores, count: int) -> Rows:
    """Find the places of so many of the highest scores above 0, in any order; of equal ones the first.

    Parameters
    ----------
    scores : ndarray of shape (n,), float32, in [0, 1]
    count : int
        >= 1.
    """
    steps = np.ceil(scores * np.float32(_STEPS)).astype(np.int64)  # to partition all of them would take much longer
    from_top = np.cumsum(np.bincount(steps, minlength=_STEPS + 1)[:0:-1])
    level = _STEPS - int(np.searchsorted(from_top, count))
    above = np.flatnonzero(steps > level)
    if level < 1:
        return above
    there = np.flatnonzero(steps == level)
    return np.concatenate([above, there[top_k(scores[there], count - above.size)]])
