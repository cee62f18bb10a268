import json
from typing import Any
from urllib.parse import quote

import pytest
from recollect.model import Source

from tests.support.app import MEMORIES, SEARCH, App, stored
from tests.support.builders import NOW_MS, TRANSCRIPTS, asking, controller, to_store

STATS = "/v1/users/ana/stats"
NOW = "2023-11-14T22:13:20Z"  # NOW_MS


@pytest.fixture
def tidy(app: App) -> dict[str, str]:
    """Three memories that have nothing in common but the word tea."""
    return {
        stored(app, "green tea 我对花生", importance=0.2, metadata={"cup": {"size": 2}}, tags=["hot"]): "green",
        stored(app, "tea towels lost", importance=0.9, metadata={"cup.size": 2}, occurred_at=NOW): "towels",
        stored(app, "Leo plants camellia for tea", importance=0.5, type="procedural", actor="Leo"): "plants",
    }


FILTERS: list[tuple[Any, set[str]]] = [
    ({"field": "metadata.cup.size", "eq": 2.0}, {"green"}),
    ({"field": ["metadata", "cup.size"], "eq": 2}, {"towels"}),
    ({"field": "tags", "contains": "hot"}, {"green"}),
    ({"field": "importance", "gte": 0.5, "lt": 0.9}, {"plants"}),
    ({"field": "occurred_at", "exists": True}, {"towels"}),
    ({"field": "occurred_at", "eq": "2023-11-14T23:13:20.000+01:00"}, {"towels"}),
    ({"field": "type", "in": ["procedural", "episodic"]}, {"plants"}),
    ({"not": {"field": "actor", "eq": "Leo"}}, {"green", "towels"}),
    ({"field": "actor", "ne": "Leo"}, set()),
    ({"any": [{"field": "tags", "contains": "hot"}, {"all": [{"field": "actor", "eq": "Leo"}]}]}, {"green", "plants"}),
    ({"field": "status", "ne": "active"}, set()),
]


@pytest.mark.parametrize(("asked", "expected"), FILTERS)
def test_a_filter_means_the_same_in_the_listing_and_in_every_search(
    app: App, tidy: dict[str, str], asked: Any, expected: set[str]
) -> None:  # case R4, case T5
    _, listed, _ = app("GET", MEMORIES, query=f"filter={quote(json.dumps(asked))}")
    assert {tidy[memory["memory_id"]] for memory in listed["memories"]} == expected

    for mode in ("hybrid", "semantic", "lexical", "exact"):
        _, found, _ = app("POST", SEARCH, {"query": "tea", "mode": mode, "filter": asked})
        assert {tidy[hit["memory"]["memory_id"]] for hit in found["hits"]} == expected
        assert found["scanned"] == len(expected)


def test_a_context_takes_the_same_filter(app: App, tidy: dict[str, str]) -> None:
    _, body, _ = app("POST", "/v1/users/ana/context", {"query": "tea", "filter": {"field": "tags", "contains": "hot"}})

    assert [tidy[memory_id] for memory_id in body["memory_ids"]] == ["green"]


def test_shorthands_and_a_filter_must_all_hold(app: App, tidy: dict[str, str]) -> None:
    asked = quote(json.dumps({"field": "importance", "gt": 0.2}))

    _, listed, _ = app("GET", MEMORIES, query=f"filter={asked}&type=semantic&type=episodic")

    assert [tidy[memory["memory_id"]] for memory in listed["memories"]] == ["towels"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["plants", "towels", "green"]),
        ("direction=asc", ["green", "towels", "plants"]),
        ("order=importance", ["towels", "plants", "green"]),
        ("order=importance&direction=asc", ["green", "plants", "towels"]),
        ("order=occurred_at", ["towels", "plants", "green"]),
        ("order=occurred_at&direction=asc", ["towels", "green", "plants"]),
        ("order=updated_at&limit=1", ["plants"]),
    ],
)
def test_a_listing_and_an_exact_search_have_an_order(
    app: App, tidy: dict[str, str], query: str, expected: list[str]
) -> None:
    _, listed, _ = app("GET", MEMORIES, query=query)
    assert [tidy[memory["memory_id"]] for memory in listed["memories"]] == expected

    options: dict[str, Any] = dict(part.split("=") for part in query.split("&") if part)
    options |= {"k": int(options.pop("limit"))} if "limit" in options else {}
    _, found, _ = app("POST", SEARCH, {"mode": "exact", **options})
    assert [(tidy[hit["memory"]["memory_id"]], hit["score"]) for hit in found["hits"]] == [
        (name, 1.0) for name in expected
    ]


def test_an_exact_search_makes_no_embedding(app: App, tidy: dict[str, str]) -> None:
    app.embedder.texts.clear()
    app.embedder.is_down = True

    status, body, _ = app("POST", SEARCH, {"mode": "exact"})

    assert (status, len(body["hits"]), body["degraded"]) == (200, len(tidy), False)
    assert app.embedder.texts == []


