"""Conflicts that something has settled since, on both stores; those that nothing has settled stay."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import pytest
from recollect.aging import Expiry
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.evidence import REPEAT_MS
from recollect.filters import EVERYTHING, Compare, Operator
from recollect.maintenance import Step, StepReport
from recollect.model import Memory, Operation, Status
from recollect.settling import Settling

from tests.support.asked import stored
from tests.support.audit import assert_sound
from tests.support.builders import Clock, asking, controller, to_store
from tests.support.faults import DyingStores, Killed, When
from tests.support.texts import HIKES, SLEEPS, TEA, TEA_AT_BREAKFAST
from tests.support.worlds import World

UNDECIDED = StepReport(looked_at=1, skipped={"undecided": 1})
SETTLED = StepReport(looked_at=1, changed=1)


def run(world: World, *, is_dry_run: bool = False) -> StepReport:
    step: Step = Settling(world.store, *world.aging())
    return step.run("ana", world.due(is_dry_run=is_dry_run))


def conflict(of: MemoryController, **values: Any) -> tuple[str, str]:
    """Store two memories that may contradict each other, the older one with these values."""
    (older,) = stored(of, HIKES, **values)
    (outcome,) = of.store(asking(), [to_store(SLEEPS)])
    assert (outcome.outcome, outcome.other_id) == ("conflict", older)
    return older, outcome.memory_id


def say_again(of: MemoryController, content: str, after_ms: int = REPEAT_MS, **values: Any) -> None:
    cast("Clock", of.workings.surroundings.now_ms).now_ms += after_ms
    assert of.store(asking(), [to_store(content, **values)])[0].outcome == "unchanged"


def present(of: MemoryController) -> dict[str, Memory]:
    found = of.list_memories("ana", EVERYTHING, 99).memories
    assert_sound(found)
    return {one.memory_id: one for one in found}


def in_conflict(of: MemoryController) -> set[str]:
    """List the open conflicts."""
    wanted = Compare(("in_conflict",), Operator.EQ, True)
    return {one.memory_id for one in of.list_memories("ana", wanted, 99).memories}


def test_what_outlasts_the_other_side_is_not_retired_for_it(world: World) -> None:
    of = world.instance()
    end = world.clock.now_ms + 2 * REPEAT_MS
    pair = conflict(of, expires_at_ms=end)
    say_again(of, HIKES, expires_at_ms=end)

    assert run(world) == UNDECIDED

    assert in_conflict(of) == set(pair)
    of.update(asking(), pair[0], Patch({"expires_at_ms": None}))
    say_again(of, HIKES)
    assert run(world) == SETTLED


def test_a_conflict_that_nothing_has_settled_stays_and_is_listed(world: World) -> None:
    of = world.instance()
    pair = conflict(of)
    for text in (HIKES, SLEEPS, "hills"):
        of.search("ana", SearchQuery(text=text, k=1))
    stored(of, "green tea")
    before = world.head().seq

    assert run(world) == run(world) == UNDECIDED

    assert world.head().seq == before
    assert in_conflict(of) == set(pair)
    world.compact(is_forced=True)
    assert in_conflict(world.instance()) == set(pair)
    assert run(world) == UNDECIDED


@pytest.mark.parametrize(
    "end",
    [
        lambda of, older, newer: of.delete(asking(), newer),
        lambda of, older, newer: of.purge(asking(), newer),
        lambda of, older, newer: of.store(asking(), [to_store("Leo moved to the coast", supersedes=newer)]),
    ],
    ids=["deleted", "purged", "superseded"],
)
def test_a_link_to_what_is_not_active_any_more_is_taken_away(
    world: World, end: Callable[[MemoryController, str, str], object]
) -> None:
    of = world.instance()
    older, newer = conflict(of)
    end(of, older, newer)

    assert run(world) == SETTLED
    assert run(world) == StepReport()

    assert in_conflict(of) == set()
    left = present(of)
    assert all(one.conflicts_with == () for one in left.values())
    assert left[older].status is Status.ACTIVE
    entry = of.events("ana", 1, memory_id=older).entries[0]
    assert (entry.operation, entry.by) == (Operation.LINK, "maintenance")


def test_a_link_to_what_has_expired_is_taken_away_before_and_after_it_is_gone(world: World) -> None:
    of = world.instance()
    older, _ = conflict(of, expires_at_ms=world.clock.now_ms + 1)
    world.clock.now_ms += 1

    assert run(world) == SETTLED
    assert Expiry(*world.aging()).run("ana", world.due()).changed == 1
    assert run(world) == StepReport()
    assert older not in present(of)
    assert in_conflict(of) == set()


def test_what_a_store_said_again_holds_the_newer_one_in_the_place_of_the_older(world: World) -> None:
    of = world.instance()
    older, newer = conflict(of)
    say_again(of, SLEEPS)

    assert run(world, is_dry_run=True) == SETTLED
    assert in_conflict(of) == {older, newer}
    assert run(world) == SETTLED
    assert run(world) == StepReport()

    left = present(of)
    assert (left[older].status, left[older].superseded_by) == (Status.SUPERSEDED, newer)
    assert (left[newer].status, left[newer].supersedes) == (Status.ACTIVE, older)
    assert of.restore(asking(), older, 1).outcome == "restored"


def test_what_a_store_said_again_holds_the_older_one_with_the_newer_archived(world: World) -> None:
    of = world.instance()
    older, newer = conflict(of)
    say_again(of, HIKES)

    assert run(world) == SETTLED

    left = present(of)
    assert (left[older].status, left[newer].status) == (Status.ACTIVE, Status.ARCHIVED)
    assert of.update(asking(), newer, Patch({"status": Status.ACTIVE})).outcome == "updated"


@pytest.mark.parametrize(
    "others",
    [
        lambda of, older, newer: say_again(of, SLEEPS),
        lambda of, older, newer: of.update(asking(), newer, Patch({"importance": 0.9})),
        lambda of, older, newer: of.update(asking(), newer, Patch({"pinned": True})),
    ],
    ids=["the other one was said again too", "the other one was changed since", "the other one is pinned"],
)
def test_evidence_is_none_if(world: World, others: Callable[[MemoryController, str, str], object]) -> None:
    of = world.instance()
    older, newer = conflict(of)
    say_again(of, HIKES)
    others(of, older, newer)

    assert run(world) == UNDECIDED
    assert in_conflict(of) == {older, newer}


@pytest.mark.parametrize(("key", "at"), [(None, 2), ("k", 4)])
def test_a_request_that_died_and_was_sent_again_is_no_evidence(
    world: World, kept: DyingStores, key: str | None, at: int
) -> None:
    def say_both(of: MemoryController) -> None:
        of.store(asking(key=key), [to_store(text) for text in (HIKES, SLEEPS, TEA, TEA_AT_BREAKFAST)])

    kept.die(at, "after")
    with pytest.raises(Killed):
        say_both(world.instance())
    assert kept.calls[-1] == "append"
    say_both(world.instance())

    assert len(in_conflict(world.instance())) == 2
    assert run(world) == UNDECIDED


def test_what_is_said_again_soon_is_no_evidence(world: World) -> None:
    of = world.instance()
    conflict(of)
    say_again(of, HIKES, REPEAT_MS - 1)

    assert run(world) == UNDECIDED


def test_a_pinned_memory_is_not_retired_by_evidence(world: World) -> None:
    of = world.instance()
    pair = conflict(of, pinned=True)
    say_again(of, SLEEPS)

    assert run(world) == UNDECIDED
    assert in_conflict(of) == set(pair)


def test_what_does_not_contradict_any_more_stays_and_is_no_conflict(world: World) -> None:
    of = world.instance()
    _, newer = conflict(of)
    of.update(asking(), newer, Patch({"content": "the printer is out of ink"}))

    assert run(world) == SETTLED
    assert {one.status for one in present(of).values()} == {Status.ACTIVE}
    assert in_conflict(of) == set()


def test_what_says_the_same_by_now_is_archived_the_newer_one(world: World) -> None:
    of = world.instance()
    older, newer = conflict(of)
    of.update(asking(), newer, Patch({"content": HIKES.upper() + "!"}))

    assert run(world) == SETTLED
    left = present(of)
    assert (left[older].status, left[newer].status) == (Status.ACTIVE, Status.ARCHIVED)


def test_a_changed_text_takes_no_place_by_the_rules_alone(world: World) -> None:
    of = world.instance()
    older, newer = conflict(of)
    of.update(asking(), older, Patch({"content": "the office closes at nine"}))
    of.update(asking(), newer, Patch({"content": "the office closes at ten"}))

    assert run(world) == UNDECIDED


def test_a_chain_of_places_leads_on_to_the_one_that_holds(world: World) -> None:
    of = world.instance()
    (first,) = stored(of, "Leo is in the city")
    (outcome,) = of.store(asking(), [to_store(HIKES, supersedes=first)])
    newer = of.store(asking(), [to_store(SLEEPS)])[0].memory_id
    say_again(of, SLEEPS)

    assert run(world) == SETTLED
    left = present(of)
    assert [left[one].superseded_by for one in (first, outcome.memory_id, newer)] == [outcome.memory_id, newer, None]


def test_what_settles_one_conflict_settles_others_in_the_same_run(world: World) -> None:
    of = world.instance()
    older, newer = conflict(of)
    (third,) = of.store(asking(), [to_store("Leo jogs in old hills")])
    of.update(asking(), third.memory_id, Patch({"importance": 0.9}))
    assert (third.outcome, len(in_conflict(of))) == ("conflict", 3)
    linked_twice = next(one for one in present(of).values() if len(one.conflicts_with) == 2)
    rival = newer if linked_twice.memory_id == older else older
    say_again(of, present(of)[rival].content)

    report = run(world)

    assert (report.looked_at, report.skipped) == (2, {})
    assert in_conflict(of) == set()
    assert present(of)[linked_twice.memory_id].status is not Status.ACTIVE
    assert present(of)[third.memory_id].status is Status.ACTIVE
    assert run(world) == StepReport()


def test_a_run_that_dies_anywhere_and_is_run_again_is_one_run() -> None:
    def lived(at: int = 0, when: When = "before") -> tuple[object, int]:
        world = World()
        of = world.instance()
        conflict(of)
        stored(of, "green tea")
        say_again(of, SLEEPS)
        dying = DyingStores(world.store, world.objects)
        step = Settling(dying.store, *world.aging(dying.store))
        dying.die(at, when)
        with suppress(Killed):
            step.run("ana", world.due())
        calls = len(dying.calls)
        assert run(world).skipped == {}
        log = [(one.operation, one.memory_id) for one in of.events("ana", 99).entries]
        return (present(world.instance()), log), calls

    whole, calls = lived()
    assert calls >= 4
    for at in range(1, calls + 1):
        assert lived(at, "before")[0] == lived(at, "after")[0] == whole, at


def test_a_change_that_comes_between_is_seen(world: World, kept: DyingStores) -> None:
    of = controller(kept.store, world.embedder, world.clock, "01HFB", kept.objects)
    older, _ = conflict(of)
    say_again(of, SLEEPS)
    kept.interrupt("append", "before", lambda: of.update(asking(), older, Patch({"content": f"{HIKES} daily"})))

    report = Settling(world.store, *world.aging()).run("ana", world.due())

    assert report == UNDECIDED
    assert present(of)[older].content == f"{HIKES} daily"


def test_when_the_time_is_over_the_rest_stays(world: World) -> None:
    of = world.instance()
    conflict(of)
    say_again(of, SLEEPS)
    late = Settling(world.store, *world.aging()).run("ana", world.due(within_ms=0))

    assert (late.changed, late.is_done) == (0, False)
    assert run(world) == SETTLED
