import json
from dataclasses import replace

import pytest
from recollect.answers import SearchQuery
from recollect.changes import Embedded, Patch
from recollect.chunks import COMMIT_MAX_COUNT, chunks
from recollect.controller import MemoryController
from recollect.errors import InvalidInput, NotFound, Unavailable
from recollect.filters import Filter, Range
from recollect.model import MemoryType, NewMemory, Status
from recollect.ranking import Mode

from tests.support.builders import NOW_MS, Clock, asking, controller, memory
from tests.support.embedder import HashingEmbedder
from tests.support.inmemory import InMemoryMemoryStore

ANY_MODE = pytest.mark.parametrize("mode", list(Mode))


def stored(of: MemoryController, *contents: str, user_id: str = "ana", **values: object) -> list[str]:
    new = [NewMemory(content=content, **values) for content in contents]  # type: ignore[arg-type]
    return [outcome.memory_id for outcome in of.store(asking(user_id), new)]


def found(of: MemoryController, text: str, user_id: str = "ana", **values: object) -> list[str]:
    query = SearchQuery(text=text, **values)  # type: ignore[arg-type]
    return [hit.memory.content for hit in of.search(user_id, query).hits]


@ANY_MODE
def test_a_memory_is_found_in_the_first_search_after_its_store_from_any_instance(mode: Mode) -> None:
    store = InMemoryMemoryStore()
    warm = controller(store, prefix="01HFA")
    assert found(warm, "green tea", mode=mode) == []

    stored(controller(store, prefix="01HFB"), "Ana likes green tea")

    assert found(warm, "green tea", mode=mode) == ["Ana likes green tea"]


