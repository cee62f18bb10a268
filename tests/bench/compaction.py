"""What a run of single stores makes of a user's segments, by the real plan: how often each memory is written again.

A compaction comes as soon as the tail is long enough, as with maintenance that keeps up. Counted in rows; bytes of
segments are proportional to them but for dictionaries.
"""

from dataclasses import dataclass, field

from recollect import compaction
from recollect.compaction import DEFAULT, Policy, Tail
from recollect.model import SegmentRef

STORES = 100_000


@dataclass(slots=True)
class Run:
    """What was done so far.

    Parameters
    ----------
    segments : list of int
        Rows of each live segment, oldest first.
    tail : int
        Entries that are not folded.
    folded, merged, written : int
        Folds, merges, and rows that they wrote.
    read : int
        Segments that compactions loaded: all live ones, twice for a fold, once for a merge or the look for one.
    """

    segments: list[int] = field(default_factory=list)
    tail: int = 0
    folded: int = 0
    merged: int = 0
    written: int = 0
    read: int = 0


def run(stores: int, policy: Policy = DEFAULT) -> Run:
    """Store memories one by one, and compact whenever the plan says so."""
    done = Run()
    for _ in range(stores):
        done.tail += 1
        if compaction.folds(Tail(done.tail, 0), policy):
            _compact(done, policy)
    return done


def _compact(done: Run, policy: Policy) -> None:
    done.read += 2 * len(done.segments)
    done.segments.append(done.tail)
    done.written += done.tail
    done.folded += 1
    done.tail = 0
    while True:
        done.read += len(done.segments)
        manifest = [SegmentRef("", rows, 0) for rows in done.segments]
        span = compaction.to_merge(manifest, done.segments, policy)
        if span is None:
            return
        done.segments[span] = [sum(done.segments[span])]
        done.written += done.segments[span.start]
        done.merged += 1


def figures(*, is_quick: bool = False) -> dict[str, float]:
    """Count.

    Returns
    -------
    dict of str to float
        ``compaction.write_amplification``: rows written to segments for each row stored; and how many segments a
        user of 100,000 and of 1,000,000 memories has.
    """
    done = run(STORES)
    counted = {
        "compaction.write_amplification": done.written / STORES,
        "compaction.folds_per_100k_stores": float(done.folded),
        "compaction.merges_per_100k_stores": float(done.merged),
        "compaction.100000.segments": float(len(done.segments)),
    }
    return counted if is_quick else counted | {"compaction.1000000.segments": float(len(run(10**6).segments))}
