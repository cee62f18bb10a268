"""Parts of a partition and their rows, numbered through: read column by column, or some rows at a time.

A part is a set of rows that are never rewritten: a segment, or the tail of the log. What each member of a part means
is said at `Part`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from recollect.columns import MISSING, UNKNOWN
from recollect.lexical import Postings
from recollect.scan import Mask, Quantised, Rows, Scores, Vector, exact, shortlists

TEXTS = ("tags", "flags", "transcripts", "derived_from")


class Labels(Protocol):
    """One text or none for each row."""

    @property
    def values(self) -> Sequence[str]:
        """All texts that a row has."""
        ...

    @property
    def codes(self) -> npt.NDArray[np.integer]:
        """Ndarray of shape (row_count,): where each row's text is among `values`, -1 for none."""
        ...

    def matching(self, is_wanted: Callable[[object], bool]) -> Mask:
        """Find the rows whose text, or ``columns.MISSING``, is wanted."""
        ...

    def at(self, row: int) -> str | None:
        """Give the text of a row."""
        ...

    def counts(self, mask: Mask) -> dict[str, int]:
        """Count the rows under a mask by their text."""
        ...


class Texts(Protocol):
    """Any number of texts for each row."""

    @property
    def filled(self) -> Mask:
        """Rows with at least one text."""
        ...

    def holding(self, text: object) -> Mask:
        """Find the rows that have a text."""
        ...

    def counts(self, mask: Mask) -> dict[str, int]:
        """Count the rows under a mask that have each text."""
        ...


class Part(Protocol):
    """Rows that are never rewritten."""

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        ...

    @property
    def nbytes(self) -> int:
        """About how many bytes the rows take in memory."""
        ...

    @property
    def memory_ids(self) -> npt.NDArray[np.bytes_]:
        """Ndarray of shape (row_count,), S26: the memory of each row."""
        ...

    @property
    def span(self) -> tuple[str, str]:
        """Two ids that those of its memories are between, these included."""
        ...

    @property
    def text_keys(self) -> npt.NDArray[np.uint64]:
        """Ndarray of shape (row_count,), uint64: equal for equal texts; see ``text.text_key``."""
        ...

    @property
    def has_vector(self) -> Mask:
        """Ndarray of shape (row_count,), bool: rows that can be compared with a query's embedding."""
        ...

    @property
    def vectors(self) -> Quantised:
        """The vectors."""
        ...

    @property
    def lexical(self) -> Postings:
        """The terms."""
        ...

    def memory_id(self, row: int) -> str:
        """Name the memory of a row."""
        ...

    def memory_ids_at(self, rows: Rows) -> npt.NDArray[np.bytes_]:
        """Name the memories of some rows: ndarray of shape (len(rows),), S26."""
        ...

    def rows_of(self, memory_ids: Sequence[str]) -> Rows:
        """Find the row of each memory; -1 where there is none."""
        ...

    def rows_of_identity(self, identity: bytes) -> Sequence[int]:
        """Find the rows with an identity; see ``model.identity``."""
        ...

    def number(self, name: str) -> npt.NDArray[Any]:
        """Give a column of numbers, one for each row.

        Parameters
        ----------
        name : str
            ``importance`` (float64); ``pinned``, ``in_conflict``, ``succeeds`` whether it took another memory's place
            (bool); ``seq``, ``version``, ``content_bytes``, or a time such as ``created_at`` in epoch milliseconds,
            ``columns.UNKNOWN`` where it is not known (integers).
        """
        ...

    def labels(self, name: str) -> Labels:
        """Give a column of single texts: ``type``, ``status``, ``consolidated_into``, or one of the scopes."""
        ...

    def texts(self, name: str) -> Texts:
        """Give a column of lists of texts: ``tags``, ``flags``, ``transcripts``, ``derived_from``."""
        ...

    def metadata_matching(self, path: tuple[str, ...], is_wanted: Callable[[object], bool]) -> Mask:
        """Find the rows whose metadata value at a path, or ``columns.MISSING``, is wanted."""
        ...

    def metadata_bytes(self, mask: Mask) -> int:
        """Sum the UTF-8 bytes of the metadata of the rows under a mask."""
        ...

    def embedding_of(self, row: int) -> tuple[bytes, str]:
        """Give the embedding of a row, of whatever embedder: its codes and the embedder's name; empty if pending."""
        ...


