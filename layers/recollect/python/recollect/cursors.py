"""Page cursors: a position in one listing, as an opaque token that fits no other listing. Pure."""

import base64
import hashlib
import json

from recollect.errors import InvalidInput
from recollect.filters import Filter

Position = tuple[int, str]  # created_at_ms, memory_id


def write_cursor(position: Position, user_id: str, wanted: Filter) -> str:
    """Make the token of the last position that was shown of a user's listing."""
    return base64.urlsafe_b64encode(json.dumps([*position, _digest(user_id, wanted)]).encode()).decode()


def read_cursor(cursor: str, user_id: str, wanted: Filter) -> Position:
    """Read a token back.

    Raises
    ------
    InvalidInput
        If it is not a token of this user and filter.
    """
    try:
        created_at_ms, memory_id, digest = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError) as error:
        raise _bad_cursor() from error
    if digest != _digest(user_id, wanted) or type(created_at_ms) is not int or not isinstance(memory_id, str):
        raise _bad_cursor()
    return created_at_ms, memory_id


def _digest(user_id: str, wanted: Filter) -> str:
    return hashlib.sha256(repr((user_id, wanted)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _bad_cursor() -> InvalidInput:
    return InvalidInput("the cursor is not one of this listing; start again without it", pointer="/cursor")
