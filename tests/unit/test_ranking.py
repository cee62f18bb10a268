"""What lifts a score beside relevance, and how far. Case R7."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from recollect.answers import Hit, SearchQuery
from recollect.controller import MemoryController
from recollect.filters import Compare, Operator, within_reach
from recollect.model import MemoryType
from recollect.ranking import HALF_LIFE_MS, USES_OF_HALF, Mode, TypeWeights, Weights
from recollect.scan import Scores
from recollect.shortlist import strongest

from tests.support.builders import NOW_MS, Clock, controller
from tests.support.histories import stored

DAY_MS = 24 * 3600 * 1000
NOTHING = Weights(0.0, 0.0, 0.0)


def hits(of: MemoryController, text: str, weights: Weights, mode: Mode = Mode.HYBRID) -> list[Hit]:
    return list(of.search("ana", SearchQuery(text=text, mode=mode, weights=weights, reinforces=False)).hits)


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.SEMANTIC, Mode.LEXICAL])
def test_an_old_exact_match_beats_a_fresh_vague_one_whatever_the_weights(mode: Mode) -> None:
    clock = Clock(NOW_MS - 240 * DAY_MS)
    of = controller(clock=clock)
    old = stored(of, "the spare key is with the neighbour", importance=0.0)
    clock.now_ms = NOW_MS
    fresh = stored(of, "the key question of the spare parts", importance=1.0)
    for _ in range(50):
        of.search("ana", SearchQuery(text="question of the parts", k=1))

    found = hits(of, "the spare key is with the neighbour", Weights(1.0, 1.0, 1.0), mode)

    assert [hit.memory.memory_id for hit in found] == [old, fresh]
    assert found[0].score == 1.0


def test_among_equally_relevant_memories_the_weights_decide() -> None:
    clock = Clock()
    of = controller(clock=clock)
    used = stored(of, "green tea one")
    of.search("ana", SearchQuery(text="green tea one", k=1))
    important = stored(of, "green tea two", importance=1.0)
    clock.now_ms += 20 * DAY_MS
    recent = stored(of, "green tea three", importance=0.1)

    def first(weights: Weights) -> str:
        return hits(of, "green tea", weights)[0].memory.memory_id

    assert first(replace(NOTHING, recency=1.0)) == recent
    assert first(replace(NOTHING, importance=1.0)) == important
    assert first(replace(NOTHING, reinforcement=1.0)) == used


def test_the_parts_are_what_the_documentation_says() -> None:
    clock = Clock(NOW_MS - HALF_LIFE_MS)
    of = controller(clock=clock)
    stored(of, "green tea", importance=0.25)
    clock.now_ms = NOW_MS

    (plain,), (lifted,) = hits(of, "tea", NOTHING), hits(of, "tea", Weights(0.5, 0.5, 0.5))

    assert lifted.parts["recency"] == pytest.approx(0.5)
    assert lifted.parts["importance"] == 0.25
    assert lifted.parts["reinforcement"] == 0.0
    lift = (0.5 * 0.5 + 0.5 * 0.25) / 1.5
    assert lifted.score == pytest.approx(plain.score + plain.score * (1 - plain.score) * lift, rel=1e-5)
    for _ in range(USES_OF_HALF):
        of.search("ana", SearchQuery(text="tea"))
    assert hits(of, "tea", NOTHING)[0].parts["reinforcement"] == 0.5
    assert hits(of, "tea", NOTHING)[0].parts["recency"] == 1.0


def said(of: MemoryController, *contents: str, session_id: str = "s", **values: Any) -> list[str]:
    return [stored(of, one, type=MemoryType.EPISODIC, session_id=session_id, **values) for one in contents]


def test_an_answer_is_found_by_the_question_before_it() -> None:
    of = controller()
    said(of, "Which instrument do you play?", "The cello, since I was six.", "Lovely, I am tone-deaf.")
    said(of, "Nothing about music here.", session_id="another")

    found = hits(of, "instrument that they play", NOTHING, Mode.LEXICAL)

    assert [hit.memory.content for hit in found][1:] == ["The cello, since I was six.", "Lovely, I am tone-deaf."]
    assert found[0].parts["lexical"] == found[1].parts["context"] > found[1].parts["lexical"] == 0.0


def test_what_the_filter_leaves_out_is_no_context() -> None:
    of = controller()
    said(of, "Which instrument do you play?", actor="Ben")
    said(of, "The cello, since I was six.", actor="Ana")

    query = SearchQuery(
        text="instrument", mode=Mode.LEXICAL, filter=within_reach(Compare(("actor",), Operator.EQ, "Ana"))
    )

    assert of.search("ana", query).hits == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"session_id": "one"}, {"session_id": "two"}),
        ({"session_id": None}, {"session_id": None}),
        ({"session_id": "s", "type": MemoryType.SEMANTIC}, {"session_id": "s", "type": MemoryType.SEMANTIC}),
    ],
)
def test_only_turns_of_one_session_are_context_of_each_other(first: dict[str, Any], second: dict[str, Any]) -> None:
    of = controller()
    kind = {"type": MemoryType.EPISODIC}
    stored(of, "Which instrument do you play?", **(kind | first))
    stored(of, "The cello, since I was six.", **(kind | second))

    assert len(hits(of, "instrument", NOTHING, Mode.LEXICAL)) == 1


def test_of_two_that_match_alike_the_one_that_does_not_ask_is_first() -> None:
    of = controller()
    stored(of, "a dentist in Porto?")
    answer = stored(of, "a dentist in Porto!")

    found = hits(of, "a good dentist", NOTHING, Mode.SEMANTIC)

    assert found[0].memory.memory_id == answer
    assert [hit.parts["asking"] for hit in found] == [0.0, 1.0]


def test_a_query_that_names_a_time_prefers_what_happened_then_but_leaves_nothing_out() -> None:
    of = controller()
    ids = {
        day: stored(of, f"we met at the lake {word}", occurred_at_ms=NOW_MS - day * DAY_MS)
        for day, word in ((40, "one"), (5, "two"), (400, "three"), (0, "four"))
    }
    now = datetime.fromtimestamp(NOW_MS / 1000, UTC)

    def order(query: str) -> list[str]:
        return [hit.memory.memory_id for hit in hits(of, query, NOTHING)]

    assert order(f"the lake in {now - timedelta(days=400):%B %Y}")[0] == ids[400]
    assert order("who was at the lake 5 days ago")[0] == ids[5]
    assert order("the lake today") == [ids[day] for day in (0, 5, 40, 400)]
    found = hits(of, "the lake 12 days ago", NOTHING)
    assert {hit.memory.memory_id: round(hit.parts["time"], 2) for hit in found}[ids[5]] == pytest.approx(0.5, abs=0.05)
    assert all(hit.parts["time"] == 0.0 for hit in hits(of, "the lake", NOTHING))


@pytest.mark.parametrize(
    ("query", "days_ago"),
    [("the lake last week", 407), ("the lake two days ago", 402), ("the lake in the last three months", 460)],
)
def test_what_is_said_relative_to_now_is_relative_to_when_it_is_asked(query: str, days_ago: int) -> None:
    of = controller()
    ids = {
        days: stored(of, f"the lake {word}", occurred_at_ms=NOW_MS - days * DAY_MS, importance=0.1)
        for days, word in ((402, "one"), (407, "two"), (460, "three"), (7, "four"), (2, "five"), (700, "six"))
    }
    then = NOW_MS - 400 * DAY_MS

    def times(now_ms: int | None) -> dict[str, float]:
        found = of.search("ana", SearchQuery(text=query, weights=NOTHING, now_ms=now_ms, reinforces=False)).hits
        return {hit.memory.memory_id: hit.parts["time"] for hit in found}

    assert times(then)[ids[days_ago]] == 1.0
    assert max(times(then)[ids[700]], times(then)[ids[2]]) < 0.001
    assert times(None)[ids[days_ago]] < 0.001


def test_recency_is_counted_to_when_it_is_asked() -> None:
    of = controller()
    stored(of, "green tea", occurred_at_ms=NOW_MS - 2 * HALF_LIFE_MS)

    def recency(now_ms: int | None) -> float:
        return of.search("ana", SearchQuery(text="tea", now_ms=now_ms, reinforces=False)).hits[0].parts["recency"]

    assert [recency(NOW_MS - HALF_LIFE_MS), recency(NOW_MS - 3 * HALF_LIFE_MS), recency(None)] == [0.5, 1.0, 0.25]


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.SEMANTIC, Mode.LEXICAL])
@pytest.mark.parametrize(("side", "expected"), [("before", "early"), ("after", "late")])
def test_a_query_that_names_an_event_prefers_what_happened_on_that_side_of_it(
    mode: Mode, side: str, expected: str
) -> None:
    of = controller()
    stored(of, "our move to the new flat was hard", occurred_at_ms=NOW_MS - 200 * DAY_MS)
    ids = {}
    for name, days in (("late", 20), ("early", 400)):
        (ids[name],) = said(of, "we walk by the river", session_id=name, occurred_at_ms=NOW_MS - days * DAY_MS)

    walks = [hit for hit in hits(of, f"the river {side} the move", NOTHING, mode) if "river" in hit.memory.content]

    assert [hit.parts["time"] for hit in walks] == [1.0, pytest.approx(0.0, abs=0.001)]
    assert walks[0].memory.memory_id == ids[expected]
    assert {hit.parts["time"] for hit in hits(of, f"the river {side} the wedding", NOTHING, mode)} == {0.0}


def test_an_event_that_the_filter_leaves_out_tells_no_time() -> None:
    of = controller()
    stored(of, "our move to the new flat", occurred_at_ms=NOW_MS - 200 * DAY_MS, actor="Ben")
    stored(of, "we walk by the river", occurred_at_ms=NOW_MS - 400 * DAY_MS, actor="Ana")

    query = SearchQuery(text="the river before the move", filter=within_reach(Compare(("actor",), Operator.EQ, "Ana")))

    assert [hit.parts["time"] for hit in of.search("ana", query).hits] == [0.0]


KINDS = (MemoryType.EPISODIC, MemoryType.SEMANTIC, MemoryType.PROCEDURAL)


def typed(**types: float) -> Weights:
    return Weights(0.0, 0.0, 0.0, TypeWeights(**types))


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.SEMANTIC, Mode.LEXICAL])
@pytest.mark.parametrize("kind", KINDS)
def test_memories_of_a_type_that_is_wanted_more_come_first(kind: MemoryType, mode: Mode) -> None:
    of = controller()
    ids = {one: stored(of, "we drink green tea", type=one) for one in KINDS}

    more = hits(of, "tea for us", typed(**{kind: 2.0}), mode)
    less = hits(of, "tea for us", typed(**{kind: 0.0}), mode)

    assert more[0].memory.memory_id == less[-1].memory.memory_id == ids[kind]
    assert more[0].score > more[1].score == more[2].score == less[0].score > less[2].score > 0.0
    assert [hit.parts["type"] for hit in more] == [2.0, 1.0, 1.0]


def test_the_weight_of_a_type_is_what_the_documentation_says() -> None:
    of = controller()
    stored(of, "we drink green tea", type=MemoryType.SEMANTIC)
    ((plain,), (more,), (less,)) = (hits(of, "tea for us", typed(semantic=weight)) for weight in (1.0, 1.2, 0.5))

    assert hits(of, "tea for us", NOTHING) == [plain]
    for weight, hit in ((1.2, more), (0.5, less)):
        changed = plain.score + plain.score * (1 - plain.score) * (weight - 1)
        assert hit.score == pytest.approx(changed, rel=1e-5)


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.SEMANTIC, Mode.LEXICAL])
def test_no_type_buries_the_querys_very_text(mode: Mode) -> None:
    of = controller()
    same = stored(of, "the spare key is with Leo", type=MemoryType.EPISODIC, importance=0.0)
    stored(of, "the spare key is with Leo now", type=MemoryType.SEMANTIC, importance=1.0)

    found = hits(of, "the spare key is with Leo", Weights(1.0, 1.0, 1.0, TypeWeights(0.0, 2.0, 2.0)), mode)

    assert (found[0].memory.memory_id, found[0].score) == (same, 1.0)
    assert found[1].score < 1.0


@given(st.lists(st.floats(0, 2), min_size=3, max_size=3), st.floats(0, 1))
def test_weights_of_types_keep_scores_in_range_and_the_order_within_a_type(types: list[float], recency: float) -> None:
    of = controller()
    for kind in KINDS:
        for content in ("green tea", "tea with milk", "a red car"):
            stored(of, content, type=kind)

    def order(weights: Weights) -> dict[str, list[str]]:
        found = hits(of, "green tea please", weights)
        assert all(0.0 < hit.score < 1.0 for hit in found)
        return {kind: [hit.memory.memory_id for hit in found if hit.memory.type == kind] for kind in KINDS}

    assert order(Weights(recency, 0.0, 0.0, TypeWeights(*types))) == order(Weights(recency, 0.0, 0.0))


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_score_stays_in_its_range_and_never_sinks_below_relevance(a: float, b: float, c: float) -> None:
    of = controller()
    for content in ("green tea", "tea with milk", "a red car"):
        stored(of, content)

    plain = {hit.memory.memory_id: hit.score for hit in hits(of, "green tea please", NOTHING)}
    for hit in hits(of, "green tea please", Weights(a, b, c)):
        assert plain[hit.memory.memory_id] <= hit.score <= 1.0


@given(
    hnp.arrays(
        np.float32,
        st.integers(0, 60),
        elements=st.sampled_from([0.0, 1e-7, 0.3, 0.3003, 1.0]) | st.floats(0, 1, width=32),
    ),
    st.integers(1, 40),
)
def test_the_strongest_are_the_highest_and_of_equal_ones_the_first(scores: Scores, count: int) -> None:
    best = sorted(np.flatnonzero(scores > 0.0).tolist(), key=lambda place: (-scores[place], place))[:count]

    assert sorted(strongest(scores, count).tolist()) == sorted(best)
