"""A bad input gets a clear problem document, and changes nothing."""

import json
from typing import Any

import pytest

from tests.e2e.conftest import Service
from tests.support.api_client import UserClient

BAD_MEMORIES: dict[str, Any] = {
    "no content": {},
    "empty content": {"content": ""},
    "blank content": {"content": " \n\t"},
    "content too long": {"content": "x" * 16_001},
    "content of another type": {"content": 7},
    "content null": {"content": None},
    "unknown type": {"content": "x", "type": "imaginary"},
    "unknown field": {"content": "x", "colour": "red"},
    "importance above one": {"content": "x", "importance": 1.01},
    "importance as text": {"content": "x", "importance": "high"},
    "tags not a list": {"content": "x", "tags": "home"},
    "too many tags": {"content": "x", "tags": [str(n) for n in range(33)]},
    "metadata not an object": {"content": "x", "metadata": [1]},
    "metadata too large": {"content": "x", "metadata": {"blob": "x" * 17_000}},
    "a time without offset": {"content": "x", "occurred_at": "2026-05-01T09:30:00"},
    "an impossible time": {"content": "x", "occurred_at": "2026-02-30T09:30:00Z"},
    "an empty batch": {"memories": []},
    "a batch that is too long": {"memories": [{"content": str(n)} for n in range(101)]},
    "both at once": {"content": "x", "memories": [{"content": "y"}]},
}
BAD_BODIES = {
    "not JSON": (b"{content: x}", 400),
    "cut off": (b'{"content": "x', 400),
    "nothing": (b"", 422),
    "an array": (b"[]", 422),
    "a string": (b'"x"', 422),
    "null": (b"null", 422),
    "NaN": (b'{"content": "x", "importance": NaN}', 422),
    "infinite": (b'{"content": "x", "importance": 1e999}', 422),
    "deeply nested": (b'{"content": "x", "metadata": ' + b'{"a":' * 3_000 + b"1" + b"}" * 3_001, 422),
}
BAD_SEARCHES: dict[str, Any] = {
    "no query": {},
    "empty query": {"query": ""},
    "k of zero": {"query": "x", "k": 0},
    "k too large": {"query": "x", "k": 101},
    "k as text": {"query": "x", "k": "3"},
    "unknown mode": {"query": "x", "mode": "psychic"},
    "unknown filter": {"query": "x", "filter": {"colour": "red"}},
    "score above one": {"query": "x", "min_score": 2},
}


def test_bad_memories_are_refused_and_change_nothing(alice: UserClient) -> None:
    answers = {name: alice.call("POST", "/memories", body) for name, body in BAD_MEMORIES.items()}

    assert {name: answer.status for name, answer in answers.items()} == dict.fromkeys(BAD_MEMORIES, 422)
    assert [name for name, answer in answers.items() if not answer.is_problem] == []
    assert alice.every_memory() == []
    assert alice.stats().body["log_entries"] == 0


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_body_that_is_no_object_is_refused(alice: UserClient, name: str) -> None:
    body, status = BAD_BODIES[name]

    answer = alice.call("POST", "/memories", body)

    assert answer.status == status
    assert answer.is_problem
    assert alice.every_memory() == []


def test_a_body_that_is_too_large_is_refused(alice: UserClient) -> None:
    answer = alice.call("POST", "/memories", json.dumps({"content": "x" * 5_100_000}).encode())

    assert answer.status == 413
    assert answer.is_problem


def test_bad_searches_are_refused(alice: UserClient) -> None:
    answers = {name: alice.call("POST", "/search", body) for name, body in BAD_SEARCHES.items()}

    assert {name: answer.status for name, answer in answers.items()} == dict.fromkeys(BAD_SEARCHES, 422)
    assert all(answer.is_problem for answer in answers.values())


def test_a_refusal_points_at_the_field(alice: UserClient) -> None:
    answer = alice.store("fine", importance=2, tags=["ok", ""])

    pointers = [error["pointer"] for error in answer.body["errors"]]
    assert pointers == ["/tags/1", "/importance"]
    assert answer.body["instance"]


@pytest.mark.parametrize(
    "parameters", [{"limit": "0"}, {"limit": "201"}, {"limit": "x"}, {"cursor": "x"}, {"colour": "red"}]
)
def test_a_bad_query_string_is_refused(alice: UserClient, parameters: dict[str, str]) -> None:
    answer = alice.page(**parameters)

    assert answer.status == 422
    assert answer.is_problem


@pytest.mark.parametrize("memory_id", ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "nonsense", "%2E%2E", "HEAD", "MEM%23x"])
def test_an_unknown_memory_is_not_found(alice: UserClient, memory_id: str) -> None:
    alice.store("something")

    answers = [alice.get(memory_id), alice.patch(memory_id, content="y"), alice.delete(memory_id)]

    assert [answer.status for answer in answers] == [404, 404, 404]
    assert all(answer.is_problem for answer in answers)


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/", "/v2/users/bob/memories", "/memories", "/favicon.ico"])
def test_an_unknown_route_is_a_problem_document(service: Service, path: str) -> None:
    answer = service.client(None).request("GET", path)

    assert answer.status == 404
    assert answer.is_problem


def test_an_unknown_path_below_a_user_is_a_problem_document(alice: UserClient) -> None:
    answer = alice.call("GET", "/dreams")

    assert answer.status == 404
    assert answer.is_problem


def test_a_method_that_a_path_does_not_take_is_refused(alice: UserClient) -> None:
    answer = alice.call("PUT", "/memories", {"content": "x"})

    assert answer.status == 405
    assert answer.is_problem
    assert set(answer.headers["allow"].split(", ")) == {"GET", "POST"}


def test_a_body_of_another_media_type_is_refused(alice: UserClient) -> None:
    answer = alice.call("POST", "/memories", b"<content/>", content_type="application/xml")

    assert answer.status == 415
    assert answer.is_problem
