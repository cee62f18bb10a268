"""Which memories a read may see: a filter as a tree of plain values. Evaluated in ``filtering.py``.

A comparison holds when the field is there, its value is of the operand's type, and the two stand in that relation;
``ne`` too. ``Not`` is plain negation: it holds wherever its part does not, also where the field is missing.
Numbers compare as numbers (integers and floats alike, a boolean is none), strings by code point, instants as
instants (epoch milliseconds); nothing is converted.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from recollect.model import Status

METADATA = "metadata"


class Operator(StrEnum):
    """What a comparison asks of a value."""

    EQ = "eq"
    NE = "ne"
    IN = "in"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    CONTAINS = "contains"
    EXISTS = "exists"


class Kind(StrEnum):
    """The type of a field's values."""

    TEXT = "text"
    CHOICE = "choice"
    TEXTS = "texts"
    NUMBER = "number"
    INSTANT = "instant"
    BOOLEAN = "boolean"
    JSON = "json"


FIELDS: Mapping[str, Kind] = {
    "type": Kind.CHOICE,
    "status": Kind.CHOICE,
    "tags": Kind.TEXTS,
    "flags": Kind.TEXTS,
    "transcripts": Kind.TEXTS,
    "derived_from": Kind.TEXTS,
    "importance": Kind.NUMBER,
    "created_at": Kind.INSTANT,
    "updated_at": Kind.INSTANT,
    "occurred_at": Kind.INSTANT,
    "expires_at": Kind.INSTANT,
    "valid_until": Kind.INSTANT,
    "agent_id": Kind.TEXT,
    "session_id": Kind.TEXT,
    "actor": Kind.TEXT,
    "consolidated_into": Kind.TEXT,
    "memory_id": Kind.TEXT,
    "pinned": Kind.BOOLEAN,
    "in_conflict": Kind.BOOLEAN,
    "access_count": Kind.NUMBER,
    "last_accessed_at": Kind.INSTANT,
    METADATA: Kind.JSON,
}
_EQUALITY = frozenset({Operator.EQ, Operator.NE, Operator.IN, Operator.EXISTS})
_ORDER = frozenset({Operator.GT, Operator.GTE, Operator.LT, Operator.LTE})
OPERATORS: Mapping[Kind, frozenset[Operator]] = {
    Kind.TEXT: _EQUALITY | _ORDER,
    Kind.CHOICE: _EQUALITY,
    Kind.TEXTS: frozenset({Operator.CONTAINS, Operator.EXISTS}),
    Kind.NUMBER: _EQUALITY | _ORDER,
    Kind.INSTANT: _EQUALITY | _ORDER,
    Kind.BOOLEAN: frozenset({Operator.EQ, Operator.NE, Operator.EXISTS}),
    Kind.JSON: frozenset(Operator),
}
Scalar = str | int | float | bool | None
Operand = Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """One field against one operand.

    Parameters
    ----------
    path : tuple of str
        A name of `FIELDS`; for metadata followed by the names that lead to the value, through objects only.
    operator : Operator
        One of ``OPERATORS`` of the field's kind.
    operand : Operand
        A tuple for ``in``, a boolean for ``exists``, otherwise one value.
    """

    path: tuple[str, ...]
    operator: Operator
    operand: Operand


@dataclass(frozen=True, slots=True)
class AllOf:
    """Holds where every part does; without parts, everywhere."""

    parts: tuple["Filter", ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Holds where at least one part does; without parts, nowhere."""

    parts: tuple["Filter", ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    """Holds where its part does not."""

    part: "Filter"


Filter = Compare | AllOf | AnyOf | Not
EVERYTHING: Filter = AllOf()
ACTIVE: Filter = Compare(("status",), Operator.EQ, Status.ACTIVE.value)
STATUS, AS_OF = "/status", "/as_of"  # what a read asks beside its filter; see `limits`


def comparisons(wanted: Filter) -> Iterator[Compare]:
    """Go through the comparisons of a filter, from left to right."""
    if isinstance(wanted, Compare):
        yield wanted
        return
    for part in (wanted.part,) if isinstance(wanted, Not) else wanted.parts:
        yield from comparisons(part)


def within_reach(wanted: Filter, as_of_ms: int | None = None) -> Filter:
    """Add to a filter what a read sees unless it asks for more.

    Parameters
    ----------
    wanted : Filter
        If it mentions ``status`` anywhere, it decides on that alone; otherwise active memories are seen, with
        `as_of_ms` superseded ones too.
    as_of_ms : int or None
        The instant at which memories must have been valid: created by then, not superseded by then, not expired
        then. What is compared and shown is each memory as it is now.
    """
    return AllOf((wanted, *limits(wanted, as_of_ms).values()))


def limits(wanted: Filter, as_of_ms: int | None = None) -> dict[str, Filter]:
    """Tell what `within_reach` adds to a filter, under the names `STATUS` and `AS_OF`."""
    found: dict[str, Filter] = {}
    if all(compare.path != ("status",) for compare in comparisons(wanted)):
        statuses = (Status.ACTIVE.value,) if as_of_ms is None else (Status.ACTIVE.value, Status.SUPERSEDED.value)
        found[STATUS] = Compare(("status",), Operator.IN, statuses)
    if as_of_ms is not None:
        ended = (Not(Compare((name,), Operator.LTE, as_of_ms)) for name in ("valid_until", "expires_at"))
        found[AS_OF] = AllOf((Compare(("created_at",), Operator.LTE, as_of_ms), *ended))
    return found
