"""The filter grammar of the API, and how it becomes the core's value. Whatever it does not know is refused."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from recollect.filters import (
    EVERYTHING,
    FIELDS,
    METADATA,
    OPERATORS,
    AllOf,
    AnyOf,
    Compare,
    Filter,
    Kind,
    Not,
    Operand,
    Operator,
    Scalar,
)
from recollect.model import MemoryType, Status
from recollect.schemas.fields import Closed, instant

DEPTH_MAX = 8
NODES_MAX = 100
IN_MAX = 100
PATH_MAX_NAMES = 32
_PLAIN_FIELDS = [name for name in FIELDS if name != METADATA]
_CHOICES = {"type": [one.value for one in MemoryType], "status": [one.value for one in Status]}
_BRANCHES = ("all", "any", "not")
_TYPE_NAMES: Mapping[Kind, str] = {
    Kind.TEXT: "a string",
    Kind.TEXTS: "a string",
    Kind.NUMBER: "a number",
    Kind.BOOLEAN: "true or false",
    Kind.JSON: "a string, a number, true, false or null",
}


def _path(value: object) -> tuple[str, ...]:
    names = value.split(".") if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise PydanticCustomError("path", "must be a name, a dotted path or a list of names")
    if isinstance(value, str) and "" in names:
        raise PydanticCustomError("path", "must have a name between dots; give names that hold dots as a list")
    if len(names) > PATH_MAX_NAMES:
        raise PydanticCustomError("path", "must have at most {count} names", {"count": PATH_MAX_NAMES})
    if names[:1] == [METADATA] and len(names) > 1:
        return tuple(names)
    if len(names) != 1 or names[0] not in _PLAIN_FIELDS:
        known = ", ".join(_PLAIN_FIELDS)
        raise PydanticCustomError("path", "must be one of {known}, or a path below metadata", {"known": known})
    return tuple(names)


def _operand(value: object, operator: Operator, path: tuple[str, ...]) -> Operand:
    kind = FIELDS[path[0]]
    if operator not in OPERATORS[kind]:
        known = ", ".join(one.value for one in Operator if one in OPERATORS[kind])
        raise PydanticCustomError("operator", "{field} takes {known} only", {"field": path[0], "known": known})
    if operator is Operator.EXISTS:
        return _of_type(value, Kind.BOOLEAN)
    if operator is not Operator.IN:
        if kind is Kind.JSON and operator not in (Operator.EQ, Operator.CONTAINS):
            _refuse_unordered(value, operator)
        return _scalar(value, path[0])
    if not isinstance(value, list) or not 0 < len(value) <= IN_MAX:
        raise PydanticCustomError("operand", "must be a list of 1 to {count} values", {"count": IN_MAX})
    return tuple(_scalar(one, path[0]) for one in value)


def _scalar(value: object, field: str) -> Scalar:
    kind = FIELDS[field]
    if kind is Kind.INSTANT:
        return instant(value)
    if kind is Kind.CHOICE:
        if value not in _CHOICES[field]:
            raise PydanticCustomError("operand", "must be one of {known}", {"known": ", ".join(_CHOICES[field])})
        return str(value)
    return _of_type(value, kind)


def _of_type(value: object, kind: Kind) -> Scalar:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(value, float) and not math.isfinite(value):
        raise PydanticCustomError("operand", "must be a finite number")
    if kind is Kind.NUMBER and is_number:
        return _double(value)
    is_json = value is None or is_number or isinstance(value, (str, bool))
    is_text = isinstance(value, str) and kind in (Kind.TEXT, Kind.TEXTS)
    if (kind is Kind.JSON and is_json) or is_text or (kind is Kind.BOOLEAN and isinstance(value, bool)):
        return value  # type: ignore[return-value]
    raise PydanticCustomError("operand", "must be {type}", {"type": _TYPE_NAMES[kind]})


def _double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise PydanticCustomError("operand", "must be within the range of a double") from error


def _refuse_unordered(value: object, operator: Operator) -> None:
    if value is None and operator is Operator.NE:
        raise PydanticCustomError("operand", 'must not be null; use {"not": …} around eq or exists')
    if operator is not Operator.NE and (value is None or isinstance(value, bool)):
        raise PydanticCustomError("operand", "must be a string or a number")


_ORDERED: list[Any] = [{"type": "string"}, {"type": "number"}]
_SCALARS: dict[str, Any] = {"anyOf": [*_ORDERED, {"type": "boolean"}, {"type": "null"}]}
_Scalar = Annotated[Any, WithJsonSchema(_SCALARS)]
_Scalars = Annotated[Any, WithJsonSchema({"type": "array", "items": _SCALARS, "minItems": 1, "maxItems": IN_MAX})]
_Ordered = Annotated[Any, WithJsonSchema({"anyOf": _ORDERED})]
_Boolean = Annotated[Any, WithJsonSchema({"type": "boolean"})]
_PATH_SCHEMA = {
    "anyOf": [
        {"type": "string", "enum": _PLAIN_FIELDS},
        {"type": "string", "pattern": r"^metadata(\.[^.]+)+$"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": PATH_MAX_NAMES},
    ],
    "description": 'a field, or a path below metadata: "metadata.project.name" or ["metadata", "a.b"]',
}


class ComparisonInput(Closed):
    """One field against one or more operands, all of which must hold.

    A comparison holds only when the field is there, its value is of the operand's type, and they stand in that
    relation; ``ne`` too: use ``not`` to let memories without the field through. Numbers compare as numbers (1 equals
    1.0, true is no number), strings by code point, instants (RFC 3339 with an offset) as instants; nothing is
    converted, and metadata has no instants. ``contains``: the value is a list with such an element. ``exists``:
    whether the field has a value (of ``tags``, ``flags``, ``transcripts`` and ``derived_from``: at least one; in
    metadata null is a value). ``transcripts``: ids of the transcripts that the memory cites in its ``sources``. Paths
    lead through objects, not lists.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 2})

    field: Annotated[tuple[str, ...], BeforeValidator(_path), WithJsonSchema(_PATH_SCHEMA)]
    eq: _Scalar = None
    ne: _Scalar = None
    in_: _Scalars = Field(None, alias="in")
    gt: _Ordered = None
    gte: _Ordered = None
    lt: _Ordered = None
    lte: _Ordered = None
    contains: _Scalar = None
    exists: _Boolean = None

    @field_validator("eq", "ne", "in_", "gt", "gte", "lt", "lte", "contains", "exists", mode="before")
    @classmethod
    def _fits_the_field(cls, value: object, info: ValidationInfo) -> Operand:
        path = info.data.get("field")  # not there if it was refused itself
        return _operand(value, Operator(str(info.field_name).rstrip("_")), path) if path else None

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if self.model_fields_set == {"field"}:
            known = ", ".join(Operator)
            raise PydanticCustomError("operator", "must have at least one operator: {known}", {"known": known})
        return self

    def to_filter(self) -> Filter:
        """Turn the request into the core's value."""
        parts = tuple(self.conditions("").values())
        return parts[0] if len(parts) == 1 else AllOf(parts)

    def conditions(self, place: str) -> dict[str, Filter]:
        """Take it apart into what must hold, each by its place (RFC 6901)."""
        names = [name for name in type(self).model_fields if name in self.model_fields_set - {"field"}]
        operators = [(Operator(name.rstrip("_")), getattr(self, name)) for name in names]
        return {f"{place}/{operator}": Compare(self.field, operator, operand) for operator, operand in operators}


