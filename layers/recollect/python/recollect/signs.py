"""What speaks for a row beside words and meaning: the time and the actors that a query names, and that a text asks.

Pure.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollect import lexical
from recollect.columns import UNKNOWN
from recollect.named_times import FIRST, LAST, Span, events
from recollect.partition import Partition
from recollect.parts import Part
from recollect.scan import Mask, Rows, Scores
from recollect.text import ASKING, query_term_counts, terms

QUESTION_MAX_TERMS = 40  # a longer text with a question mark says more than it asks
TIME_HALF_LIFE_MS = 7 * 24 * 3600 * 1000
EVENT_MIN_SCORE = 0.5  # by words: most of them


def text_to_embed(query: str, partition: Partition) -> str:
    """Take the names of actors out of a query, since they spoil its embedding; all of it stays if nothing would.

    Who said a memory is in its ``actor``; its content is embedded as it was given.
    """
    names = {name for actor in partition.actors for name in actor.casefold().split()}
    kept = [word for word in query.split() if _bare(word) not in names]
    return " ".join(kept) if kept else query


def is_named(query: str, partition: Partition, rows: Rows) -> Mask:
    """Tell of some rows, which ascend, whether a query names their actor."""
    words = set(terms(query))
    named = [actor for actor in partition.actors if words.intersection(terms(actor))]
    return partition.actor_rows(named)[rows] if named else np.zeros(rows.size, dtype=np.bool_)


def beside_events(query: str, partition: Partition, rows: Rows, now_ms: int) -> list[Span]:
    """Give the times before or after the events that a query names, as in "before the move".

    An event happened when the one of some rows, which ascend, did that fits its words best.
    """
    found: list[Span] = []
    for event, is_before in events(query, now_ms) if rows.size else ():
        scores = lexical.score(query_term_counts(event), partition.corpus)[rows]
        best = int(scores.argmax())
        if scores[best] >= EVENT_MIN_SCORE:
            at_ms = int(_happened_at(partition, rows[best : best + 1])[0])
            found.append((FIRST, at_ms + 1) if is_before else (at_ms, LAST))
    return found


def closeness(partition: Partition, rows: Rows, times: Sequence[Span]) -> Scores:
    """Tell of some rows, which ascend, how close to one of some times they happened.

    Returns
    -------
    ndarray of shape (len(rows),), float32, in [0, 1]
        1 at such a time, half of that for each week that is between.
    """
    close = np.zeros(rows.size, dtype=np.float32)
    if not times:
        return close
    happened_at = _happened_at(partition, rows)
    for start, end in times:
        away = np.maximum(np.maximum(start - happened_at, happened_at - (end - 1)), 0)
        np.maximum(close, np.exp2(-away / TIME_HALF_LIFE_MS), out=close, casting="same_kind")
    return close


def _happened_at(partition: Partition, rows: Rows) -> npt.NDArray[np.int64]:
    occurred_at, created_at = (partition.numbers_at(name, rows) for name in ("occurred_at", "created_at"))
    return np.where(occurred_at == UNKNOWN, created_at, occurred_at)


def is_asking(partition: Partition, rows: Rows) -> Mask:
    """Tell of some rows, which ascend, whether they are short texts with a question mark."""
    return np.asarray(partition.gather(rows, _asking))


def _asking(part: Part) -> Mask:
    rows, _ = part.lexical.of(ASKING)
    mask = np.zeros(part.row_count, dtype=np.bool_)
    mask[rows[part.lexical.lengths[rows] <= QUESTION_MAX_TERMS]] = True
    return mask


def _bare(word: str) -> str:
    return word.casefold().strip("?!.,;:\"'()[]\u2019").removesuffix("'s").removesuffix("\u2019s")
