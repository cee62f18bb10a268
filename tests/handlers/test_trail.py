"""Versions, events, purges and erasures over HTTP."""

from typing import Any

import pytest
from recollect import keys

from tests.support.app import MEMORIES, SERVICE, App, stored

EVENTS = "/v1/users/ana/events"


def changed(app: App, *contents: str) -> str:
    """Store a memory and change its content."""
    memory_id = stored(app, contents[0], actor="Mia", tags=["x"])
    for content in contents[1:]:
        app("PATCH", f"{MEMORIES}/{memory_id}", {"content": content})
    return memory_id


def test_each_version_comes_with_all_its_fields(app: App) -> None:  # case M6
    memory_id = changed(app, "green tea", "black tea", "white tea")
    _, present, _ = app("GET", f"{MEMORIES}/{memory_id}")

    status, body, _ = app("GET", f"{MEMORIES}/{memory_id}/versions")

    assert status == 200
    assert body["cursor"] is None
    assert [one["content"] for one in body["versions"]] == ["white tea", "black tea", "green tea"]
    assert body["versions"][0] == present | {"redacted": False, "content_hash": None}
    for one in body["versions"]:
        asked = app("GET", f"{MEMORIES}/{memory_id}", query=f"version={one['version']}")
        assert asked[:2] == (200, one)


def test_versions_come_page_by_page(app: App) -> None:
    memory_id = changed(app, "one", "two", "three")

    _, first, _ = app("GET", f"{MEMORIES}/{memory_id}/versions", query="limit=2")
    _, second, _ = app("GET", f"{MEMORIES}/{memory_id}/versions", query=f"limit=2&cursor={first['cursor']}")

    assert [one["version"] for one in first["versions"] + second["versions"]] == [3, 2, 1]
    assert second["cursor"] is None


def test_events_say_what_was_done_and_never_what_was_said(app: App) -> None:
    memory_id = changed(app, "green tea", "black tea")
    other_id = stored(app, "the office closes at six")

    status, body, _ = app("GET", EVENTS, query=f"memory_id={memory_id}&direction=asc")

    assert status == 200
    assert body["events"][0] == {
        "seq": 1,
        "operation": "create",
        "memory_id": memory_id,
        "version": 1,
        "at": "2023-11-14T22:13:20.000Z",
        "by": "backend",
        "reason": body["events"][0]["reason"],
        "content_hash": None,
    }
    assert [one["operation"] for one in body["events"]] == ["create", "update"]
    assert [one["memory_id"] for one in app("GET", EVENTS, query="limit=1")[1]["events"]] == [other_id]
    assert "tea" not in str(app("GET", EVENTS)[1])


def test_a_purged_memory_keeps_its_trail_without_a_text(app: App) -> None:  # case D10
    memory_id = changed(app, "green tea", "black tea")

    status, receipt, _ = app("DELETE", f"{MEMORIES}/{memory_id}", query="purge=true")
    again = app("DELETE", f"{MEMORIES}/{memory_id}", query="purge=true")

    assert (status, receipt["outcome"], receipt["version"]) == (200, "purged", 3)
    assert again[:2] == (200, receipt)
    assert app("GET", f"{MEMORIES}/{memory_id}")[0] == 404
    _, body, _ = app("GET", f"{MEMORIES}/{memory_id}/versions")
    assert [(one["version"], one["content"], one["redacted"]) for one in body["versions"]] == [
        (2, None, True),
        (1, None, True),
    ]
    assert {(one["actor"], *one["tags"]) for one in body["versions"]} == {(None,)}
    assert app("GET", f"{MEMORIES}/{memory_id}", query="version=1")[1] == body["versions"][1]
    _, trail, _ = app("GET", EVENTS, query=f"memory_id={memory_id}")
    assert [one["operation"] for one in trail["events"]] == ["purge", "update", "create"]
    assert [one["content_hash"] for one in trail["events"]] == [
        None,
        *(one["content_hash"] for one in body["versions"]),
    ]


def test_a_key_that_was_used_for_a_delete_does_not_do_for_a_purge(app: App) -> None:
    memory_id = stored(app, "green tea")
    headers = {"idempotency-key": "k"}
    app("DELETE", f"{MEMORIES}/{memory_id}", headers=headers)

    assert app("DELETE", f"{MEMORIES}/{memory_id}", query="purge=true", headers=headers)[0] == 422
    assert app("DELETE", f"{MEMORIES}/{memory_id}", query="purge=true")[0] == 200


def test_a_purge_of_a_version_that_is_not_the_present_one_is_refused(app: App) -> None:
    memory_id = changed(app, "green tea", "black tea")
    path = f"{MEMORIES}/{memory_id}"

    assert app("DELETE", path, query="purge=true", headers={"if-match": '"1"'})[0] == 412
    assert app("DELETE", path, query="purge=true", headers={"if-match": '"2"'})[0] == 200


def test_an_erased_user_is_gone_and_the_receipt_says_what_went(app: App) -> None:  # case D4
    changed(app, "green tea", "black tea")
    stored(app, "of bob", "bob")
    kinds = dict.fromkeys(keys.KINDS, 0) | {"log_entries": 2, "memories": 1, "versions": 1}
    _, counted, _ = app("DELETE", "/v1/users/ana", query="dry_run=true")

    status, body, _ = app("DELETE", "/v1/users/ana")

    assert counted["status"] == "counted"
    assert (counted["found"], counted["left"]) == ({"dynamodb": kinds, "s3": {"objects": 0}}, 4)
    assert (status, body["status"]) == (200, "erased")
    assert body["receipt"] == {
        "deleted": {"dynamodb": kinds, "s3": {"objects": 0}},
        "verified_at": "2023-11-14T22:13:20.000Z",
        "backup": {"kind": "point-in-time recovery", "kept_until": "2023-12-19T22:13:20.000Z"},
    }
    assert app("GET", MEMORIES)[1]["memories"] == []
    assert app("GET", EVENTS)[1]["events"] == []
    assert app("DELETE", "/v1/users/ana")[1]["receipt"]["deleted"] == {
        "dynamodb": dict.fromkeys(kinds, 0),
        "s3": {"objects": 0},
    }
    assert len(app("GET", "/v1/users/bob/memories", claims=SERVICE)[1]["memories"]) == 1


