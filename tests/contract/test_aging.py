"""Expiry and decay, on both stores: in batches, again, to a deadline, dying anywhere, beside writers."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import boto3
import pytest
from recollect import keys
from recollect.aging import Decay, Expiry
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.chunks import CHANGES_MAX_COUNT
from recollect.controller import MemoryController
from recollect.errors import Conflict, NotFound, Unavailable
from recollect.filters import EVERYTHING
from recollect.lifecycle import DAY_MS, Policy
from recollect.maintenance import Step, StepReport
from recollect.model import MemoryType, Operation, Status

from tests.contract.conftest import Make
from tests.support.builders import asking, controller, to_store
from tests.support.faults import DyingStores, Killed, When
from tests.support.histories import stored
from tests.support.table import TABLE_NAME
from tests.support.worlds import LATER_MS, World

YEARS_MS = 2_000 * DAY_MS
Aging = type[Expiry] | type[Decay]


def run(world: World, step: Aging, policy: Policy | None = None, **told: int | bool) -> StepReport:
    aging = world.aging()
    made: Step = Decay(*aging, policy) if policy and step is Decay else step(*aging)
    return made.run("ana", world.due(**told))  # type: ignore[arg-type]


def statuses(of: MemoryController) -> dict[str, Status]:
    return {one.content: one.status for one in of.list_memories("ana", EVERYTHING, 200).memories}


def log_of(of: MemoryController) -> list[tuple[Operation, str, int, str]]:
    entries = of.events("ana", 200, is_descending=False).entries
    return [(one.operation, one.memory_id, one.version, one.by) for one in entries]


def old(world: World, *contents: str, **values: Any) -> list[str]:
    """Store memories that were forgotten long ago."""
    ids = [stored(world.instance(), content, **values) for content in contents]
    world.clock.now_ms += YEARS_MS
    return ids


def over(world: World, count: int) -> list[str]:
    """Store memories whose time is over."""
    new = [
        to_store(f"offer {chr(0x4E00 + number) * 9}", expires_at_ms=world.clock.now_ms + 1) for number in range(count)
    ]
    outcomes = world.instance().store(asking(), new)
    world.clock.now_ms += 1
    return [one.memory_id for one in outcomes]


def test_what_has_expired_is_taken_away_in_batches_and_a_second_run_changes_nothing(world: World) -> None:
    ids = over(world, CHANGES_MAX_COUNT + 3)
    end_ms = world.clock.now_ms + 2 * LATER_MS
    kept = stored(world.instance(), "green tea", expires_at_ms=end_ms)

    first, second = run(world, Expiry), run(world, Expiry)

    assert first == StepReport(looked_at=len(ids) + 1, changed=len(ids), next_at_ms=end_ms)
    assert second == StepReport(looked_at=1, next_at_ms=end_ms)
    of = world.instance()
    assert [one.memory_id for one in of.list_memories("ana", EVERYTHING, 99).memories] == [kept]
    assert dict.fromkeys(log_of(of)[-len(ids) :]) == dict.fromkeys(
        (Operation.EXPIRE, one, 2, "maintenance") for one in ids
    )
    for read in (of.get, lambda user, one: of.versions(user, one, 9), lambda user, one: of.version(user, one, 1)):
        with pytest.raises(NotFound):
            read("ana", ids[0])
    with pytest.raises(NotFound):
        of.restore(asking(), ids[0], 1)
    world.compact(is_forced=True)
    assert run(world, Expiry).changed == 0


def test_a_dry_run_counts_and_writes_nothing(world: World) -> None:
    over(world, 2)
    old(world, "green tea")
    before = world.head()

    assert run(world, Expiry, is_dry_run=True).changed == 2
    dry = run(world, Decay, is_dry_run=True)

    assert (dry.changed, dry.counts, dry.is_done) == (1, {"archived": 1, "deleted": 0}, True)
    assert world.head() == before


@pytest.mark.parametrize("step", [Expiry, Decay])
def test_when_the_time_is_over_the_rest_stays_for_the_next_run(world: World, step: Aging) -> None:
    if step is Expiry:
        over(world, 2)
    else:
        old(world, "green tea", "a red car")

    late = run(world, step, within_ms=0)

    assert (late.changed, late.is_done) == (0, False)
    assert (run(world, step).changed, run(world, step).changed) == (2, 0)


def test_an_expired_item_that_the_table_dropped_by_itself_is_no_obstacle(make: Make) -> None:
    world = World(make.store("dynamodb"))
    (gone, there) = over(world, 2)
    client = boto3.client("dynamodb", region_name="us-east-1")
    key = {"pk": {"S": keys.user_partition("ana")}, "sk": {"S": keys.memory(gone)}}
    item = client.get_item(TableName=TABLE_NAME, Key=key)["Item"]
    assert int(item["ttl"]["N"]) == (world.clock.now_ms - 1) // 1000 + 30 * 24 * 3600
    client.delete_item(TableName=TABLE_NAME, Key=key)

    assert run(world, Expiry).changed == 2
    of = world.instance()
    assert of.stats("ana").total == 0
    assert {one.memory_id for one in of.events("ana", 9).entries} == {gone, there}
    stored(of, "green tea")
    assert of.events("ana", 9, memory_id=gone).entries[0].operation is Operation.EXPIRE


def test_what_faded_is_archived_once_out_of_every_default_read_and_still_listed(world: World) -> None:
    (tea,) = old(world, "green tea")
    stored(world.instance(), "a red car")

    first, second = run(world, Decay), run(world, Decay)

    assert (first.looked_at, first.changed, first.counts) == (2, 1, {"archived": 1, "deleted": 0})
    assert (second.changed, second.next_at_ms) == (0, first.next_at_ms)
    of = world.instance()
    assert statuses(of) == {"green tea": Status.ARCHIVED, "a red car": Status.ACTIVE}
    assert log_of(of)[-1] == (Operation.ARCHIVE, tea, 2, "maintenance")
    for text in ("green tea", "tea"):
        assert [hit.memory.content for hit in of.search("ana", SearchQuery(text=text)).hits] == ["a red car"]
        assert tea not in str(of.context("ana", SearchQuery(text=text), 2_000))
    assert of.stats("ana").by_status == {"archived": 1, "active": 1}
    assert of.get("ana", tea).status is Status.ARCHIVED
    world.compact(is_forced=True)
    assert statuses(world.instance()) == statuses(of)
    assert run(world, Decay).changed == 0


def test_pinned_used_and_profile_memories_survive_whatever_the_time(world: World) -> None:
    used = stored(world.instance(), "it was asked for")
    world.instance().search("ana", SearchQuery(text="asked", k=1))
    stored(world.instance(), "it holds", pinned=True)
    stored(world.instance(), "dark mode", tags=("preference",))
    world.compact(is_forced=True)
    old(world, "green tea")

    report = run(world, Decay, Policy(retention_days=1))

    assert report.skipped == {"pinned": 1, "profile": 1, "used": 1}
    world.clock.now_ms += YEARS_MS
    assert run(world, Decay, Policy(retention_days=1)).counts == {"archived": 0, "deleted": 1}
    of = world.instance()
    assert statuses(of) == dict.fromkeys(("it was asked for", "it holds", "dark mode"), Status.ACTIVE)
    assert of.get("ana", used).access_count == 1


def test_uses_survive_archiving_and_reviving(world: World) -> None:
    of = world.instance()
    (tea,) = old(world, "green tea")
    of.search("ana", SearchQuery(text="tea"))
    world.clock.now_ms += YEARS_MS
    with pytest.MonkeyPatch.context() as patches:  # by another way than decay, which spares what was used
        patches.setattr("recollect.lifecycle._exempt", lambda made: {"none": made.live & ~made.live})
        patches.setattr("recollect.lifecycle.FLOOR_SHARE", 0.0)
        assert run(world, Decay, Policy(semantic_half_life_days=1)).changed == 1
    assert (of.get("ana", tea).status, of.get("ana", tea).access_count) == (Status.ARCHIVED, 1)
    world.compact(is_forced=True)

    of.update(asking(), tea, Patch({"status": Status.ACTIVE}))

    assert (of.get("ana", tea).status, of.get("ana", tea).access_count) == (Status.ACTIVE, 1)
    assert world.instance().get("ana", tea).access_count == 1


@pytest.mark.parametrize("step", [Expiry, Decay])
def test_a_run_that_dies_anywhere_and_is_run_again_is_one_run(step: Aging) -> None:
    def lived(at: int = 0, when: When = "before") -> tuple[object, int]:
        """Run to the end, again if need be; tell what is there then, and how many calls the first run made."""
        world = World()
        if step is Expiry:
            over(world, CHANGES_MAX_COUNT + 1)
        else:
            old(world, "green tea", "a red car")
        dying = DyingStores(world.store, world.objects)
        aging = step(*world.aging(dying.store))
        dying.die(at, when)
        with suppress(Killed):
            aging.run("ana", world.due())
        calls = len(dying.calls)
        assert run(world, step).is_done
        of = world.instance()
        return (statuses(of), log_of(of)), calls

    whole, calls = lived()
    assert calls >= 8
    for at in range(1, calls + 1):
        assert lived(at, "before")[0] == lived(at, "after")[0] == whole, at


def test_a_memory_that_is_changed_used_or_deleted_meanwhile_is_never_overwritten(
    world: World, kept: DyingStores
) -> None:
    changed, asked_for, deleted, faded = old(world, "green tea", "a red car", "blue sky", "old shoes")
    other = controller(kept.store, world.embedder, world.clock, "01HFB", kept.objects)

    def meanwhile() -> None:
        other.update(asking(), changed, Patch({"content": "black tea"}))
        other.search("ana", SearchQuery(text="a red car", k=1))
        other.delete(asking(), deleted)

    aging = Decay(*world.aging())
    kept.interrupt("append", "before", meanwhile)
    report = aging.run("ana", world.due())

    assert report.changed == 1
    of = world.instance()
    assert statuses(of) == {"black tea": Status.ACTIVE, "a red car": Status.ACTIVE, "old shoes": Status.ARCHIVED}
    assert (of.get("ana", faded).version, of.get("ana", asked_for).version) == (2, 1)


def test_two_at_once_do_the_work_once(world: World, kept: DyingStores) -> None:
    old(world, "green tea", "a red car")
    one, other = Decay(*world.aging()), Decay(*world.aging())
    kept.interrupt("append", "before", lambda: other.run("ana", world.due()))

    assert one.run("ana", world.due()).changed == 0

    assert [one for one, *_ in log_of(world.instance())].count(Operation.ARCHIVE) == 2


def test_a_run_is_for_one_life_and_one_user(world: World, kept: DyingStores) -> None:
    old(world, "green tea")
    theirs = stored(world.instance(), "green tea", "ben")
    world.clock.now_ms += YEARS_MS
    earlier = world.head().epoch
    world.instance().erase("ana")
    old(world, "a red car")

    with pytest.raises(Conflict):
        Decay(*world.aging()).run("ana", replace(world.due(), epoch=earlier))

    assert statuses(world.instance()) == {"a red car": Status.ACTIVE}
    assert world.instance().get("ben", theirs).status is Status.ACTIVE


def test_a_store_that_does_not_answer_ends_the_step_and_what_it_committed_stays(
    world: World, kept: DyingStores
) -> None:
    over(world, CHANGES_MAX_COUNT + 1)

    def refuse() -> None:
        raise Unavailable("busy")

    def refuse_the_next() -> None:
        kept.interrupt("append", "before", refuse)

    kept.interrupt("append", "after", refuse_the_next)
    with pytest.raises(Unavailable):
        Expiry(*world.aging()).run("ana", world.due())

    kept.die(0, "before")
    assert run(world, Expiry).changed == 1


def test_episodes_fade_before_facts_and_these_before_procedures(world: World) -> None:
    for kind in MemoryType:
        stored(world.instance(), f"tea, {kind}", type=kind)

    gone: list[int] = []
    start_ms = world.clock.now_ms
    while (report := run(world, Decay)).next_at_ms is not None:
        assert report.is_done
        world.clock.now_ms = report.next_at_ms
        gone.append((report.next_at_ms - start_ms) // DAY_MS)

    assert gone == [122, 735, 1491]
    assert set(statuses(world.instance()).values()) == {Status.ARCHIVED}
