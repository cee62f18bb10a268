import json
from collections.abc import Callable
from typing import Any

import pytest
from recollect.schemas.fields import RESERVED_NAMES
from recollect.schemas.outputs import MemoryOutput

from tests.support.app import MEMORIES, SEARCH, App, stored

CONTEXT = "/v1/users/ana/context"

BAD = [
    ("POST", MEMORIES, {}, "/content"),
    ("POST", MEMORIES, {"content": ""}, "/content"),
    ("POST", MEMORIES, {"content": "\u200b \n"}, "/content"),
    ("POST", MEMORIES, {"content": "x" * 16_001}, "/content"),
    ("POST", MEMORIES, {"content": 7}, "/content"),
    ("POST", MEMORIES, '{"content": "\\ud800"}', "/content"),
    ("POST", MEMORIES, {"content": "x", "user_id": "bob"}, "/user_id"),
    ("POST", MEMORIES, {"content": "x", "type": "fact"}, "/type"),
    ("POST", MEMORIES, {"content": "x", "importance": 1.1}, "/importance"),
    ("POST", MEMORIES, {"content": "x", "importance": "0.5"}, "/importance"),
    ("POST", MEMORIES, {"content": "x", "importance": True}, "/importance"),
    ("POST", MEMORIES, {"content": "x", "tags": ["t"] * 33}, "/tags"),
    ("POST", MEMORIES, {"content": "x", "tags": [""]}, "/tags/0"),
    ("POST", MEMORIES, {"content": "x", "tags": "t"}, "/tags"),
    ("POST", MEMORIES, {"content": "x", "metadata": {"user_id": "bob"}}, "/metadata"),
    ("POST", MEMORIES, {"content": "x", "metadata": {"a": "x" * 17_000}}, "/metadata"),
    ("POST", MEMORIES, {"content": "x", "metadata": [1]}, "/metadata"),
    ("POST", MEMORIES, '{"content": "x", "metadata": {"a": "\\ud800"}}', "/metadata"),
    ("POST", MEMORIES, {"content": "x", "occurred_at": "2023-05-08T13:56:00"}, "/occurred_at"),
    ("POST", MEMORIES, {"content": "x", "occurred_at": "yesterday"}, "/occurred_at"),
    ("POST", MEMORIES, {"content": "x", "occurred_at": 1700000000}, "/occurred_at"),
    ("POST", MEMORIES, {"content": "x", "expires_at": "0001-01-01T00:00:00+14:00"}, "/expires_at"),
    ("POST", MEMORIES, {"memories": []}, "/memories"),
    ("POST", MEMORIES, {"memories": [{"content": "x"}] * 101}, "/memories"),
    ("POST", MEMORIES, {"memories": [{"content": f"{number}" + "x" * 15_990} for number in range(13)]}, "/memories"),
    ("POST", MEMORIES, {"memories": {"content": "x"}}, "/memories"),
    ("POST", MEMORIES, {"memories": [], "content": "x"}, "/content"),
    ("POST", MEMORIES, {"content": "x", "on_similar": "guess"}, "/on_similar"),
    ("POST", MEMORIES, {"content": "x", "supersedes": "MEM#1"}, "/supersedes"),
    ("POST", f"{MEMORIES}/A/restore", {"version": 10**4_000}, "/version"),
    ("POST", f"{MEMORIES}/A/resolve", {"other_id": "B", "resolution": "flip"}, "/resolution"),
    ("PATCH", f"{MEMORIES}/A", {"approved": False}, "/approved"),
    ("PATCH", f"{MEMORIES}/A", {"content": None}, "/"),
    ("PATCH", f"{MEMORIES}/A", {}, "/"),
    ("POST", SEARCH, {"query": " \u200b"}, "/query"),
    ("POST", SEARCH, {"query": "x", "k": 0}, "/k"),
    ("POST", SEARCH, {"query": "x", "k": -1}, "/k"),
    ("POST", SEARCH, {"query": "x", "k": 10**9}, "/k"),
    ("POST", SEARCH, {"query": "x", "k": 1.5}, "/k"),
    ("POST", SEARCH, {"query": "x", "mode": "fuzzy"}, "/mode"),
    ("POST", SEARCH, {"query": "x", "min_score": 1.5}, "/min_score"),
    ("POST", SEARCH, {"query": "x", "filter": {"colour": "red"}}, "/filter/field"),
    ("POST", SEARCH, {"query": "x", "filter": {"field": "colour", "eq": "red"}}, "/filter/field"),
    ("POST", SEARCH, {"query": "x", "filter": {"field": "importance", "like": 1}}, "/filter/like"),
    ("POST", SEARCH, {"query": "x", "filter": {"field": "importance", "gte": "1"}}, "/filter/gte"),
    ("POST", SEARCH, {"query": "x", "filter": {"field": "created_at", "gte": "2023"}}, "/filter/gte"),
    ("POST", SEARCH, {"query": "x", "filter": {"field": "status", "in": []}}, "/filter/in"),
    (
        "POST",
        SEARCH,
        {"query": "x", "filter": {"all": [{"not": {"field": "tags", "eq": "x"}}]}},
        "/filter/all/0/not/eq",
    ),
    ("POST", CONTEXT, {"query": "x", "token_budget": 1}, "/token_budget"),
]


