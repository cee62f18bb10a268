"""What the core needs from outside, as protocols; adapters implement them, ``wiring.py`` chooses them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from recollect.model import Change, Entry, Head, Memory, Touch
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


@dataclass(frozen=True, slots=True)
class Version:
    """A memory as it is or was.

    Parameters
    ----------
    memory : Memory
        Of a redacted version only ids, numbers, type, status, importance and times; see ``erasure.redacted``.
    content_hash : str or None
        Of the content that was purged; ``None`` if it was not.
    ended_seq : int
        Number of the log entry that ended it; 0 for the memory as it is now.
    """

    memory: Memory
    content_hash: str | None = None
    ended_seq: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, order=True)
class Item:
    """One item that is kept of a user.

    Parameters
    ----------
    part : str
        Which of the user's partitions it is in.
    key : str
        Its name in there.
    """

    part: str
    key: str


class MemoryStore(Protocol):
    """Durable, strongly consistent storage of users' logs, heads and memories."""

    def read_log(self, user_id: str, after_seq: int, touched_ms: int = 0) -> tuple[list[Entry | Touch], Head]:
        """Read the entries after `after_seq` in order, and the head as it was when they were read.

        Each entry is followed by the touches that name it as the last; those of `after_seq` itself come first, if
        they were made at `touched_ms` or later. A user without any commit has no entries and ``Head()``.

        Raises
        ------
        Unavailable
            If the store does not answer.
        CorruptData
            If an item has not the form that it must have.
        NewerSchema
            If newer code has written an item; all that reads items raises it, and none is changed.
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

    def touch(self, user_id: str, touch: Touch, expires_at_s: int) -> None:
        """Keep a touch, at least until it is read once by everyone, at most until a time.

        Raises
        ------
        Unavailable
            If the store does not answer; it may have been kept or not.
        """
        ...

    def commit_manifest(self, user_id: str, head: Head, seen: Head) -> None:
        """Put manifest, ``compacted_seq``, ``folded_ms`` and ``revision`` of `head` in the place of those of `seen`.

        Commits that come between change nothing about it, nor does it about them.

        Raises
        ------
        Conflict
            If epoch or revision of the head are not those of `seen` any more; it may be from an earlier try of this
            very call.
        Unavailable
            If the store does not answer; it may have been committed or not.
        """
        ...

    def drop_items(self, user_id: str, items: Sequence[Item], seen: Head) -> None:
        """Delete at most 99 items, all of them or none.

        Raises
        ------
        Conflict
            If the head is of another epoch.
        Unavailable
            If the store does not answer; they may have been deleted or not.
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

    def stored_answer(self, user_id: str, key: str) -> StoredAnswer | None:
        """Read the stored answer under an idempotency key.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def versions(self, user_id: str, memory_id: str, below: int | None, limit: int) -> list[Version]:
        """Read earlier versions of a memory, newest first; only those with a number below `below`.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def every_version(self, user_id: str) -> Iterator[Version]:
        """Read everything that is kept of a user's memories: as they are now and as they were, in any order.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def seqs_of(self, user_id: str, memory_id: str) -> list[int]:
        """Give the numbers of the entries that made or ended a version of a memory, ascending.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def read_entries(self, user_id: str, seqs: Sequence[int]) -> list[Entry]:
        """Read entries of the log by their numbers, in that order; those that are not there are left out.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def redact_version(self, user_id: str, version: Version) -> None:
        """Put a redacted version in the place of an earlier version, if that is there.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def redact_entry(self, user_id: str, entry: Entry) -> None:
        """Take the columns out of an entry and keep its content hash, if it is there and of this memory.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def read_head(self, user_id: str) -> Head:
        """Read the head; ``Head()`` if there is none.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def begin_erasure(self, user_id: str, head: Head, seen: Head) -> None:
        """Put the head of an erasure in the place of the present one.

        Raises
        ------
        Conflict
            If the head is not of the epoch of `seen` any more.
        Unavailable
            If the store does not answer; the erasure may have begun or not.
        """
        ...

    def items(self, user_id: str, limit: int, after: Item | None = None) -> list[Item]:
        """List what is kept of a user apart from the head, in a fixed order.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def erase_items(self, user_id: str, items: Sequence[Item], head: Head, seen: Head) -> None:
        """Delete items, and put `head` in the place of `seen`: all of it, or nothing.

        Raises
        ------
        Conflict
            If the head is not `seen` any more: the erasure has gone on, or is over.
        Unavailable
            If the store does not answer; the items may have been deleted or not.
        """
        ...

    def end_erasure(self, user_id: str, seen: Head) -> None:
        """Delete the head.

        Raises
        ------
        Conflict
            If the head is not of the epoch of `seen` any more.
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
