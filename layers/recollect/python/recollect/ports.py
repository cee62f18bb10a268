"""What the core needs from outside, as protocols; adapters implement them, ``wiring.py`` chooses them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.model import Change, Entry, Head, Memory
from recollect.scan import Vectors


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The answer of a request with an ``Idempotency-Key``, kept so that a repeat gets the same.

    Parameters
    ----------
    key : str
        The header's value.
    request_digest : str
        Hex digest of method, path and body; another digest under the same key is a mistake of the caller.
    answer_json : str
        What was answered. Receipts only (ids, outcomes, versions): never text of a memory.
    created_at_s, expires_at_s : int
        Epoch seconds; from `expires_at_s` on it is as if it was not there.
    """

    key: str
    request_digest: str
    answer_json: str
    created_at_s: int
    expires_at_s: int


class MemoryStore(Protocol):
    """Durable, strongly consistent storage of users' logs, heads and memories."""

    def read_log(self, user_id: str, after_seq: int) -> tuple[list[Entry], Head]:
        """Read the entries after `after_seq` in order, and the head as it was when they were read.

        A user without any commit has no entries and ``Head()``.

        Raises
        ------
        Unavailable
            If the store does not answer.
        CorruptData
            If an item has not the form that it must have.
        """
        ...

    def append(
        self,
        user_id: str,
        head: Head,
        seen: Head,
        changes: Sequence[Change],
        by: str,
        answer: StoredAnswer | None,
    ) -> None:
        """Commit changes as the entries after ``seen.seq``: all of them, with the new head, or nothing.

        Parameters
        ----------
        head, seen
            The head to be, and the head that the changes were decided on.
        by : str
            Who asked for the changes.
        answer : StoredAnswer or None
            Kept in the same transaction, unless one is there under its key.

        Raises
        ------
        Conflict
            If the head is not `seen` any more, or an answer that has not expired is there under that key.
        Unavailable
            If the store does not answer; the changes may have been committed or not.
        """
        ...

    def fetch(self, user_id: str, memory_ids: Sequence[str]) -> Mapping[str, Memory]:
        """Read memories as they are now; ids that are not there are left out.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def versions(self, user_id: str, memory_id: str) -> Sequence[Memory]:
        """Read the earlier versions of a memory, oldest first, also of one that was deleted.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def stored_answer(self, user_id: str, key: str) -> StoredAnswer | None:
        """Read the stored answer under an idempotency key.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """Names model and precision; vectors of different names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts.

        Returns
        -------
        ndarray of shape (len(texts), dimension), float32, unit rows, C-contiguous

        Raises
        ------
        Unavailable
            If the model does not answer.
        """
        ...
