"""The store of immutable objects that the core needs, as a protocol; adapters implement it, see also ``ports.py``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object that is there.

    Parameters
    ----------
    key : str
    size : int
        Bytes.
    modified_ms : int
        When it was put, by the store's clock.
    """

    key: str
    size: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """One version of an object, or the mark that one was deleted, as far as the store keeps such."""

    key: str
    version_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """What a caller may put under a key, by itself: these bytes and no others.

    Parameters
    ----------
    size : int
        Bytes.
    sha256 : str
        Digest of the bytes, base64.
    metadata : mapping of str to str
        Kept with the object; ASCII.
    """

    size: int
    sha256: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Grant:
    """A URL that lets whoever has it do one thing for a while, and the headers that must be sent with it."""

    url: str
    headers: Mapping[str, str]


class ObjectStore(Protocol):
    """Durable storage of immutable objects; what was put can be read and listed at once, everywhere.

    Reads may use several threads; every method may be called from several.
    """

    def put_new(self, key: str, data: bytes) -> None:
        """Put an object where none is.

        Raises
        ------
        Conflict
            If one is there under this key, or is being put; it may be from an earlier try of this very call.
        Unavailable
            If the store does not answer; the object may have been put or not.
        """
        ...

    def get(self, key: str) -> bytes:
        """Read an object; a large one in parallel.

        Raises
        ------
        NotFound
            If it is not there.
        Conflict
            If it was replaced by another one while it was read.
        Unavailable
            If the store does not answer, or not to the end.
        """
        ...

    def get_many(self, keys: Sequence[str]) -> Sequence[bytes]:
        """Read objects in parallel, in the order of `keys`.

        Raises
        ------
        NotFound
            If one of them is not there.
        Conflict, Unavailable
            As `get`.
        """
        ...

    def metadata(self, key: str) -> Mapping[str, str]:
        """Read the metadata of an object.

        Raises
        ------
        NotFound
            If it is not there.
        Unavailable
            If the store does not answer.
        """
        ...

    def grant_put(self, key: str, upload: Upload, for_s: int) -> Grant:
        """Let a caller put an object where none is."""
        ...

    def grant_get(self, key: str, media_type: str, for_s: int) -> Grant:
        """Let a caller get an object, as of this media type."""
        ...

    def list_objects(self, prefix: str, after: str = "", limit: int = 1000) -> Sequence[StoredObject]:
        """List objects by key, ascending; only those with a key greater than `after`.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def delete(self, keys: Sequence[str]) -> None:
        """Delete every version of objects; those that are not there are fine.

        Raises
        ------
        Unavailable
            If the store does not answer, or could not delete all of them.
        """
        ...

    def list_versions(self, prefix: str, limit: int) -> Sequence[ObjectVersion]:
        """List all versions of objects, by key, ascending; fewer than `limit` only if there are no more.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def delete_versions(self, versions: Sequence[ObjectVersion]) -> None:
        """Delete these versions for good; those that are not there are fine.

        Raises
        ------
        Unavailable
            If the store does not answer, or could not delete all of them.
        """
        ...
