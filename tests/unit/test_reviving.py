"""Archived memories come back: by one call, by being found in the archive, by being stored again."""

from typing import Any

import pytest
from recollect.answers import SearchQuery
from recollect.changes import Decision, Patch, archived
from recollect.controller import MemoryController
from recollect.errors import Conflict, Unavailable
from recollect.filters import ACTIVE, EVERYTHING, Compare, Filter, Operator, within_reach
from recollect.model import MemoryType, Operation, Status
from recollect.nominating import OnSimilar
from recollect.ranking import Mode
from recollect.undoing import Resolution

from tests.support.asked import found, stored, where
from tests.support.builders import NOW_MS, Clock, asking, controller, to_store
from tests.support.faults import DyingStore
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.texts import HIKES, NINE, SLEEPS, TEN

ARCHIVE = where("status", "eq", "archived")
BACK = Patch({"status": Status.ACTIVE})


def put_away(of: MemoryController, *memory_ids: str) -> None:
    """Archive memories, as decay does."""
    for memory_id in memory_ids:
        of._committer.commit(
            asking(),
            lambda partition, memories: Decision(
                (), tuple(archived(partition, one, of._surroundings.now_ms(), "it faded") for one in memories.values())
            ),
            reads=lambda _, memory_id=memory_id: (memory_id,),  # type: ignore[misc]
        )


def away(of: MemoryController, *contents: str, **values: Any) -> list[str]:
    ids = stored(of, *contents, **values)
    put_away(of, *ids)
    return ids


def status(of: MemoryController, memory_id: str) -> Status:
    return of.get("ana", memory_id).status


def test_one_call_brings_a_memory_back_as_fresh_as_if_it_had_just_been_changed() -> None:
    clock = Clock()
    of = controller(clock=clock)
    (tea,) = away(of, "green tea", importance=0.1)
    clock.now_ms += 5

    outcome = of.update(asking(), tea, BACK)

    assert (outcome.outcome, outcome.version) == ("updated", 3)
    memory = of.get("ana", tea)
    assert (memory.status, memory.updated_at_ms, memory.importance) == (Status.ACTIVE, NOW_MS + 5, 0.1)
    assert of.events("ana", 1).entries[0].operation is Operation.REVIVE
    assert of.update(asking(), tea, BACK).outcome == "unchanged"
    assert found(of, "tea") == ["green tea"]


def test_it_may_be_changed_in_the_same_call_or_stay_archived_while_it_is_changed() -> None:
    of = controller()
    (tea,) = away(of, "green tea")

    of.update(asking(), tea, Patch({"content": "black tea"}))
    assert status(of, tea) is Status.ARCHIVED
    of.update(asking(), tea, Patch({"content": "white tea", "status": Status.ACTIVE}))

    assert found(of, "white tea") == ["white tea"]


def test_what_another_memory_says_or_has_the_place_of_does_not_come_back() -> None:
    of = controller()
    (tea, sky) = away(of, "green tea", "blue sky")
    of.update(asking(), stored(of, "red tea")[0], Patch({"content": "green tea"}))
    (nine,) = stored(of, NINE)
    of.store(asking(), [to_store(TEN)])

    for memory_id in (tea, nine):
        with pytest.raises(Conflict):
            of.update(asking(), memory_id, BACK)

    assert found(of, "x", mode=Mode.EXACT, filter=ARCHIVE) == ["blue sky", "green tea"]
    assert (status(of, tea), status(of, nine), status(of, sky)) == (Status.ARCHIVED, Status.SUPERSEDED, Status.ACTIVE)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("wanted", [ARCHIVE, EVERYTHING, within_reach(Compare(("status",), Operator.NE, "superseded"))])
def test_what_a_search_of_the_archive_returned_is_active_from_then_on(mode: Mode, wanted: Filter) -> None:
    of = controller()
    (car,) = away(of, "a red car")
    (tea,) = away(of, "green tea")

    (hit,) = of.search("ana", SearchQuery(text="green tea", mode=mode, k=1, filter=wanted), by="agent").hits

    assert (hit.memory.memory_id, hit.memory.status) == (tea, Status.ARCHIVED)
    assert (status(of, tea), status(of, car)) == (Status.ACTIVE, Status.ARCHIVED)
    entry = of.events("ana", 1).entries[0]
    assert (entry.operation, entry.by) == (Operation.REVIVE, "agent")


def test_a_search_that_does_not_reinforce_and_other_reads_leave_the_archive_alone() -> None:
    of = controller()
    (tea,) = away(of, "green tea")

    of.search("ana", SearchQuery(text="green tea", filter=ARCHIVE, reinforces=False))
    of.context("ana", SearchQuery(text="green tea", filter=ARCHIVE, reinforces=False), 1_000)
    of.search("ana", SearchQuery(text="green tea"))
    of.list_memories("ana", ARCHIVE, 9)
    of.get("ana", tea)
    of.versions("ana", tea, 9)

    assert status(of, tea) is Status.ARCHIVED
    assert of.stats("ana").seq == 2


def test_a_context_of_the_archive_brings_back_what_it_shows_for_the_query() -> None:
    of = controller()
    (tea,) = away(of, "green tea")

    block = of.context("ana", SearchQuery(text="green tea", filter=ARCHIVE), 1_000, by="agent")

    assert block.volatile.memory_ids == (tea,)
    assert (status(of, tea), of.events("ana", 1).entries[0].by) == (Status.ACTIVE, "agent")


