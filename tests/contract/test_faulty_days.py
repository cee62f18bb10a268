"""A fault at every call in turn, of all that happens in four days that hold whatever can happen to memories.

By day requests, by night plans, their queue and the runs of maintenance, all on stores in memory: see ``days`` and
``nights``. Each call of a life without faults is struck once in every way that it can fail: the process dies before it
has an effect, or after it; the call is refused, or its answer is lost; a conditional write is sent again by itself and
told that it came too late (``moments``). A pass lives through a day or night again from where it began, with one fault
in each piece of work, a request or a plan or a run, or with one fault in all: of the third day and its night. Moments
are named as the life without faults reaches them, "the second `append` of this request"; one that a pass does not reach
comes again in a later one, and `sweep` ends when all have been struck. Each pass ends as the life without faults does:
the same memories, of the same status, made of the same ones, in the same profile; a log without a gap that agrees with
versions and partition; no object that nothing refers to; no word that was purged.

``test_faulty_aws_days.py`` does the same one floor below, where one call of a store may be several of AWS.
"""

import logging
from collections.abc import Iterator

import pytest
from recollect import due, erasing
from recollect.model import Operation

from tests.support.days import DAYS, SCRIPT
from tests.support.moments import Kind, moments_of
from tests.support.nights import AFTER, CALM, EVENING, Life
from tests.support.places import InMemory
from tests.support.sweeping import Stretch, each_alone, found_of, one_each, stretches_of, sweep

LOG = logging.getLogger(__name__)
ALONE = 2  # the day of which each fault has a pass of its own
LIVES = 12


@pytest.fixture(scope="module", autouse=True)
def few_at_once() -> Iterator[None]:
    """Let there be fewer calls of one kind after each other."""
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(erasing, "ITEMS_PER_DELETE", 3)
        patches.setattr(due, "SHARDS", 4)
        yield


@pytest.fixture(scope="module")
def life(few_at_once: None) -> Life:
    return Life(InMemory)


@pytest.fixture(scope="module")
def stretches(life: Life) -> list[tuple[Stretch, Stretch]]:
    return stretches_of(life, EVENING, after_day=(*EVENING, *AFTER), after_night=AFTER)


def test_the_days_hold_all_that_can_happen(life: Life, stretches: list[tuple[Stretch, Stretch]]) -> None:
    outcomes = ["created", "unchanged", "merged", "superseded", "conflict", "resolved"]
    outcomes += ["updated", "restored", "deleted", "purged"]
    nightly = {
        "erasure": ("memories", "log_entries", "reports"),
        "expiry": ("changed",),
        "decay": ("archived",),
        "conflicts": ("changed",),
        "consolidation": ("made", "extended"),
        "embedding": ("changed",),
        "compaction": (["folded_entries", "folded_touches", "merged_segments", "archived_entries", "deleted_objects"]),
    }
    assert life.done >= {*outcomes, *(f"{step}: {what}" for step, of in nightly.items() for what in of)}
    last = stretches[-1][1]
    life.back(last.begins)
    last.lives({})
    last.ends()
    assert found_of(life)[1:] == ([([], ()), ([], ())], False)
    assert life.failures == []


@pytest.mark.parametrize("day", range(len(DAYS)))
@pytest.mark.parametrize("part", [0, 1], ids=["by day", "at night"])
def test_whichever_call_fails_it_all_ends_the_same(
    life: Life, stretches: list[tuple[Stretch, Stretch]], day: int, part: int
) -> None:
    swept = sweep(life, stretches[day][part], each_alone if day == ALONE else one_each)

    LOG.info("day %d, part %d: %s", day, part, swept)
    assert swept.moments > 40


def test_with_a_fault_in_every_piece_of_work_of_all_days_it_ends_the_same(
    life: Life, stretches: list[tuple[Stretch, Stretch]]
) -> None:
    pieces = [[{name: moments_of(calls) for name, calls in one.calls.items()} for one in both] for both in stretches]

    def lived(number: int | None) -> object:
        life.back(stretches[0][0].begins)
        for day, both in enumerate(pieces):
            faults = [
                {} if number is None else {name: [of[number * 7 % len(of)]] for name, of in one.items()} for one in both
            ]
            life.live(day, faults[0])
            life.sleep(faults[1])
            life.sleep({}, CALM if day + 1 < len(DAYS) else AFTER)
        return found_of(life)

    calm = lived(None)
    for number in range(LIVES):
        assert lived(number) == calm, number


@pytest.mark.parametrize(("day", "name"), [(0, "purge"), (1, "purge a source"), (2, "purge what is deleted")])
def test_a_purge_that_died_and_was_not_asked_for_again_is_completed_or_was_not_begun(
    life: Life, stretches: list[tuple[Stretch, Stretch]], day: int, name: str
) -> None:
    stretch = stretches[day][0]
    said = {one.name: one.about for one in SCRIPT[day]}[name]
    for moment in moments_of(stretch.calls[name]):
        if moment.kind not in (Kind.DEATH_BEFORE, Kind.DEATH_AFTER):
            continue
        life.back(stretch.begins)
        life.live(day, {name: [moment]}, tries=1)
        stretch.ends()

        memory_id = life.ids[said]
        log = life.instance().events("ana", 200, memory_id=memory_id).entries
        is_begun = Operation.PURGE in {entry.operation for entry in log}
        assert is_begun == (said not in life.place.texts()), moment
