"""Columns that grow: appending is amortised, reading is a view or a mask over all rows."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]

PATHS_KEPT = 32
_FIRST_CAPACITY = 64
UNKNOWN: Final = int(np.iinfo(np.int64).min)  # of a time that is not known
MISSING: Final = object()  # of a label or a value that is not there; JSON's null is a value


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


class LabelColumn:
    """One text or none for each row; every different text is kept once."""

    def __init__(self) -> None:
        self._number_of: dict[str, int] = {}
        self._texts: list[str] = []
        self._numbers = GrowingColumn(np.int32)

    @property
    def values(self) -> Sequence[str]:
        """All texts that a row has ever had."""
        return self._texts

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """Ndarray of shape (row_count,), int32: where each row's text is among `values`, -1 for none."""
        return self._numbers.view

    def extend(self, values: Sequence[str | None]) -> None:
        """Append rows."""
        number_of = self._number_of
        self._numbers.extend([-1 if v is None else number_of.setdefault(v, len(number_of)) for v in values])
        self._texts += list(number_of)[len(self._texts) :]

    def at(self, row: int) -> str | None:
        """Give the text of a row."""
        number = int(self._numbers.view[row])
        return None if number < 0 else self._texts[number]

    def counts(self, mask: Mask) -> dict[str, int]:
        """Count the rows under a mask by their text."""
        numbers = self._numbers.view[mask]
        totals = np.bincount(numbers[numbers >= 0], minlength=len(self._number_of))
        return {text: total for text, total in zip(self._number_of, totals.tolist(), strict=True) if total}

    def matching(self, is_wanted: Callable[[object], bool]) -> Mask:
        """Find the rows whose text, or `MISSING`, is wanted; asks once for each different text.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        answers = np.asarray([*map(is_wanted, self._number_of), is_wanted(MISSING)], dtype=np.bool_)
        return np.asarray(answers[self._numbers.view])  # -1 is the last


class TextsColumn:
    """Any number of texts for each row."""

    def __init__(self) -> None:
        self._rows_of: dict[str, list[int]] = {}
        self._filled = GrowingColumn(np.bool_)

    @property
    def filled(self) -> Mask:
        """Ndarray of shape (row_count,), bool: rows with at least one text."""
        return self._filled.view

    def extend(self, values: Sequence[Sequence[str]]) -> None:
        """Append rows."""
        for row, texts in enumerate(values, start=len(self._filled)):
            for text in texts:
                self._rows_of.setdefault(text, []).append(row)
        self._filled.extend([bool(texts) for texts in values])

    def counts(self, mask: Mask) -> dict[str, int]:
        """Count the rows under a mask that have each text."""
        totals = {text: int(mask[rows].sum()) for text, rows in self._rows_of.items()}
        return {text: total for text, total in totals.items() if total}

    def holding(self, text: object) -> Mask:
        """Find the rows that have a text.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        mask = np.zeros(len(self._filled), dtype=np.bool_)
        mask[self._rows_of.get(text, []) if isinstance(text, str) else []] = True
        return mask


class JsonColumn:
    """A JSON object, as text, for each row; values at a path are read when they are first asked for, then kept."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._values_at: dict[tuple[str, ...], list[Any]] = {}  # the path that was asked for last is last

    def extend(self, texts: Sequence[str]) -> None:
        """Append rows."""
        self._texts += texts

    def values_at(self, path: tuple[str, ...]) -> list[Any]:
        """Give each row's value at a path of names, `MISSING` where there is none; not to be changed."""
        values = self._values_at.pop(path, [])
        values += [_value_at(text, path) for text in self._texts[len(values) :]]
        if len(self._values_at) == PATHS_KEPT:
            del self._values_at[next(iter(self._values_at))]
        self._values_at[path] = values
        return values


def _value_at(text: str, path: tuple[str, ...]) -> object:
    value = {} if text == "{}" else json.loads(text)
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return MISSING
        value = value[name]
    return value
