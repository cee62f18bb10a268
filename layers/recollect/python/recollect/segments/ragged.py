"""Rows of different lengths: all values in one array, and where each row's begin."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from recollect.errors import CorruptData
from recollect.scan import Rows

Offsets = npt.NDArray[np.uint32]
_OFFSET_MAX: Final = int(np.iinfo(np.uint32).max)


def offsets_of(sizes: Sequence[int] | npt.NDArray[np.int64]) -> Offsets:
    """Add up the lengths of rows.

    Returns
    -------
    ndarray of shape (n + 1,), uint32
        Row i's values are those from ``offsets[i]`` to ``offsets[i + 1]``.

    Raises
    ------
    CorruptData
        If there are more values than 32 bits count.
    """
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(np.asarray(sizes, dtype=np.int64), out=offsets[1:])
    if offsets[-1] > _OFFSET_MAX:
        raise CorruptData("too much for one segment", values=int(offsets[-1]))
    return offsets.astype(np.uint32)


def sizes_of(offsets: Offsets) -> npt.NDArray[np.int64]:
    """Give the length of each row: ndarray of shape (n,), int64."""
    return offsets[1:].astype(np.int64) - offsets[:-1]


def places_in(offsets: Offsets, rows: Rows) -> Rows:
    """Give the places of all values of some rows, row after row.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,), uint32
    rows : ndarray of shape (m,), int64

    Returns
    -------
    ndarray of shape (total,), int64
    """
    sizes = sizes_of(offsets)[rows]
    before = np.cumsum(sizes) - sizes
    return np.repeat(offsets[rows].astype(np.int64) - before, sizes) + np.arange(sizes.sum(), dtype=np.int64)
