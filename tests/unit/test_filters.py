import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from recollect.changes import columns_for
from recollect.columns import PATHS_KEPT
from recollect.filtering import visible
from recollect.filters import ACTIVE, EVERYTHING, FIELDS, Filter, within_reach
from recollect.model import Entry, Head, Memory, Operation, Status
from recollect.partition import Partition
from recollect.schemas.filters import FilterInput

from tests.support.builders import NOW_MS, memory
from tests.support.filters import COMPARISONS, FILTERS, INSTANTS, MEMORIES, lets_through, mentions_status, touches_of


def parsed(asked: Any) -> Filter:
    return FilterInput.model_validate(asked).to_filter()


def entry(seq: int, of: Memory) -> Entry:
    return Entry(
        seq=seq,
        operation=Operation.CREATE,
        memory_id=of.memory_id,
        version=of.version,
        at_ms=NOW_MS,
        by="ana",
        reason="r",
        columns=columns_for(of, (b"", "")),
    )


def partition(memories: Sequence[Memory]) -> Partition:
    made = Partition("hashing", 8)
    entries = [entry(seq, of) for seq, of in enumerate(memories, start=1)]
    made.apply([*entries, *touches_of(memories)], Head(seq=len(memories), epoch="E"))
    return made


def seen(of: Partition, wanted: Filter) -> list[str]:
    return [of.memory_id(int(row)) for row in np.flatnonzero(visible(of, wanted, NOW_MS))]


def is_present(of: Memory) -> bool:
    return of.expires_at_ms is None or of.expires_at_ms > NOW_MS


def named(memories: list[Memory]) -> list[Memory]:
    return [replace(one, memory_id=f"{number:026d}") for number, one in enumerate(memories)]


@pytest.mark.parametrize("field", FIELDS)
def test_a_comparison_lets_through_what_a_naive_evaluator_lets_through(field: str) -> None:
    @settings(max_examples=30)
    @given(st.lists(MEMORIES, min_size=4, max_size=8), COMPARISONS[field])
    def check(memories: list[Memory], asked: Any) -> None:
        given_memories = named(memories)
        expected = [one.memory_id for one in given_memories if is_present(one) and lets_through(asked, one)]

        assert seen(partition(given_memories), parsed(asked)) == expected

    check()


@given(st.lists(MEMORIES, max_size=12), FILTERS)
def test_a_filter_lets_through_what_a_naive_evaluator_lets_through(memories: list[Memory], asked: Any) -> None:
    given_memories = named(memories)

    expected = [one.memory_id for one in given_memories if is_present(one) and lets_through(asked, one)]

    assert seen(partition(given_memories), parsed(asked)) == expected


@given(st.lists(MEMORIES, max_size=12), FILTERS)
def test_without_a_word_on_the_status_active_memories_are_seen(memories: list[Memory], asked: Any) -> None:
    given_memories = named(memories)

    expected = [
        one.memory_id
        for one in given_memories
        if is_present(one) and lets_through(asked, one) and (mentions_status(asked) or one.status is Status.ACTIVE)
    ]

    assert seen(partition(given_memories), within_reach(parsed(asked))) == expected


@given(st.lists(MEMORIES, max_size=12), st.sampled_from(list(INSTANTS)))
def test_as_of_sees_what_was_valid_then(memories: list[Memory], at_ms: int) -> None:
    given_memories = named(memories)

    expected = [
        one.memory_id
        for one in given_memories
        if is_present(one)
        and one.status in (Status.ACTIVE, Status.SUPERSEDED)
        and one.created_at_ms <= at_ms
        and (one.valid_until_ms is None or one.valid_until_ms > at_ms)
        and (one.expires_at_ms is None or one.expires_at_ms > at_ms)
    ]

    assert seen(partition(given_memories), within_reach(EVERYTHING, at_ms)) == expected


@pytest.mark.parametrize(
    ("metadata", "asked", "expected"),
    [
        ({"a": 1}, {"eq": 1.0}, True),
        ({"a": 1}, {"eq": True}, False),
        ({"a": 1}, {"eq": "1"}, False),
        ({"a": True}, {"eq": True}, True),
        ({"a": 10}, {"gt": 9.5}, True),
        ({"a": "10"}, {"lt": "9"}, True),
        ({"a": "10"}, {"lt": 9}, False),
        ({"a": 2**53 + 1}, {"gt": 2**53}, True),
        ({"a": 2**53 + 1}, {"eq": 2.0**53}, False),
        ({"a": "é"}, {"gt": "z"}, True),
        ({"a": "\ud83d\ude00"}, {"gt": "\uffff"}, True),  # by code point, not by UTF-16 unit
        ({"a": None}, {"exists": True}, True),
        ({"a": None}, {"eq": None}, True),
        ({}, {"eq": None}, False),
        ({}, {"ne": 1}, False),
        ({"a": "x"}, {"ne": 1}, False),
        ({"a": 2}, {"ne": 1}, True),
        ({}, {"exists": False}, True),
        ({"a": [1, "x"]}, {"contains": "x"}, True),
        ({"a": [1, "x"]}, {"contains": True}, False),
        ({"a": "axb"}, {"contains": "x"}, False),
        ({"a": [1]}, {"eq": 1}, False),
        ({"a": 1}, {"in": ["1", True, 1.0]}, True),
        ({"a": [1]}, {"in": [1]}, False),
        ({"a": 5}, {"gte": 1, "lt": 5}, False),
    ],
)
def test_metadata_compares_by_type_without_conversion(metadata: Any, asked: Any, expected: bool) -> None:  # case R4
    of = partition([memory("x", metadata_json=json.dumps(metadata))])

    assert (seen(of, parsed({"field": "metadata.a", **asked})) != []) is expected
    assert (seen(of, parsed({"not": {"field": "metadata.a", **asked}})) == []) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("metadata.a.b", ["nested"]),
        (["metadata", "a", "b"], ["nested"]),
        (["metadata", "a.b"], ["dotted"]),
        (["metadata", ""], ["unnamed"]),
    ],
)
def test_names_with_dots_are_reached_by_a_list(path: Any, expected: list[str]) -> None:  # case R4
    metadata = {"nested": {"a": {"b": 1}}, "dotted": {"a.b": 1}, "unnamed": {"": 1}, "in a list": {"a": [{"b": 1}]}}
    of = partition([memory("x", memory_id=name, metadata_json=json.dumps(value)) for name, value in metadata.items()])

    assert seen(of, parsed({"field": path, "eq": 1})) == expected


