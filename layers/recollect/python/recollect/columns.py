"""A numpy column that grows: appending is amortised, reading is a view."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_FIRST_CAPACITY = 64


class GrowingColumn:
    """An array whose first axis grows by doubling.

    Parameters
    ----------
    dtype : numpy dtype
    width : int
        0 for a column of scalars, otherwise the length of each row.
    """

    def __init__(self, dtype: npt.DTypeLike, width: int = 0) -> None:
        shape = (_FIRST_CAPACITY, width) if width else (_FIRST_CAPACITY,)
        self._array: npt.NDArray[Any] = np.zeros(shape, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def view(self) -> npt.NDArray[Any]:
        """The rows so far, as a view; valid until the next `extend`."""
        return self._array[: self._size]

    def extend(self, values: Sequence[Any] | npt.NDArray[Any]) -> None:
        """Append rows."""
        needed = self._size + len(values)
        if needed > self._array.shape[0]:
            capacity = max(needed, 2 * self._array.shape[0])
            grown = np.zeros((capacity, *self._array.shape[1:]), dtype=self._array.dtype)
            grown[: self._size] = self.view
            self._array = grown
        if len(values):
            self._array[self._size : needed] = values
        self._size = needed
