"""A compaction takes from the log what other steps read there: it comes after them, or not at all."""

from collections.abc import Callable
from typing import Any

import pytest
from recollect import maintaining
from recollect.controller import MemoryController
from recollect.errors import Unavailable
from recollect.evidence import REPEAT_MS
from recollect.filters import ACTIVE
from recollect.maintaining import WAITING
from recollect.maintenance import StepName, StepReport

from tests.support.builders import asking, controller, to_store
from tests.support.faults import DyingStores, Killed
from tests.support.histories import everything_kept, stored
from tests.support.maintained import Maintained, Scripted
from tests.support.texts import HIKES, SLEEPS
from tests.support.worlds import SMALL

SECRET = "Ana drinks green tea"


@pytest.fixture
def world() -> Maintained:
    return Maintained()


def die() -> None:
    raise Killed


def half_purged(world: Maintained) -> None:
    """Delete a memory, and let a purge of it die; many entries come after it."""
    of = world.instance()
    memory_id = stored(of, SECRET)
    of.delete(asking(), memory_id)
    dying = DyingStores(world.store, world.objects)
    dying.interrupt("redact_version", "before", die)
    with pytest.raises(Killed):
        controller(dying.store, world.embedder, world.clock, "01HK", dying.objects).purge(asking(), memory_id)
    long_tail(of)


def in_conflict(world: Maintained) -> None:
    """Let two memories be in conflict, and one of them be said again."""
    of = world.instance()
    of.store(asking(), [to_store(HIKES), to_store(SLEEPS)])
    world.clock.now_ms += REPEAT_MS
    of.store(asking(), [to_store(HIKES)])
    long_tail(of)


def long_tail(of: MemoryController) -> None:
    for number in range(SMALL.fold_entries):
        stored(of, f"fact {number}")


def is_purged(world: Maintained) -> bool:
    return SECRET not in everything_kept(world.store)


def is_settled(world: Maintained) -> bool:
    return not any(one.conflicts_with for one in world.instance().list_memories("ana", ACTIVE, 99).memories)


@pytest.mark.parametrize(
    ("step", "begin", "is_ended"),
    [(StepName.ERASURE, half_purged, is_purged), (StepName.CONFLICTS, in_conflict, is_settled)],
)
@pytest.mark.parametrize("result", [Unavailable("no answer"), StepReport(is_done=False)], ids=["failed", "no time"])
def test_a_compaction_waits_for_a_step_that_has_not_read_the_log(
    world: Maintained,
    step: StepName,
    begin: Callable[[Maintained], None],
    is_ended: Callable[[Maintained], bool],
    result: Any,
) -> None:
    begin(world)
    world.clock.now_ms += 60_000
    until_ms = world.clock.now_ms + 300_000
    report = world.maintainer(steps={step: Scripted(result)}).run("ana", until_ms)

    assert report.steps[StepName.COMPACTION] == WAITING
    assert not is_ended(world)
    assert world.maintain().steps[StepName.COMPACTION].counts["folded_entries"] > 0
    assert is_ended(world)


def test_a_compaction_waits_for_conflicts_no_longer_than_the_log_is_short(
    world: Maintained, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_conflict(world)
    monkeypatch.setattr(maintaining, "LONG_LOG", SMALL.fold_entries)
    failing = world.maintainer(steps={StepName.CONFLICTS: Scripted(Unavailable("no answer"))})

    report = failing.run("ana", world.clock.now_ms + 300_000)

    assert report.steps[StepName.COMPACTION].counts["folded_entries"] > 0


def test_a_compaction_alone_completes_the_purges_that_were_begun(world: Maintained) -> None:
    half_purged(world)

    report = world.maintain(steps=[StepName.COMPACTION])

    assert tuple(report.steps) == (StepName.ERASURE, StepName.COMPACTION)
    assert report.steps[StepName.COMPACTION].counts["folded_entries"] > 0
    assert is_purged(world)
