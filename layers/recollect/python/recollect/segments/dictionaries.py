"""Texts that many rows share: each one kept once as UTF-8, rows hold its number; -1 stands for none.

Sorted by code point, so that the same texts always have the same numbers. Lone surrogates are kept.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from recollect.segments.ragged import Offsets, offsets_of

Codes = npt.NDArray[np.int32]
NONE: Final = -1


def coded(values: Sequence[str | None]) -> tuple[Codes, list[bytes]]:
    """Give every different text among values a number.

    Returns
    -------
    codes : ndarray of shape (n,), int32
    texts : list of bytes
        The text of each number.
    """
    written = [None if value is None else value.encode("utf-8", "surrogatepass") for value in values]
    texts = sorted({text for text in written if text is not None})
    number_of: dict[bytes | None, int] = {text: number for number, text in enumerate(texts)}
    return np.array([number_of.get(text, NONE) for text in written], dtype=np.int32), texts


def recoded(parts: Sequence[tuple[Codes, Sequence[bytes]]]) -> tuple[list[Codes], list[bytes]]:
    """Give the texts of several parts new numbers; a text without a row is left out.

    Parameters
    ----------
    parts : sequence of (codes, texts)
        As `coded` gives them.

    Returns
    -------
    codes : list of ndarray of shape (n,), int32
        For each part.
    texts : list of bytes
        For all of them.
    """
    used = [np.unique(codes[codes != NONE]) for codes, _ in parts]
    kept = [[texts[number] for number in numbers] for numbers, (_, texts) in zip(used, parts, strict=True)]
    union = sorted({text for texts in kept for text in texts})
    number_of = {text: number for number, text in enumerate(union)}
    renumbered = []
    for numbers, texts, (codes, all_texts) in zip(used, kept, parts, strict=True):
        new_of = np.full(len(all_texts) + 1, NONE, dtype=np.int32)  # the last is that of -1
        new_of[numbers] = [number_of[text] for text in texts]
        renumbered.append(new_of[codes])
    return renumbered, union


def packed(name: str, texts: Sequence[bytes]) -> dict[str, npt.NDArray[Any]]:
    """Make the columns of a dictionary: ``<name>.texts.offsets`` (V + 1) uint32, ``<name>.texts.bytes`` uint8."""
    return {
        f"{name}.texts.offsets": offsets_of([len(text) for text in texts]),
        f"{name}.texts.bytes": np.frombuffer(b"".join(texts), dtype=np.uint8),
    }


def unpacked(offsets: Offsets, data: npt.NDArray[np.uint8]) -> list[bytes]:
    """Take the columns of a dictionary apart."""
    joined, ends = data.tobytes(), offsets.tolist()
    return [joined[start:end] for start, end in pairwise(ends)]


def text_of(written: bytes) -> str:
    """Read one text."""
    return written.decode("utf-8", "surrogatepass")
