"""Page cursors: a position in one listing, as an opaque token that fits no other listing. Pure."""

import base64
import hashlib
import json

from recollect.errors import InvalidInput
from recollect.filters import Filter
from recollect.ordering import Order, Position

_MARK_MAX = 10**15


def write_cursor(position: Position, user_id: str, wanted: Filter, order: Order) -> str:
    """Make the token of the last position that was shown of a user's listing."""
    digest = hashlib.sha256(repr((position, user_id, wanted, order)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return base64.urlsafe_b64encode(json.dumps([*position, digest]).encode()).decode()


def read_cursor(cursor: str, user_id: str, wanted: Filter, order: Order) -> Position:
    """Read a token back.

    Raises
    ------
    InvalidInput
        If it is not a token of this user, filter and order, as it was written.
    """
    try:
        rank, value, memory_id, _ = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError, RecursionError) as error:
        raise _bad_cursor() from error
    is_position = type(rank) is bool and type(value) in (int, float) and isinstance(memory_id, str)
    position = (rank, value, memory_id)
    if not is_position or cursor != write_cursor(position, user_id, wanted, order):
        raise _bad_cursor()
    return position


def write_mark(mark: int | str, *listing: str | None) -> str:
    """Make the token of the last number, or id, that was shown of a listing; `listing` tells it from all others."""
    digest = hashlib.sha256(repr((mark, listing)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return base64.urlsafe_b64encode(json.dumps([mark, digest]).encode()).decode()


def read_mark(cursor: str, *listing: str | None) -> int:
    """Read the token of a number back.

    Raises
    ------
    InvalidInput
        If it is not a token of this listing, as it was written.
    """
    number = _read(cursor, *listing)
    if type(number) is not int or not 0 < number <= _MARK_MAX:
        raise _bad_cursor()
    return number


def read_id(cursor: str, *listing: str | None) -> str:
    """Read the token of an id back.

    Raises
    ------
    InvalidInput
        If it is not a token of this listing, as it was written.
    """
    found = _read(cursor, *listing)
    if not isinstance(found, str):
        raise _bad_cursor()
    return found


def _read(cursor: str, *listing: str | None) -> object:
    try:
        mark, _ = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError, RecursionError) as error:
        raise _bad_cursor() from error
    if cursor != write_mark(mark, *listing):
        raise _bad_cursor()
    return mark


def _bad_cursor() -> InvalidInput:
    return InvalidInput("the cursor is not one of this listing; start again without it", pointer="/cursor")