@pytest.mark.parametrize(("method", "path", "body", "pointer"), BAD)
def test_a_bad_input_gets_a_problem_with_a_pointer_and_changes_nothing(
    app: App, method: str, path: str, body: Any, pointer: str
) -> None:
    status, problem, headers = app(method, path, body)

    assert status == 422
    assert headers["content-type"] == "application/problem+json"
    assert problem["type"] == "/problems/invalid-input"
    assert pointer in [error["pointer"] or "/" for error in problem["errors"]]
    assert app("GET", "/v1/users/ana/stats")[1]["log_entries"] == 0
    assert app.embedder.texts == []


@pytest.mark.parametrize("k", [0, -1, 10**9, 101])
def test_a_number_of_hits_out_of_range_is_refused_with_the_range(app: App, k: int) -> None:  # case R5
    stored(app, "green tea")

    status, problem, _ = app("POST", SEARCH, {"query": "tea", "k": k})

    assert (status, problem["errors"]) == (422, [{"pointer": "/k", "detail": "must be from 1 to 100"}])
    assert "hits" not in problem


@pytest.mark.parametrize(
    ("path", "query", "body", "detail"),
    [
        (MEMORIES, "limit=0", None, "must be from 1 to 200"),
        (SEARCH, "", {"query": "x", "min_score": -0.1}, "must be from 0 to 1"),
        (CONTEXT, "", {"query": "x", "token_budget": 10**6}, "must be from 50 to 100000"),
        (MEMORIES, "", {"content": "x", "importance": 2}, "must be from 0 to 1"),
    ],
)
def test_every_number_out_of_range_is_refused_with_the_range(
    app: App, path: str, query: str, body: Any, detail: str
) -> None:
    status, problem, _ = app("GET" if body is None else "POST", path, body, query=query)

    assert (status, problem["errors"][0]["detail"]) == (422, detail)


@pytest.mark.parametrize("query", ["", "   ", "\u200b", "\t\n\u2060\u00a0"])
def test_a_blank_query_is_refused_before_anything_is_embedded(app: App, query: str) -> None:  # case R9
    stored(app, "green tea")
    app.embedder.texts.clear()

    searches: list[tuple[str, Any]] = [
        (SEARCH, {"query": query, "mode": mode}) for mode in ("hybrid", "semantic", "lexical", "exact")
    ]
    for path, body in [*searches, (CONTEXT, {"query": query})]:
        status, problem, _ = app("POST", path, body)
        assert (status, problem["errors"][0]["pointer"]) == (422, "/query")
    assert app.embedder.texts == []


