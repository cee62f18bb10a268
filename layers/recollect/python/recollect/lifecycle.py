"""How memories age: what has expired, what has faded and is archived, what was archived long ago. Pure, and by column.

The retention score says how much of a memory is left, in [0, 1]::

    floor     = FLOOR_SHARE * importance
    retention = floor + (1 - floor) * 2 ** (-age / (half_life * (1 + uses)))

``age`` runs from the last of: it was stored or changed, it happened, it was used (a search returned it, or a store said
it again). Forgetting is exponential and every use makes it slower, as Ebbinghaus measured ("Über das Gedächtnis",
1885) and as MemoryBank does it for agents (Zhong et al. 2023, arXiv:2305.10250, where a use adds one to the strength).
Importance counts beside recency, as with Generative Agents (Park et al. 2023, arXiv:2304.03442), and is the floor that
time does not go below: with the default threshold, what has an importance above 2/3 never fades. Ranking has a decay
of its own (``ranking.score``) that only lifts: what is old is not buried, it is at most archived.

Archived is what has faded below the threshold and was never used. What is pinned or belongs to the user's profile, and
what was used at all, never is. Nothing is deleted unless `Policy.retention_days` says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recollect.columns import UNKNOWN
from recollect.context import in_profile
from recollect.model import MemoryType, Status
from recollect.partition import Partition
from recollect.scan import Mask, Rows

FLOOR_SHARE = 0.3
NEVER = 2**62
DAY_MS = 24 * 3600 * 1000
Numbers = npt.NDArray[np.float64]
Times = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Policy:
    """How fast memories fade, and what becomes of them.

    Parameters
    ----------
    episodic_half_life_days, semantic_half_life_days, procedural_half_life_days : float
        Above 0. An unused memory of no importance has lost half by then.
    archive_below : float
        In [0, 1); what retains less is archived. With 0 nothing is.
    retention_days : float or None
        So long after it was archived a memory that was never used is deleted; ``None`` for never.
    """

    episodic_half_life_days: float = 30.0
    semantic_half_life_days: float = 180.0
    procedural_half_life_days: float = 365.0
    archive_below: float = 0.2
    retention_days: float | None = None

    def half_life_ms(self, kind: MemoryType) -> float:
        """Give the half-life of a type of memories."""
        days: float = getattr(self, f"{kind.value}_half_life_days")
        return days * DAY_MS


DEFAULT = Policy()


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be done now, and when there will be more.

    Parameters
    ----------
    rows : ndarray of shape (n,), int64
        Ascending.
    next_at_ms : int or None
        When the first of the other rows is due, if nothing happens to it; ``None`` for never.
    looked_at : int
    skipped : mapping of str to int
        Rows that are left alone though they have come so far, by reason.
    """

    rows: Rows
    next_at_ms: int | None
    looked_at: int
    skipped: Mapping[str, int] = field(default_factory=dict)


def retention(importance: Numbers, age_ms: Numbers, half_life_ms: Numbers, uses: Numbers) -> Numbers:
    """Score how much of memories is left; see the top of this file.

    Parameters
    ----------
    importance : ndarray of shape (n,), float64, in [0, 1]
    age_ms, half_life_ms, uses : ndarray of shape (n,), float64
        Milliseconds >= 0, milliseconds > 0, counts.

    Returns
    -------
    ndarray of shape (n,), float64, in [FLOOR_SHARE * importance, 1]
    """
    floor = FLOOR_SHARE * importance
    return np.asarray(floor + (1.0 - floor) * np.exp2(-age_ms / (half_life_ms * (1.0 + uses))))


