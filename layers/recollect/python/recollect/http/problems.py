"""What a failure looks like over HTTP: one table from kinds of error to RFC 9457 problem documents. Pure.

``instance`` carries the request id that the log line has. Details are written by us; nobody's text is echoed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.errors import (
    Conflict,
    CorruptData,
    InvalidInput,
    NewerSchema,
    NotFound,
    RecollectError,
    StaleVersion,
    Unavailable,
)

CONTENT_TYPE = "application/problem+json"


class MalformedBody(RecollectError):
    """The body is not JSON."""


class Unauthenticated(RecollectError):
    """The gateway has told us nobody who asks."""


class UnknownRoute(RecollectError):
    """There is nothing at this path."""


class MethodNotAllowed(RecollectError):
    """There is something at this path, but not for this method."""

    def __init__(self, allowed: Sequence[str]) -> None:
        super().__init__(f"this path takes {', '.join(allowed)} only")
        self.allowed = allowed


class BodyTooLarge(RecollectError):
    """The body is larger than the service takes."""


class UnsupportedMediaType(RecollectError):
    """The body is said to be something other than JSON."""


KINDS: Mapping[type[Exception], tuple[int, str, str]] = {
    InvalidInput: (422, "invalid-input", "The request is not valid"),
    MalformedBody: (400, "malformed-body", "The body is not JSON"),
    Unauthenticated: (401, "unauthenticated", "No identity"),
    NotFound: (404, "not-found", "Not found"),
    UnknownRoute: (404, "unknown-route", "No such path"),
    MethodNotAllowed: (405, "method-not-allowed", "Method not allowed"),
    Conflict: (409, "conflict", "Conflict"),
    StaleVersion: (412, "stale-version", "Another version is present"),
    BodyTooLarge: (413, "body-too-large", "Body too large"),
    UnsupportedMediaType: (415, "unsupported-media-type", "Unsupported media type"),
    Unavailable: (503, "unavailable", "Not available now"),
    NewerSchema: (503, "newer-data", "Stored by newer code"),
    CorruptData: (500, "internal", "Internal error"),
}
ERRORS_MAX = 50
POINTER_MAX_CHARS = 200
INTERNAL = (500, "internal", "Internal error")
INTERNAL_DETAIL = "something went wrong on our side; tell the operators the request id in `instance`"


def problem(
    error: Exception, request_id: str, errors: Sequence[Mapping[str, str]] = ()
) -> tuple[int, dict[str, str], dict[str, Any]]:
    """Describe a failure.

    Parameters
    ----------
    error : Exception
        One of `KINDS`, or anything else, which is an internal error.
    request_id : str
    errors : sequence of mapping
        For several faults of one request: ``pointer`` (RFC 6901) and ``detail`` of each.

    Returns
    -------
    status : int
    headers : dict
    document : dict
        ``type``, ``title``, ``status``, ``detail``, ``instance``, and ``errors`` where a pointer is known.
    """
    status, slug, title = KINDS.get(type(error), INTERNAL)
    is_ours = isinstance(error, RecollectError) and status != INTERNAL[0]
    document: dict[str, Any] = {
        "type": f"/problems/{slug}",
        "title": title,
        "status": status,
        "detail": error.message if is_ours and isinstance(error, RecollectError) else INTERNAL_DETAIL,
        "instance": f"urn:request:{request_id}",
    }
    if isinstance(error, InvalidInput) and error.pointer and not errors:
        errors = [{"pointer": error.pointer, "detail": error.message}]
    if errors:
        document["errors"] = list(errors)
    return status, _headers(error), document


def field_errors(faults: Sequence[Mapping[str, Any]], prefix: str = "") -> list[dict[str, str]]:
    """Turn pydantic's faults into pointers and details, without the values that were sent; a limited number of them.

    Parameters
    ----------
    faults : sequence of mapping
        As ``ValidationError.errors()`` gives them: ``loc``, ``msg``.
    prefix : str
        Pointer of what was validated.
    """
    shown = [{"pointer": _pointer(prefix, fault["loc"]), "detail": str(fault["msg"])} for fault in faults[:ERRORS_MAX]]
    if len(faults) > ERRORS_MAX:
        shown.append({"pointer": prefix, "detail": f"and {len(faults) - ERRORS_MAX} more"})
    return shown


def _pointer(prefix: str, place: Sequence[object]) -> str:
    """Point at a place, or at what holds it where the caller's own names are too long to be repeated."""
    pointer = prefix
    for part in place:
        longer = f"{pointer}/{_escaped(part)}"
        if len(longer) > POINTER_MAX_CHARS:
            break
        pointer = longer
    return pointer


def _escaped(part: object) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")


def _headers(error: Exception) -> dict[str, str]:
    if isinstance(error, Unavailable):
        return {"Retry-After": str(error.retry_after_s)}
    if isinstance(error, MethodNotAllowed):
        return {"Allow": ", ".join(error.allowed)}
    return {}
