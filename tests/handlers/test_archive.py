"""Archived memories over HTTP: out of the way, still there, and back."""

import json
from urllib.parse import quote

import pytest

from tests.support.app import MEMORIES, App, stored

SEARCH, CONTEXT = "/v1/users/ana/search", "/v1/users/ana/context"
ARCHIVE = {"field": "status", "eq": "archived"}
HIKES, SLEEPS = "Leo hikes in old hills", "Leo sleeps in old hills"


def archived(app: App) -> str:
    """Archive a memory as the loser of a conflict."""
    loser = stored(app, HIKES)
    _, receipt, _ = app("POST", MEMORIES, {"content": SLEEPS})
    assert (receipt["outcome"], receipt["other_id"]) == ("conflict", loser)
    answer = {"other_id": loser, "resolution": "keep_this"}
    assert app("POST", f"{MEMORIES}/{receipt['memory_id']}/resolve", answer)[0] == 200
    return loser


def found(app: App, **body: object) -> list[str]:
    _, answer, _ = app("POST", SEARCH, {"query": HIKES, **body})
    return [hit["memory"]["memory_id"] for hit in answer["hits"]]


def status_of(app: App, memory_id: str) -> str:
    return str(app("GET", f"{MEMORIES}/{memory_id}")[1]["status"])


def test_no_read_shows_an_archived_memory_unless_it_is_asked_for(app: App) -> None:
    loser = archived(app)

    for mode in ("hybrid", "semantic", "lexical", "exact"):
        assert loser not in found(app, mode=mode)
        assert found(app, mode=mode, filter=ARCHIVE, reinforce=False) == [loser]
    _, context, _ = app("POST", CONTEXT, {"query": HIKES})
    assert loser not in context["memory_ids"]
    _, page, _ = app("GET", MEMORIES)
    assert loser not in [one["memory_id"] for one in page["memories"]]
    _, page, _ = app("GET", MEMORIES, query="status=archived")
    assert [one["memory_id"] for one in page["memories"]] == [loser]
    assert app("GET", "/v1/users/ana/stats")[1]["by_status"] == {"active": 1, "archived": 1}
    assert status_of(app, loser) == "archived"


def test_a_patch_brings_it_back(app: App) -> None:
    loser = archived(app)

    status, receipt, _ = app("PATCH", f"{MEMORIES}/{loser}", {"status": "active"})

    assert (status, receipt["outcome"], receipt["version"]) == (200, "updated", 4)
    assert loser in found(app)
    assert app("GET", "/v1/users/ana/events")[1]["events"][0]["operation"] == "revive"


@pytest.mark.parametrize("value", ["archived", "superseded", "Active", None, True])
def test_a_patch_sets_no_other_status(app: App, value: object) -> None:
    memory_id = stored(app, "green tea")

    status, problem, _ = app("PATCH", f"{MEMORIES}/{memory_id}", {"status": value})

    assert (status, status_of(app, memory_id)) == (422, "active")
    assert "status" in json.dumps(problem["errors"])


def test_a_superseded_memory_is_not_made_active_beside_the_one_that_took_its_place(app: App) -> None:
    old = stored(app, "the office closes at nine")
    app("POST", MEMORIES, {"content": "the office closes at ten", "supersedes": old})

    assert app("PATCH", f"{MEMORIES}/{old}", {"status": "active"})[0] == 409


def test_a_search_of_the_archive_brings_back_what_it_found_and_the_log_says_who_searched(app: App) -> None:
    loser = archived(app)

    assert found(app, filter=ARCHIVE) == [loser]

    assert (found(app, filter=ARCHIVE), status_of(app, loser)) == ([], "active")
    event = app("GET", "/v1/users/ana/events")[1]["events"][0]
    assert (event["operation"], event["by"]) == ("revive", "ana")


def test_to_store_it_again_when_nothing_contradicts_it_brings_it_back(app: App) -> None:
    loser = archived(app)
    (winner,) = found(app, mode="exact")
    app("DELETE", f"{MEMORIES}/{winner}")

    status, receipt, _ = app("POST", MEMORIES, {"content": HIKES})

    assert (status, receipt["outcome"], receipt["memory_id"]) == (200, "revived", loser)


def test_open_conflicts_are_listed_by_a_filter(app: App) -> None:
    stored(app, "green tea")
    stored(app, HIKES)
    app("POST", MEMORIES, {"content": SLEEPS})
    wanted = quote(json.dumps({"field": "in_conflict", "eq": True}))

    _, page, _ = app("GET", MEMORIES, query=f"filter={wanted}")

    assert {one["content"] for one in page["memories"]} == {HIKES, SLEEPS}
