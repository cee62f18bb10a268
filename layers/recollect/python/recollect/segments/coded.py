"""Texts of a segment's rows as filters ask for them; like the growing columns of ``recollect.columns``."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recollect.columns import MISSING, JsonColumn, Mask
from recollect.segments.dictionaries import NONE, Codes
from recollect.segments.ragged import Offsets, sizes_of


class CodedLabels:
    """One text or none for each row.

    Parameters
    ----------
    codes : ndarray of shape (n,), int32 or uint8
        Number of the row's text, -1 for none.
    texts : sequence of str
    """

    def __init__(self, codes: npt.NDArray[Any], texts: Sequence[str]) -> None:
        self._codes = codes
        self._texts = texts

    @property
    def values(self) -> Sequence[str]:
        """All texts; not to be changed."""
        return self._texts

    @property
    def codes(self) -> npt.NDArray[Any]:
        """Ndarray of shape (n,), integers: where each row's text is among `values`, -1 for none."""
        return self._codes

    def matching(self, is_wanted: Callable[[object], bool]) -> Mask:
        """Find the rows whose text, or ``columns.MISSING``, is wanted; asks once for each different text.

        Returns
        -------
        ndarray of shape (n,), bool
        """
        answers = np.asarray([*map(is_wanted, self._texts), is_wanted(MISSING)], dtype=np.bool_)
        return np.asarray(answers[self._codes])  # -1 is the last

    def at(self, row: int) -> str | None:
        """Give the text of one row."""
        code = int(self._codes[row])
        return None if code == NONE else self._texts[code]

    def counts(self, mask: Mask) -> dict[str, int]:
        """Count the rows under a mask by their text."""
        codes = self._codes[mask]
        totals = np.bincount(codes[codes != NONE].astype(np.int64), minlength=len(self._texts))
        return {text: total for text, total in zip(self._texts, totals.tolist(), strict=True) if total}


class CodedTexts:
    """Any number of texts for each row.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,), uint32
    values : ndarray of shape (total,), int32
        Numbers of texts, row after row.
    texts : sequence of str
    """

    def __init__(self, offsets: Offsets, values: Codes, texts: Sequence[str]) -> None:
        self._offsets = offsets
        self._values = values
        self._texts = texts
        self._number_of: dict[object, int] = {text: number for number, text in enumerate(texts)}

    @property
    def filled(self) -> Mask:
        """Ndarray of shape (n,), bool: rows with at least one text."""
        return np.asarray(sizes_of(self._offsets) > 0)

    def holding(self, text: object) -> Mask:
        """Find the rows that have a text.

        Returns
        -------
        ndarray of shape (n,), bool
        """
        mask = np.zeros(self._offsets.size - 1, dtype=np.bool_)
        number = self._number_of.get(text) if isinstance(text, str) else None
        if number is not None:
            mask[self._rows[self._values == number]] = True
        return mask

    def counts(self, mask: Mask) -> dict[str, int]:
        """Count the rows under a mask that have each text."""
        totals = np.bincount(self._values[mask[self._rows]], minlength=len(self._texts))
        return {text: total for text, total in zip(self._texts, totals.tolist(), strict=True) if total}

    def of_row(self, row: int) -> tuple[str, ...]:
        """Give the texts of one row, in their order."""
        part = self._values[int(self._offsets[row]) : int(self._offsets[row + 1])]
        return tuple(self._texts[code] for code in part)

    @cached_property
    def _rows(self) -> npt.NDArray[np.int64]:
        sizes = sizes_of(self._offsets)
        return np.repeat(np.arange(sizes.size), sizes)


class CodedJson:
    """A JSON object, as text, for each row; every different text is read once for each path.

    Parameters
    ----------
    codes : ndarray of shape (n,), int32
        Number of the row's text, -1 for ``{}``.
    texts : sequence of str
    """

    def __init__(self, codes: Codes, texts: Sequence[str]) -> None:
        self._codes = codes
        self._texts = [*texts, "{}"]  # -1 is the last
        self._objects = JsonColumn()
        self._objects.extend(self._texts)

    def matching(self, path: tuple[str, ...], is_wanted: Callable[[object], bool]) -> Mask:
        """Find the rows whose value at a path of names, or ``columns.MISSING``, is wanted.

        Returns
        -------
        ndarray of shape (n,), bool
        """
        answers = np.asarray([*map(is_wanted, self._objects.values_at(path))], dtype=np.bool_)
        return np.asarray(answers[self._codes])

    def bytes_of(self, mask: Mask) -> int:
        """Sum the UTF-8 bytes of the texts of the rows under a mask."""
        sizes = np.array([len(text.encode("utf-8", "surrogatepass")) for text in self._texts])
        return int(sizes[self._codes[mask]].sum())
