"""Which segments a compaction makes of which, and why: the pure part. `compacting` does it.

Size-tiered: the tail of the log becomes a small segment; as soon as enough neighbours are of one size, they become
one of the next size, up to a size that is left alone. So each memory is written once for each size, and a large
partition is not rewritten for a few new memories. A segment that is dead for the larger part is rewritten on its own.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from recollect.model import SegmentRef
from recollect.object_store import StoredObject


@dataclass(frozen=True, slots=True)
class Policy:
    """When to compact.

    Parameters
    ----------
    fold_entries, fold_touches : int
        So many of them in the tail are folded into a segment.
    fold_max_entries : int
        More of them are folded by the next compaction.
    fan : int
        So many neighbours of one size become one segment of the next, so many times as large.
    tiers : int
        How many sizes are merged; segments of the next one, 131,072 rows, are left alone.
    dead_share_max : float
        A segment with a larger share of dead rows is rewritten.
    """

    fold_entries: int = 256
    fold_touches: int = 256
    fold_max_entries: int = 2_048
    fan: int = 8
    tiers: int = 3
    dead_share_max: float = 0.5


DEFAULT = Policy()


@dataclass(frozen=True, slots=True)
class Tail:
    """What the log holds after the segments: entries, and touches that are old enough to be folded."""

    entries: int
    touches: int


def folds(tail: Tail, policy: Policy, *, is_forced: bool = False) -> bool:
    """Tell whether the tail is to be folded; by force if it holds anything."""
    if is_forced:
        return tail.entries + tail.touches > 0
    return tail.entries >= policy.fold_entries or tail.touches >= policy.fold_touches


def to_merge(manifest: Sequence[SegmentRef], live_rows: Sequence[int], policy: Policy) -> slice | None:
    """Choose neighbours in the manifest to be made one segment, or one to be rewritten; the newest choice first.

    Parameters
    ----------
    live_rows : sequence of int
        Of each segment.

    Returns
    -------
    slice or None
        Of the manifest; ``None`` if everything is well.
    """
    tiers = [_tier(ref.rows, policy) for ref in manifest]
    stop = len(tiers)
    while stop:
        start = stop - 1
        while start and tiers[start - 1] <= tiers[stop - 1]:
            start -= 1
        if stop - start >= policy.fan and tiers[stop - 1] < policy.tiers:
            return slice(start, stop)
        stop -= 1
    for place, (ref, live) in enumerate(zip(manifest, live_rows, strict=True)):
        if live < (1.0 - policy.dead_share_max) * ref.rows:
            return slice(place, place + 1)
    return None


def garbage(present: Sequence[StoredObject], kept: Collection[str], before_ms: int) -> list[str]:
    """Choose objects that nothing refers to any more, and that are so old that no request still reads them.

    Parameters
    ----------
    present : sequence of StoredObject
        All of the user.
    kept : collection of str
        Keys that something refers to.
    before_ms : int
        Epoch milliseconds; later ones may be about to be referred to.
    """
    return [one.key for one in present if one.key not in kept and one.modified_ms <= before_ms]


def write_amplification(stores: int, each: int, policy: Policy) -> float:
    """Tell how often a memory is written to objects, on average, when new ones are folded as they come.

    Parameters
    ----------
    stores : int
        Single stores in all.
    each : int
        After how many of them a compaction comes.
    """
    manifest: list[SegmentRef] = []
    written = 0
    for first in range(0, stores, each):
        manifest.append(SegmentRef("", min(each, stores - first), 0))
        written += manifest[-1].rows
        while (span := to_merge(manifest, [ref.rows for ref in manifest], policy)) is not None:
            manifest[span] = [SegmentRef("", sum(ref.rows for ref in manifest[span]), 0)]
            written += manifest[span.start].rows
    return written / stores


def _tier(rows: int, policy: Policy) -> int:
    """Give the size class of a segment: 0 for a folded tail, `policy.tiers` for one that is merged no more."""
    tier, most = 0, policy.fold_entries * policy.fan // 2
    while rows >= most and tier < policy.tiers:
        tier, most = tier + 1, most * policy.fan
    return tier
