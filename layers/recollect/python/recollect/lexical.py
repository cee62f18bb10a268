"""BM25 over hashed terms: postings of a partition in growing numpy columns, scored under a mask.

Knows rows and term numbers, no text. A row's postings never change; rows that are not live count neither for
document frequencies nor for the mean length.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from recollect.columns import GrowingColumn
from recollect.scan import Mask, Scores

K1 = 0.9
B = 0.4


class LexicalIndex:
    """Postings of the rows of one partition, in row order."""

    def __init__(self) -> None:
        self._terms = GrowingColumn(np.uint32)
        self._rows = GrowingColumn(np.int32)
        self._counts = GrowingColumn(np.uint16)
        self._lengths = GrowingColumn(np.int32)

    def extend(self, documents: Sequence[Mapping[int, int]]) -> None:
        """Add rows.

        Parameters
        ----------
        documents : sequence of mapping
            For each new row, hashed terms to counts (``text.term_counts``).
        """
        first = len(self._lengths)
        sizes = [len(document) for document in documents]
        self._terms.extend([term for document in documents for term in document])
        self._counts.extend([min(n, 65_535) for document in documents for n in document.values()])
        self._rows.extend(np.repeat(np.arange(first, first + len(sizes), dtype=np.int32), sizes))
        self._lengths.extend([sum(document.values()) for document in documents])

    def score(self, query: Mapping[int, int], live: Mask) -> Scores:
        """Score every row against a query, as a share of what a document equal to the query would score.

        Parameters
        ----------
        query : mapping of int to int
            Hashed terms to counts.
        live : ndarray of shape (n,), bool
            Rows that exist; the others score 0 and do not count.

        Returns
        -------
        ndarray of shape (n,), float32, in [0, 1]
            1 for a row with the same terms as the query.

        Notes
        -----
        Per term t, with n live documents, df of them holding t, and lengths relative to the mean live length:
        ``idf = ln(1 + (n - df + 0.5) / (df + 0.5))`` and ``idf · tf · (k1 + 1) / (tf + k1 · (1 - b + b · len))``,
        summed and divided by the same sum for the query itself. O(postings) for each term of the query.

        References
        ----------
        Robertson, Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond (2009).
        """
        totals = np.zeros(live.shape[0], dtype=np.float64)
        n = int(live.sum())
        if n == 0 or not query:
            return totals.astype(np.float32)
        lengths = self._lengths.view.astype(np.float64)
        mean = max(float(lengths[live].mean()), 1.0)
        penalties = K1 * (1.0 - B + B * lengths / mean)
        query_penalty = K1 * (1.0 - B + B * sum(query.values()) / mean)
        best = 0.0
        for term, query_count in query.items():
            rows, counts = self._postings(term, live)
            idf = np.log1p((n - rows.size + 0.5) / (rows.size + 0.5))
            totals[rows] += idf * counts * (K1 + 1.0) / (counts + penalties[rows])
            best += idf * query_count * (K1 + 1.0) / (query_count + query_penalty)
        return np.minimum(totals / best, 1.0).astype(np.float32)

    def _postings(self, term: int, live: Mask) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        found = np.flatnonzero(self._terms.view == np.uint32(term))
        rows = self._rows.view[found]
        kept = live[rows]
        return rows[kept], self._counts.view[found][kept].astype(np.float64)
