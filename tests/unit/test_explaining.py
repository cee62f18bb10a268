"""Why a memory is among the hits of a search, or not: each reason, the numbers beside it, and what it costs."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect import shortlist
from recollect.answers import Explanation, SearchQuery, SearchResult, Why
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.errors import Unavailable
from recollect.filters import EVERYTHING, Filter, limits, within_reach
from recollect.model import Memory, Status
from recollect.nominating import OnSimilar
from recollect.ranking import Mode
from recollect.schemas.filters import FilterInput

from tests.support.asked import ANY_MODE, stored
from tests.support.builders import NOW_MS, Clock, asking, controller, to_store
from tests.support.embedder import HashingEmbedder
from tests.support.inmemory import InMemoryMemoryStore

NOBODY = "01HZZZZZZZZZZZZZZZZZZZZZZZ"
FRESH = {"on_similar": OnSimilar.CREATE}


def asked(
    of: MemoryController, ids: Sequence[str], text: str = "green tea", user_id: str = "ana", **values: object
) -> tuple[SearchResult, tuple[Explanation, ...]]:
    query = SearchQuery(text=text, explained_ids=tuple(ids), reinforces=False, **values)  # type: ignore[arg-type]
    result = of.search(user_id, query)
    return result, result.explained


def why(of: MemoryController, memory_id: str, **values: object) -> Why:
    ((one,)) = asked(of, [memory_id], **values)[1]  # type: ignore[arg-type]
    return one.why


@ANY_MODE
def test_a_hit_and_what_is_outranked_tell_their_place_among_all_that_passed(mode: Mode) -> None:
    of = controller()
    ids = stored(of, "green tea", "green tea in a cup", "tea that is not quite so green", **FRESH)
    everything = of.search("ana", SearchQuery(text="green tea", mode=mode, reinforces=False)).hits
    order = [hit.memory.memory_id for hit in everything]

    result, explained = asked(of, order[::-1], mode=mode, k=2)

    assert sorted(order) == sorted(ids)
    assert [(one.memory_id, one.why, one.rank) for one in explained] == [
        (order[2], Why.OUTRANKED, 3),
        (order[1], Why.HIT, 2),
        (order[0], Why.HIT, 1),
    ]
    assert [hit.memory.memory_id for hit in result.hits] == order[:2]
    for one, hit in zip(explained, everything[::-1], strict=True):
        assert (one.score, one.parts) == (hit.score, hit.parts)


@ANY_MODE
def test_to_ask_why_changes_neither_the_hits_nor_their_use(mode: Mode) -> None:
    of = controller()
    ids = stored(of, "green tea", "green tea in a cup", "black coffee", **FRESH)
    query = SearchQuery(text="green tea", mode=mode, k=2, reinforces=False)

    plain = of.search("ana", query)
    asked_why = of.search("ana", replace(query, explained_ids=(*ids, NOBODY)))

    assert replace(asked_why, explained=()) == plain
    assert {one.access_count for one in of.list_memories("ana", EVERYTHING, 9).memories} == {0}


@ANY_MODE
def test_what_is_there_no_more_is_told_from_what_never_was(mode: Mode) -> None:
    clock = Clock()
    of = controller(clock=clock)
    ids = stored(of, "green tea", "green tea again", **FRESH)
    (ends,) = stored(of, "green tea for now", expires_at_ms=NOW_MS + 10, **FRESH)
    of.delete(asking(), ids[0])
    of.purge(asking(), ids[1])
    clock.now_ms += 10

    result, explained = asked(of, [*ids, ends, NOBODY], mode=mode)

    assert result.hits == ()
    assert [one.why for one in explained] == [Why.DELETED, Why.PURGED, Why.EXPIRED, Why.UNKNOWN]
    assert all((one.rank, one.score, one.parts) == (None, None, {}) for one in explained)


@ANY_MODE
def test_another_users_memory_and_none_are_told_alike(mode: Mode) -> None:
    of = controller()
    (foreign,) = stored(of, "green tea", user_id="bob")
    stored(of, "green tea")

    _, (one, other) = asked(of, [foreign, NOBODY], mode=mode)

    assert one == replace(other, memory_id=foreign) == Explanation(foreign, Why.UNKNOWN)


@ANY_MODE
def test_a_status_that_is_not_asked_for_is_the_reason(mode: Mode) -> None:
    of = controller()
    archived, old = stored(of, "green tea", "we drink green tea in Porto", **FRESH)
    of.update(asking(), archived, Patch({"status": Status.ARCHIVED}))
    of.store(asking(), [to_store("we drink coffee", supersedes=old)])
    conditions = limits(EVERYTHING)

    _, explained = asked(of, [archived, old], mode=mode, conditions=conditions)

    assert [(one.why, one.conditions) for one in explained] == [(Why.ARCHIVED, ()), (Why.SUPERSEDED, ())]


@ANY_MODE
def test_what_was_not_valid_then_is_told(mode: Mode) -> None:
    clock = Clock()
    of = controller(clock=clock)
    (old,) = stored(of, "the office is in Porto")
    clock.now_ms += 1_000
    new = of.store(asking(), [to_store("we meet in Lisbon", supersedes=old)])[0].memory_id

    def reasons(as_of_ms: int) -> list[Why]:
        reach, conditions = within_reach(EVERYTHING, as_of_ms), limits(EVERYTHING, as_of_ms)
        explained = asked(of, [old, new], "office we meet", mode=mode, filter=reach, conditions=conditions)[1]
        return [one.why for one in explained]

    assert reasons(NOW_MS) == [Why.HIT, Why.INVALID_THEN]
    assert reasons(NOW_MS + 1_000) == [Why.INVALID_THEN, Why.HIT]
    assert reasons(NOW_MS - 1) == [Why.INVALID_THEN, Why.INVALID_THEN]


FILTERS = [
    ({"field": "tags", "contains": "x"}, ("/filter/contains",)),
    ({"field": "importance", "gte": 0.6, "lt": 0.9, "ne": 0.1}, ("/filter/gte",)),
    ({"all": [{"field": "tags", "contains": "y"}, {"field": "type", "in": ["episodic"]}]}, ("/filter/all/1/in",)),
    (
        {"all": [{"field": "importance", "gt": 0.5}, {"all": [{"field": "pinned", "eq": True}]}]},
        ("/filter/all/0/gt", "/filter/all/1/all/0/eq"),
    ),
    ({"any": [{"field": "pinned", "eq": True}, {"field": "actor", "exists": True}]}, ("/filter/any",)),
    ({"not": {"field": "tags", "contains": "y"}}, ("/filter/not",)),
    ({"field": "status", "eq": "archived"}, ("/filter/eq",)),
]


@pytest.mark.parametrize(("given_filter", "expected"), FILTERS)
@ANY_MODE
def test_the_conditions_that_do_not_hold_are_named_by_their_place(
    given_filter: object, expected: tuple[str, ...], mode: Mode
) -> None:
    of = controller()
    stored(of, "green tea of another kind", tags=("x",), importance=0.7, **FRESH)
    (memory_id,) = stored(of, "green tea", tags=("y",), importance=0.5, **FRESH)
    parsed = FilterInput.model_validate(given_filter)
    conditions: dict[str, Filter] = parsed.conditions("/filter") | limits(parsed.to_filter())

    _, (one,) = asked(of, [memory_id], mode=mode, filter=within_reach(parsed.to_filter()), conditions=conditions)

    assert (one.why, one.conditions) == (Why.FILTERED, expected)


def test_a_score_that_is_too_low_is_told_with_all_that_it_is_made_of() -> None:
    of = controller()
    ids = stored(of, "green tea", "the green of the tea leaves is lovely", **FRESH)

    _, (first, second) = asked(of, ids, min_score=0.99)

    assert (first.why, second.why, second.rank) == (Why.HIT, Why.BELOW_MIN_SCORE, 2)
    assert second.score is not None
    assert 0.0 < second.score < 0.99
    assert {"semantic", "lexical", "context", "time", "actor", "recency"} <= second.parts.keys()


def test_what_has_nothing_of_the_query_is_unmatched_and_what_has_no_vector_pending() -> None:
    embedder = HashingEmbedder()
    of = controller(embedder=embedder)
    (plain,) = stored(of, "black coffee")
    embedder.is_down = True
    (pending,) = stored(of, "the green tea of Porto")
    embedder.is_down = False

    assert why(of, plain, mode=Mode.LEXICAL) == Why.UNMATCHED
    assert why(of, pending, mode=Mode.SEMANTIC) == Why.PENDING
    assert why(of, pending, text="zebra crossing") == Why.PENDING
    assert why(of, pending, text="zebra crossing", mode=Mode.LEXICAL) == Why.UNMATCHED
    assert [one.is_pending for one in asked(of, [plain, pending])[1]] == [False, True]
    assert why(of, pending) == Why.HIT
    embedder.is_down = True
    assert why(of, pending, text="zebra crossing") == Why.UNMATCHED
    with pytest.raises(Unavailable):
        why(of, pending, mode=Mode.SEMANTIC)


def test_of_very_many_what_was_not_looked_at_is_told_with_its_score_and_its_rank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of = controller()
    ids = stored(of, "green tea leaves", "green tea", "green paint for the fence", "black coffee", **FRESH)
    whole = asked(of, ids, text="green tea leaves please", mode=Mode.LEXICAL)
    for name, count in (("ALL_MAX_COUNT", 0), ("SHORTLIST_FOR", 1), ("LEXICAL_MAX_COUNT", 2)):
        monkeypatch.setattr(shortlist, name, count)

    result, explained = asked(of, ids, text="green tea leaves please", mode=Mode.LEXICAL)

    assert [hit.memory.memory_id for hit in result.hits] == ids[:2]
    assert [(one.why, one.rank) for one in explained] == [
        (Why.HIT, 1),
        (Why.HIT, 2),
        (Why.NOT_SHORTLISTED, 3),
        (Why.UNMATCHED, 4),
    ]
    assert [(one.score, one.parts) for one in explained] == [(one.score, one.parts) for one in whole[1]]


class Forgetful(InMemoryMemoryStore):
    """Loses what it is asked for, as if it were deleted in between."""

    def fetch(self, user_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        return {}


@ANY_MODE
def test_what_was_to_be_a_hit_but_is_gone_when_it_is_fetched_is_left_out(mode: Mode) -> None:
    of = controller(Forgetful())
    (memory_id,) = stored(of, "green tea")

    result, (one,) = asked(of, [memory_id], mode=mode)

    assert result.hits == ()
    assert (one.why, one.rank) == (Why.LEFT_OUT, 1)


@given(
    st.lists(st.sampled_from(["green", "tea", "black", "coffee", "milk"]), min_size=1, max_size=5), st.integers(1, 4)
)
def test_every_memory_is_a_hit_or_has_a_reason_and_ranks_follow_scores(words: list[str], k: int) -> None:
    of = controller()
    ids = stored(of, *(" ".join(words[: n + 1]) + f" {n}" for n in range(len(words))), **FRESH)

    for mode in Mode:
        result, explained = asked(of, ids, text=words[0], mode=mode, k=k)
        hits = [hit.memory.memory_id for hit in result.hits]
        assert {one.memory_id for one in explained if one.why is Why.HIT} == set(hits)
        assert sorted(one.rank or 0 for one in explained) == list(range(1, len(ids) + 1))
        by_rank = sorted(explained, key=lambda one: one.rank or 0)
        scores = [one.score for one in by_rank if one.score is not None]
        assert scores == sorted(scores, reverse=True)
        assert [one.memory_id for one in by_rank][: len(hits)] == hits
