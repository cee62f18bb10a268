"""The types of fields that requests share, with their limits.

Times are RFC 3339 with an offset; they come back in UTC with milliseconds.
"""

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import unquote

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    JsonValue,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from recollect.model import (
    CONTENT_MAX_CHARS,
    IDEMPOTENCY_KEY_MAX_CHARS,
    METADATA_MAX_BYTES,
    QUERY_MAX_CHARS,
    SCOPE_MAX_CHARS,
    TAG_MAX_CHARS,
    TAG_MAX_COUNT,
    USER_ID_MAX_CHARS,
    Memory,
)
from recollect.text import is_blank
from recollect.times import EPOCH, MILLISECOND, NotAnInstant, read_instant

IMPORTANCE_DECIMALS = 6
_WHOLE = re.compile("-?[0-9]{1,18}")
_FIELDS = frozenset(Memory.__dataclass_fields__)
RESERVED_NAMES = (
    _FIELDS | {name.removesuffix("_ms") for name in _FIELDS} | {"user_id", "metadata", "transcripts", "in_conflict"}
)


@dataclass(frozen=True, slots=True)
class Between:
    """An annotation: the number is in a range, ends included, and who is refused is told the whole range."""

    low: int
    high: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check after everything else."""
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe the range."""
        return {**handler(schema), "minimum": self.low, "maximum": self.high}

    def _checked(self, value: float) -> float:
        if not self.low <= value <= self.high:
            raise PydanticCustomError("range", "must be from {low} to {high}", {"low": self.low, "high": self.high})
        return value


def _not_blank(text: str) -> str:
    if is_blank(text):
        raise PydanticCustomError("blank", "must have something to read, not only spaces or invisible characters")
    return text


def instant(value: object) -> int:
    """Read an RFC 3339 time with an offset as epoch milliseconds."""
    if not isinstance(value, str):
        raise PydanticCustomError("instant", "must be a string such as 2026-05-01T09:30:00+02:00")
    try:
        return read_instant(value)
    except NotAnInstant as error:
        raise PydanticCustomError("instant", "{reason}", {"reason": str(error)}) from error


def _rfc3339(at_ms: int) -> str:
    moment = EPOCH + at_ms * MILLISECOND
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _whole(value: object) -> object:
    if isinstance(value, str) and not _WHOLE.fullmatch(value):
        raise PydanticCustomError("whole", "must be a whole number in digits")
    return value


def _truth(value: object) -> object:
    if isinstance(value, str) and value not in ("true", "false"):
        raise PydanticCustomError("truth", "must be true or false")
    return value


def _metadata(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    taken = sorted(RESERVED_NAMES.intersection(value))
    if taken:
        message = "must not use names that memories have themselves: {names}"
        raise PydanticCustomError("reserved", message, {"names": ", ".join(taken)})
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except ValueError as error:
        raise PydanticCustomError("metadata", "must be JSON without NaN, infinity or broken characters") from error
    if size > METADATA_MAX_BYTES:
        raise PydanticCustomError("too_large", "must be at most 16 KB of JSON")
    return value


def unique(values: list[str]) -> list[str]:
    """Leave out what is there already."""
    return list(dict.fromkeys(values))


Content = Annotated[
    str,
    StringConstraints(min_length=1, max_length=CONTENT_MAX_CHARS),
    AfterValidator(_not_blank),
    Field(examples=["Alice is allergic to peanuts"]),
]
Query = Annotated[
    str,
    StringConstraints(min_length=1, max_length=QUERY_MAX_CHARS),
    AfterValidator(_not_blank),
    Field(examples=["What should we cook for Alice?"]),
]
Label = Annotated[str, StringConstraints(min_length=1, max_length=SCOPE_MAX_CHARS), AfterValidator(_not_blank)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=TAG_MAX_CHARS), AfterValidator(_not_blank)]
Tags = Annotated[list[Tag], Field(max_length=TAG_MAX_COUNT, examples=[["health", "food"]]), AfterValidator(unique)]
Importance = Annotated[
    float,
    Field(strict=True, description="kept to six decimals"),
    Between(0, 1),
    AfterValidator(lambda value: round(value, IMPORTANCE_DECIMALS)),
]
Metadata = Annotated[
    dict[str, JsonValue],
    AfterValidator(_metadata),
    Field(
        description="any JSON, at most 16 KB, without the names of a memory's own fields", examples=[{"team": "blue"}]
    ),
]
_DATE_TIME = {"type": "string", "format": "date-time", "examples": ["2026-05-01T09:30:00.000Z"]}
Instant = Annotated[int, BeforeValidator(instant), WithJsonSchema(_DATE_TIME)]
Moment = Annotated[int, PlainSerializer(_rfc3339, return_type=str), WithJsonSchema(_DATE_TIME)]
IN_DIGITS = BeforeValidator(_whole)  # for integers in query strings; after their bounds
QueryBoolean = Annotated[bool, BeforeValidator(_truth)]
UserId = Annotated[
    str,
    BeforeValidator(unquote),  # the edge has quoted it, so that any character passes the router
    StringConstraints(min_length=1, max_length=USER_ID_MAX_CHARS),
    WithJsonSchema(
        {
            "type": "string",
            "minLength": 1,
            "maxLength": USER_ID_MAX_CHARS,
            "description": "any characters, percent-encoded, slashes too; compared one by one: composed and decomposed "
            "forms of one name (NFC, NFD) are two users",
            "examples": ["alice"],
        }
    ),
]
_ULID: dict[str, Any] = {"pattern": "^[0-9A-HJKMNP-TV-Z]{26}$", "examples": ["01JTB3QVGX4N8YB3K0S5QZ7M2D"]}
MemoryId = Annotated[str, StringConstraints(pattern=_ULID["pattern"]), Field(examples=_ULID["examples"])]
PathMemoryId = Annotated[str, WithJsonSchema({"type": "string", **_ULID})]  # whatever else it is, it is not found
KeyText = Annotated[
    str, StringConstraints(min_length=1, max_length=IDEMPOTENCY_KEY_MAX_CHARS, pattern=r"^[\x20-\x7e]+$")
]
ETag = Annotated[str, StringConstraints(pattern=r'^"[1-9][0-9]{0,5}"$'), Field(examples=['"3"'])]


def version_of(etag: str | None) -> int | None:
    """Read the version out of an entity tag, such as ``"3"``."""
    return None if etag is None else int(etag.strip('"'))


class Closed(BaseModel):
    """A model that refuses unknown fields, so that a misspelt condition cannot widen a search."""

    model_config = ConfigDict(extra="forbid", frozen=True)
