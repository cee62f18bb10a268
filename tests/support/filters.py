"""Filters as they travel, memories to try them on, and a naive evaluator that shares nothing with the service's."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from hypothesis import strategies as st
from recollect.model import Memory, MemoryType, Source, Status, Touch

from tests.support.builders import NOW_MS, TRANSCRIPTS, memory

WORDS = "green tea"  # in the content of every memory, so that every search that may see it finds it
INSTANTS = {
    NOW_MS - 1: "2023-11-14T22:13:19.999Z",
    NOW_MS: "2023-11-14T23:13:20+01:00",
    NOW_MS + 5: "2023-11-14T22:13:20.005Z",
}
_TIMES = st.sampled_from(list(INSTANTS))
_SCALARS = [1, 1.0, 2, 0.5, 10**20, True, False, None, "a", "b", "1", "é"]
_TEXTS = st.lists(st.sampled_from("abc"), max_size=2, unique=True).map(tuple)
_VALUES = st.sampled_from([*_SCALARS, [1, "a"], [True, None, [2]], {"b": "a"}, {"b": {"b": 2}}, [], {}])
_METADATA = st.dictionaries(st.sampled_from(["a", "a.b", "b"]), _VALUES, max_size=3)


def _used(use: tuple[int, int | None], **values: Any) -> Memory:
    return replace(memory(WORDS), access_count=use[0], last_accessed_at_ms=use[1], **values)


MEMORIES = st.builds(
    _used,
    use=st.just((0, None)) | st.tuples(st.sampled_from([1, 3]), _TIMES),
    type=st.sampled_from(MemoryType),
    status=st.sampled_from(Status),
    tags=_TEXTS,
    flags=_TEXTS,
    sources=st.lists(st.builds(Source, st.sampled_from(TRANSCRIPTS), st.integers(0, 4), st.just(9)), max_size=3).map(
        tuple
    ),
    derived_from=st.lists(st.sampled_from(TRANSCRIPTS), max_size=2, unique=True).map(tuple),
    consolidated_into=st.none() | st.sampled_from(TRANSCRIPTS),
    importance=st.sampled_from([0.0, 0.5, 0.9, 1.0]),
    pinned=st.booleans(),
    conflicts_with=st.sampled_from([(), ("01HF0000000000000000000000",)]),
    created_at_ms=_TIMES,
    updated_at_ms=_TIMES,
    occurred_at_ms=st.none() | _TIMES,
    expires_at_ms=st.none() | st.sampled_from([NOW_MS + 5, NOW_MS, NOW_MS - 1]),
    valid_until_ms=st.none() | _TIMES,
    agent_id=st.none() | st.sampled_from(["a", "b"]),
    session_id=st.none() | st.just("a"),
    actor=st.none() | st.sampled_from(["Mia", "Leo"]),
    metadata_json=_METADATA.map(json.dumps),
)

_EQUALITY = ("eq", "ne")
_ORDER = ("gt", "gte", "lt", "lte")


def _comparison(field: Any, operators: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    asked = st.fixed_dictionaries({"field": st.just(field)}, optional={**operators, "exists": st.booleans()})
    return asked.filter(lambda comparison: len(comparison) > 1)


def _scalar(field: str, values: list[Any], operators: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    value = st.sampled_from(values)
    return _comparison(field, {**dict.fromkeys(operators, value), "in": st.lists(value, min_size=1, max_size=2)})


def _metadata(path: Any) -> st.SearchStrategy[dict[str, Any]]:
    value = st.sampled_from(_SCALARS)
    ordered = st.sampled_from([one for one in _SCALARS if one is not None and not isinstance(one, bool)])
    some = {"eq": value, "contains": value, "in": st.lists(value, min_size=1, max_size=3)}
    return _comparison(path, {**some, **dict.fromkeys((*_ORDER, "ne"), ordered)})


COMPARISONS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "type": _scalar("type", list(MemoryType), _EQUALITY),
    "status": _scalar("status", list(Status), _EQUALITY),
    **{name: _comparison(name, {"contains": st.sampled_from("abz")}) for name in ("tags", "flags")},
    **{
        name: _comparison(name, {"contains": st.sampled_from([*TRANSCRIPTS, "a"])})
        for name in ("transcripts", "derived_from")
    },
    "importance": _scalar("importance", [0, 0.5, 0.9, 1, 2], (*_EQUALITY, *_ORDER)),
    "access_count": _scalar("access_count", [0, 1, 1.5, 3, 10**20], (*_EQUALITY, *_ORDER)),
    **{
        name: _scalar(name, list(INSTANTS.values()), (*_EQUALITY, *_ORDER))
        for name in ("created_at", "updated_at", "occurred_at", "expires_at", "valid_until", "last_accessed_at")
    },
    **{
        name: _scalar(name, ["a", "b", "Leo", "é", ""], (*_EQUALITY, *_ORDER))
        for name in ("agent_id", "session_id", "actor")
    },
    "consolidated_into": _scalar("consolidated_into", [*TRANSCRIPTS, "a"], (*_EQUALITY, *_ORDER)),
    "memory_id": _scalar("memory_id", [f"{number:026d}" for number in range(3)], (*_EQUALITY, *_ORDER)),
    **{name: _comparison(name, dict.fromkeys(_EQUALITY, st.booleans())) for name in ("pinned", "in_conflict")},
    "metadata": st.one_of(
        *map(_metadata, ("metadata.a", ["metadata", "a"], "metadata.a.b", ["metadata", "a.b"], "metadata.z"))
    ),
}
FILTERS = st.recursive(
    st.one_of(*COMPARISONS.values()),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"all": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"any": parts}),
        inner.map(lambda part: {"not": part}),
    ),
    max_leaves=6,
).filter(lambda asked: _depth(asked) <= 8)


def _depth(asked: Any) -> int:
    parts = [*asked.get("all", []), *asked.get("any", []), *([asked["not"]] if "not" in asked else [])]
    return 1 + max(map(_depth, parts), default=0)


def touches_of(memories: Sequence[Memory]) -> list[Touch]:
    """Make the touches that the memories' use comes from, after as many entries as there are memories."""
    return [
        Touch(touch_id=f"{number}-{memory_.memory_id}", seq=len(memories), at_ms=at_ms, memory_ids=(memory_.memory_id,))
        for memory_ in memories
        for number in range(memory_.access_count)
        if (at_ms := memory_.last_accessed_at_ms) is not None
    ]


