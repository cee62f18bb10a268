"""In which order memories are listed, and which of them come after a page. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from recollect.columns import UNKNOWN
from recollect.partition import Partition
from recollect.scan import Mask


class OrderBy(StrEnum):
    """What a listing can be ordered by."""

    CREATED_AT = "created_at"
    UPDATED_AT = "updated_at"
    OCCURRED_AT = "occurred_at"
    LAST_ACCESSED_AT = "last_accessed_at"
    IMPORTANCE = "importance"


@dataclass(frozen=True, slots=True)
class Order:
    """An order of memories; those that lack the value are last, and the memory id decides between equals."""

    by: OrderBy = OrderBy.CREATED_AT
    is_descending: bool = True


NEWEST_FIRST = Order()
Position = tuple[bool, float, str]  # whether the value is there if descending, whether not if ascending; value; id


def positions(partition: Partition, mask: Mask, order: Order) -> list[Position]:
    """Order the memories under a mask.

    Returns
    -------
    list of Position
        First to last.
    """
    rows = np.flatnonzero(mask)
    values = partition.number(order.by)[rows]
    is_there = np.ones(rows.shape, dtype=np.bool_) if order.by is OrderBy.IMPORTANCE else values != UNKNOWN
    ranks = is_there if order.is_descending else ~is_there
    memory_ids = (partition.memory_id(int(row)) for row in rows)
    return sorted(zip(ranks.tolist(), values.tolist(), memory_ids, strict=True), reverse=order.is_descending)


def after(found: Sequence[Position], last: Position, order: Order) -> list[Position]:
    """Keep what comes after a position, which need not be there any more."""
    return [position for position in found if (position < last if order.is_descending else position > last)]
