"""Derived memories over HTTP: what they were made of, filters, and apart again."""

import json
from typing import Any
from urllib.parse import quote

from tests.support.app import MEMORIES, App
from tests.support.consolidating import STYLE, consolidate
from tests.support.worlds import World


def derived(app: App) -> tuple[dict[str, Any], list[str]]:
    """Store memories that overlap, and consolidate them."""
    new = {"memories": [{"content": content, "on_similar": "create"} for content in STYLE]}
    _, answer, _ = app("POST", MEMORIES, new)
    ids = [one["memory_id"] for one in answer["results"]]
    consolidate(World(app.store, app.objects, app.embedder))
    [one] = listed(app)
    return one, ids


def listed(app: App, **wanted: Any) -> list[dict[str, Any]]:
    query = f"filter={quote(json.dumps(wanted))}" if wanted else ""
    memories: list[dict[str, Any]] = app("GET", MEMORIES, query=query)[1]["memories"]
    return memories


def test_each_side_names_the_other(app: App) -> None:
    one, ids = derived(app)

    assert (one["derived_from"], one["consolidated_into"]) == (ids, None)
    _, source, _ = app("GET", f"{MEMORIES}/{ids[0]}")
    assert (source["status"], source["consolidated_into"]) == ("archived", one["memory_id"])
    _, versions, _ = app("GET", f"{MEMORIES}/{ids[0]}/versions")
    assert [each["consolidated_into"] for each in versions["versions"]] == [one["memory_id"], None]


def test_filters_find_what_was_made_of_a_memory_and_what_one_was_made_of(app: App) -> None:
    one, ids = derived(app)

    assert [each["memory_id"] for each in listed(app, field="derived_from", contains=ids[2])] == [one["memory_id"]]
    archived = {"field": "status", "eq": "archived"}
    held = listed(app, all=[archived, {"field": "consolidated_into", "eq": one["memory_id"]}])
    assert sorted(each["memory_id"] for each in held) == sorted(ids)


def test_unmerge_brings_all_of_them_back(app: App) -> None:
    one, ids = derived(app)

    status, answer, _ = app("POST", f"{MEMORIES}/{one['memory_id']}/unmerge", {})

    assert status == 200
    assert [each["outcome"] for each in answer["results"]] == ["restored"] * 5 + ["deleted"]
    assert sorted(each["memory_id"] for each in listed(app)) == sorted(ids)
    assert app("GET", f"{MEMORIES}/{one['memory_id']}")[0] == 404


def test_a_patch_takes_one_of_them_out(app: App) -> None:
    one, ids = derived(app)

    assert app("PATCH", f"{MEMORIES}/{ids[0]}", {"status": "active"})[0] == 200

    contents = {each["memory_id"]: each["content"] for each in listed(app)}
    assert set(contents) == {one["memory_id"], ids[0]}
    assert STYLE[0] not in contents[one["memory_id"]]


def test_nobody_can_say_of_what_a_memory_was_made(app: App) -> None:
    for name in ("derived_from", "consolidated_into"):
        assert app("POST", MEMORIES, {"content": "tea", name: "x"})[0] == 422
        assert app("POST", MEMORIES, {"content": "tea", "metadata": {name: "x"}})[0] == 422