def mentions_status(asked: dict[str, Any]) -> bool:
    """Tell whether a filter says anything about the status."""
    return '"field": "status"' in json.dumps(asked)


def lets_through(asked: dict[str, Any], of: Memory) -> bool:
    """Decide one memory by one filter, by the words of the documentation."""
    if "all" in asked:
        return all(lets_through(part, of) for part in asked["all"])
    if "any" in asked:
        return any(lets_through(part, of) for part in asked["any"])
    if "not" in asked:
        return not lets_through(asked["not"], of)
    path = asked["field"].split(".") if isinstance(asked["field"], str) else asked["field"]
    found = _values_at(path, of)
    operators = {name: operand for name, operand in asked.items() if name != "field"}
    return all(_holds(found, name, operand, path[0].endswith(("_at", "until"))) for name, operand in operators.items())


def _values_at(path: list[str], of: Memory) -> list[Any]:
    """Give the value in a list, and an empty list for a field that is missing."""
    name = path[0]
    if name in ("tags", "flags", "transcripts", "derived_from"):
        return [list(getattr(of, name))] if getattr(of, name) else []
    if name == "in_conflict":
        return [bool(of.conflicts_with)]
    if name != "metadata":
        value = getattr(of, name + "_ms", None) if hasattr(of, name + "_ms") else getattr(of, name)
        return [] if value is None else [value]
    here = json.loads(of.metadata_json)
    for step in path[1:]:
        if not isinstance(here, dict) or step not in here:
            return []
        here = here[step]
    return [here]


_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {"eq": eq, "ne": ne, "gt": gt, "gte": ge, "lt": lt, "lte": le}


def _holds(found: list[Any], operator: str, operand: Any, is_instant: bool) -> bool:
    if operator == "exists":
        return bool(bool(found) == operand)
    if not found:
        return False
    if operator == "in":
        return any(_holds(found, "eq", one, is_instant) for one in operand)
    if operator == "contains":
        return isinstance(found[0], list) and any(_holds([one], "eq", operand, is_instant) for one in found[0])
    if is_instant:
        operand = round(datetime.fromisoformat(operand).timestamp() * 1000)
    return bool(_type(found[0]) == _type(operand) and _RELATIONS[operator](found[0], operand))


def _type(value: Any) -> str:
    if value is None or isinstance(value, (bool, list, dict)):
        return type(value).__name__
    return "text" if isinstance(value, str) else "number"
