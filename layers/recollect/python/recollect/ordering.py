"""In which order memories are listed, and which of them come after a page. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from recollect.columns import UNKNOWN
from recollect.partition import Partition
from recollect.scan import Mask, Rows


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
_LAST = int(np.iinfo(np.int64).max)
Position = tuple[bool, float, str]  # whether the value is there if descending, whether not if ascending; value; id


def positions(
    partition: Partition, mask: Mask, order: Order, count: int, last: Position | None = None
) -> list[Position]:
    """Order the memories under a mask, and take the first ones.

    Parameters
    ----------
    count : int
        How many are wanted, at least 1.
    last : Position or None
        They come after this one, which need not be there any more.

    Returns
    -------
    list of Position
        First to last.
    """
    rows = np.flatnonzero(mask)
    keys = _keys(partition.numbers_at(order.by, rows), order)
    if last is not None:
        kept = _after(partition, rows, keys, last, order)
        rows, keys = rows[kept], keys[kept]
    if rows.size > count:
        place = rows.size - count if order.is_descending else count - 1
        cut = np.partition(keys, place)[place]
        kept = keys >= cut if order.is_descending else keys <= cut
        rows, keys = rows[kept], keys[kept]
    sign = -1 if order.is_descending else 1
    sorted_ = np.lexsort((partition.memory_ids_at(rows), keys))[::sign][:count]
    return [_position(partition, int(rows[place]), keys[place], order) for place in sorted_]


def rank(partition: Partition, mask: Mask, order: Order, row: int) -> int:
    """Tell which place a row has in an order of those under a mask, which it is one of; the first is 1."""
    rows = np.flatnonzero(mask)
    keys = _keys(partition.numbers_at(order.by, rows), order)
    place = int(np.searchsorted(rows, row))
    last = _position(partition, row, keys[place], order)
    return int(rows.size - _after(partition, rows, keys, last, order).sum())


def _keys(values: npt.NDArray[Any], order: Order) -> npt.NDArray[Any]:
    """Make numbers that sort as the values do, those that lack it last; `UNKNOWN` is below every time."""
    is_missing_last = order.is_descending or values.dtype != np.int64
    return values if is_missing_last else np.where(values == UNKNOWN, _LAST, values)


def _after(partition: Partition, rows: Rows, keys: npt.NDArray[Any], last: Position, order: Order) -> Mask:
    _, value, memory_id = last
    key = _LAST if value == UNKNOWN and not order.is_descending else value
    kept = keys < key if order.is_descending else keys > key
    equal = np.flatnonzero(keys == key)
    ids = partition.memory_ids_at(rows[equal])
    last_id = memory_id.encode("utf-8", "surrogatepass")
    kept[equal] = ids < last_id if order.is_descending else ids > last_id
    return np.asarray(kept)


def _position(partition: Partition, row: int, key: Any, order: Order) -> Position:
    is_known = key not in (UNKNOWN, _LAST)
    value = key.item() if is_known else UNKNOWN
    return is_known is order.is_descending, value, partition.memory_id(row)
