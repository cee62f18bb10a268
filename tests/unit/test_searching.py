import pytest
from recollect.answers import SearchQuery
from recollect.errors import Unavailable
from recollect.filters import EVERYTHING
from recollect.model import QUERY_MAX_CHARS
from recollect.nominating import OnSimilar
from recollect.ordering import Order, OrderBy
from recollect.ranking import Mode, Weights

from tests.support.asked import ANY_MODE, found, stored, where
from tests.support.builders import NOW_MS, Clock, asking, controller, to_store
from tests.support.embedder import HashingEmbedder
from tests.support.inmemory import InMemoryMemoryStore

RANKING = [mode for mode in Mode if mode is not Mode.EXACT]


@ANY_MODE
def test_a_memory_is_found_in_the_first_search_after_its_store_from_any_instance(mode: Mode) -> None:
    store = InMemoryMemoryStore()
    warm = controller(store, prefix="01HFA")
    assert found(warm, "green tea", mode=mode) == []

    stored(controller(store, prefix="01HFB"), "Ana likes green tea")

    assert found(warm, "green tea", mode=mode) == ["Ana likes green tea"]


@pytest.mark.parametrize("mode", RANKING)
def test_the_same_text_scores_one_and_ranks_first(mode: Mode) -> None:  # case R1
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

    for mode in RANKING:
        assert found(of, "tea", mode=mode)[0] == "tea"


@ANY_MODE
def test_filters_apply_before_ranking(mode: Mode) -> None:  # case R3
    of = controller()
    least = "lecture on chromodynamics" + (" and tea" if mode is Mode.LEXICAL else "")
    stored(of, *(f"green tea number {number}" for number in range(500)), tags=("x",), on_similar=OnSimilar.CREATE)
    stored(of, least, tags=("y",))
    order = Order(OrderBy.CREATED_AT, is_descending=False)
    assert least not in found(of, "green tea", k=100, mode=mode, order=order)

    assert found(of, "green tea", k=1, filter=where("tags", "contains", "y"), mode=mode) == [least]


def test_min_score_and_ranges_leave_out_what_is_below() -> None:
    of = controller()
    stored(of, "green tea", importance=0.2)
    stored(of, "green tea with milk", importance=0.8)

    assert found(of, "green tea", min_score=1.0) == ["green tea"]
    assert found(of, "green tea", filter=where("importance", "gte", 0.5)) == ["green tea with milk"]


@pytest.mark.parametrize("mode", RANKING)
@pytest.mark.parametrize(
    ("exact", "weights"),
    [
        ("where is the spare key", Weights(recency=1.0)),
        ("where is the spare key", Weights()),
        ("the spare key is under the mat", Weights()),
    ],
)
def test_an_old_exact_match_beats_a_fresh_vague_one(mode: Mode, exact: str, weights: Weights) -> None:  # case R7
    clock = Clock()
    of = controller(clock=clock)
    stored(of, exact)
    clock.now_ms += 240 * 24 * 3600 * 1000
    stored(of, "a key is useful", "the weather is nice", "where is everybody")

    assert found(of, "where is the spare key", mode=mode, weights=weights)[0] == exact


def test_hybrid_answers_lexically_and_says_so_when_the_embedder_is_down() -> None:  # case R6
    embedder = HashingEmbedder()
    of = controller(embedder=embedder)
    stored(of, "green tea", "black coffee")
    embedder.is_down = True

    result = of.search("ana", SearchQuery(text="coffee"))

    assert [hit.memory.content for hit in result.hits] == ["black coffee"]
    assert result.is_degraded
    with pytest.raises(Unavailable):
        of.search("ana", SearchQuery(text="coffee", mode=Mode.SEMANTIC))


def test_what_is_close_to_a_text_is_active_and_no_use_of_it_closest_first() -> None:
    store, embedder = InMemoryMemoryStore(), HashingEmbedder()
    of = controller(store, embedder)
    fresh = {"on_similar": OnSimilar.CREATE}
    stored(of, "Ana likes green tea", occurred_at_ms=NOW_MS - 10**11, importance=0.0, **fresh)
    (old_id, *_) = stored(of, "green tea is in the cellar", "the office closes at six", importance=1.0, **fresh)
    of.store(asking(), [to_store("the cellar is empty", supersedes=old_id)])
    stored(of, "Ana likes green tea no more", expires_at_ms=NOW_MS, **fresh)

    for is_down in (False, True):
        embedder.is_down = is_down
        close = of.close_to("ana", "it seems that Ana likes tea", limit=2)
        assert close[0].content == "Ana likes green tea"
        assert {"green tea is in the cellar", "Ana likes green tea no more"}.isdisjoint(one.content for one in close)
        assert len(close) == (1 if is_down else 2)
    assert of.close_to("ana", " \n") == of.close_to("nobody", "tea") == []
    assert {one.access_count for one in of.list_memories("ana", EVERYTHING, 9).memories} == {0}


def test_a_text_as_long_as_a_passage_finds_what_is_close_to_its_begin() -> None:
    embedder = HashingEmbedder()
    of = controller(embedder=embedder)
    stored(of, "Ana likes green tea")

    assert [one.content for one in of.close_to("ana", "Ana likes green tea " * 1_000)] == ["Ana likes green tea"]

    assert len(embedder.texts[-1]) <= QUERY_MAX_CHARS


def test_hits_nothing_found_and_failure_are_three_answers() -> None:  # case R6
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
    assert found(of, "tea that is green", mode=Mode.SEMANTIC) == ["black coffee"]


def test_a_query_that_names_an_actor_prefers_their_memories_but_leaves_nobody_out() -> None:
    of = controller()
    of.store(
        asking(),
        [
            to_store(content="I adopted a cat", actor="Leo Park"),
            to_store(content="I adopted a cat", actor="Mia"),
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