def test_a_cursor_fits_its_order_and_filter_only(app: App, tidy: dict[str, str]) -> None:
    _, first, _ = app("GET", MEMORIES, query="limit=1&order=importance")
    cursor = f"cursor={first['cursor']}"

    assert len(tidy) == 3
    assert app("GET", MEMORIES, query=f"{cursor}&order=importance&limit=2")[0] == 200
    for query in ("", "order=importance&direction=asc", "order=importance&status=archived", "order=updated_at"):
        status, problem, _ = app("GET", MEMORIES, query=f"{cursor}&{query}")
        assert (status, problem["errors"][0]["pointer"]) == (422, "/cursor")


@pytest.mark.parametrize("mode", ["exact", "lexical", "hybrid"])
def test_a_script_without_spaces_is_found_by_a_part_of_a_sentence(app: App, mode: str) -> None:  # case T4
    wanted = stored(app, "我对花生过敏", tags=["food"])
    stored(app, "我喜欢喝绿茶")
    filtered = {"filter": {"field": "tags", "contains": "food"}} if mode == "exact" else {}

    _, body, _ = app("POST", SEARCH, {"query": "花生", "mode": mode, **filtered})

    assert [body["hits"][0]["memory"][name] for name in ("memory_id", "content")] == [wanted, "我对花生过敏"]
    assert mode == "hybrid" or len(body["hits"]) == 1


def test_what_was_extracted_says_from_where_and_is_found_by_that(app: App) -> None:
    stored(app, "green tea")
    sources = (Source(TRANSCRIPTS[0], 3, 7), Source(TRANSCRIPTS[1], 0, 0))
    of = controller(app.store, app.embedder, prefix="01HFB")
    memory_id = of.store(asking(), [to_store("black tea", sources=sources)])[0].memory_id

    wanted = {"field": "transcripts", "contains": TRANSCRIPTS[1]}
    listed = app("GET", MEMORIES, query=f"filter={quote(json.dumps(wanted))}")[1]["memories"]
    found = app("POST", SEARCH, {"query": "tea", "filter": wanted})[1]["hits"]
    versions = app("GET", f"{MEMORIES}/{memory_id}/versions")[1]["versions"]

    for one in (*listed, found[0]["memory"], versions[0]):
        assert one["memory_id"] == memory_id
        assert one["sources"] == [
            {"transcript_id": TRANSCRIPTS[0], "first": 3, "last": 7},
            {"transcript_id": TRANSCRIPTS[1], "first": 0, "last": 0},
        ]
    assert len(listed) == len(found) == len(versions) == 1
    app("DELETE", f"{MEMORIES}/{memory_id}", query="purge=true")
    assert app("GET", f"{MEMORIES}/{memory_id}/versions")[1]["versions"][0]["sources"] == []


def test_as_of_goes_back_to_what_a_later_memory_took_the_place_of(app: App) -> None:
    old = stored(app, "the office is in Porto")
    later = controller(app.store, app.embedder, clock=lambda: NOW_MS + 1_000, prefix="01HFB")
    new = later.store(asking(), [to_store(content="we meet in Lisbon", supersedes=old)])[0].memory_id

    for as_of, expected in ((NOW, [old]), ("2023-11-14T22:13:21Z", [new]), ("2023-11-14T22:13:19Z", [])):
        _, listed, _ = app("GET", MEMORIES, query=f"as_of={as_of}")
        assert [memory["memory_id"] for memory in listed["memories"]] == expected
        for mode in ("hybrid", "exact"):
            _, found, _ = app("POST", SEARCH, {"query": "the office we meet in", "mode": mode, "as_of": as_of})
            assert [hit["memory"]["memory_id"] for hit in found["hits"]] == expected
    _, superseded, _ = app("GET", MEMORIES, query=f"as_of={NOW}&status=active")
    assert superseded["memories"] == []


def test_a_query_is_asked_at_its_now_or_as_of_or_else_now(app: App) -> None:
    stored(app, "we met at the lake", occurred_at="2023-11-06T10:00:00Z")

    def closeness(**given: Any) -> float:
        question = {"query": "who met at the lake last week", "explain": True, "reinforce": False}
        _, found, _ = app("POST", SEARCH, question | given)
        return float(found["hits"][0]["parts"]["time"])

    assert closeness() == closeness(as_of=NOW) == closeness(now="2023-11-17T01:00:00+01:00") == 1.0
    assert max(closeness(now="2021-05-01T00:00:00Z"), closeness(as_of="2025-01-01T00:00:00Z")) < 0.001
    assert closeness(as_of="2025-01-01T00:00:00Z", now=NOW) == 1.0
    for edge in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
        for text in ("last week", "next year", "in May", "the last 99 years", "the day before 1 January 9999"):
            assert app("POST", SEARCH, {"query": text, "now": edge})[0] == 200
    assert app("POST", "/v1/users/ana/context", {"query": "last week", "now": "soon"})[0] == 422
    assert app("POST", "/v1/users/ana/context", {"query": "last week", "now": NOW})[0] == 200