def test_as_many_come_back_as_were_found_and_each_counts_as_used() -> None:
    of = controller()
    ids = away(of, *(f"{chr(0x4E00 + number) * 9}" for number in range(40)))

    of.search("ana", SearchQuery(text="", mode=Mode.EXACT, k=100, filter=ARCHIVE))

    assert of.stats("ana").by_status == {"active": 40}
    assert {of.get("ana", one).access_count for one in ids} == {1}


def test_of_two_that_say_the_same_one_comes_back() -> None:
    of = controller()
    (first,) = stored(of, "green tea")
    (second,) = stored(of, "red tea")
    put_away(of, first)
    of.update(asking(), second, Patch({"content": "green tea"}))
    put_away(of, second)

    of.search("ana", SearchQuery(text="green tea", filter=ARCHIVE))

    assert of.stats("ana").by_status == {"active": 1, "archived": 1}


@pytest.mark.parametrize("call", ["append", "touch"])
def test_a_revival_that_fails_costs_no_answer_and_is_not_tried_again(call: str) -> None:
    store = DyingStore(InMemoryMemoryStore())
    of = controller(store.port)
    (tea,) = away(of, "green tea")

    def refuse() -> None:
        raise Unavailable("the table is busy")

    store.interrupt(call, "before", refuse)
    assert found(of, "tea", filter=ARCHIVE) == ["green tea"]
    assert status(of, tea) is (Status.ARCHIVED if call == "append" else Status.ACTIVE)
    assert store.calls.count("append") == 1


def test_a_revival_does_not_go_over_into_the_next_life_of_an_erased_user() -> None:
    store = DyingStore(InMemoryMemoryStore())
    of, other = controller(store.port), controller(store.port, prefix="01HFB")
    away(of, "green tea")

    def meanwhile() -> None:
        other.erase("ana")
        stored(other, "a red car")

    store.interrupt("touch", "after", meanwhile)
    assert found(of, "tea", filter=ARCHIVE) == ["green tea"]

    assert [one.content for one in of.list_memories("ana", EVERYTHING, 9).memories] == ["a red car"]


@pytest.mark.parametrize("on_similar", OnSimilar)
def test_to_store_an_archived_statement_again_brings_it_back(on_similar: OnSimilar) -> None:
    of = controller()
    (tea,) = away(of, "green tea", tags=("drinks",))

    (outcome,) = of.store(asking(key="k"), [to_store("green tea\n", on_similar=on_similar)])

    assert (outcome.outcome, outcome.memory_id, outcome.version) == ("revived", tea, 3)
    assert of.store(asking(key="k"), [to_store("green tea\n", on_similar=on_similar)]) == (outcome,)
    memory = of.get("ana", tea)
    assert (memory.status, memory.content, memory.tags) == (Status.ACTIVE, "green tea", ("drinks",))
    assert of.stats("ana").total == 1


def test_a_batch_revives_each_once_and_what_differs_in_kind_or_speaker_is_new() -> None:
    of = controller()
    tea, sky = away(of, "green tea", "blue sky")
    new = [
        to_store("green tea"),
        to_store("blue sky"),
        to_store("green tea"),
        to_store("green tea", type=MemoryType.EPISODIC),
        to_store("green tea", actor="Ines"),
    ]

    outcomes = of.store(asking(), new)

    assert [(one.outcome, one.memory_id in (tea, sky)) for one in outcomes] == [
        ("revived", True),
        ("revived", True),
        ("unchanged", True),
        ("created", False),
        ("created", False),
    ]


def test_what_was_archived_as_the_loser_of_a_conflict_does_not_come_back_beside_the_winner() -> None:
    of = controller()
    (loser,) = stored(of, HIKES)
    winner = of.store(asking(), [to_store(SLEEPS)])[0].memory_id
    of.resolve(asking(), winner, loser, Resolution.KEEP_THIS)

    (outcome,) = of.store(asking(), [to_store(HIKES)])

    assert (outcome.outcome, outcome.other_id) == ("conflict", winner)
    assert status(of, loser) is Status.ARCHIVED


def test_an_expired_archived_statement_is_stored_anew() -> None:
    clock = Clock()
    of = controller(clock=clock)
    (tea,) = away(of, "green tea", expires_at_ms=NOW_MS + 1)
    clock.now_ms += 1

    (outcome,) = of.store(asking(), [to_store("green tea")])

    assert outcome.outcome == "created"
    assert outcome.memory_id != tea
    assert found(of, "tea", filter=ACTIVE) == ["green tea"]


def test_an_archived_memory_that_is_stored_again_stays_as_long_as_was_asked_last() -> None:
    of = controller()
    (memory_id,) = away(of, "green tea", expires_at_ms=NOW_MS + 1)

    (outcome,) = of.store(asking(), [to_store("green tea", pinned=True)])

    memory = of.get("ana", memory_id)
    assert (outcome.outcome, outcome.memory_id) == ("revived", memory_id)
    assert (memory.status, memory.expires_at_ms, memory.pinned) == (Status.ACTIVE, None, True)
