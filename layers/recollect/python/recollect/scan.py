"""Exact vector scan: score every row of a partition against a query, and select the best.

Arrays in, arrays out; nothing is written into an argument. Rows and queries are unit vectors, so that cosine
is one matrix-vector product. Selection is deterministic: equal scores keep ascending row order.
"""

import numpy as np
import numpy.typing as npt

from recollect.errors import InvalidInput

Vectors = npt.NDArray[np.float32]
Vector = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int8]

_CODE_MAX = 127.0


def unit_rows(vectors: Vectors) -> Vectors:
    """Scale rows to length one; a row of zeros stays zeros.

    Parameters
    ----------
    vectors : ndarray of shape (n, dim), float32, not modified

    Returns
    -------
    ndarray of shape (n, dim), float32, C-contiguous

    Raises
    ------
    InvalidInput
        If a component is NaN or infinite.
    """
    if not np.isfinite(vectors).all():
        raise InvalidInput("an embedding has components that are not finite numbers")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    safe = np.where(norms > 0.0, norms, np.float32(1.0))
    return np.ascontiguousarray(vectors / safe, dtype=np.float32)


def encode(vector: Vector) -> Codes:
    """Quantise a vector to one signed byte per component, keeping its direction only.

    The largest component becomes ±127. The scale is not kept: a unit vector's length is known.

    Parameters
    ----------
    vector : ndarray of shape (dim,), float32

    Returns
    -------
    ndarray of shape (dim,), int8
    """
    peak = float(np.abs(vector).max(initial=0.0))
    if peak == 0.0:
        return np.zeros(vector.shape, dtype=np.int8)
    return np.asarray(np.rint(vector * (_CODE_MAX / peak)), dtype=np.int8)


def decode(codes: Codes) -> Vectors:
    """Turn rows of `encode` back into unit vectors.

    Parameters
    ----------
    codes : ndarray of shape (n, dim), int8

    Returns
    -------
    ndarray of shape (n, dim), float32, unit rows (zero rows stay zero)
    """
    return unit_rows(codes.astype(np.float32))


def cosine(query: Vector, vectors: Vectors) -> Scores:
    """Score every row against a query.

    Parameters
    ----------
    query : ndarray of shape (dim,), float32, unit norm
    vectors : ndarray of shape (n, dim), float32, unit rows

    Returns
    -------
    ndarray of shape (n,), float32, in [-1, 1] up to rounding

    Raises
    ------
    InvalidInput
        If the dimensions differ.
    """
    if vectors.shape[1] != query.shape[0]:
        raise InvalidInput("the query's embedding and the stored ones differ in dimension")
    return np.asarray(vectors @ query, dtype=np.float32)


def top_k(scores: Scores, k: int) -> Rows:
    """Select the rows with the highest scores, best first.

    Parameters
    ----------
    scores : ndarray of shape (n,), float32, finite
    k : int
        Rows wanted, >= 1. Fewer come back when ``n < k``.

    Returns
    -------
    ndarray of shape (min(k, n),), int64
        Equal scores keep ascending row order, also across the cut.

    Raises
    ------
    InvalidInput
        If `k` < 1.

    Notes
    -----
    Selection by ``np.partition``, then a sort of the rows at or above the cut: O(n + m log m) for m such rows.
    """
    if k < 1:
        raise InvalidInput("k must be at least 1", pointer="/k")
    n = scores.shape[0]
    if k >= n:
        rows = np.arange(n, dtype=np.int64)
    else:
        cut = np.partition(scores, n - k)[n - k]
        rows = np.flatnonzero(scores >= cut).astype(np.int64)
    order = np.lexsort((rows, -scores[rows]))
    return rows[order][:k]
