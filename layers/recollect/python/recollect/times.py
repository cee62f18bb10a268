"""Times as they are written: RFC 3339 as epoch milliseconds, and the English names of months. Pure."""

import re
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_LEAP_SECOND = re.compile(r"(?<=:[0-5][0-9]:)60")
_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?"
)


class NotAnInstant(ValueError):
    """The text is not a time with an offset; the message tells what it must be."""


def read_instant(text: str) -> int:
    """Read an RFC 3339 time with an offset as epoch milliseconds.

    Raises
    ------
    NotAnInstant
        If it is not one.
    """
    text, leaps = _LEAP_SECOND.subn("59", text.upper())
    try:
        moment = datetime.fromisoformat(text if _RFC3339.fullmatch(text) else "")
    except ValueError as error:
        raise NotAnInstant("must be a time such as 2026-05-01T09:30:00+02:00") from error
    if moment.tzinfo is None:
        raise NotAnInstant("must have an offset from UTC, such as Z or +02:00")
    try:
        return (moment.astimezone(UTC) + timedelta(seconds=leaps) - EPOCH) // MILLISECOND
    except OverflowError as error:
        raise NotAnInstant("must be in the years 1 to 9999") from error
