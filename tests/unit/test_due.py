"""When a user is due: pure decisions, and what commits and uses make of them."""

from dataclasses import replace

import pytest
from recollect import due
from recollect.answers import SearchQuery
from recollect.compaction import DEFAULT
from recollect.errors import Unavailable
from recollect.maintenance import StepReport
from recollect.model import Head

from tests.support.builders import NOW_MS, Clock, asking, controller, to_store
from tests.support.embedder import HashingEmbedder
from tests.support.faults import DyingStore
from tests.support.histories import stored
from tests.support.inmemory import InMemoryMemoryStore

NOW_S = NOW_MS // 1000


def test_users_are_spread_over_the_shards_and_stay_where_they_are() -> None:
    shards = [due.shard_of(f"user-{number}") for number in range(1_000)]

    assert set(shards) == {due.shard(number) for number in range(due.SHARDS)}
    assert max(map(shards.count, set(shards))) < 2 * 1_000 / due.SHARDS
    assert (due.shard_of("ana"), due.shard_of("ana")) == (due.shard_of("ana"),) * 2
    assert len({len(shard) for shard in shards}) == 1


@pytest.mark.parametrize(
    ("due_at_s", "wanted"),
    [
        (None, NOW_S),
        (NOW_S + due.PAUSE_S, NOW_S),
        (NOW_S + due.LEASE_S, NOW_S + due.LEASE_S),
        (NOW_S - 9, NOW_S - 9),
    ],
)
def test_pressing_work_does_not_disturb_whoever_is_at_it_or_next(due_at_s: int | None, wanted: int) -> None:
    assert due.at_once(due_at_s, NOW_S) == wanted


@pytest.mark.parametrize(
    ("reports", "is_changed", "wanted"),
    [
        ([], False, None),
        ([StepReport()], True, due.PAUSE_S),
        ([StepReport(next_at_ms=NOW_MS + 10**9 * 1_000 - 1)], False, 10**9),
        ([StepReport(next_at_ms=NOW_MS + 10**9), StepReport(next_at_ms=NOW_MS + 1)], False, due.PAUSE_S),
        ([StepReport(is_done=False, failure="busy"), StepReport()], False, due.RETRY_S),
        ([StepReport(is_done=False, failure="busy"), StepReport(is_done=False)], True, 0),
        ([StepReport(looked_at=9, changed=1, is_done=False)], True, 0),
        ([StepReport(looked_at=9, is_done=False), StepReport()], False, due.RETRY_S),
    ],
)
def test_a_run_is_followed_by_another_when_there_is_something_to_do(
    reports: list[StepReport], is_changed: bool, wanted: int | None
) -> None:
    found = due.after_run(reports, NOW_MS, is_changed=is_changed)

    assert found == (None if wanted is None else NOW_S + wanted)


def test_a_commit_makes_due_in_some_hours_and_the_next_one_leaves_it_at_that() -> None:
    store, clock = InMemoryMemoryStore(), Clock()
    of = controller(store, clock=clock)

    stored(of, "tea")
    assert store.read_head("ana").due_at_s == NOW_S + due.PAUSE_S
    clock.now_ms += 60_000
    stored(of, "coffee")

    assert store.read_head("ana").due_at_s == NOW_S + due.PAUSE_S


def test_a_commit_makes_due_in_some_hours_whoever_would_be_due_much_later() -> None:
    store, clock = InMemoryMemoryStore(), Clock()
    of = controller(store, clock=clock)
    stored(of, "tea")
    store.schedule("ana", NOW_S + 100 * due.PAUSE_S, store.read_head("ana"))

    stored(of, "coffee")

    assert store.read_head("ana").due_at_s == NOW_S + due.PAUSE_S


def test_a_long_tail_makes_due_at_once() -> None:
    store = InMemoryMemoryStore()
    of = controller(store)
    for number in range(DEFAULT.fold_entries - 1):
        stored(of, f"fact {number}")
    assert store.read_head("ana").due_at_s == NOW_S + due.PAUSE_S

    stored(of, "one more")

    assert store.read_head("ana").due_at_s == NOW_S


def test_a_pending_embedding_makes_due_at_once() -> None:
    store, embedder = InMemoryMemoryStore(), HashingEmbedder()
    embedder.is_down = True
    of = controller(store, embedder)

    of.store(asking(), [to_store("tea")])

    assert store.read_head("ana").due_at_s == NOW_S


def test_a_use_under_another_embedder_makes_due_at_once() -> None:
    store = InMemoryMemoryStore()
    stored(controller(store), "green tea")

    controller(store, HashingEmbedder("another")).search("ana", SearchQuery(text="tea"))

    assert store.read_head("ana").due_at_s == NOW_S


def test_many_uses_make_due_at_once_with_one_write_for_all_of_them() -> None:
    dying = DyingStore(InMemoryMemoryStore())
    of = controller(dying.port)
    stored(of, "green tea")
    dying.die(at=0, when="before")

    for number in range(DEFAULT.fold_touches + 9):
        if number == DEFAULT.fold_touches - 1:
            assert dying.port.read_head("ana").due_at_s == NOW_S + due.PAUSE_S
        of.search("ana", SearchQuery(text="tea"))

    assert dying.calls.count("schedule") == 1
    assert dying.port.read_head("ana").due_at_s == NOW_S


def test_a_use_that_cannot_say_so_is_no_failure() -> None:
    dying = DyingStore(InMemoryMemoryStore())
    of = controller(dying.port)
    stored(of, "green tea")
    for _ in range(DEFAULT.fold_touches - 1):
        of.search("ana", SearchQuery(text="tea"))
    dying.interrupt("schedule", "before", _no_answer)

    assert len(of.search("ana", SearchQuery(text="tea")).hits) == 1
    of.search("ana", SearchQuery(text="tea"))

    assert dying.port.read_head("ana").due_at_s == NOW_S


def _no_answer() -> None:
    raise Unavailable("no answer")


def test_being_due_makes_no_other_head() -> None:
    assert Head(seq=3) == replace(Head(seq=3), due_at_s=1)
