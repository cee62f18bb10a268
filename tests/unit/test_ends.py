"""What is stored again, or adds to or contradicts a memory, and is to end at another time than that one."""

import pytest

from tests.support.asked import found, stored
from tests.support.builders import NOW_MS, Clock, asking, controller, entries_of, to_store
from tests.support.inmemory import InMemoryMemoryStore

DOG, REX = "The user has a dog", "The user has a dog named Rex"
OLD, NEW = "The user's team uses PostgreSQL 14", "The user's team uses PostgreSQL 15"


@pytest.mark.parametrize("again", [DOG, "the user has a DOG!"])
@pytest.mark.parametrize("end", [None, NOW_MS + 2])
def test_what_is_said_again_stays_as_long_as_was_asked_last(again: str, end: int | None) -> None:
    clock = Clock()
    of = controller(clock=clock)
    (memory_id,) = stored(of, DOG, expires_at_ms=NOW_MS + 1, tags=("drinks",))

    (outcome,) = of.store(asking(), [to_store(again, expires_at_ms=end, tags=("mornings",), pinned=True)])

    memory = of.get("ana", memory_id)
    assert (outcome.outcome, outcome.memory_id, outcome.version) == ("unchanged", memory_id, 2)
    assert (memory.expires_at_ms, memory.tags, memory.pinned) == (end, ("drinks", "mornings"), True)
    clock.now_ms = NOW_MS + 1
    assert found(of, "dog") == [DOG]


def test_what_is_said_again_for_a_shorter_time_writes_nothing() -> None:
    store = InMemoryMemoryStore()
    of = controller(store)
    stored(of, DOG, tags=("drinks",), pinned=True)

    (outcome,) = of.store(asking(), [to_store("the user has a DOG!", expires_at_ms=NOW_MS + 1, tags=("drinks",))])

    assert (outcome.outcome, outcome.version) == ("unchanged", 1)
    assert len(entries_of(store)) == 1


@pytest.mark.parametrize("ends", [(None, NOW_MS + 1), (NOW_MS + 9, NOW_MS + 1)])
def test_a_detail_that_expires_sooner_is_kept_beside_and_goes_alone(ends: tuple[int | None, int]) -> None:
    clock = Clock()
    of = controller(clock=clock)
    (memory_id,) = stored(of, DOG, expires_at_ms=ends[0])

    (outcome,) = of.store(asking(), [to_store(REX, expires_at_ms=ends[1])])

    assert outcome.outcome == "created"
    assert of.get("ana", memory_id).content == DOG
    clock.now_ms = ends[1]
    assert found(of, "Rex the dog") == [DOG]


@pytest.mark.parametrize("end", [None, NOW_MS + 9])
def test_a_merge_stays_as_long_as_the_memory_that_says_all_of_it(end: int | None) -> None:
    clock = Clock()
    of = controller(clock=clock)
    (memory_id,) = stored(of, DOG, expires_at_ms=NOW_MS + 1)

    (outcome,) = of.store(asking(), [to_store(REX, expires_at_ms=end)])

    assert (outcome.outcome, outcome.memory_id) == ("merged", memory_id)
    clock.now_ms = NOW_MS + 1
    assert found(of, "Rex the dog") == [REX]
    assert of.get("ana", memory_id).expires_at_ms == end


def test_a_value_that_holds_for_a_while_retires_nothing_that_outlasts_it() -> None:
    clock = Clock()
    of = controller(clock=clock)
    (lasting,) = stored(of, OLD)

    (outcome,) = of.store(asking(), [to_store(NEW, expires_at_ms=NOW_MS + 1)])

    assert (outcome.outcome, outcome.other_id) == ("conflict", lasting)
    clock.now_ms = NOW_MS + 1
    assert found(of, "PostgreSQL") == [OLD]
    (outcome,) = of.store(asking(), [to_store(NEW, expires_at_ms=NOW_MS + 2, supersedes=lasting)])
    assert outcome.outcome == "superseded"
