"""Runs of maintenance: what they do, report and leave due; whoever dies, whoever comes twice."""

import time
from typing import Any

import pytest
from recollect import due, keys
from recollect.aws import clients
from recollect.aws.reports import DynamoDBReportStore
from recollect.aws.transcripts import DynamoDBTranscriptStore
from recollect.controller import MemoryController
from recollect.erasure import ErasureState
from recollect.errors import Conflict, Unavailable
from recollect.maintenance import Report, StepName, StepReport
from recollect.tidying import ORPHAN_AGE_MS, UPLOAD_AGE_MS

from tests.support.builders import asking, controller, to_store
from tests.support.faults import Dying, DyingStores, Killed, deaths
from tests.support.histories import everything_kept, stored
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.maintained import MINUTES_MS, DyingWorkshop, Maintained, Scripted
from tests.support.table import TABLE_NAME
from tests.support.worlds import SMALL, everything_read

ALL = tuple(StepName)
DAY_MS = 24 * 60 * MINUTES_MS


@pytest.fixture
def world(kept: DyingStores) -> Maintained:
    """A world on both stores, in the time of the object store."""
    made = Maintained(kept.inner, kept.objects)
    if not isinstance(kept.inner, InMemoryMemoryStore):
        client = clients.dynamodb_client()
        made.reports = DynamoDBReportStore(client, TABLE_NAME)
        made.transcripts = DynamoDBTranscriptStore(client, TABLE_NAME)
    made.clock.now_ms = time.time_ns() // 1_000_000
    return made


@pytest.fixture
def inmemory() -> Maintained:
    return Maintained()


def long_tail(world: Maintained, count: int = SMALL.fold_entries) -> list[str]:
    """Store facts that have nothing to do with each other."""
    of = world.instance()
    return [stored(of, f"fact {number}", tags=(f"matter {number}",)) for number in range(count)]


def test_a_run_does_every_step_in_order_and_keeps_a_report(world: Maintained) -> None:
    long_tail(world)

    report = world.maintain()

    assert tuple(report.steps) == ALL
    assert report.steps[StepName.COMPACTION].counts["folded_entries"] == SMALL.fold_entries
    assert report.seq == SMALL.fold_entries
    assert not report.is_dry_run
    assert world.reports.reports("ana", None, 10) == [report]


def test_a_dry_run_tells_and_changes_nothing(world: Maintained) -> None:
    long_tail(world)
    before = everything_kept(world.store)

    report = world.maintain(is_dry_run=True)

    assert report.steps[StepName.COMPACTION].changed == SMALL.fold_entries
    assert everything_kept(world.store) == before
    assert world.object_keys() == []
    assert world.reports.reports("ana", None, 10) == []


def test_steps_can_be_chosen_and_then_the_due_time_stays(world: Maintained) -> None:
    long_tail(world)
    due_at_s = world.head().due_at_s
    assert due_at_s is not None

    report = world.maintain(steps=[StepName.EXPIRY])

    assert tuple(report.steps) == (StepName.EXPIRY,)
    assert world.head().due_at_s == due_at_s == (report.next_due_at_ms or 0) // 1000


def test_a_second_run_changes_nothing_and_of_such_runs_the_last_is_kept(world: Maintained) -> None:
    long_tail(world)
    first = world.maintain()
    before = everything_read(world.instance(), [])

    second, third = world.maintain(), world.maintain()

    assert not any(step.changed for report in (second, third) for step in report.steps.values())
    assert everything_read(world.instance(), []) == before
    assert [one.report_id for one in world.reports.reports("ana", None, 10)] == [third.report_id, first.report_id]


def test_a_user_with_nothing_has_nothing_to_maintain(world: Maintained) -> None:
    report = world.maintain("nobody")

    assert (dict(report.steps), report.next_due_at_ms) == ({}, None)
    assert world.store.items("nobody", 1) == []


