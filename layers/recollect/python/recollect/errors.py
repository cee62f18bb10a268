"""The kinds of failure that a caller can act on; each says what to do next.

A kind answers one question: would the caller handle it differently? HTTP status codes are given to kinds in
one table at the edge (``http.py``); nothing here knows about HTTP or AWS. Messages are safe to show: they
are written by us, hold no text of memories and no message of a library.
"""

from collections.abc import Mapping


class RecollectError(Exception):
    """Base of all errors of this package.

    Parameters
    ----------
    message : str
        What went wrong and what to do, lower-case, safe to show to the caller.
    **context : object
        Facts for the log line (ids, counts); never text of a memory.
    """

    def __init__(self, message: str, **context: object) -> None:
        super().__init__(message)
        self.message = message
        self.context = context


class InvalidInput(RecollectError):
    """The request is wrong as it stands; fix it before sending it again."""

    def __init__(self, message: str, *, pointer: str = "", **context: object) -> None:
        super().__init__(message, **context)
        self.pointer = pointer


class NotFound(RecollectError):
    """There is no such thing for this caller; also said, in the same words, of what belongs to another user."""

    def __init__(self, message: str = "there is nothing here for this caller", **context: object) -> None:
        super().__init__(message, **context)


class Conflict(RecollectError):
    """Somebody else committed first; read again, then retry."""


class StaleVersion(RecollectError):
    """The memory is at another version than the caller has seen; read it again, then decide."""


class Unavailable(RecollectError):
    """A part that is needed does not answer now; retry after `retry_after_s` seconds.

    Parameters
    ----------
    tokens : mapping of str to int
        What a model had taken before; see ``extraction.Extraction``.
    """

    def __init__(
        self, message: str, *, retry_after_s: int = 1, tokens: Mapping[str, int] | None = None, **context: object
    ) -> None:
        super().__init__(message, **context)
        self.retry_after_s = retry_after_s
        self.tokens = tokens or {}


class CorruptData(RecollectError):
    """Stored or received bytes do not have the form that they must have; an operator must look."""


class NewerSchema(RecollectError):
    """Something was stored by newer code than this, and must be left alone; deploy the newer code.

    Parameters
    ----------
    kind : str
        What it is.
    version : int
        Of its form.
    """

    def __init__(self, kind: str, version: int) -> None:
        super().__init__(
            f"a stored {kind} has schema version {version}, which this code does not know; nothing was changed:"
            " deploy the newer code again"
        )


class ExtractionFailed(RecollectError):
    """A model's reply cannot be used; what was to be extracted stays, and can be tried again on request.

    Parameters
    ----------
    tokens : mapping of str to int
        What the model has taken all the same; see ``extraction.Extraction``.
    """

    def __init__(self, message: str, *, tokens: Mapping[str, int] | None = None, **context: object) -> None:
        super().__init__(message, **context)
        self.tokens = tokens or {}


class CorruptSegment(CorruptData):
    """The bytes of a segment are not those that were written, or not in a form that this version reads.

    Parameters
    ----------
    key : str
        Where the segment was read from.
    reason : str
        What is wrong with it.
    """

    def __init__(self, key: str, reason: str) -> None:
        super().__init__("a segment of the index is damaged", key=key, reason=reason)
        self.key = key
