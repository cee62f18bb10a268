"""What new segments hold: of the tail of a log, of older segments. Pure; `compaction` chooses, `compacting` talks.

A segment also tells what it knows of older ones that stay: which of their rows are dead, and how often others were
used.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recollect.model import Entry, Head, SegmentRef, Touch
from recollect.partition import LATE_TOUCH_MS, Partition, State, pristine
from recollect.partitions import Records, is_after
from recollect.segments.building import Use, from_entries, merge, telling
from recollect.segments.ids import ids_of
from recollect.segments.layout import About, Arrays
from recollect.segments.segment import Changed, Segment


def foldable(records: Records, head: Head, most: int, now_ms: int) -> tuple[list[Entry], list[Touch], Head]:
    """Choose what of a tail can be folded now.

    Parameters
    ----------
    records : sequence of Entry or Touch
        What the log holds after the segments.
    most : int
        How many entries at once.

    Returns
    -------
    list of Entry, list of Touch, Head
        What would be folded, and the head that says so, but for its manifest. Touches of the newest entry are left
        until they are so old that no other one of their time comes.
    """
    entries = [record for record in records if isinstance(record, Entry)][:most]
    if entries:
        is_newest = entries[-1].seq == head.seq
        newer = replace(head, compacted_seq=entries[-1].seq, folded_ms=now_ms - LATE_TOUCH_MS if is_newest else now_ms)
    else:
        newer = replace(head, folded_ms=max(head.folded_ms, now_ms - LATE_TOUCH_MS))
    touches = [record for record in records if isinstance(record, Touch) and not is_after(record, newer)]
    return entries, touches, newer


def folded(base: Partition, entries: Sequence[Entry], touches: Sequence[Touch]) -> tuple[Arrays, About]:
    """Make a segment of entries and touches.

    Parameters
    ----------
    base : Partition
        The segments as they are; stays as it is.
    """
    after = Partition(base.embedder, base.dimension, base.head, tuple(base.segments.values()))
    last_seq = entries[-1].seq if entries else base.head.seq
    records: list[Entry | Touch] = [*entries, *touches]
    records.sort(key=lambda record: (record.seq, isinstance(record, Touch)))
    after.apply(records, replace(base.head, seq=last_seq))
    columns = from_entries(entries, after.embedder, after.dimension)
    memory_ids = [memory_id.decode() for memory_id in ids_of(columns["id_hi"], columns["id_lo"]).tolist()]
    columns |= {name: use.astype(columns[name].dtype) for name, use in after.use_of(memory_ids).items()}
    both = ((one, base.state_of(one), after.state_of(one)) for one in base.segments)
    about = About(
        embedder=after.embedder,
        dimension=after.dimension,
        rows=columns["seq"].size,
        first_seq=base.head.seq + 1,
        last_seq=last_seq,
        older=(),
    )
    return telling_of(columns, about, [_changed(*one) for one in both])


def merged(base: Partition, span: slice, without: str | None = None) -> tuple[Arrays, About]:
    """Make a segment of the live rows of segments that follow each other.

    Parameters
    ----------
    base : Partition
        The segments as they are.
    span : slice
        Of them.
    without : str or None
        A memory that is left out.
    """
    names = list(base.segments)
    parts = [base.segments[one] for one in names[span]]
    states = [base.state_of(one) for one in names[span]]
    live = [state.live.copy() for state in states]
    for part, mask in zip(parts, live, strict=True):
        rows = part.rows_of([without] if without else [])
        mask[rows[rows >= 0]] = False
    columns = merge(parts, live, [Use(state.access_count, state.last_accessed_at) for state in states])
    mentioned = {one for part in parts for one in part.about.older}
    older = [one for one in names[: span.start] if one in mentioned]
    about = replace(parts[-1].about, rows=columns["seq"].size, first_seq=parts[0].about.first_seq, older=())
    return telling_of(
        columns, about, [_changed(one, pristine(base.segments[one]), base.state_of(one)) for one in older]
    )


def whole(base: Partition, records: Records, head: Head) -> Arrays:
    """Make one segment's columns of the live rows of a partition, its tail included.

    Parameters
    ----------
    base : Partition
        The segments of the head's manifest.
    records : sequence of Entry or Touch
        What the log holds after them.
    """
    entries = [record for record in records if isinstance(record, Entry)]
    columns, about = folded(base, entries, [])
    ref = SegmentRef("", about.rows, 0)
    folded_head = replace(head, manifest=(*head.manifest, ref), compacted_seq=head.seq)
    after = Partition(base.embedder, base.dimension, folded_head, [*base.segments.values(), Segment(columns, about)])
    return merged(after, slice(0, None))[0]


def live_rows(partition: Partition) -> list[int]:
    """Count the live rows of each segment."""
    return [int(partition.state_of(segment_id).live.sum()) for segment_id in partition.segments]


def telling_of(columns: Arrays, about: About, changed: Sequence[Changed]) -> tuple[Arrays, About]:
    """Let a segment tell what changed of older ones; of those where nothing did, it says nothing."""
    told = [one for one in changed if one.dead.size or one.used.size]
    return {**columns, **telling(told)}, replace(about, older=tuple(one.segment_id for one in told))


def _changed(segment_id: str, old: State, new: State) -> Changed:
    is_used = (old.access_count != new.access_count) | (old.last_accessed_at != new.last_accessed_at)
    used = np.flatnonzero(is_used & new.live).astype(np.uint32)
    dead = np.flatnonzero(old.live & ~new.live).astype(np.uint32)
    return Changed(segment_id, dead, used, new.access_count[used].astype(np.uint32), new.last_accessed_at[used])