def test_an_erasure_that_is_not_done_says_what_is_left(app: App, monkeypatch: pytest.MonkeyPatch) -> None:  # case D8
    monkeypatch.setattr("recollect.erasing.BUDGET_MS", 0)
    monkeypatch.setattr("recollect.erasing.ITEMS_PER_DELETE", 2)
    changed(app, "green tea", "black tea", "white tea")

    status, body, _ = app("DELETE", "/v1/users/ana")

    assert (status, body["status"], body["left"]) == (202, "erasing", 4)
    assert sum(body["erased"]["dynamodb"].values()) == 2
    refused, problem, _ = app("POST", MEMORIES, {"content": "x"})
    assert (refused, problem["type"]) == (409, "/problems/conflict")
    assert "call DELETE" in problem["detail"]
    assert app("GET", MEMORIES)[1]["memories"] == []
    while status == 202:
        status, body, _ = app("DELETE", "/v1/users/ana")
    assert sum(body["receipt"]["deleted"]["dynamodb"].values()) == 6


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/v1/users/ana"),
        ("GET", EVENTS),
        ("GET", MEMORIES + "/{}/versions"),
        ("GET", MEMORIES + "/{}"),
        ("DELETE", MEMORIES + "/{}"),
    ],
)
def test_only_the_user_and_services_reach_them(app: App, method: str, path: str) -> None:  # case I2
    memory_id = stored(app, "green tea")
    of_ana = path.format(memory_id)

    assert app(method, of_ana, claims={"sub": "bob"})[:2] == app(method, of_ana.replace("ana", "eve"))[:2]
    assert app(method, of_ana, claims={"sub": "bob"})[0] == 404
    assert app(method, of_ana, claims={})[0] == 401
    assert app("GET", f"{MEMORIES}/{memory_id}")[0] == 200
    assert app(method, of_ana, claims=SERVICE)[0] == 200


def test_a_path_of_a_memory_is_never_the_erasure_of_a_user(app: App) -> None:
    memory_id = stored(app, "green tea", "a")
    named = f"a/memories/{memory_id}"
    stored(app, "of the user with the odd name", named)

    status, receipt, _ = app("DELETE", f"/v1/users/{named}", claims=SERVICE)

    assert (status, receipt["outcome"]) == (200, "deleted")
    assert len(app("GET", f"/v1/users/{named}/memories", claims=SERVICE)[1]["memories"]) == 1
    assert app("DELETE", f"/v1/users/{named}", claims={"sub": named})[0] == 404
    for end in ("stats", "memories", "events", "search"):
        assert app("DELETE", f"/v1/users/a/{end}", claims=SERVICE)[0] == 405


def test_a_user_with_slashes_can_be_erased(app: App) -> None:
    stored(app, "green tea", "team/ana@example.com")
    stored(app, "black tea", "team")

    assert app("DELETE", "/v1/users/team/ana@example.com", claims=SERVICE)[1]["receipt"]["deleted"]["dynamodb"][
        "memories"
    ]
    assert app("GET", "/v1/users/team/stats", claims=SERVICE)[1]["total"] == 1


@pytest.mark.parametrize(
    ("method", "end", "query", "expected"),
    [
        ("GET", "/memories/{}", "version=0", 422),
        ("GET", "/memories/{}", "version=x", 422),
        ("GET", "/memories/{}", "version=1000000", 422),
        ("GET", "/memories/{}", "version=2", 404),
        ("GET", "/memories/{}", "versions=1", 422),
        ("GET", "/memories/{}/versions", "limit=0", 422),
        ("GET", "/memories/{}/versions", "limit=201", 422),
        ("GET", "/memories/{}/versions", "cursor=x", 422),
        ("GET", "/memories/not-an-id/versions", "", 404),
        ("DELETE", "/memories/{}", "purge=perhaps", 422),
        ("DELETE", "/memories/{}", "prge=true", 422),
        ("DELETE", "/memories/not-an-id", "purge=true", 404),
        ("DELETE", "", "dryrun=true", 422),
        ("DELETE", "", "dry_run=perhaps", 422),
        ("GET", "/events", "limit=201", 422),
        ("GET", "/events", "direction=up", 422),
        ("GET", "/events", "memory_id=x", 422),
        ("GET", "/events", "cursor=x", 422),
        ("POST", "/events", "", 405),
    ],
)
def test_a_mistake_gets_a_problem_and_changes_nothing(
    app: App, method: str, end: str, query: str, expected: int
) -> None:
    memory_id = stored(app, "green tea")

    status, problem, headers = app(method, "/v1/users/ana" + end.format(memory_id), query=query)

    assert (status, problem["status"]) == (expected, expected)
    assert headers["content-type"] == "application/problem+json"
    assert app("GET", f"{MEMORIES}/{memory_id}")[0] == 200


def test_all_of_it_is_described(app: App) -> None:
    document: Any = app("GET", "/openapi.json")[1]

    for method, path in [
        ("get", "/v1/users/{user_id}/events"),
        ("get", "/v1/users/{user_id}/memories/{memory_id}/versions"),
        ("delete", "/v1/users/{user_id}"),
    ]:
        assert method in document["paths"][path]
    assert "202" in document["paths"]["/v1/users/{user_id}"]["delete"]["responses"]