@pytest.mark.parametrize("name", sorted(RESERVED_NAMES.union(MemoryOutput.model_fields)))
def test_metadata_cannot_say_what_a_memory_says_itself(app: App, name: str) -> None:  # case I1
    metadata = {name: "bob", "x": 1}
    memory_id = stored(app, "green tea", metadata={"x": 0})
    refusals = [
        app("POST", MEMORIES, {"content": "secret", "metadata": metadata})[:2],
        app("PATCH", f"{MEMORIES}/{memory_id}", {"metadata": metadata})[:2],
    ]
    _, batch, _ = app("POST", MEMORIES, {"memories": [{"content": "secret", "metadata": metadata}]})

    refusals += [(one["problem"]["status"], one["problem"]) for one in batch["results"]]

    assert [(status, name in problem["errors"][0]["detail"]) for status, problem in refusals] == [(422, True)] * 3
    (kept,) = app("GET", MEMORIES)[1]["memories"]
    assert (kept["memory_id"], kept["metadata"]) == (memory_id, {"x": 0})
    assert app("GET", "/v1/users/bob/memories", claims={"sub": "bob"})[1]["memories"] == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("POST", MEMORIES, "{nope"), (400, "/problems/malformed-body")),
        (("POST", MEMORIES, "[]"), (422, "/problems/invalid-input")),
        (("POST", MEMORIES, '{"content": "x", "metadata": {"a": NaN}}'), (422, "/problems/invalid-input")),
        (("POST", MEMORIES), (422, "/problems/invalid-input")),
        (("POST", MEMORIES, "x" * 5_000_001), (413, "/problems/body-too-large")),
        (("PUT", MEMORIES, {}), (405, "/problems/method-not-allowed")),
        (("GET", "/v1/users/ana/nothing"), (404, "/problems/unknown-route")),
        (("GET", "/v1/users/ana"), (405, "/problems/method-not-allowed")),
        (("GET", "/"), (404, "/problems/unknown-route")),
        (("GET", f"{MEMORIES}/not-an-id"), (404, "/problems/not-found")),
        (("GET", f"{MEMORIES}/{'0' * 3_000}"), (404, "/problems/not-found")),
        (("GET", f"{MEMORIES}/MEM#x"), (404, "/problems/not-found")),
        (("GET", f"{MEMORIES}/用 户"), (404, "/problems/not-found")),
        (("DELETE", f"{MEMORIES}/{'0' * 3_000}"), (404, "/problems/not-found")),
    ],
)
def test_every_other_mistake_has_its_problem(app: App, given: tuple[Any, ...], expected: tuple[int, str]) -> None:
    status, problem, headers = app(*given)

    assert (status, problem["type"]) == expected
    assert (problem["status"], problem["instance"]) == (status, "urn:request:r-1")
    assert headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "query",
    [
        "limi=1",
        "limit=0",
        "limit=201",
        "limit=x",
        "cursor=tampered",
        "type=fact",
        "user_id=bob",
        "limit=1&limit=2",
        "limit=1_0",
        "limit=%205",
        "limit=5.0",
        "cursor=",
        "actor=",
        "tag=%FF",
    ],
)
def test_bad_query_parameters_are_refused(app: App, query: str) -> None:
    assert app("GET", MEMORIES, query=query)[0] == 422


@pytest.mark.parametrize("query", ["purge=1", "purge=yes", "purge=", "purge=TRUE", "purge=false&purge=true"])
def test_what_deletes_for_good_is_said_plainly_or_refused(app: App, query: str) -> None:
    path = f"{MEMORIES}/{stored(app, 'green tea')}"

    status, problem, _ = app("DELETE", path, query=query)

    assert (status, problem["errors"][0]["pointer"]) == (422, "/purge")
    assert app("GET", path)[0] == 200


def test_query_parameters_of_other_routes_are_refused(app: App) -> None:
    assert app("GET", "/v1/users/ana/stats", query="tag=x")[0] == 422


@pytest.mark.parametrize("of_many", [lambda one: one, lambda one: {"memories": [one] * 100}])
def test_a_problem_of_many_faults_and_long_names_stays_small(app: App, of_many: Callable[[Any], Any]) -> None:
    faulty = {"content": "x", "a" * 10_000: 1, **{f"field-{number}": 1 for number in range(300)}}

    status, answer, _ = app("POST", MEMORIES, of_many(faulty))

    problem = answer if status == 422 else answer["results"][0]["problem"]
    assert len(json.dumps(answer)) < 5_000 * len(answer.get("results", [0]))
    assert problem["errors"][-1]["detail"] == "and 251 more"
    assert not any("aaa" in error["pointer"] for error in problem["errors"])