class Parts:
    """The rows of some parts, one after the other."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        sizes = [part.row_count for part in self.parts]
        self.starts = np.cumsum([0, *sizes[:-1]], dtype=np.int64)  # only the last part grows

    @property
    def actors(self) -> Sequence[str]:
        """Names of all actors that a memory has ever had here."""
        return list(dict.fromkeys(name for part in self.parts for name in part.labels("actor").values))

    def memory_id(self, row: int) -> str:
        """Name the memory of a row."""
        part, local = self.at(row)
        return part.memory_id(local)

    def memory_ids_at(self, rows: Rows) -> npt.NDArray[np.bytes_]:
        """Name the memories of some rows, which ascend.

        Returns
        -------
        ndarray of shape (len(rows),), S26
        """
        found = [part.memory_ids_at(local) for part, _, local in self.split(rows)]
        return np.concatenate([np.zeros(0, dtype="S26"), *found])

    def where(self, evaluate: Callable[[Part], Mask]) -> Mask:
        """Find rows by what each part says of its own.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        return np.concatenate([evaluate(part) for part in self.parts])

    def labelled(self, name: str, value: str | None) -> Mask:
        """Find the rows that have this text in a column of single texts, or none.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        wanted = MISSING if value is None else value
        return self.where(lambda part: part.labels(name).matching(lambda text: text == wanted))

    def numbered(self, name: str) -> npt.NDArray[np.int64]:
        """Give each different text of a column of single texts a number.

        Returns
        -------
        ndarray of shape (row_count,), int64
            Equal for equal texts; -1 for none.
        """
        number_of: dict[str, int] = {}
        numbers = []
        for part in self.parts:
            column = part.labels(name)
            table = [number_of.setdefault(text, len(number_of)) for text in column.values]
            numbers.append(np.asarray([*table, -1], dtype=np.int64)[column.codes])
        return np.concatenate(numbers)

    def actor_rows(self, actors: Sequence[str]) -> Mask:
        """Find the rows whose actor is one of these.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """
        return self.where(lambda part: part.labels("actor").matching(lambda actor: actor in actors))

    def counts(self, name: str, mask: Mask) -> dict[str, int]:
        """Count the rows under a mask by a text of theirs: one of `Part.labels`, or each of `Part.texts`."""
        total: Counter[str] = Counter()
        for part, start in zip(self.parts, self.starts.tolist(), strict=True):
            column = part.texts(name) if name in TEXTS else part.labels(name)
            total.update(column.counts(mask[start : start + part.row_count]))
        return dict(total)

    def text_bytes(self, mask: Mask) -> int:
        """Sum the UTF-8 bytes of content and metadata of the rows under a mask."""
        return sum(
            int(part.number("content_bytes")[own].sum()) + part.metadata_bytes(own)
            for part, start in zip(self.parts, self.starts.tolist(), strict=True)
            if (own := mask[start : start + part.row_count]).any()
        )

    def unexpired(self, now_ms: int) -> Mask:
        """Find the rows whose time is not over.

        Returns
        -------
        ndarray of shape (row_count,), bool
        """

        def is_in_time(part: Part) -> Mask:
            expires_at = part.number("expires_at")
            return np.asarray((expires_at == UNKNOWN) | (expires_at > now_ms))

        return self.where(is_in_time)

    def numbers_at(self, name: str, rows: Rows) -> npt.NDArray[Any]:
        """Give numbers of some rows, which ascend; see `Part.number`."""
        return self.gather(rows, lambda part: part.number(name))

    def gather(self, rows: Rows, column: Callable[[Part], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Give what a column has in some rows, which ascend."""
        return np.concatenate(
            [column(self.parts[0])[:0], *(column(part)[local] for part, _, local in self.split(rows))]
        )

    def cosines(self, query: Vector, rows: Rows) -> Scores:
        """Score some rows, which ascend, against an embedding; 0 for those without a vector."""
        scores = [exact(query, part.vectors, local) for part, _, local in self.split(rows)]
        return np.concatenate(scores) if scores else np.zeros(0, dtype=np.float32)

    def nearest(self, query: Vector, rows: Rows, k: int) -> Rows:
        """Take from some rows, which ascend, those that can be among the k nearest of an embedding: k and some."""
        split = list(self.split(rows))
        found = shortlists(query, [(part.vectors, local) for part, _, local in split], k)
        return np.concatenate([rows[:0], *(start + near for (_, start, _), near in zip(split, found, strict=True))])

    def at(self, row: int) -> tuple[Part, int]:
        """Find the part of a row, and its number in there."""
        number = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self.parts[number], row - int(self.starts[number])

    def split(self, rows: Rows) -> Iterator[tuple[Part, int, Rows]]:
        """Split rows, which ascend, by part: the part, its first row, and the rows as numbered in there."""
        cuts = [*np.searchsorted(rows, self.starts).tolist(), rows.size]
        for part, start, first, stop in zip(self.parts, self.starts.tolist(), cuts, cuts[1:], strict=False):
            if stop > first:
                yield part, start, rows[first:stop] - start