def test_types_are_weighted_in_a_search_and_a_context(app: App) -> None:
    ids = {kind: stored(app, f"tea in the {kind} cup", type=kind) for kind in ("episodic", "semantic", "procedural")}

    for kind, memory_id in ids.items():
        question = {"query": "tea in a cup", "weights": {"types": {kind: 2}}}
        _, found, _ = app("POST", SEARCH, {**question, "explain": True})
        _, block, _ = app("POST", "/v1/users/ana/context", question)
        assert found["hits"][0]["memory"]["memory_id"] == block["memory_ids"][0] == memory_id
        assert sorted(hit["parts"]["type"] for hit in found["hits"]) == [1.0, 1.0, 2.0]


def test_stats_tell_importance_bytes_and_times(app: App, tidy: dict[str, str]) -> None:
    _, stats, _ = app("GET", STATS)

    assert stats["total"] == len(tidy)
    assert stats["mean_importance"] == pytest.approx(1.6 / 3)
    assert stats["bytes"] == sum(
        len(text.encode())
        for text in (
            "green tea 我对花生",
            '{"cup": {"size": 2}}',
            "tea towels lost",
            '{"cup.size": 2}',
            "Leo plants camellia for tea",
            "{}",
        )
    )
    assert (
        stats["first_created_at"] == stats["last_created_at"] == stats["last_updated_at"] == "2023-11-14T22:13:20.000Z"
    )
    assert app("GET", "/v1/users/ana2/stats", claims={"sub": "ana2"})[1]["mean_importance"] is None


def test_a_search_tells_of_named_memories_why_they_are_not_among_its_hits(app: App, tidy: dict[str, str]) -> None:
    ids = {name: memory_id for memory_id, name in tidy.items()}
    foreign = stored(app, "secret of bob", user_id="bob")
    app("DELETE", f"{MEMORIES}/{ids['plants']}")
    wanted = [ids["towels"], ids["plants"], foreign, ids["green"], ids["towels"], "01HZZZZZZZZZZZZZZZZZZZZZZZ"]
    question = {"query": "green tea", "filter": {"all": [{"field": "tags", "contains": "hot"}]}, "explain_ids": wanted}

    status, found, _ = app("POST", SEARCH, question)

    assert (status, [hit["memory"]["memory_id"] for hit in found["hits"]]) == (200, [ids["green"]])
    towels, plants, bobs, green, nobodys = found["explained"]
    nothing = {"conditions": [], "pending": False, "rank": None, "score": None, "parts": None, "like": None}
    assert towels == nothing | {
        "memory_id": ids["towels"], "why": "filtered", "conditions": ["/filter/all/0/contains"]
    }  # fmt: skip
    assert plants == nothing | {"memory_id": ids["plants"], "why": "deleted"}
    assert bobs == nobodys | {"memory_id": foreign} == nothing | {"memory_id": foreign, "why": "unknown"}
    assert (green["why"], green["rank"], green["score"]) == ("hit", 1, found["hits"][0]["score"])
    assert green["parts"]["lexical"] > 0
    assert found["hits"][0]["parts"] is None
    assert "towels" not in json.dumps(found)
    assert app("POST", SEARCH, {"query": "green tea"})[1]["explained"] == []


def test_nothing_is_told_of_memories_when_a_search_cannot_be_done(app: App, tidy: dict[str, str]) -> None:
    app.embedder.is_down = True

    status, problem, _ = app("POST", SEARCH, {"query": "tea", "mode": "semantic", "explain_ids": list(tidy)})

    assert (status, "explained" in problem) == (503, False)


def test_the_order_of_an_exact_search_is_told_too(app: App, tidy: dict[str, str]) -> None:
    _, found, _ = app("POST", SEARCH, {"mode": "exact", "order": "importance", "k": 1, "explain_ids": list(tidy)})

    told = {tidy[one["memory_id"]]: (one["why"], one["rank"], one["score"], one["parts"]) for one in found["explained"]}
    assert told == {
        "towels": ("hit", 1, 1.0, None),
        "plants": ("outranked", 2, 1.0, None),
        "green": ("outranked", 3, 1.0, None),
    }


