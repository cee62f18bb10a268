"""Vectors as they may be stored, with queries that they answer: made from a seed, without a model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from recollect.errors import InvalidInput
from recollect.scan import Codes, Quantised, Rows, Vector, Vectors, exact, norms_of, shortlists, sign_bits, top_k

_AT_ONCE = 32_768


@dataclass(frozen=True, slots=True)
class Sample:
    """Stored vectors and unit queries, ndarray of shape (queries, dim), float32."""

    vectors: Quantised
    queries: Vectors


def unit_rows(vectors: Vectors) -> Vectors:
    """Scale rows to length one; a row of zeros stays zeros, and one that is not finite is refused."""
    if not np.isfinite(vectors).all():
        raise InvalidInput("an embedding has components that are not finite numbers")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    safe = np.where(norms > 0.0, norms, np.float32(1.0))
    return np.ascontiguousarray(vectors / safe, dtype=np.float32)


def decode(codes: Codes) -> Vectors:
    """Turn rows of `recollect.scan.encode` back into unit vectors; rows of zeros stay zeros."""
    return unit_rows(codes.astype(np.float32))


def shortlist(query: Vector, vectors: Quantised, rows: Rows, k: int) -> Rows:
    """Leave out rows of one part; see `recollect.scan.shortlists`."""
    return shortlists(query, [(vectors, rows)], k)[0]


def quantised(codes: Codes) -> Quantised:
    return Quantised(codes, norms_of(codes), sign_bits(codes))


def encoded(vectors: Vectors) -> Codes:
    """Do as `recollect.scan.encode` does, for all rows at once."""
    peaks = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors * (np.float32(127.0) / np.where(peaks > 0.0, peaks, np.float32(1.0)))).astype(np.int8)


def filled(rows: int, dimension: int, make: Callable[[int], Vectors]) -> Codes:
    """Encode rows as they are made, a part at a time."""
    codes = np.empty((rows, dimension), dtype=np.int8)
    for start in range(0, rows, _AT_ONCE):
        part = codes[start : start + _AT_ONCE]
        part[:] = encoded(make(len(part)))
    return codes


def around(centres: Vectors, numbers: Rows, noise: float, rng: np.random.Generator) -> Vectors:
    """Move unit vectors by noise of about this length."""
    shape = (len(numbers), centres.shape[1])
    return centres[numbers] + np.float32(noise / shape[1] ** 0.5) * rng.standard_normal(shape, dtype=np.float32)


def directions(count: int, dimension: int, rng: np.random.Generator) -> Vectors:
    return unit_rows(rng.standard_normal((count, dimension), dtype=np.float32))


def scattered(rows: int, seed: int, queries: int = 20, dimension: int = 384) -> Sample:
    """Make vectors without any structure: the hardest ones, since nothing is much nearer than the rest."""
    rng = np.random.default_rng(seed)
    codes = filled(rows, dimension, lambda count: rng.standard_normal((count, dimension), dtype=np.float32))
    return Sample(quantised(codes), directions(queries, dimension, rng))


def clustered(rows: int, seed: int, queries: int = 20, dimension: int = 384) -> Sample:
    """Make groups of about a hundred rows with a cosine of 0.6 to each other; queries are like members of a group."""
    rng = np.random.default_rng(seed)
    centres = directions(max(1, rows // 100), dimension, rng)

    def members(count: int) -> Vectors:
        return around(centres, rng.integers(0, len(centres), count), 0.8, rng)

    return Sample(quantised(filled(rows, dimension, members)), unit_rows(members(queries)))


def repeated(rows: int, seed: int, queries: int = 20, dimension: int = 384, jitter: float = 0.0) -> Sample:
    """Make few different vectors, some of them very often; with jitter, copies are not quite equal."""
    rng = np.random.default_rng(seed)
    originals = directions(max(1, rows // 50), dimension, rng)
    shares = 1.0 / np.arange(1, len(originals) + 1)

    def copies(count: int, noise: float) -> Vectors:
        return around(originals, rng.choice(len(originals), count, p=shares / shares.sum()), noise, rng)

    codes = filled(rows, dimension, lambda count: copies(count, jitter))
    return Sample(quantised(codes), unit_rows(copies(queries, 0.3)))


def nearly_repeated(rows: int, seed: int, queries: int = 20, dimension: int = 384) -> Sample:
    return repeated(rows, seed, queries, dimension, jitter=0.05)


def graded(rows: int, seed: int, queries: int = 20, dimension: int = 384) -> Sample:
    """Make vectors that lie mostly along a few directions around a common one, as those of language models do."""
    rng = np.random.default_rng(seed)
    spread = np.arange(1, dimension + 1, dtype=np.float32) ** np.float32(-0.5)
    axes = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0].astype(np.float32) * spread[:, None]
    middle = np.float32(0.3 * np.linalg.norm(spread)) * directions(1, dimension, rng)

    def make(count: int) -> Vectors:
        return np.asarray(rng.standard_normal((count, dimension), dtype=np.float32) @ axes + middle)

    return Sample(quantised(filled(rows, dimension, make)), unit_rows(make(queries)))


KINDS: Mapping[str, Callable[[int, int], Sample]] = {
    "clustered": clustered,
    "graded": graded,
    "scattered": scattered,
    "repeated": repeated,
    "nearly repeated": nearly_repeated,
}


def best_rows(sample: Sample, number: int, rows: Rows, k: int) -> Rows:
    """Find the best rows for a query by scoring all."""
    return rows[top_k(exact(sample.queries[number], sample.vectors, rows), k)]


def found_rows(sample: Sample, number: int, rows: Rows, k: int) -> Rows:
    """Find the best rows for a query by scoring those of the shortlist."""
    return best_rows(sample, number, shortlist(sample.queries[number], sample.vectors, rows, k), k)


def recall(sample: Sample, rows: Rows, k: int = 10) -> float:
    """Tell which share of the best rows is found, over all queries."""
    wanted = [best_rows(sample, number, rows, k) for number in range(len(sample.queries))]
    found = [np.intersect1d(found_rows(sample, number, rows, k), best).size for number, best in enumerate(wanted)]
    return sum(found) / sum(best.size for best in wanted)
