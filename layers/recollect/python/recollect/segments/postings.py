"""Which rows hold a term and how often: lists sorted by term and row, found by a binary search.

Rows are kept in blocks of 65,536, so that a posting is two bytes for the row within its block and one for the count:
at thirty terms a memory, whole row numbers would make a segment a twelfth larger.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from recollect.scan import Rows
from recollect.segments.ragged import sizes_of

COUNT_MAX: Final = 255
BLOCK_BITS: Final = 16
_COUNT_BITS: Final = np.uint64(8)
_PLACE_BITS: Final = np.uint64(BLOCK_BITS + 8)  # row within a block, and count

Terms = npt.NDArray[np.uint32]
Counts = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Postings:
    """The postings of a segment.

    Parameters
    ----------
    terms : ndarray of shape (V,), uint32
        Hashed terms, ascending.
    offsets : ndarray of shape (blocks, V + 1), uint32
        Where each term's postings begin, block after block.
    rows : ndarray of shape (P,), uint16
        Row numbers within their block, ascending within a term.
    counts : ndarray of shape (P,), uint8
        How often the row holds the term; 255 for more.
    lengths : ndarray of shape (n,), uint32
        Of each row, in terms.
    """

    terms: Terms
    offsets: npt.NDArray[np.uint32]
    rows: npt.NDArray[np.uint16]
    counts: Counts
    lengths: npt.NDArray[np.uint32]

    def of(self, term: int) -> tuple[npt.NDArray[np.integer], Counts]:
        """Find the rows that hold a term.

        Returns
        -------
        rows : ndarray of shape (m,), integers
            Ascending.
        counts : ndarray of shape (m,), uint8
        """
        place = int(np.searchsorted(self.terms, np.uint32(term)))
        if place == self.terms.size or self.terms[place] != term:
            return self.rows[:0], self.counts[:0]
        parts = [slice(*offsets[place : place + 2].tolist()) for offsets in self.offsets]
        if len(parts) == 1:
            return self.rows[parts[0]], self.counts[parts[0]]
        rows = [self._rows(block, part) for block, part in enumerate(parts)]
        return np.concatenate(rows), np.concatenate([self.counts[part] for part in parts])

    def moved(self, new_row_of: Rows) -> Iterator[tuple[Terms, Rows, Counts]]:
        """List the postings of the rows that are kept, under their new numbers.

        Parameters
        ----------
        new_row_of : ndarray of shape (n,), int64
            -1 for a row that is left out.

        Yields
        ------
        terms, rows, counts : ndarray of shape (m,)
            As `packed` takes them, for each block.
        """
        for block, offsets in enumerate(self.offsets):
            part = slice(int(offsets[0]), int(offsets[-1]))
            rows = new_row_of[self._rows(block, part)]
            kept = rows >= 0
            yield np.repeat(self.terms, sizes_of(offsets))[kept], rows[kept], self.counts[part][kept]

    def _rows(self, block: int, part: slice) -> Rows:
        return self.rows[part].astype(np.int64) + (block << BLOCK_BITS)


def blocks_of(row_count: int) -> int:
    """Give how many blocks some rows are in; at least one."""
    return max(1, -(-row_count >> BLOCK_BITS))


def packed(terms: Terms, rows: Rows, counts: Counts, row_count: int) -> dict[str, npt.NDArray[Any]]:
    """Make the columns of postings: ``terms``, ``postings.offsets``, ``postings.rows``, ``postings.counts``.

    Parameters
    ----------
    terms : ndarray of shape (P,), uint32
    rows : ndarray of shape (P,), int64
        Below `row_count`, none twice for one term.
    counts : ndarray of shape (P,), uint8
    """
    blocks = [_sorted(terms[mine], rows[mine], counts[mine]) for mine in _each_block(rows, row_count)]
    per_block = [(numbers >> _PLACE_BITS).astype(np.uint32) for numbers in blocks]
    vocabulary = np.unique(np.concatenate([_distinct(block) for block in per_block]))
    first, offsets = 0, np.empty((len(blocks), vocabulary.size + 1), dtype=np.uint32)
    for row, block in zip(offsets, per_block, strict=True):
        row[:-1] = first + np.searchsorted(block, vocabulary)
        first += block.size
        row[-1] = first
    numbers = np.concatenate(blocks)
    return {
        "terms": vocabulary,
        "postings.offsets": offsets,
        "postings.rows": (numbers >> _COUNT_BITS).astype(np.uint16),
        "postings.counts": numbers.astype(np.uint8),
    }


def _distinct(ascending: Terms) -> Terms:
    is_first = np.ones(ascending.size, dtype=np.bool_)
    is_first[1:] = ascending[1:] != ascending[:-1]
    return ascending[is_first]


def _each_block(rows: Rows, row_count: int) -> Iterator[npt.NDArray[np.bool_]]:
    of_row = rows >> BLOCK_BITS
    return (of_row == block for block in range(blocks_of(row_count)))


def _sorted(terms: Terms, rows: Rows, counts: Counts) -> npt.NDArray[np.uint64]:
    # One number for each posting: several times faster than sorting by two keys. What comes from a segment comes in
    # long sorted runs, which a stable sort only merges.
    low = rows.astype(np.uint64) & np.uint64(2**BLOCK_BITS - 1)
    numbers = terms.astype(np.uint64) << _PLACE_BITS | low << _COUNT_BITS | counts
    numbers.sort(kind="stable")
    return numbers
