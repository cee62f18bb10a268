from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.answers import SearchQuery
from recollect.changes import Embedded, Patch, change_of
from recollect.controller import MemoryController
from recollect.filters import ACTIVE, EVERYTHING, within_reach
from recollect.model import Head, Memory, Operation, Status
from recollect.ordering import NEWEST_FIRST, Order, OrderBy
from recollect.ranking import Mode
from recollect.schemas.filters import FilterInput

from tests.support.builders import NOW_MS, Clock, asking, controller, memory, to_store
from tests.support.embedder import HashingEmbedder
from tests.support.filters import FILTERS, MEMORIES, WORDS, lets_through, touches_of
from tests.support.inmemory import InMemoryMemoryStore


def reading(memories: Sequence[Memory], embedder: HashingEmbedder | None = None) -> MemoryController:
    """Make a controller on a store that has these memories, as if each had been stored on its own."""
    embedder = embedder or HashingEmbedder()
    store = InMemoryMemoryStore()
    vectors = embedder.embed([one.content for one in memories])
    changes = [
        change_of(Operation.CREATE, None, one, Embedded(vector, embedder.name), "r")
        for one, vector in zip(memories, vectors, strict=True)
    ]
    head = Head(seq=len(changes), epoch="E", embedder=embedder.name, dimension=embedder.dimension)
    store.append("ana", head, Head(), changes, "ana", None)
    for touch in touches_of(memories):
        store.touch("ana", touch, NOW_MS)
    embedder.texts.clear()
    return controller(store, embedder)


def named(memories: Sequence[Memory]) -> list[Memory]:
    return [replace(one, memory_id=f"{number:026d}") for number, one in enumerate(memories)]


def ids(memories: Sequence[Memory]) -> list[str]:
    return [one.memory_id for one in memories]


def walked(of: MemoryController, limit: int, order: Order) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = of.list_memories("ana", EVERYTHING, limit, cursor, order)
        found += ids(page.memories)
        cursor = page.cursor
        if cursor is None:
            return found


@given(st.lists(MEMORIES, max_size=10), FILTERS)
def test_the_same_filter_gives_the_same_memories_in_every_read(memories: list[Memory], asked: Any) -> None:  # case R4
    given_memories = named(memories)
    of = reading(given_memories)
    wanted = FilterInput.model_validate(asked).to_filter()

    expected = {
        one.memory_id
        for one in given_memories
        if (one.expires_at_ms is None or one.expires_at_ms > NOW_MS) and lets_through(asked, one)
    }

    assert set(ids(of.list_memories("ana", wanted, 200).memories)) == expected
    for mode in Mode:
        query = SearchQuery(text=f"{WORDS} please", k=100, mode=mode, filter=wanted, reinforces=False)
        result = of.search("ana", query)
        assert {hit.memory.memory_id for hit in result.hits} == expected
        assert result.scanned == len(expected)


@given(st.lists(MEMORIES, max_size=10), st.integers(1, 4), st.sampled_from(OrderBy), st.booleans())
def test_pages_in_any_order_are_the_memories_sorted(
    memories: list[Memory], limit: int, by: OrderBy, is_descending: bool
) -> None:
    present = named([replace(one, expires_at_ms=None) for one in memories])
    order = Order(by, is_descending)
    name = by if by is OrderBy.IMPORTANCE else f"{by}_ms"

    there = [one for one in present if getattr(one, name) is not None]
    missing = [one for one in present if getattr(one, name) is None]
    there.sort(key=lambda one: (getattr(one, name), one.memory_id), reverse=is_descending)
    missing.sort(key=lambda one: one.memory_id, reverse=is_descending)

    assert walked(reading(present), limit, order) == ids(there + missing)
    exact = SearchQuery(text="", k=100, mode=Mode.EXACT, filter=EVERYTHING, order=order)
    assert [hit.memory.memory_id for hit in reading(present).search("ana", exact).hits] == ids(there + missing)


