"""Which memories overlap so much that one could say what they say. Pure, and by column; `coherence` reads the texts.

Looked at are active facts and procedures that are small, comparable by their embedding, and that nobody has put a mark
on: not pinned, flagged, in conflict or going to expire. Episodes never are: that two things happened alike makes two
things. A cluster has one type, one agent and one actor, and all of it is close to one of its memories. A memory that
was made of others takes in what is close to it and newer than it; two of those are never made into one.

The cost is bounded: of a large partition the newest memories are compared with all others, and some of the older ones,
each day other ones.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recollect.columns import UNKNOWN
from recollect.model import DERIVED_MAX_COUNT, MemoryType
from recollect.partition import Partition
from recollect.scan import Mask, Rows, Scores

CLUSTER_MIN_COUNT = 3
CLUSTER_MIN_COSINE = 0.4  # measured: preferences in one matter from .35, what is unrelated mostly below .3
SMALL_MAX_BYTES = 600
DERIVED_MAX_BYTES = 4_000
SEED_MAX_COUNT = 8_000
NEIGHBOUR_MAX_COUNT = 64
PARTITION_SHARE = 0.05  # that one run takes at most
SHARE_MIN_COUNT = 100
_AT_ONCE = 128
_DAY_MS = 24 * 3600 * 1000
_TYPES = (MemoryType.SEMANTIC, MemoryType.PROCEDURAL)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Memories that overlap.

    Parameters
    ----------
    memory_ids : tuple of str
        The one that all others are close to, then those, closest first.
    is_extension : bool
        Whether the first one was made of others, and is to take in the rest.
    """

    memory_ids: tuple[str, ...]
    is_extension: bool


@dataclass(frozen=True, slots=True)
class Found:
    """The clusters of a partition.

    Parameters
    ----------
    looked_at : int
        Memories that could be part of one.
    skipped : mapping of str to int
        Active memories that cannot, by reason.
    is_whole : bool
        Whether all clusters are here, and not only as many as one run may take.
    """

    clusters: tuple[Cluster, ...] = ()
    looked_at: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class _Seed:
    row: int
    near: Sequence[int]
    is_derived: bool


def budget(partition: Partition, now_ms: int) -> int:
    """Tell how many memories one run may take."""
    return max(SHARE_MIN_COUNT, int(PARTITION_SHARE * int(partition.active(now_ms).sum())))


def find(partition: Partition, now_ms: int, most: int) -> Found:
    """Find clusters, the surest first.

    Parameters
    ----------
    most : int
        How many memories they may have together.
    """
    active = partition.active(now_ms)
    derived = partition.where(lambda part: part.texts("derived_from").filled)
    masks = _unfit(partition, derived)
    fits = active & ~np.logical_or.reduce(list(masks.values()))
    skipped: Counter[str] = Counter()
    left = active
    for reason, mask in masks.items():
        skipped[reason] = int((left & mask).sum())
        left = left & ~mask
    rows = np.flatnonzero(fits)
    compared = np.zeros(partition.row_count, dtype=np.bool_)
    compared[_to_compare(partition, rows, derived, now_ms)] = True
    seeds = [seed for group in _groups(partition, rows) for seed in _seeds(partition, group, derived, compared)]
    clusters, is_whole = _chosen(partition, seeds, derived, most)
    return Found(tuple(clusters), rows.size, {why: count for why, count in skipped.items() if count}, is_whole)


def _unfit(partition: Partition, derived: Mask) -> dict[str, Mask]:
    size = partition.number("content_bytes")
    return {
        "episodic": partition.labelled("type", MemoryType.EPISODIC),
        "pinned": partition.number("pinned"),
        "flagged": partition.where(lambda part: part.texts("flags").filled),
        "in_conflict": partition.number("in_conflict"),
        "expiring": partition.number("expires_at") != UNKNOWN,
        "pending": ~partition.where(lambda part: part.has_vector),
        "large": np.where(derived, size > DERIVED_MAX_BYTES, size > SMALL_MAX_BYTES),
    }


def _groups(partition: Partition, rows: Rows) -> list[Rows]:
    """Put together the rows of one type, agent and actor."""
    groups: defaultdict[tuple[str | None, ...], list[int]] = defaultdict(list)
    for part, start, local in partition.split(rows):
        columns = [part.labels(name) for name in ("type", "agent_id", "actor")]
        for row in local.tolist():
            groups[tuple(column.at(row) for column in columns)].append(start + row)
    return [np.array(group, dtype=np.int64) for group in groups.values() if len(group) > 1]


def _seeds(partition: Partition, rows: Rows, derived: Mask, compared: Mask) -> Iterator[_Seed]:
    chosen = np.flatnonzero(compared[rows])
    vectors = _unit(partition, rows)
    for start in range(0, chosen.size, _AT_ONCE):
        some = chosen[start : start + _AT_ONCE]
        cosines = vectors[some] @ vectors.T
        cosines[np.arange(some.size), some] = -1.0
        for place, scores in zip(some.tolist(), cosines, strict=True):
            yield _Seed(int(rows[place]), rows[_nearest(scores)].tolist(), bool(derived[rows[place]]))


def _unit(partition: Partition, rows: Rows) -> npt.NDArray[np.float32]:
    codes = np.concatenate([part.vectors.codes[local] for part, _, local in partition.split(rows)])
    norms = np.concatenate([part.vectors.norms[local] for part, _, local in partition.split(rows)])
    return np.asarray(codes / norms[:, None], dtype=np.float32)


def _to_compare(partition: Partition, rows: Rows, derived: Mask, now_ms: int) -> Rows:
    """Choose which rows are compared with all others of their group."""
    if rows.size <= SEED_MAX_COUNT:
        return rows
    newest_first = rows[np.lexsort((rows, -partition.numbers_at("updated_at", rows)))]
    half = SEED_MAX_COUNT // 2
    older = newest_first[half:]
    of_today = np.roll(older, -(now_ms // _DAY_MS * half) % older.size)[:half]
    made = rows[derived[rows]][-SEED_MAX_COUNT:]
    return np.unique(np.concatenate([newest_first[:half], of_today, made]))


def _nearest(scores: Scores) -> Rows:
    """Find the places of the closest, closest first; of equally close ones the first."""
    near = np.flatnonzero(scores >= CLUSTER_MIN_COSINE)
    return near[np.lexsort((near, -scores[near]))][:NEIGHBOUR_MAX_COUNT]


def _chosen(partition: Partition, seeds: Sequence[_Seed], derived: Mask, most: int) -> tuple[list[Cluster], bool]:
    updated_at = partition.number("updated_at")
    taken: set[int] = set()
    clusters: list[Cluster] = []
    order = sorted(seeds, key=lambda one: (not one.is_derived, -len(one.near), partition.memory_id(one.row)))
    for seed in order:
        near = [row for row in seed.near if row not in taken and not derived[row]]
        room = DERIVED_MAX_COUNT - 1
        if seed.is_derived:
            near = [row for row in near if updated_at[row] > updated_at[seed.row]]
            room = DERIVED_MAX_COUNT - len(partition.consolidated_into(partition.memory_id(seed.row)))
        members = [seed.row, *near[:room]]
        if seed.row in taken or len(members) < (2 if seed.is_derived else CLUSTER_MIN_COUNT):
            continue
        if len(taken) + len(members) > most:
            return clusters, False
        taken |= {*members}
        clusters.append(Cluster(tuple(partition.memory_id(row) for row in members), seed.is_derived))
    return clusters, True