def test_a_failed_step_does_not_stop_the_others_and_is_tried_again(inmemory: Maintained) -> None:
    long_tail(inmemory)
    secret = RuntimeError("Ana drinks green tea")
    steps = {StepName.EXPIRY: Scripted(secret), StepName.DECAY: Scripted(Unavailable("busy"))}
    now_ms = inmemory.clock.now_ms

    report = inmemory.maintainer(steps=steps).run("ana", now_ms + MINUTES_MS)

    assert report.steps[StepName.EXPIRY].failure == "internal error"
    assert report.steps[StepName.DECAY].failure == "busy"
    assert report.steps[StepName.COMPACTION].changed == SMALL.fold_entries
    assert inmemory.failures == [(StepName.EXPIRY, RuntimeError), (StepName.DECAY, Unavailable)]
    assert report.next_due_at_ms == (now_ms // 1000 + due.RETRY_S) * 1000
    assert "green tea" not in repr(inmemory.reports.reports("ana", None, 1))


def test_a_run_without_time_begins_nothing_and_leaves_the_user_due(inmemory: Maintained) -> None:
    long_tail(inmemory)

    report = inmemory.maintainer().run("ana", inmemory.clock.now_ms)

    assert [step.is_done for step in report.steps.values()] == [False] * len(ALL)
    assert inmemory.head().due_at_s == inmemory.clock.now_ms // 1000


@pytest.mark.parametrize(
    ("result", "wanted_s"),
    [
        (StepReport(), None),
        (StepReport(next_at_ms=1), due.PAUSE_S),
        (StepReport(is_done=False, changed=3), 0),
    ],
)
def test_the_steps_tell_when_the_user_is_due_again(
    inmemory: Maintained, result: StepReport, wanted_s: int | None
) -> None:
    stored(inmemory.instance(), "tea")
    now_s = inmemory.clock.now_ms // 1000
    steps = {name: Scripted() for name in StepName} | {StepName.DECAY: Scripted(result)}

    inmemory.maintainer(steps=steps).run("ana", inmemory.clock.now_ms + MINUTES_MS)

    assert inmemory.head().due_at_s == (None if wanted_s is None else now_s + wanted_s)


def test_what_others_commit_meanwhile_makes_the_user_due_again(inmemory: Maintained) -> None:
    of = inmemory.instance()
    stored(of, "tea")

    class Meanwhile:
        def run(self, *_: Any) -> StepReport:
            stored(of, "coffee")
            return StepReport()

    steps = {name: Scripted() for name in StepName} | {StepName.DECAY: Meanwhile()}
    inmemory.maintainer(steps=steps).run("ana", inmemory.clock.now_ms + MINUTES_MS)

    assert inmemory.head().due_at_s == inmemory.clock.now_ms // 1000 + due.PAUSE_S


def test_only_who_is_due_is_maintained_and_only_by_one(world: Maintained) -> None:
    stored(world.instance(), "tea")
    later = world.clock.now_ms + 5 * MINUTES_MS
    assert world.maintainer().run_if_due("ana", later) is None
    assert world.maintainer().run_if_due("nobody", later) is None

    world.clock.now_ms += due.PAUSE_S * 1000
    seen: list[Report | None] = []

    class Second:
        def run(self, *_: Any) -> StepReport:
            seen.append(world.maintainer().run_if_due("ana", later))
            return StepReport()

    report = world.maintainer(steps={StepName.EXPIRY: Second()}).run_if_due("ana", world.clock.now_ms + MINUTES_MS)

    assert report is not None
    assert seen == [None]


def test_two_at_once_change_what_one_does(world: Maintained) -> None:
    long_tail(world)
    of = world.instance()
    of.store(asking(), [to_store("the shop opens at nine", expires_at_ms=world.clock.now_ms + 1)])
    world.clock.now_ms += 10

    class Meanwhile:
        def __init__(self) -> None:
            self.report = Report(report_id="", started_at_ms=0, ended_at_ms=0, is_dry_run=False, seq=0, steps={})

        def run(self, *_: Any) -> StepReport:
            self.report = world.maintainer().run("ana", world.clock.now_ms + MINUTES_MS)
            return StepReport()

    other = Meanwhile()
    report = world.maintainer(steps={StepName.ERASURE: other}).run("ana", world.clock.now_ms + MINUTES_MS)

    assert other.report.steps[StepName.EXPIRY].changed == 1
    assert report.steps[StepName.EXPIRY].changed == 0
    assert not [step.failure for step in report.steps.values() if step.failure]
    assert len(world.reports.reports("ana", None, 10)) == 2


def scene() -> Maintained:
    """A user with an expired memory, a long tail, a purge and objects that nothing refers to."""
    world = Maintained()
    ids = long_tail(world)
    of = world.instance()
    of.store(asking(), [to_store("the shop opens at nine", expires_at_ms=world.clock.now_ms + 1)])
    of.purge(asking(), ids[0])
    world.clock.now_ms += due.PAUSE_S * 1000
    return world


def run_if_due(world: Maintained, dying: Dying | None = None) -> Report | None:
    return world.maintainer(dying).run_if_due("ana", world.clock.now_ms + 4 * MINUTES_MS)


def left(world: Maintained) -> Any:
    """What there is when maintenance is through, apart from the times at which it did its work."""
    read = everything_read(world.instance(), [])
    return [read[name] for name in ("lists", "hits", "stats")], world.head().seq, world.head().compacted_seq


def test_a_run_that_dies_anywhere_is_run_again_and_leaves_what_one_run_leaves() -> None:
    whole = scene()
    run_if_due(whole)
    whole.clock.now_ms += due.LEASE_S * 1000
    rehearsed = scene()
    moments = deaths(lambda dying: run_if_due(rehearsed, dying), DyingWorkshop(rehearsed))
    assert len(moments) > 30

    for at, when in moments:
        world = scene()
        dying = DyingWorkshop(world)
        dying.die(at, when)
        with pytest.raises(Killed):
            run_if_due(world, dying)
        assert world.head().due_at_s is not None or world.reports.reports("ana", None, 1)
        world.clock.now_ms += due.LEASE_S * 1000

        report = run_if_due(world)

        assert report is None or not [step.failure for step in report.steps.values() if step.failure], (at, when)
        assert left(world) == left(whole), (at, when)


def test_a_purge_that_died_is_completed(world: Maintained) -> None:
    of = world.instance()
    [memory_id, _] = [stored(of, "Ana drinks green tea"), stored(of, "Ana lives in Porto")]
    of.delete(asking(), memory_id)
    dying = DyingStores(world.store, world.objects)
    dying.interrupt("redact_version", "before", _killed)
    with pytest.raises(Killed):
        instance_on(dying, world).purge(asking(), memory_id)

    planned = world.maintain(is_dry_run=True)
    report = world.maintain()

    assert planned.steps[StepName.ERASURE].counts["purges"] == 1
    assert report.steps[StepName.ERASURE].counts["purges"] == 1
    assert "green tea" not in repr(everything_kept(world.store))
    assert world.maintain().steps[StepName.ERASURE].changed == 0


def _killed() -> None:
    raise Killed


def instance_on(dying: DyingStores, world: Maintained) -> MemoryController:
    return controller(dying.store, world.embedder, world.clock, "01HK", dying.objects)


def test_an_erasure_that_was_begun_goes_on_to_its_receipt_and_nothing_else_is_done(world: Maintained) -> None:
    long_tail(world)
    dying = DyingStores(world.store, world.objects)
    dying.interrupt("erase_items", "before", _killed)
    with pytest.raises(Killed):
        instance_on(dying, world).erase("ana")
    begun = world.head()
    assert begun.due_at_s == world.clock.now_ms // 1000 + due.ERASURE_S

    world.clock.now_ms += due.ERASURE_S * 1000
    report = run_if_due(world)

    assert report is not None
    assert tuple(report.steps) == (StepName.ERASURE,)
    assert report.steps[StepName.ERASURE].is_done
    assert report.steps[StepName.ERASURE].counts["log_entries"] == SMALL.fold_entries
    assert not world.head().epoch
    assert world.store.items("ana", 1) == []


def test_reports_go_with_the_user(world: Maintained) -> None:
    long_tail(world)
    world.maintain()

    erased = world.instance().erase("ana")

    assert erased.state is ErasureState.ERASED
    assert erased.counts["reports"] == 1
    assert world.reports.reports("ana", None, 10) == []


def test_a_user_who_was_erased_meanwhile_gets_no_report(inmemory: Maintained) -> None:
    long_tail(inmemory)

    class Meanwhile:
        def run(self, *_: Any) -> StepReport:
            inmemory.instance().erase("ana")
            return StepReport()

    inmemory.maintainer(steps={StepName.EXPIRY: Meanwhile()}).run("ana", inmemory.clock.now_ms + MINUTES_MS)

    assert inmemory.store.items("ana", 1) == []


def test_objects_without_a_part_go_when_no_request_can_be_about_to_refer_to_them(world: Maintained) -> None:
    stored(world.instance(), "tea")
    epoch = world.head().epoch
    part = keys.part_object("ana", epoch, "01HT", "01HP")
    upload = keys.part_object("ana", epoch, "01HT", "01HQ", is_upload=True)
    for key in (part, upload):
        world.objects.put_new(key, b"{}")

    assert world.maintain().steps[StepName.COMPACTION].counts["orphans"] == 0
    world.clock.now_ms = time.time_ns() // 1_000_000 + ORPHAN_AGE_MS + DAY_MS
    assert world.maintain(is_dry_run=True).steps[StepName.COMPACTION].counts["orphans"] == 1
    assert world.maintain().steps[StepName.COMPACTION].counts["orphans"] == 1
    assert set(world.object_keys()) >= {upload}
    assert part not in world.object_keys()
    world.clock.now_ms += UPLOAD_AGE_MS
    assert world.maintain().steps[StepName.COMPACTION].counts["orphans"] == 1
    assert upload not in world.object_keys()


def test_reports_are_listed_page_by_page(world: Maintained) -> None:
    of, maintainer = world.instance(), world.maintainer()
    ids = []
    for number in range(3):
        stored(of, f"fact {number}")
        ids.append(world.maintain(is_forced=True).report_id)

    first = maintainer.list_reports("ana", 2)
    rest = maintainer.list_reports("ana", 2, first.cursor)

    assert [one.report_id for one in (*first.reports, *rest.reports)] == ids[::-1]
    assert rest.cursor is None


def test_a_report_is_not_kept_against_another_head(world: Maintained) -> None:
    of = world.instance()
    stored(of, "tea")
    seen = world.head()
    report = Report(report_id="01HZ", started_at_ms=0, ended_at_ms=0, is_dry_run=False, seq=1, steps={})
    stored(of, "coffee")

    with pytest.raises(Conflict):
        world.reports.keep("ana", report, None, seen)
    assert world.reports.reports("ana", None, 1) == []
    world.reports.keep("ana", report, None, world.head())
    assert world.head().due_at_s is None