def test_metadata_that_arrives_later_is_seen_at_a_path_that_was_asked_for_before() -> None:
    of = partition([memory("x", memory_id="A", metadata_json='{"a": 1}')])
    wanted = parsed({"field": "metadata.a", "eq": 1})
    assert seen(of, wanted) == ["A"]

    of.apply([entry(2, memory("y", memory_id="B", metadata_json='{"a": 1}'))], Head(seq=2, epoch="E"))
    for number in range(2 * PATHS_KEPT):  # so many paths that the first is forgotten
        assert seen(of, parsed({"field": f"metadata.p{number}", "exists": True})) == []

    assert seen(of, wanted) == ["A", "B"]


X = {"field": "actor", "eq": "x"}


def nested(levels: int) -> Any:
    asked: Any = X
    for _ in range(levels - 1):
        asked = {"not": asked}
    return asked


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({}, "/field"),
        ([], ""),
        ("x", ""),
        (7, ""),
        ({"all": []}, "/all"),
        ({"any": X}, "/any"),
        ({"not": [X]}, "/not"),
        ({"all": [X], "any": [X]}, "/any"),
        ({"not": X, "field": "actor"}, "/field"),
        ({"all": [X, {"field": "colour", "eq": 1}]}, "/all/1/field"),
        ({"any": [{"not": {"field": "tags", "eq": "x"}}]}, "/any/0/not/eq"),
        ({"field": "actor"}, ""),
        ({"field": "actor", "like": "x"}, "/like"),
        ({"field": "actor", "eq": 1}, "/eq"),
        ({"field": "actor", "eq": None}, "/eq"),
        ({"field": "actor", "contains": "x"}, "/contains"),
        ({"field": "importance", "gte": "1"}, "/gte"),
        ({"field": "importance", "gte": True}, "/gte"),
        ({"field": "importance", "gte": float("nan")}, "/gte"),
        ({"field": "importance", "gte": 10**400}, "/gte"),
        ({"field": "created_at", "gte": "2023"}, "/gte"),
        ({"field": "created_at", "gte": "2023-01-01T00:00:00"}, "/gte"),
        ({"field": "created_at", "gte": 0}, "/gte"),
        ({"field": "created_at_ms", "gte": 0}, "/field"),
        ({"field": "type", "eq": "fact"}, "/eq"),
        ({"field": "type", "gt": "episodic"}, "/gt"),
        ({"field": "status", "in": []}, "/in"),
        ({"field": "status", "in": "active"}, "/in"),
        ({"field": "type", "in": ["semantic", "fact"]}, "/in"),
        ({"field": "actor", "in": ["x"] * 101}, "/in"),
        ({"field": "pinned", "eq": 1}, "/eq"),
        ({"field": "pinned", "in": [True]}, "/in"),
        ({"field": "actor", "exists": "true"}, "/exists"),
        ({"field": "content", "eq": "x"}, "/field"),
        ({"field": "metadata", "exists": True}, "/field"),
        ({"field": ["metadata"], "exists": True}, "/field"),
        ({"field": ["metadata", 1], "exists": True}, "/field"),
        ({"field": ["actor", "x"], "exists": True}, "/field"),
        ({"field": "actor.x", "exists": True}, "/field"),
        ({"field": "metadata..a", "exists": True}, "/field"),
        ({"field": ["metadata", *"abcdefghijklmnopqrstuvwxyz0123456789"], "exists": True}, "/field"),
        ({"field": None, "exists": True}, "/field"),
        ({"field": "metadata.a", "eq": [1]}, "/eq"),
        ({"field": "metadata.a", "eq": {"b": 1}}, "/eq"),
        ({"field": "metadata.a", "eq": float("inf")}, "/eq"),
        ({"field": "metadata.a", "in": [[1]]}, "/in"),
        ({"field": "metadata.a", "ne": None}, "/ne"),
        ({"field": "metadata.a", "gt": True}, "/gt"),
        (nested(9), ""),
        (nested(800), ""),
        ({"all": [X] * 100}, ""),
    ],
)
def test_what_the_grammar_does_not_know_is_refused_with_a_pointer(asked: Any, pointer: str) -> None:  # case I4
    with pytest.raises(ValidationError) as refused:
        FilterInput.model_validate(asked)

    places = [[str(part) for part in fault["loc"] if not str(part).startswith("<")] for fault in refused.value.errors()]
    assert pointer in ["".join(f"/{part}" for part in place) for place in places]


def test_the_largest_filters_are_taken() -> None:
    assert parsed(nested(8))
    assert parsed({"all": [X] * 99})


def test_the_plain_filters_say_what_their_names_say() -> None:
    of = partition([memory("x", memory_id="A"), memory("y", memory_id="B", status=Status.ARCHIVED)])

    assert seen(of, ACTIVE) == seen(of, within_reach(EVERYTHING)) == ["A"]
    assert seen(of, EVERYTHING) == ["A", "B"]