def _which(value: object) -> str:
    names = [name for name in _BRANCHES if isinstance(value, dict) and name in value]
    return f"<{names[0]}>" if names else "<comparison>"


_Node = Annotated[
    Annotated["AllInput", Tag("<all>")]
    | Annotated["AnyInput", Tag("<any>")]
    | Annotated["NotInput", Tag("<not>")]
    | Annotated[ComparisonInput, Tag("<comparison>")],
    Discriminator(_which),
]
_Nodes = Annotated[list[_Node], Field(min_length=1)]


class AllInput(Closed):
    """Holds where every part does."""

    parts: _Nodes = Field(alias="all")

    def to_filter(self) -> Filter:
        """Turn the request into the core's value."""
        return AllOf(tuple(part.to_filter() for part in self.parts))

    def conditions(self, place: str) -> dict[str, Filter]:
        """Take it apart into what must hold, each by its place (RFC 6901)."""
        found: dict[str, Filter] = {}
        for number, part in enumerate(self.parts):
            found |= part.conditions(f"{place}/all/{number}")
        return found


class AnyInput(Closed):
    """Holds where at least one part does."""

    parts: _Nodes = Field(alias="any")

    def to_filter(self) -> Filter:
        """Turn the request into the core's value."""
        return AnyOf(tuple(part.to_filter() for part in self.parts))

    def conditions(self, place: str) -> dict[str, Filter]:
        """Give it whole: no part of it must hold."""
        return {f"{place}/any": self.to_filter()}


class NotInput(Closed):
    """Holds where its part does not, also where the field is missing or of another type."""

    part: _Node = Field(alias="not")

    def to_filter(self) -> Filter:
        """Turn the request into the core's value."""
        return Not(self.part.to_filter())

    def conditions(self, place: str) -> dict[str, Filter]:
        """Give it whole."""
        return {f"{place}/not": self.to_filter()}


class FilterInput(RootModel[_Node]):
    """Which memories a read sees: comparisons, put together with ``all``, ``any`` and ``not``.

    The same filter lets the same memories through in every read. Active memories only, unless the filter mentions
    ``status`` anywhere. At most 8 levels and 100 parts.
    """

    @model_validator(mode="before")
    @classmethod
    def _is_small(cls, value: object) -> object:
        level = [value]
        count = 0
        for _ in range(DEPTH_MAX):
            count += len(level)
            if count > NODES_MAX:
                raise PydanticCustomError("too_large", "must have at most {count} parts", {"count": NODES_MAX})
            level = [part for node in level for part in _parts(node)]
        if level:
            raise PydanticCustomError("too_deep", "must have at most {depth} levels", {"depth": DEPTH_MAX})
        return value

    def to_filter(self) -> Filter:
        """Turn the request into the core's value."""
        return self.root.to_filter()

    def conditions(self, place: str) -> dict[str, Filter]:
        """Take it apart into what must hold, each by its place (RFC 6901)."""
        return self.root.conditions(place)


def _parts(node: object) -> Iterator[object]:
    if isinstance(node, dict):
        for name in _BRANCHES:
            part = node.get(name, [])
            yield from part if isinstance(part, list) else [part]


def _from_text(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise PydanticCustomError("json", "must be a filter as JSON; check quotes, commas and braces") from error


FilterText = Annotated[
    FilterInput,
    BeforeValidator(_from_text),
    WithJsonSchema(
        {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {"$ref": "#/components/schemas/FilterInput"},
        }
    ),
]


def filter_of(given: FilterInput | None) -> Filter:
    """Turn what a request may leave out into the core's value."""
    return EVERYTHING if given is None else given.to_filter()
