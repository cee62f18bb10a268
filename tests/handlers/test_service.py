import json
from dataclasses import replace
from typing import Any

import pytest
from recollect.errors import Unavailable
from recollect.model import SCHEMA_VERSION

from tests.support.app import MEMORIES, SEARCH, App, stored


def test_a_repeat_under_an_idempotency_key_gets_the_same_answer(app: App) -> None:
    key = {"idempotency-key": "k-1"}
    first = app("POST", MEMORIES, {"content": "tea"}, headers=key)

    assert app("POST", MEMORIES, {"content": "tea"}, headers=key) == first
    assert app("POST", MEMORIES, {"content": "coffee"}, headers=key)[0] == 422
    assert app("POST", MEMORIES, {"content": "tea"}, headers={"idempotency-key": "x" * 129})[0] == 422


def test_without_the_model_a_store_is_pending_unless_it_must_know_what_is_similar(app: App) -> None:
    app.embedder.is_down = True

    status, receipt, _ = app("POST", MEMORIES, {"content": "green tea"})
    _, batch, _ = app("POST", MEMORIES, {"memories": [{"content": "green tea"}, {"content": "coffee"}]})
    refused, problem, headers = app("POST", MEMORIES, {"content": "black tea", "on_similar": "reject"})

    assert (status, receipt["outcome"], receipt["pending"]) == (201, "created", True)
    assert [(one["outcome"], one["pending"]) for one in batch["results"]] == [("unchanged", False), ("created", True)]
    assert (refused, problem["type"], headers["retry-after"]) == (503, "/problems/unavailable", "1")
    stats = app("GET", "/v1/users/ana/stats")[1]
    assert (stats["total"], stats["pending_embeddings"]) == (2, 2)
    assert app("POST", SEARCH, {"query": "tea"})[1]["degraded"]


def test_the_answer_of_a_pending_store_is_the_same_when_it_is_repeated(app: App) -> None:
    key = {"idempotency-key": "k-1"}
    app.embedder.is_down = True
    first = app("POST", MEMORIES, {"content": "tea"}, headers=key)
    app.embedder.is_down = False

    assert app("POST", MEMORIES, {"content": "tea"}, headers=key) == first
    assert first[1]["pending"]


def test_what_newer_code_has_stored_is_503_with_what_to_do_and_stays_as_it_is(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    memory_id = stored(app, "green tea")
    newer = replace(app.store.read_head("ana"), schema_version=SCHEMA_VERSION + 1)
    app.store._heads["ana"] = newer
    before = repr(vars(app.store))

    answers = [
        app("POST", MEMORIES, {"content": "black tea"}),
        app("POST", SEARCH, {"query": "tea"}),
        app("GET", f"{MEMORIES}/{memory_id}"),
        app("DELETE", f"{MEMORIES}/{memory_id}"),
        app("DELETE", "/v1/users/ana"),
    ]

    assert {(status, problem["type"]) for status, problem, _ in answers} == {(503, "/problems/newer-data")}
    assert all("deploy the newer code" in problem["detail"] for _, problem, _ in answers)
    assert "NewerSchema" in capsys.readouterr().out
    assert repr(vars(app.store)) == before


def test_an_update_without_the_model_leaves_the_old_text(app: App) -> None:  # case M12
    path = f"{MEMORIES}/{stored(app, 'green tea')}"
    before = app("GET", path)[1]
    app.embedder.is_down = True

    status, problem, headers = app("PATCH", path, {"content": "black tea"})

    assert (status, problem["type"], headers["retry-after"]) == (503, "/problems/unavailable", "1")
    assert app("GET", path)[1] == before
    assert before["version"] == 1
    assert len(app("GET", "/v1/users/ana/events")[1]["events"]) == 1


def test_hits_and_nothing_and_failures_are_answers_that_differ(app: App) -> None:  # case R6
    def search(query: str, mode: str = "hybrid") -> tuple[int, Any, dict[str, str]]:
        return app("POST", SEARCH, {"query": query, "mode": mode})

    def is_down(*_: object) -> None:
        raise Unavailable("the database does not answer")

    memory_id = stored(app, "green tea")
    _, hits, _ = search("tea")
    assert [len(hits["hits"]), hits["scanned"], hits["degraded"]] == [1, 1, False]
    _, nothing, _ = search("zebra", "lexical")
    assert [len(nothing["hits"]), nothing["scanned"], nothing["degraded"]] == [0, 1, False]

    app.embedder.is_down = True
    status, degraded, _ = search("tea")
    assert (status, len(degraded["hits"]), degraded["degraded"]) == (200, 1, True)
    assert search("tea", "semantic")[0] == 503
    app.store.read_log = is_down  # type: ignore[assignment,method-assign]
    answers = [search("tea"), search("tea", "exact"), app("GET", MEMORIES), app("GET", f"{MEMORIES}/{memory_id}")]
    assert [answer[0] for answer in answers] == [503] * 4
    assert all(answer[2]["retry-after"] and "hits" not in answer[1] for answer in answers)


def test_an_unexpected_failure_is_a_500_that_tells_nothing(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a canary message")

    app.store.read_log = broken  # type: ignore[assignment,method-assign]

    status, problem, _ = app("GET", "/v1/users/ana/stats")

    printed = capsys.readouterr().out
    assert (status, problem["type"]) == (500, "/problems/internal")
    assert "canary" not in json.dumps(problem) + printed
    assert '"error":"ValueError"' in printed


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # of Powertools' Swagger page
def test_open_routes_answer_without_a_token(app: App) -> None:
    assert app("GET", "/health", claims={})[1]["status"] == "ok"
    assert "<title>Swagger UI</title>" in app("GET", "/docs", claims={})[1]
    assert app("GET", "/openapi.json", claims={})[1]["info"]["title"] == "Recollect"


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_one_log_line_a_request_with_stages_and_counts(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    stored(app, "a canary sentence", metadata={"note": "canary"})
    app("POST", SEARCH, {"query": "the canary sentence"})
    app("POST", SEARCH, {"query": ""})

    printed = lines(capsys)
    logged = [line for line in printed if line.get("message") == "request"]
    assert [(line["operation"], line["status"], line["user_id"]) for line in logged] == [
        ("store", 201, "ana"),
        ("search", 200, "ana"),
        ("search", 422, "ana"),
    ]
    assert {"refresh", "embed", "commit"} <= set(logged[0]["stages_ms"])
    assert {"refresh", "embed", "rank", "fetch"} <= set(logged[1]["stages_ms"])
    assert [line["cold_start"] for line in logged] == [True, False, False]
    assert "canary" not in json.dumps(printed)


def test_metrics_have_the_operation_and_no_user(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    app("GET", "/v1/users/ana/stats")

    (metrics,) = [line for line in lines(capsys) if "_aws" in line]

    assert (metrics["service"], metrics["operation"]) == (app.service, "stats")
    assert metrics["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Recollect"
    assert "ana" not in json.dumps(metrics)
