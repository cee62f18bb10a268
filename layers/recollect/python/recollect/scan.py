"""Vector scan: which rows of a partition are nearest to a query, in one pass over bits and one over few rows.

Arrays in, arrays out; nothing is written into an argument. Selection is deterministic: equal rows get equal scores,
wherever they stand, and equal scores keep ascending row order.

Few rows are all scored exactly, on their int8 codes. Of many, `shortlists` first compares sign bits, 48 bytes a row
instead of 1,536, and keeps every row that can be among the best: how far such a row's bits may differ from the
query's follows from the score of the best rows found so far. There is no fixed number of candidates, so that recall
holds at any size, under any filter and for any spread of the vectors; vectors without any structure cost more time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recollect.errors import InvalidInput

Vectors = npt.NDArray[np.float32]
Vector = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int8]
Bits = npt.NDArray[np.uint64]
Distances = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

EXACT_ROWS = 1_024  # so few are scored faster than compared
_CODE_MAX = 127.0
_WORD = 64
_SCORED_AT_ONCE = 256  # rows as float32 fit a core's second cache
_SAME_KERNEL = 16  # rows: a matrix product may round the last few of another number in another way
_COMPARED_AT_ONCE = 32_768
_GATHER_MAX_SHARE = 0.5  # of more rows than this it is cheaper to compare all, and look up what is wanted
_STRONG = 0.75  # share of the mean: weaker components of a query are noise to a comparison of signs
_MARGIN = 2.25  # standard deviations
_LOGISTIC = 0.851  # tanh(0.851 t) is close to 2 Φ(t) - 1


@dataclass(frozen=True, slots=True)
class Quantised:
    """The vectors of one part of a partition.

    Parameters
    ----------
    codes : ndarray of shape (n, dim), int8, C-contiguous
        See `encode`; zeros for a row without a vector.
    norms : ndarray of shape (n,), float32
        See `norms_of`; 0 for a row without a vector.
    bits : ndarray of shape (ceil(dim / 64), n), uint64, or None
        See `sign_bits`. Without them all rows are scored exactly.
    """

    codes: Codes
    norms: Scores
    bits: Bits | None


@dataclass(frozen=True, slots=True)
class _Signs:
    """A query as bits.

    Parameters
    ----------
    signs, mask : ndarray of shape (words, 1), uint64
        Which components are positive; which are strong enough to be compared.
    strengths : ndarray of shape (compared,), float32
        Of the components under the mask, without their sign.
    dimension : int
        Number of components.
    """

    signs: Bits
    mask: Bits
    strengths: Scores
    dimension: int


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


def norms_of(codes: Codes) -> Scores:
    """Measure the codes' Euclidean lengths.

    Parameters
    ----------
    codes : ndarray of shape (n, dim), int8

    Returns
    -------
    ndarray of shape (n,), float32
    """
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", codes, codes, dtype=np.int32)), dtype=np.float32)


def sign_bits(codes: Codes | Vectors | Mask) -> Bits:
    """Pack which components are positive.

    Parameters
    ----------
    codes : ndarray of shape (n, dim), int8, float32 or bool

    Returns
    -------
    ndarray of shape (ceil(dim / 64), n), uint64, C-contiguous
        Bit ``j % 64``, counted from the least significant, of word ``j // 64`` is component ``j``; the rest is 0.
    """
    n, dimension = codes.shape
    octets = np.zeros((n, -(-dimension // _WORD) * 8), dtype=np.uint8)
    octets[:, : -(-dimension // 8)] = np.packbits(codes > 0, axis=1, bitorder="little")
    return np.ascontiguousarray(octets.view("<u8").T)


def exact(query: Vector, vectors: Quantised, rows: Rows) -> Scores:
    """Score rows: their cosine with the query.

    Parameters
    ----------
    query : ndarray of shape (dim,), float32, unit norm
    rows : ndarray of shape (m,), int64, ascending, no row twice

    Returns
    -------
    ndarray of shape (m,), float32, in [-1, 1] up to rounding
        0 for a row without a vector. Rows with equal codes have equal scores.

    Raises
    ------
    InvalidInput
        If the dimensions differ.
    """
    _check_dimension(query, vectors)
    products = np.empty(rows.size + -rows.size % _SAME_KERNEL, dtype=np.float32)
    block = (min(_SCORED_AT_ONCE, products.size), query.size)
    gathered, values = np.empty(block, dtype=np.int8), np.empty(block, dtype=np.float32)
    for start in range(0, rows.size, _SCORED_AT_ONCE):
        part = rows[start : start + _SCORED_AT_ONCE]
        if part[-1] - part[0] == part.size - 1:
            values[: part.size] = vectors.codes[part[0] : part[0] + part.size]
        else:
            vectors.codes.take(part, axis=0, out=gathered[: part.size], mode="clip")  # any other mode copies again
            values[: part.size] = gathered[: part.size]
        values[part.size :] = 0.0
        out = products[start : start + _SCORED_AT_ONCE]
        np.matmul(values[: out.size], query, out=out)
    norms = np.maximum(vectors.norms[rows], np.float32(1.0))  # of a row with a vector, at least 1
    return np.asarray(products[: rows.size] / norms, dtype=np.float32)


def shortlists(query: Vector, parts: Sequence[tuple[Quantised, Rows]], k: int) -> list[Rows]:
    """Leave out rows that cannot be among the `k` best of all; `exact` scores for what is left then name those.

    Parameters
    ----------
    query : ndarray of shape (dim,), float32, unit norm
    parts : sequence of (Quantised, ndarray of shape (m,), int64)
        Each with its rows that passed the filters: ascending, no row twice.
    k : int
        >= 1.

    Returns
    -------
    list of ndarray of shape (s,), int64, ascending
        For each part. All rows where they are few in all or have no bits. Of many, on average at least 0.99 of the
        `k` best are here.

    Raises
    ------
    InvalidInput
        If the dimensions differ, or `k` < 1.

    Notes
    -----
    Let the noise of a row with cosine ``c`` have no direction. Then its sign in component ``j`` differs from the
    query's with probability ``p = Φ(-c |q_j| √(dim / (1 - c²)))``, so that its distance has the mean ``Σ p`` and the
    variance ``Σ p (1 - p)``. The `k`-th best score among the rows of least distance is a lower bound of the `k`-th
    best of all; a row that is at least as good is hardly ever further away than the mean for that score and
    2.25 standard deviations. Where the rows found so far are further away than they should be, as with vectors that
    have few components, the limit moves by as much.
    """
    for vectors, _ in parts:
        _check_dimension(query, vectors)
    if k < 1:
        raise InvalidInput("k must be at least 1", pointer="/k")
    compared = [(vectors, rows) for vectors, rows in parts if vectors.bits is not None]
    if sum(rows.size for _, rows in compared) <= max(EXACT_ROWS, 8 * k):
        return [rows for _, rows in parts]
    near = iter(_near(query, compared, k))
    return [rows if vectors.bits is None else next(near) for vectors, rows in parts]


def _near(query: Vector, parts: Sequence[tuple[Quantised, Rows]], k: int) -> list[Rows]:
    signs = _signs_of(query)
    distances = np.concatenate(
        [_distances(signs, vectors.bits, rows) for vectors, rows in parts if vectors.bits is not None]
    )
    wanted = max(64, 4 * k) + distances.size // 1024
    step = max(1, wanted // 16)
    nearest = int(np.searchsorted(np.cumsum(np.bincount(distances[::step])), -(-wanted // step)))
    found = np.flatnonzero(distances <= nearest)[: 2 * wanted]
    of_parts = zip(parts, _by_part(found, parts), strict=True)
    scores = np.concatenate([exact(query, vectors, rows) for (vectors, _), rows in of_parts])
    best = top_k(scores, k)
    limit = _furthest(signs, scores[best], distances[found[best]]) if best.size == k else signs.strengths.size
    return _by_part(np.flatnonzero(distances <= max(nearest, limit)), parts)


def _by_part(places: Rows, parts: Sequence[tuple[Quantised, Rows]]) -> list[Rows]:
    """Give the rows of each part that are in some places, which ascend, of all rows one after the other."""
    stops = np.cumsum([rows.size for _, rows in parts])
    split = np.split(places, np.searchsorted(places, stops[:-1]))
    return [rows[mine - (stop - rows.size)] for (_, rows), mine, stop in zip(parts, split, stops.tolist(), strict=True)]


def _check_dimension(query: Vector, vectors: Quantised) -> None:
    if vectors.codes.shape[1] != query.size:
        raise InvalidInput("the query's embedding and the stored ones differ in dimension")


def _signs_of(query: Vector) -> _Signs:
    strengths = np.abs(query)
    mask = strengths > _STRONG / query.size * strengths.sum()
    bits = sign_bits(np.array([query > 0.0, mask]))
    return _Signs(bits[:, :1], bits[:, 1:], strengths[mask], query.size)


def _distances(signs: _Signs, bits: Bits, rows: Rows) -> Distances:
    """Count in how many strong components the rows' signs differ from the query's."""
    if rows.size > _GATHER_MAX_SHARE * bits.shape[1]:
        everything = _compared(signs, bits, None)
        return everything if rows.size == everything.size else everything[rows]
    return _compared(signs, bits, rows)


def _compared(signs: _Signs, bits: Bits, rows: Rows | None) -> Distances:
    size = bits.shape[1] if rows is None else rows.size
    fits = signs.strengths.size <= np.iinfo(np.uint8).max
    distances: Distances = np.empty(size, dtype=np.uint8) if fits else np.empty(size, dtype=np.uint16)
    block = (bits.shape[0], min(size, _COMPARED_AT_ONCE))
    words, counts = np.empty(block, dtype=np.uint64), np.empty(block, dtype=np.uint8)
    for start in range(0, size, _COMPARED_AT_ONCE):
        out = distances[start : start + _COMPARED_AT_ONCE]
        differing, counted = words[:, : out.size], counts[:, : out.size]
        if rows is None:
            np.bitwise_xor(bits[:, start : start + out.size], signs.signs, out=differing)
        else:
            bits.take(rows[start : start + out.size], axis=1, out=differing, mode="clip")
            np.bitwise_xor(differing, signs.signs, out=differing)
        np.bitwise_and(differing, signs.mask, out=differing)
        np.bitwise_count(differing, out=counted)
        np.add.reduce(counted, axis=0, dtype=distances.dtype, out=out)
    return distances


def _furthest(signs: _Signs, best: Scores, distances: Distances) -> int:
    """Give the distance up to which a row may be as good as the last of the best ones, which are this far away."""
    differs = _chances(signs, float(best[-1]))
    deviation = math.sqrt(float(differs @ (1.0 - differs)))
    too_far = float(distances.mean()) - float(_chances(signs, float(best.mean())).sum())
    return int(float(differs.sum()) + _MARGIN * deviation + max(0.0, too_far))


def _chances(signs: _Signs, cosine: float) -> Scores:
    """Tell for each strong component how likely its sign differs from the query's in a row with this cosine."""
    scale = _LOGISTIC * cosine * math.sqrt(signs.dimension / max(1e-6, 1.0 - cosine * cosine))
    return np.asarray(0.5 - 0.5 * np.tanh(np.float32(scale) * signs.strengths), dtype=np.float32)