@ANY_MODE
def test_the_same_text_scores_one_and_ranks_first(mode: Mode) -> None:
    of = controller()
    stored(of, "Where does Mia live now?", "Mia lives here now", "does Mia live", actor="Mia", occurred_at_ms=NOW_MS)

    hits = of.search("ana", SearchQuery(text="Where does Mia live now?", mode=mode)).hits

    assert hits[0].memory.content == "Where does Mia live now?"
    assert hits[0].score == 1.0
    assert all(0.0 <= hit.score <= 1.0 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_no_other_text_ties_with_the_same_text() -> None:
    of = controller()
    stored(of, "tea tea", "tea")

    for mode in Mode:
        assert found(of, "tea", mode=mode)[0] == "tea"


@ANY_MODE
def test_no_read_returns_a_deleted_memory(mode: Mode) -> None:
    store = InMemoryMemoryStore()
    warm, other = controller(store), controller(store, prefix="01HFB")
    (memory_id,) = stored(warm, "green tea")
    assert found(other, "green tea", mode=mode)

    warm.delete(asking(), memory_id)

    assert found(other, "green tea", mode=mode) == []
    assert other.list_memories("ana", Filter(), 10).memories == ()
    assert other.context("ana", SearchQuery(text="green tea"), 500).text == ""
    with pytest.raises(NotFound):
        other.get("ana", memory_id)


@ANY_MODE
def test_filters_apply_before_ranking(mode: Mode) -> None:
    of = controller()
    stored(of, *(f"green tea number {number}" for number in range(200)), tags=("x",))
    stored(of, "something else with tea", tags=("y",))

    assert found(of, "green tea", mode=mode, k=1, filter=Filter(tags_all=("y",))) == ["something else with tea"]


def test_users_are_closed_to_each_other() -> None:
    of = controller()
    names = ["bo", "bob", "bob/", "bob#1", "bob%23", "BOB", " bob", "用户-7"]
    ids = {name: stored(of, f"secret of {name}", user_id=name)[0] for name in names}

    for name in names:
        assert found(of, "secret", user_id=name) == [f"secret of {name}"]
        assert of.stats(name).total == 1
        for other in set(names) - {name}:
            with pytest.raises(NotFound):
                of.get(name, ids[other])
            with pytest.raises(NotFound):
                of.delete(asking(name), ids[other])
            with pytest.raises(NotFound):
                of.update(asking(name), ids[other], Patch({"importance": 1.0}))


def test_hybrid_answers_lexically_and_says_so_when_the_embedder_is_down() -> None:
    embedder = HashingEmbedder()
    of = controller(embedder=embedder)
    stored(of, "green tea", "black coffee")
    embedder.is_down = True

    result = of.search("ana", SearchQuery(text="coffee"))

    assert [hit.memory.content for hit in result.hits] == ["black coffee"]
    assert result.is_degraded
    with pytest.raises(Unavailable):
        of.search("ana", SearchQuery(text="coffee", mode=Mode.SEMANTIC))


def test_hits_nothing_found_and_failure_are_three_answers() -> None:
    of = controller()
    stored(of, "green tea")

    nothing = of.search("ana", SearchQuery(text="zebra", mode=Mode.LEXICAL))
    nobody = of.search("new", SearchQuery(text="zebra"))

    assert (nothing.hits, nothing.scanned) == ((), 1)
    assert (nobody.hits, nobody.scanned, nobody.is_degraded) == ((), 0, False)


def test_vectors_of_another_model_are_not_compared_and_their_memories_found_by_words() -> None:
    store = InMemoryMemoryStore()
    stored(controller(store, HashingEmbedder("old", 32)), "green tea")
    of = controller(store, HashingEmbedder("new", 64), prefix="01HFB")
    stored(of, "black coffee")

    result = of.search("ana", SearchQuery(text="green tea or coffee"))

    assert {hit.memory.content: hit.parts["semantic"] > 0 for hit in result.hits} == {
        "green tea": False,
        "black coffee": True,
    }
    assert of.stats("ana").pending_embeddings == 1
    assert found(of, "tea that is green", mode=Mode.SEMANTIC) == []


def test_a_query_that_names_an_actor_prefers_their_memories_but_leaves_nobody_out() -> None:
    of = controller()
    of.store(
        asking(),
        [
            NewMemory(content="I adopted a cat", actor="Leo Park"),
            NewMemory(content="I adopted a cat", actor="Mia"),
        ],
    )

    hits = of.search("ana", SearchQuery(text="What pet did Mia adopt, a cat?")).hits

    assert [hit.memory.actor for hit in hits] == ["Mia", "Leo Park"]
    assert hits[0].parts["actor"] == 1.0


def test_names_of_actors_are_not_embedded_with_a_query() -> None:
    embedder = HashingEmbedder()
    of = controller(embedder=embedder)
    stored(of, "I adopted a cat", actor="Mia")

    of.search("ana", SearchQuery(text="What is Mia's cat?"))
    of.search("ana", SearchQuery(text="Mia?"))

    assert embedder.texts[-2:] == ["What is cat?", "Mia?"]


def test_a_listing_walks_through_everything_once_while_others_write() -> None:
    clock = Clock()
    store = InMemoryMemoryStore()
    of, writer = controller(store, clock=clock), controller(store, clock=clock, prefix="01HFB")
    ids = set()
    for start in range(0, 230, 10):
        clock.now_ms += 1
        ids |= set(stored(of, *(f"fact {start + number}" for number in range(10))))

    seen: list[str] = []
    cursor = None
    while True:
        page = of.list_memories("ana", Filter(), 7, cursor)
        seen += [one.memory_id for one in page.memories]
        clock.now_ms += 1
        stored(writer, f"meanwhile {len(seen)}")
        if len(seen) > 50:
            writer.update(asking(), seen[-1], Patch({"importance": 0.9}))
        cursor = page.cursor
        if cursor is None:
            break

    assert len(seen) == len(set(seen)) == 230
    assert set(seen) == ids


def test_a_page_that_would_be_too_large_is_shorter_and_goes_on() -> None:
    of = controller()
    metadata = json.dumps({"note": "x" * 16_000})
    for number in range(0, 120, 20):
        stored(of, *(f"{number + place}" + "漢" * 15_990 for place in range(20)), metadata_json=metadata)

    first = of.list_memories("ana", Filter(), 200)
    rest = of.list_memories("ana", Filter(), 200, first.cursor)

    assert 0 < len(first.memories) < 120
    assert len(first.memories) + len(rest.memories) == 120
    result = of.search("ana", SearchQuery(text="漢", k=100, mode=Mode.LEXICAL))
    assert result.is_truncated
    assert 0 < len(result.hits) < 100


def test_pages_end_and_refuse_foreign_cursors() -> None:
    of = controller()
    stored(of, "one", "two", "three")
    cursor = of.list_memories("ana", Filter(), 2).cursor

    assert of.list_memories("ana", Filter(), 3).cursor is None
    with pytest.raises(InvalidInput):
        of.list_memories("bob", Filter(), 2, cursor)
    with pytest.raises(InvalidInput):
        of.list_memories("ana", Filter(agent_id="x"), 2, cursor)


def test_expired_memories_are_gone_to_the_second() -> None:
    clock = Clock()
    of = controller(clock=clock)
    (memory_id,) = stored(of, "short", expires_at_ms=NOW_MS + 1_000)

    clock.now_ms += 999
    assert found(of, "short") == ["short"]
    clock.now_ms += 1

    assert found(of, "short") == []
    assert of.list_memories("ana", Filter(statuses=()), 5).memories == ()
    assert of.stats("ana").total == 0
    for act in (
        lambda: of.get("ana", memory_id),
        lambda: of.delete(asking(), memory_id),
        lambda: of.update(asking(), memory_id, Patch({"importance": 1.0})),
    ):
        with pytest.raises(NotFound):
            act()


def test_stats_count_by_type_tag_and_status() -> None:
    of = controller()
    stored(of, "a", "b", tags=("x",))
    stored(of, "c", type=MemoryType.EPISODIC, tags=("x", "y"))

    stats = of.stats("ana")

    assert (stats.total, stats.seq) == (3, 3)
    assert stats.by_type == {"semantic": 2, "episodic": 1}
    assert stats.by_tag == {"x": 3, "y": 1}
    assert stats.by_status == {"active": 3}


def test_min_score_and_ranges_leave_out_what_is_below() -> None:
    of = controller()
    stored(of, "green tea", importance=0.2)
    stored(of, "green tea with milk", importance=0.8)

    assert found(of, "green tea", min_score=1.0) == ["green tea"]
    assert found(of, "green tea", filter=Filter(importance=Range(gte=0.5))) == ["green tea with milk"]


def test_a_status_other_than_active_is_out_of_default_results() -> None:
    of = controller()
    (memory_id,) = stored(of, "green tea")
    of.update(asking(), memory_id, Patch({"status": Status.ARCHIVED}))

    assert found(of, "green tea") == []
    assert found(of, "green tea", filter=Filter(statuses=(Status.ARCHIVED,))) == ["green tea"]


def test_parts_of_a_batch_fit_one_transaction_each() -> None:
    embedded = Embedded(HashingEmbedder().embed(["x"])[0], "hashing")
    small = [(memory("x", memory_id=str(number)), embedded) for number in range(100)]
    large = [(replace(one, content="漢" * 16_000), embedded) for one, _ in small]

    assert [len(part) for part in chunks(small)] == [COMMIT_MAX_COUNT, COMMIT_MAX_COUNT, 100 - 2 * COMMIT_MAX_COUNT]
    assert [one for part in chunks(large) for one in part] == large
    assert max(len(part) for part in chunks(large)) < 15
    assert list(chunks([])) == []
