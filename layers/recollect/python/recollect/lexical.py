"""BM25 over hashed terms: postings of the parts of a partition, scored together under their live rows.

Knows rows and term numbers, no text. A row's postings never change; rows that are not live count neither for
document frequencies nor for the mean length.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from recollect.columns import GrowingColumn
from recollect.scan import Mask, Scores

K1 = 0.9
B = 0.4
COUNT_MAX = 255  # a term that is there more often says nothing more


class Postings(Protocol):
    """Which rows hold a term, and how often."""

    def of(self, term: int) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]]:
        """Give the rows that hold a term, ascending, and their counts."""
        ...

    @property
    def lengths(self) -> npt.NDArray[np.integer]:
        """Ndarray of shape (row_count,): terms of each row."""
        ...


class GrowingPostings:
    """Postings of rows that are appended."""

    def __init__(self) -> None:
        self._terms = GrowingColumn(np.uint32)
        self._rows = GrowingColumn(np.int32)
        self._counts = GrowingColumn(np.uint8)
        self._lengths = GrowingColumn(np.uint32)

    @property
    def lengths(self) -> npt.NDArray[np.uint32]:
        """Ndarray of shape (row_count,), uint32: terms of each row."""
        return self._lengths.view

    def extend(self, documents: Sequence[Mapping[int, int]]) -> None:
        """Append rows.

        Parameters
        ----------
        documents : sequence of mapping
            For each new row, hashed terms to counts (``text.term_counts``).
        """
        first = len(self._lengths)
        sizes = [len(document) for document in documents]
        self._terms.extend([term for document in documents for term in document])
        self._counts.extend([min(n, COUNT_MAX) for document in documents for n in document.values()])
        self._rows.extend(np.repeat(np.arange(first, first + len(sizes), dtype=np.int32), sizes))
        self._lengths.extend([sum(document.values()) for document in documents])

    def of(self, term: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
        """Give the rows that hold a term, ascending, and their counts."""
        found = np.flatnonzero(self._terms.view == np.uint32(term))
        return self._rows.view[found], self._counts.view[found]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Postings with what they are weighed by.

    Parameters
    ----------
    parts : sequence of (Postings, ndarray of shape (n,), bool)
        Each with its live rows.
    live_count, live_length : int
        How many live rows all parts have together, and how many terms.
    """

    parts: Sequence[tuple[Postings, Mask]]
    live_count: int
    live_length: int


def score(query: Mapping[int, int], corpus: Corpus) -> Scores:
    """Score every row against a query, as a share of what a document equal to the query would score.

    Parameters
    ----------
    query : mapping of int to int
        Hashed terms to counts.

    Returns
    -------
    ndarray of shape (rows of all parts,), float32, in [0, 1]
        1 for a row with the same terms as the query; 0 for one that is not live.

    Notes
    -----
    Per term t, with n live documents, df of them holding t, and lengths relative to the mean live length:
    ``idf = ln(1 + (n - df + 0.5) / (df + 0.5))`` and ``idf · tf · (k1 + 1) / (tf + k1 · (1 - b + b · len))``,
    summed and divided by the same sum for the query itself. O(postings) for each term of the query.

    References
    ----------
    Robertson, Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond (2009).
    """
    mean = max(corpus.live_length / max(corpus.live_count, 1), 1.0)
    found = [[_live(postings, live, term) for term in query] for postings, live in corpus.parts]
    dfs = [sum(rows.size for rows, _ in of_term) for of_term in zip(*found, strict=True)]
    idfs = [float(np.log1p((corpus.live_count - df + 0.5) / (df + 0.5))) for df in dfs]
    query_penalty = K1 * (1.0 - B + B * sum(query.values()) / mean)
    best = sum(
        idf * count * (K1 + 1.0) / (count + query_penalty) for idf, count in zip(idfs, query.values(), strict=True)
    )
    parts = zip(corpus.parts, found, strict=True)
    joined = np.concatenate([_totals(postings.lengths, of_part, idfs, mean) for (postings, _), of_part in parts])
    return np.minimum(joined / best, 1.0).astype(np.float32) if best > 0.0 else joined.astype(np.float32)


_Found = tuple[npt.NDArray[np.integer], npt.NDArray[np.float64]]


def _live(postings: Postings, live: Mask, term: int) -> _Found:
    rows, counts = postings.of(term)
    kept = live[rows]
    if not kept.all():
        rows, counts = rows[kept], counts[kept]
    return rows, counts.astype(np.float64)


def _totals(
    lengths: npt.NDArray[np.integer], found: Sequence[_Found], idfs: Sequence[float], mean: float
) -> npt.NDArray[np.float64]:
    """Add up what each term gives to the rows of a part."""
    if not any(rows.size for rows, _ in found):
        return np.zeros(lengths.size, dtype=np.float64)
    penalties = K1 * (1.0 - B + B * lengths / mean)
    gains = [
        idf * counts * (K1 + 1.0) / (counts + penalties[rows]) for (rows, counts), idf in zip(found, idfs, strict=True)
    ]
    rows = np.concatenate([rows for rows, _ in found])
    return np.asarray(np.bincount(rows, weights=np.concatenate(gains), minlength=lengths.size), dtype=np.float64)