BAD_SEARCHES = [
    ({}, "/query"),
    ({"mode": "hybrid", "query": None}, "/query"),
    ({"mode": "exact", "query": " "}, "/query"),
    ({"mode": "exact", "order": "colour"}, "/order"),
    ({"mode": "exact", "order": None}, "/order"),
    ({"mode": "exact", "direction": "up"}, "/direction"),
    ({"query": "x", "order": "importance"}, "/order"),
    ({"query": "x", "mode": "semantic", "direction": "asc"}, "/direction"),
    ({"query": "x", "as_of": "2023-01-01"}, "/as_of"),
    ({"query": "x", "as_of": 5}, "/as_of"),
    ({"query": "x", "weights": {"types": {"semantic": 2.1}}}, "/weights/types/semantic"),
    ({"query": "x", "weights": {"types": {"semantic": -0.1}}}, "/weights/types/semantic"),
    ({"query": "x", "weights": {"types": {"procedural": "1"}}}, "/weights/types/procedural"),
    ({"query": "x", "weights": {"types": {"fact": 1}}}, "/weights/types/fact"),
    ({"query": "x", "weights": {"types": ["semantic"]}}, "/weights/types"),
    ({"query": "x", "diversity": -0.1}, "/diversity"),
    ({"query": "x", "diversity": 1.1}, "/diversity"),
    ({"query": "x", "diversity": "0.5"}, "/diversity"),
    ({"query": "x", "diversity": True}, "/diversity"),
    ({"query": "x", "now": "last week"}, "/now"),
    ({"query": "x", "now": "2023-01-01T00:00:00"}, "/now"),
    ({"query": "x", "now": 1700000000}, "/now"),
    ({"query": "x", "explain_ids": ["nothing"]}, "/explain_ids/0"),
    ({"query": "x", "explain_ids": [f"01HF{number:022d}" for number in range(11)]}, "/explain_ids"),
    ({"query": "x", "explain_ids": "01HF0000000000000000000001"}, "/explain_ids"),
    ({"query": "x", "explain_ids": None}, "/explain_ids"),
    ({"query": "x", "filter": []}, "/filter"),
    ({"query": "x", "filter": {"all": [{"any": [{"field": "metadata.a", "eq": {}}]}]}}, "/filter/all/0/any/0/eq"),
    ({"query": "x", "filter": {"not": {"not": {"colour": 1}}}}, "/filter/not/not/field"),
    ({"query": "x", "filter": {"tags_all": ["x"]}}, "/filter/tags_all"),
]


@pytest.mark.parametrize(("body", "pointer"), BAD_SEARCHES)
def test_a_bad_search_is_refused_with_a_pointer(app: App, body: Any, pointer: str) -> None:  # case I4
    stored(app, "secret tea")
    app.embedder.texts.clear()

    status, problem, _ = app("POST", SEARCH, body)

    assert (status, "hits" in problem) == (422, False)
    assert pointer in [error["pointer"] for error in problem["errors"]]
    assert app.embedder.texts == []


BAD_LISTINGS = [
    ("filter=", "/filter"),
    ("filter=x", "/filter"),
    ("filter=[]", "/filter"),
    (f"filter={'[' * 5_000}", "/filter"),
    ("filter=%7B%22field%22%3A%22importance%22%2C%22gt%22%3ANaN%7D", "/filter/gt"),
    ("filter=%7B%22field%22%3A%22importance%22%2C%22gt%22%3A1e999%7D", "/filter/gt"),
    ("filter=%7B%22all%22%3A%5B%7B%22field%22%3A%22x%22%2C%22eq%22%3A1%7D%5D%7D", "/filter/all/0/field"),
    ("order=colour", "/order"),
    ("order=", "/order"),
    ("direction=down", "/direction"),
    ("as_of=yesterday", "/as_of"),
    ("as_of=2023-01-01T00:00:00", "/as_of"),
]


@pytest.mark.parametrize(("query", "pointer"), BAD_LISTINGS)
def test_a_bad_listing_is_refused_with_a_pointer(app: App, query: str, pointer: str) -> None:  # case I4
    status, problem, _ = app("GET", MEMORIES, query=query)

    assert status == 422
    assert pointer in [error["pointer"] for error in problem["errors"]]


def test_the_description_holds_the_grammar(app: App) -> None:
    document = app("GET", "/openapi.json", claims={})[1]
    listing = document["paths"]["/v1/users/{user_id}/memories"]["get"]
    parameters = {parameter["name"]: parameter for parameter in listing["parameters"]}
    schemas = document["components"]["schemas"]

    assert {"filter", "as_of", "order", "direction", "limit", "cursor", "type", "status", "tag"} <= set(parameters)
    assert set(schemas["ComparisonInput"]["properties"]) == {
        *("field", "eq", "ne", "in", "gt", "gte", "lt", "lte", "contains", "exists")
    }
    assert {"AllInput", "AnyInput", "NotInput", "FilterInput"} <= set(schemas)
    assert "active" in parameters["status"]["description"].lower()
    assert "then" in parameters["as_of"]["description"]
