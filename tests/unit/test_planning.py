"""Who is queued by a plan, in which batches, and what is left when the time is over."""

from collections.abc import Sequence

import pytest
from recollect import due
from recollect.errors import Unavailable
from recollect.model import Head
from recollect.planning import Planned, Planner

from tests.support.builders import NOW_MS, Clock
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.inmemory_reports import InMemoryDueIndex, InMemoryMaintenanceQueue

LATER = NOW_MS + 100_000


def users(count: int, due_at_s: int | None = NOW_MS // 1000) -> InMemoryMemoryStore:
    store = InMemoryMemoryStore()
    with store.lock:
        for number in range(count):
            store.open(f"user-{number}", "01H")
            store.set_due(f"user-{number}", due_at_s, Head(epoch="01H"))
    return store


def test_ten_thousand_users_are_queued_with_a_thousand_messages_and_a_page_for_each_hundred() -> None:
    index, queue = InMemoryDueIndex(users(10_000)), InMemoryMaintenanceQueue()

    planned = Planner(index, queue, Clock()).plan(LATER)

    assert planned == Planned(10_000)
    assert [len(batch) for batch in queue.batches] == [10] * 1_000
    assert len(set(queue.take())) == 10_000
    assert index.pages < 10_000 / 100 + due.SHARDS + 1


def test_who_is_not_due_yet_or_not_at_all_is_not_queued() -> None:
    for due_at_s in (NOW_MS // 1000 + 1, None):
        queue = InMemoryMaintenanceQueue()

        assert Planner(InMemoryDueIndex(users(9, due_at_s)), queue, Clock()).plan(LATER) == Planned(0)
        assert queue.batches == []


def test_while_users_wait_in_the_queue_nobody_is_queued_again() -> None:
    index, queue = InMemoryDueIndex(users(25)), InMemoryMaintenanceQueue()
    planner = Planner(index, queue, Clock())
    planner.plan(LATER)
    pages = index.pages

    assert planner.plan(LATER) == Planned(0, waiting=25, is_done=False)
    assert index.pages == pages
    assert len(queue.take()) == 25
    assert planner.plan(LATER) == Planned(25)


def test_a_plan_whose_time_is_over_leaves_the_rest_due() -> None:
    clock, store = Clock(), users(100)

    class Slow(InMemoryMaintenanceQueue):
        def send(self, user_ids: Sequence[str]) -> int:
            clock.now_ms += 10
            return super().send(user_ids)

    queue = Slow()
    planned = Planner(InMemoryDueIndex(store), queue, clock).plan(NOW_MS + 30)

    assert planned == Planned(30, is_done=False)
    first = queue.take()
    with store.lock:
        for user_id in first:
            store.set_due(user_id, None, Head(epoch="01H", due_at_s=NOW_MS // 1000))
    assert Planner(InMemoryDueIndex(store), queue, clock).plan(LATER) == Planned(70)
    assert len({*first, *queue.take()}) == 100


def test_every_shard_comes_first_at_some_time() -> None:
    clock, store = Clock(), users(200)
    first = set()
    for _ in range(due.SHARDS):
        queue = InMemoryMaintenanceQueue()
        Planner(InMemoryDueIndex(store), queue, clock).plan(clock.now_ms + 1)
        first.add(due.shard_of(queue.take()[0]))
        clock.now_ms += 60_000

    assert len(first) == due.SHARDS


def test_what_the_queue_refuses_stays_due_and_the_plan_says_so() -> None:
    queue = InMemoryMaintenanceQueue()
    queue.refused = 3

    assert Planner(InMemoryDueIndex(users(20)), queue, Clock()).plan(LATER) == Planned(17, is_done=False)


def test_a_queue_that_does_not_answer_ends_the_plan() -> None:
    class Broken(InMemoryMaintenanceQueue):
        def send(self, user_ids: Sequence[str]) -> int:
            raise Unavailable("busy")

    with pytest.raises(Unavailable):
        Planner(InMemoryDueIndex(users(1)), Broken(), Clock()).plan(LATER)
