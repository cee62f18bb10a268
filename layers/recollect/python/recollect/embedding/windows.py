"""Cuts texts that are longer than a model's window, and makes one vector out of the vectors of the parts.

Pure. Parts are nearly equal in length, so that no part is a stray word at the end that counts as much as a page.
Nothing is left out of the parts, and a vector that leaves this module is finite and of length one.

A long text has one vector, by measurement (``tests/eval/long.py``: passages of 2,000 characters from five conversations
that nothing was chosen on). Recall@10 of hybrid searches is 0.891 with the vector of a passage's beginning, 0.906 with
the mean of its parts, and 0.915 with the best of its 2.9 parts, each with a vector of its own; of semantic searches
0.508, 0.718 and 0.776. The mean costs no more than the beginning. A vector for each part would take that many times the
space and the scan, for a hundredth in the mode that is used most.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from recollect.errors import CorruptData
from recollect.scan import Vector, Vectors

# How far back from the middle of a text a space is looked for, in characters: longer than nearly every word.
_WORD_MAX = 100
_MIN_NORM = 1e-6


def well_formed(text: str) -> str:
    """Put a question mark in place of each lone surrogate, which no model can read."""
    return text.encode("utf-8", "replace").decode("utf-8")


def spans(count: int, limit: int) -> list[slice]:
    """Cut a sequence into the fewest parts that are short enough, nearly equal in length.

    Parameters
    ----------
    count : int
        Length of the sequence, >= 0.
    limit : int
        Longest part, >= 1.

    Returns
    -------
    list of slice
        In order, without gap or overlap, lengths differing by at most one. An empty sequence is one empty part.
    """
    parts = max(1, -(-count // limit))
    cuts = [part * count // parts for part in range(parts + 1)]
    return [slice(begin, end) for begin, end in pairwise(cuts)]


def pieces(text: str, limit_bytes: int) -> list[str]:
    """Cut a text until no piece has more bytes in UTF-8 than a limit.

    A byte is the smallest token there is, so this keeps a text inside a token limit whatever its script.

    Parameters
    ----------
    text : str
        Without lone surrogates.
    limit_bytes : int
        >= 4, so that every character fits.

    Returns
    -------
    list of str
        Joined, they are the text. Cuts come after a space where there is one near the middle.
    """
    if len(text.encode("utf-8")) <= limit_bytes:
        return [text]
    middle = len(text) // 2
    cut = text.rfind(" ", max(0, middle - _WORD_MAX), middle) + 1 or middle
    return pieces(text[:cut], limit_bytes) + pieces(text[cut:], limit_bytes)


def unit_vectors(answer: npt.ArrayLike, count: int, dimension: int) -> Vectors:
    """Take what a model answered as unit vectors.

    Parameters
    ----------
    answer : array_like of shape (count, dimension)
        From outside: anything may be in it.

    Returns
    -------
    ndarray of shape (count, dimension), float32, unit rows, C-contiguous

    Raises
    ------
    CorruptData
        If the shape is another one, or a row is not a vector with a direction (NaN, infinite, zero).
    """
    try:
        with np.errstate(over="ignore"):
            vectors = np.asarray(answer, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise CorruptData("the embedding model's answer is not a table of numbers") from error
    if vectors.shape != (count, dimension):
        raise CorruptData(
            "the embedding model's vectors are not as many or not as long as asked",
            shape=vectors.shape,
            expected=(count, dimension),
        )
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(norms) & (norms > _MIN_NORM)).all():
        raise CorruptData("the embedding model answered a vector that has no direction")
    return np.ascontiguousarray(vectors / norms, dtype=np.float32)


def mean_direction(vectors: Vectors, lengths: Sequence[int]) -> Vector:
    """Make one vector for a text out of the vectors of its parts.

    Parameters
    ----------
    vectors : ndarray of shape (n, dim), float32, unit rows, n >= 1, not modified
    lengths : sequence of int, n long
        Of the parts, in tokens or characters; a longer part weighs more.

    Returns
    -------
    ndarray of shape (dim,), float32, unit norm
        A single part's vector comes back bit for bit. Should the parts cancel out, the first one's is taken.
    """
    first: Vector = vectors[0]
    if len(lengths) == 1:
        return first
    weights = np.asarray(lengths, dtype=np.float32)
    summed = (weights / weights.sum()) @ vectors
    norm = float(np.linalg.norm(summed))
    if norm <= _MIN_NORM:
        return first
    return np.asarray(summed / np.float32(norm), dtype=np.float32)
