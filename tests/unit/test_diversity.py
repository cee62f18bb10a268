"""What is alike among the results gives way to what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.answers import SearchQuery, Why
from recollect.controller import MemoryController
from recollect.diversity import OTHERS
from recollect.model import MemoryType
from recollect.nominating import OnSimilar
from recollect.ranking import Mode

from tests.support.asked import found, stored
from tests.support.builders import controller
from tests.support.embedder import HashingEmbedder

FRESH = {"on_similar": OnSimilar.CREATE}
RANKING = [mode for mode in Mode if mode is not Mode.EXACT]
TEA = ("Ana drinks green tea", "Ana drinks green tea daily", "green tea is what Ana drinks", "tea from Porto")


@pytest.mark.parametrize("mode", RANKING)
def test_of_what_is_alike_the_best_stays_and_the_others_give_way(mode: Mode) -> None:
    of = controller()
    stored(of, *TEA, **FRESH)

    assert "tea from Porto" not in found(of, "Ana drinks tea", k=2, mode=mode)
    first, second = found(of, "Ana drinks tea", k=2, mode=mode, diversity=0.6)

    assert (first, second) == (found(of, "Ana drinks tea", k=1, mode=mode)[0], "tea from Porto")


@pytest.mark.parametrize("mode", Mode)
def test_without_diversity_and_with_room_for_all_nothing_is_lost(mode: Mode) -> None:
    of = controller()
    stored(of, *TEA, **FRESH)
    plain = found(of, "Ana drinks tea", mode=mode)

    assert found(of, "Ana drinks tea", mode=mode, diversity=0.0) == plain
    assert sorted(found(of, "Ana drinks tea", mode=mode, diversity=1.0)) == sorted(plain)


@pytest.mark.parametrize("mode", RANKING)
@pytest.mark.parametrize("diversity", [0.3, 1.0])
def test_the_querys_very_text_keeps_its_place_however_often_it_is_there(mode: Mode, diversity: float) -> None:
    of = controller()
    for session in ("one", "two", "three"):
        stored(of, "green tea", session_id=session, type=MemoryType.EPISODIC)
    stored(of, "green tea and milk", "black coffee with tea", **FRESH)

    hits = of.search("ana", SearchQuery(text="green tea", mode=mode, k=4, diversity=diversity, reinforces=False)).hits

    assert [hit.memory.content for hit in hits[:3]] == ["green tea"] * 3
    assert [hit.score for hit in hits[:3]] == [1.0] * 3
    assert hits[3].score < 1.0


@pytest.mark.parametrize("mode", RANKING)
def test_nothing_below_the_least_score_takes_a_place(mode: Mode) -> None:
    of = controller()
    stored(of, *TEA, "black coffee", **FRESH)
    kept = set(found(of, "Ana drinks green tea", mode=mode, min_score=0.5))

    assert set(found(of, "Ana drinks green tea", mode=mode, min_score=0.5, diversity=1.0)) == kept


def test_what_has_no_vector_is_like_nothing_but_its_own_text() -> None:
    embedder = HashingEmbedder()
    of = controller(embedder=embedder)
    embedder.is_down = True
    for session in ("one", "two"):
        stored(of, "Ana drinks green tea", session_id=session, type=MemoryType.EPISODIC)
    stored(of, "Ana drinks green tea daily", "some tea", **FRESH)

    for mode in (Mode.HYBRID, Mode.LEXICAL):
        assert found(of, "Ana drinks tea", k=3, mode=mode)[:2] == ["Ana drinks green tea"] * 2
        assert found(of, "Ana drinks tea", k=3, mode=mode, diversity=0.5) == [
            "Ana drinks green tea",
            "Ana drinks green tea daily",
            "some tea",
        ]


def test_words_find_and_vectors_thin_when_only_the_query_is_without_one() -> None:
    embedder = HashingEmbedder()
    of = controller(embedder=embedder)
    stored(of, *TEA, **FRESH)
    embedder.is_down = True

    assert found(of, "Ana drinks tea", k=2, diversity=0.6)[1] == "tea from Porto"


def explained(of: MemoryController, ids: list[str], **values: object) -> list[tuple[Why, str | None]]:
    query = SearchQuery(text="Ana drinks tea", explained_ids=tuple(ids), reinforces=False, **values)  # type: ignore[arg-type]
    return [(one.why, one.like) for one in of.search("ana", query).explained]


def test_what_gave_way_is_told_and_to_what_it_is_like() -> None:
    of = controller()
    ids = stored(of, *TEA, **FRESH)
    (first,) = of.search("ana", SearchQuery(text="Ana drinks tea", k=1, reinforces=False)).hits
    best = first.memory.memory_id

    told = dict(zip(ids, explained(of, ids, k=2, diversity=0.6), strict=True))

    assert told[best] == told[ids[3]] == (Why.HIT, None)
    assert sorted(why for why, _ in told.values()) == [Why.HIT, Why.HIT, Why.OUTRANKED, Why.THINNED]
    assert [like for why, like in told.values() if why is Why.THINNED] == [best]
    assert Why.THINNED not in {why for why, _ in explained(of, ids, k=2)}


@given(
    st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=12),
    st.integers(1, 6),
    st.floats(0, 1),
)
def test_the_hits_are_some_of_the_best_none_twice_the_best_first_and_always_the_same(
    texts: list[str], k: int, diversity: float
) -> None:
    of = controller()
    for number, text in enumerate(texts):
        stored(of, text, session_id=str(number), type=MemoryType.EPISODIC)

    for mode in RANKING:
        query = SearchQuery(text="a b c d", mode=mode, k=k, diversity=diversity, reinforces=False)
        hits = of.search("ana", query).hits
        candidates = of.search("ana", SearchQuery(text="a b c d", mode=mode, k=100, reinforces=False)).hits
        ids = [hit.memory.memory_id for hit in hits]
        assert len(set(ids)) == len(ids) == min(k, len(candidates))
        assert set(ids) <= {hit.memory.memory_id for hit in candidates[: k + OTHERS]}
        assert not hits or hits[0] == candidates[0]
        assert of.search("ana", query).hits == hits


def test_a_context_has_room_for_what_is_not_alike() -> None:
    of = controller()
    stored(of, *TEA, type=MemoryType.EPISODIC, **FRESH)

    def contents(diversity: float) -> list[str]:
        block = of.context("ana", SearchQuery(text="Ana drinks tea", diversity=diversity, reinforces=False), 80)
        return [of.get("ana", memory_id).content for memory_id in block.volatile.memory_ids]

    assert contents(0.0)[0] == contents(0.6)[0]
    assert "tea from Porto" not in contents(0.0)
    assert contents(0.6)[1] == "tea from Porto"