def faded_after(importance: Numbers, half_life_ms: Numbers, uses: Numbers, below: float) -> Times:
    """Tell at which age memories retain less than a threshold.

    Parameters
    ----------
    below : float
        In [0, 1).

    Returns
    -------
    ndarray of shape (n,), int64
        Whole milliseconds, at most `NEVER`, which is where the floor is at the threshold or above it.
    """
    floor = FLOOR_SHARE * importance
    span = np.maximum(below - floor, 0.0)
    with np.errstate(divide="ignore"):
        lives = np.log2((1.0 - floor) / span)
    ages = np.minimum(half_life_ms * (1.0 + uses) * lives, float(NEVER // 2))
    return np.where(span > 0.0, np.floor(ages).astype(np.int64) + 1, NEVER)


def expired(partition: Partition, now_ms: int) -> Due:
    """Find the memories whose time is over, of every status."""
    expires_at = partition.number("expires_at")
    has_end = partition.live & (expires_at != UNKNOWN)
    return _due(has_end, expires_at, now_ms, int(partition.live.sum()))


def faded(partition: Partition, now_ms: int, policy: Policy) -> Due:
    """Find the memories to be archived."""
    rows = np.flatnonzero(partition.active(now_ms))
    importance, uses = (partition.numbers_at(name, rows).astype(np.float64) for name in ("importance", "access_count"))
    half_life = np.zeros(partition.row_count)
    for kind in MemoryType:
        half_life[partition.labelled("type", kind)] = policy.half_life_ms(kind)
    fades_at = np.full(partition.row_count, NEVER, dtype=np.int64)
    ages = faded_after(importance, half_life[rows], uses, policy.archive_below)
    fades_at[rows] = np.minimum(_last_at(partition, rows), NEVER // 2) + ages
    exempt = _exempt(partition)
    is_faded = fades_at <= now_ms
    skipped = {reason: int((is_faded & mask).sum()) for reason, mask in exempt.items()}
    may_fade = ~np.logical_or.reduce(list(exempt.values()))
    return _due(may_fade, fades_at, now_ms, rows.size, skipped)


def outlived(partition: Partition, now_ms: int, policy: Policy) -> Due:
    """Find the archived memories to be deleted, if the policy says that any are."""
    archived = partition.present(now_ms) & partition.labelled("status", Status.ARCHIVED)
    if policy.retention_days is None:
        return Due(np.zeros(0, dtype=np.int64), None, int(archived.sum()))
    may_go = archived & ~np.logical_or.reduce(list(_exempt(partition).values()))
    ends_at = partition.number("updated_at") + int(policy.retention_days * DAY_MS)
    return _due(may_go, ends_at, now_ms, int(archived.sum()))


def _due(mask: Mask, at: Times, now_ms: int, looked_at: int, skipped: Mapping[str, int] | None = None) -> Due:
    later = at[mask & (at > now_ms)]
    next_at_ms = int(later.min(initial=NEVER))
    found = {reason: count for reason, count in (skipped or {}).items() if count}
    return Due(np.flatnonzero(mask & (at <= now_ms)), None if next_at_ms >= NEVER else next_at_ms, looked_at, found)


def _last_at(partition: Partition, rows: Rows) -> Times:
    names = ("updated_at", "occurred_at", "last_accessed_at")  # unknown is before everything
    last: Times = np.maximum.reduce([partition.numbers_at(name, rows) for name in names])
    return last


def _exempt(partition: Partition) -> Mapping[str, Mask]:
    """Find what neither fades nor is deleted, by reason; a row has one."""
    pinned = partition.number("pinned")
    held = _held(partition) & ~pinned
    profile = in_profile(partition) & ~pinned & ~held
    used = (partition.number("access_count") > 0) & ~pinned & ~held & ~profile
    return {"pinned": pinned, "held": held, "profile": profile, "used": used}


def _held(partition: Partition) -> Mask:
    """Find the memories that a memory which is there was made of: they last as long as it does."""
    named = {one for part in partition.parts for one in part.labels("consolidated_into").values}
    there = {*partition.known(sorted(named))}
    return partition.where(lambda part: part.labels("consolidated_into").matching(lambda one: one in there))
