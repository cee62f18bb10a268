"""Tells of named memories why a search found them, or why not. Pure; reads the partition only, no content.

Whatever no memory of the user is called is unknown, so that another user's memory and none at all are told alike.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recollect import diversity, filtering, ordering, ranking
from recollect.answers import Explanation, SearchQuery, Why
from recollect.filters import AS_OF, STATUS
from recollect.model import Status
from recollect.partition import Partition
from recollect.ranking import Asked, Mode, Ranked
from recollect.scan import Mask

_OF_STATUS = {Status.ARCHIVED: Why.ARCHIVED, Status.SUPERSEDED: Why.SUPERSEDED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What a search came to.

    Parameters
    ----------
    mask : ndarray of shape (row_count,), bool
        Rows that passed the filter.
    asked : Asked or None
        What they were scored against; ``None`` if they were not.
    scored : Ranked or None
        Those that were looked at, in ascending order of rows.
    chosen : sequence of str
        Memories that were to be the hits, in order.
    shown : collection of str
        Those that are.
    """

    now_ms: int
    mask: Mask
    asked: Asked | None = None
    scored: Ranked | None = None
    chosen: Sequence[str] = ()
    shown: Collection[str] = ()


def explain(partition: Partition, query: SearchQuery, searched: Searched) -> tuple[Explanation, ...]:
    """Tell what became of each memory that a query asks about."""
    rows = {memory_id: partition.row_of(memory_id) for memory_id in query.explained_ids}
    there = [row for row in rows.values() if row is not None]
    passed = [row for row in there if searched.mask[row]]
    holding = {}
    if len(passed) < len(there):
        holding = {place: filtering.holding(partition, wanted) for place, wanted in query.conditions.items()}
    everything = _everything(partition, searched, passed)
    found = []
    for memory_id, row in rows.items():
        if row is None:
            found.append(Explanation(memory_id, _gone(partition, memory_id)))
            continue
        known = Explanation(memory_id, Why.HIT, is_pending=partition.is_pending(memory_id))
        if searched.mask[row]:
            found.append(_scored(partition, query, searched, everything, row, known))
        else:
            found.append(_kept_out(partition, holding, searched.now_ms, row, known))
    return tuple(found)


def _everything(partition: Partition, searched: Searched, passed: list[int]) -> Ranked | None:
    """Score those too that were not looked at, if one of them is asked about."""
    scored = searched.scored
    if scored is None or searched.asked is None or np.isin(passed, scored.rows).all():
        return scored
    everything = ranking.score(partition, searched.mask, searched.asked, leaves_out=False)
    places = np.searchsorted(everything.rows, scored.rows)  # which keep what the search gave them
    everything.scores[places] = scored.scores
    for name, part in everything.parts.items():
        part[places] = scored.parts[name]
    return everything


def _gone(partition: Partition, memory_id: str) -> Why:
    if partition.last_version_of(memory_id) is None:
        return Why.UNKNOWN
    return Why.PURGED if partition.is_purged(memory_id) else Why.DELETED


def _kept_out(
    partition: Partition, holding: Mapping[str, Mask], now_ms: int, row: int, known: Explanation
) -> Explanation:
    failed = [place for place, mask in holding.items() if not mask[row]]
    shown = tuple(place for place in failed if place != STATUS)
    part, local = partition.at(row)
    if partition.is_expired(known.memory_id, now_ms):
        why = Why.EXPIRED
    elif STATUS in failed:
        why = _OF_STATUS[Status(str(part.labels("status").at(local)))]
    else:
        why = Why.INVALID_THEN if AS_OF in failed else Why.FILTERED
    return replace(known, why=why, conditions=shown)


def _scored(
    partition: Partition, query: SearchQuery, searched: Searched, scored: Ranked | None, row: int, known: Explanation
) -> Explanation:
    if query.mode is Mode.EXACT or scored is None:
        rank = ordering.rank(partition, searched.mask, query.order, row)
        return replace(known, why=_of_rank(searched, known), rank=rank, score=1.0)
    place = int(np.searchsorted(scored.rows, row))
    score = scored.scores[place]
    like = None
    rank = 1 + int((scored.scores > score).sum()) + int((scored.scores[:place] == score).sum())
    if score == 0.0:
        is_hopeless = known.is_pending and searched.asked is not None and searched.asked.vector is not None
        why = Why.PENDING if is_hopeless else Why.UNMATCHED
    elif score < query.min_score:
        why = Why.BELOW_MIN_SCORE
    elif searched.scored is not None and row not in searched.scored.rows:
        why = Why.NOT_SHORTLISTED
    else:
        why = _of_rank(searched, known)
        if why is Why.OUTRANKED and rank <= query.k:
            why, like = Why.THINNED, _most_like(partition, row, searched.chosen)
    parts = {name: float(part[place]) for name, part in scored.parts.items()}
    return replace(known, why=why, rank=rank, score=float(score), parts=parts, like=like)


def _of_rank(searched: Searched, known: Explanation) -> Why:
    if known.memory_id in searched.shown:
        return Why.HIT
    return Why.LEFT_OUT if known.memory_id in searched.chosen else Why.OUTRANKED


def _most_like(partition: Partition, row: int, chosen: Sequence[str]) -> str:
    rows = [found for memory_id in chosen if (found := partition.row_of(memory_id)) is not None]
    return partition.memory_id(diversity.most_like(partition, row, np.array(rows, dtype=np.int64)))