@pytest.mark.parametrize("by", OrderBy)
@pytest.mark.parametrize("is_descending", [True, False])
def test_what_stays_in_its_place_is_listed_once_while_others_write(by: OrderBy, is_descending: bool) -> None:
    clock = Clock()
    store = InMemoryMemoryStore()
    of, writer = controller(store, clock=clock), controller(store, clock=clock, prefix="01HFB")
    staying: set[str] = set()
    for number in range(40):
        clock.now_ms += 1
        occurred_at_ms = None if number % 3 else clock.now_ms
        content = f"{number} {chr(0x4E00 + number) * 9}"
        asked = to_store(content, importance=number % 5 / 5, occurred_at_ms=occurred_at_ms)
        staying.add(of.store(asking(), [asked])[0].memory_id)
    changing = {min(staying), max(staying)}

    seen: list[str] = []
    cursor = None
    while True:
        page = of.list_memories("ana", ACTIVE, 7, cursor, Order(by, is_descending))
        seen += ids(page.memories)
        clock.now_ms += 1
        for memory_id in changing:
            importance = (clock.now_ms % 10) / 10
            writer.update(asking(), memory_id, Patch({"importance": importance, "occurred_at_ms": clock.now_ms}))
        cursor = page.cursor
        if cursor is None:
            break

    unchanged = [memory_id for memory_id in seen if memory_id not in changing]
    assert len(unchanged) == len(set(unchanged))
    assert set(unchanged) == staying - changing


def test_an_exact_search_needs_no_embedding_and_scores_one() -> None:
    embedder = HashingEmbedder()
    of = reading(
        [
            memory("a", memory_id="A", importance=0.2),
            memory("b", memory_id="B", importance=0.9),
            memory("c", memory_id="C", importance=0.5),
        ],
        embedder,
    )
    embedder.is_down = True

    query = SearchQuery(text="", k=2, mode=Mode.EXACT, order=Order(OrderBy.IMPORTANCE))
    result = of.search("ana", query)

    assert [(hit.memory.memory_id, hit.score, hit.parts) for hit in result.hits] == [("B", 1.0, {}), ("C", 1.0, {})]
    assert (result.scanned, result.is_degraded, result.is_truncated) == (3, False, False)
    assert embedder.texts == []


def test_as_of_shows_the_memory_that_was_valid_then_in_every_read() -> None:
    old = memory("Ana works at Acme", memory_id="A", created_at_ms=NOW_MS - 100)
    old = replace(old, status=Status.SUPERSEDED, superseded_by="B", valid_until_ms=NOW_MS - 50)
    new = memory("Ana works at Bolt", memory_id="B", created_at_ms=NOW_MS - 50, supersedes="A")
    archived = memory("Ana works a lot", memory_id="C", created_at_ms=NOW_MS - 100, status=Status.ARCHIVED)
    of = reading([old, new, archived])

    for at_ms, expected in ((-101, []), (-100, ["A"]), (-51, ["A"]), (-50, ["B"]), (0, ["B"])):
        wanted = within_reach(EVERYTHING, NOW_MS + at_ms)
        assert ids(of.list_memories("ana", wanted, 10).memories) == expected
        for mode in Mode:
            query = SearchQuery(text="Ana works", mode=mode, filter=wanted)
            assert [hit.memory.memory_id for hit in of.search("ana", query).hits] == expected


def test_as_of_leaves_the_status_to_a_filter_that_mentions_it() -> None:
    of = reading(
        [
            memory("x", memory_id="A", status=Status.ARCHIVED),
            memory("y", memory_id="B", status=Status.SUPERSEDED, valid_until_ms=NOW_MS),
            memory("z", memory_id="C"),
        ]
    )
    wanted = FilterInput.model_validate({"not": {"field": "status", "eq": "active"}}).to_filter()

    found = of.list_memories("ana", within_reach(wanted, NOW_MS), 10, None, NEWEST_FIRST)

    assert ids(found.memories) == ["A"]


def test_stats_tell_importance_bytes_and_times() -> None:
    of = reading(
        [
            memory("é", memory_id="A", importance=0.25, created_at_ms=NOW_MS - 9, updated_at_ms=NOW_MS - 1),
            memory("b", memory_id="B", importance=0.75, created_at_ms=NOW_MS - 4, updated_at_ms=NOW_MS - 4),
            memory("gone", memory_id="C", importance=1.0, expires_at_ms=NOW_MS),
            memory("c", memory_id="D", importance=0.5, metadata_json='{"a": 1}', status=Status.ARCHIVED),
        ]
    )

    stats = of.stats("ana")

    assert (stats.total, stats.mean_importance) == (3, 0.5)
    assert stats.text_bytes == len("é{}b{}c".encode()) + len('{"a": 1}')
    assert (stats.first_created_at_ms, stats.last_created_at_ms) == (NOW_MS - 9, NOW_MS)
    assert stats.last_updated_at_ms == NOW_MS


def test_stats_of_nobody_have_no_mean_and_no_times() -> None:
    stats = controller().stats("nobody")

    assert (stats.total, stats.text_bytes, stats.mean_importance) == (0, 0, None)
    assert (stats.first_created_at_ms, stats.last_created_at_ms, stats.last_updated_at_ms) == (None, None, None)
