"""Use of memories: every retrieval counts once, everywhere, and never costs a retrieval. Cases M2, M10 and M11."""

import pytest
from recollect import erasing, writing
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.errors import Unavailable
from recollect.filters import ACTIVE
from recollect.model import Memory, Touch
from recollect.ordering import Order, OrderBy
from recollect.partition import LATE_TOUCH_MS
from recollect.ranking import Mode
from recollect.undoing import Resolution

from tests.support.asked import stored as reconciled
from tests.support.builders import NOW_MS, Clock, asking, controller, to_store
from tests.support.faults import DyingStore
from tests.support.histories import stored
from tests.support.inmemory import InMemoryMemoryStore


def use(of: MemoryController, memory_id: str) -> tuple[int, int | None]:
    memory = of.get("ana", memory_id)
    return memory.access_count, memory.last_accessed_at_ms


@pytest.mark.parametrize("mode", Mode)
def test_a_search_counts_once_for_each_memory_that_it_returned(mode: Mode) -> None:
    clock = Clock()
    of = controller(clock=clock)
    tea, car = stored(of, "green tea"), stored(of, "a red car")
    clock.now_ms += 5

    of.search("ana", SearchQuery(text="tea", mode=mode, k=1, order=Order(OrderBy.CREATED_AT, is_descending=False)))
    assert (use(of, tea), use(of, car)) == ((1, NOW_MS + 5), (0, None))

    of.search("ana", SearchQuery(text="tea", mode=mode, reinforces=False))
    assert use(of, tea) == (1, NOW_MS + 5)
    assert of.stats("ana").seq == 2


def test_saying_it_three_times_is_one_memory_reinforced_twice() -> None:
    """Case M2."""
    of = controller()

    outcomes = [of.store(asking(), [to_store("green tea")])[0] for _ in range(3)]

    assert [outcome.outcome for outcome in outcomes] == ["created", "unchanged", "unchanged"]
    assert len({outcome.memory_id for outcome in outcomes}) == 1
    assert use(of, outcomes[0].memory_id)[0] == 2
    assert len(of.list_memories("ana", ACTIVE, 10).memories) == 1


def test_a_repeat_under_its_key_is_no_further_use() -> None:
    of = controller()
    memory_id = stored(of, "green tea")

    for _ in range(3):
        of.store(asking(key="k"), [to_store("green tea")])

    assert use(of, memory_id)[0] == 1


def test_a_contradiction_does_not_reinforce_what_it_contradicts() -> None:
    """Case M10."""
    of = controller()
    (old,) = reconciled(of, "The user's team uses PostgreSQL 14")

    (new,) = reconciled(of, "The user's team uses PostgreSQL 15")

    assert of.get("ana", old).superseded_by == new
    assert use(of, old) == (0, None)


def test_what_takes_a_place_goes_on_with_its_use() -> None:
    """Case M11, by the rules, by the caller's word and by the settling of a conflict."""
    of = controller()
    (first,) = reconciled(of, "The user's team uses PostgreSQL 14")
    of.search("ana", SearchQuery(text="PostgreSQL"))
    (second,) = reconciled(of, "The user's team uses PostgreSQL 15")
    of.search("ana", SearchQuery(text="PostgreSQL"))
    third = stored(of, "they moved on to another database", supersedes=second)

    assert [use(of, one)[0] for one in (first, second, third)] == [1, 2, 2]
    assert use(controller(of._store, prefix="01HFB"), third) == (2, NOW_MS)


def test_a_conflict_that_is_settled_hands_the_use_on() -> None:
    of = controller()
    old = stored(of, "Ana works at the bank in Porto every Friday")
    of.search("ana", SearchQuery(text="bank"))
    (receipt,) = of.store(asking(), [to_store("Ana works at the bank in Porto every Monday or so")])
    if receipt.outcome != "conflict":
        pytest.fail(f"the rules say {receipt.outcome}")

    of.resolve(asking(), receipt.memory_id, old, Resolution.SUPERSEDE)

    assert use(of, receipt.memory_id)[0] == use(of, old)[0] == 1


def test_a_change_keeps_the_use_and_a_late_instance_counts_the_same() -> None:
    store = InMemoryMemoryStore()
    one, other = controller(store), controller(store, prefix="01HFB")
    memory_id = stored(one, "green tea")
    other.search("ana", SearchQuery(text="tea"))
    one.update(asking(), memory_id, Patch({"importance": 0.9}))
    one.search("ana", SearchQuery(text="tea"))

    for of in (one, other, controller(store, prefix="01HFC")):
        assert use(of, memory_id)[0] == 2


def test_a_touch_that_turns_up_late_counts_and_none_counts_twice() -> None:
    store = InMemoryMemoryStore()
    of = controller(store)
    memory_id = stored(of, "green tea")

    def touch(number: int, at_ms: int) -> None:
        store.touch("ana", Touch(touch_id=f"t{number}", seq=1, at_ms=at_ms, memory_ids=(memory_id,)), 0)
        of.stats("ana")

    touch(1, NOW_MS)
    touch(2, NOW_MS - LATE_TOUCH_MS + 1)
    touch(3, NOW_MS + 1)

    assert use(of, memory_id) == use(controller(store), memory_id) == (3, NOW_MS + 1)


def test_memories_are_listed_by_when_they_were_used() -> None:
    clock = Clock()
    of = controller(clock=clock)
    ids = [stored(of, content) for content in ("green tea", "a red car", "blue sky")]
    for content in ("blue sky", "green tea"):
        clock.now_ms += 1
        of.search("ana", SearchQuery(text=content, k=1))

    def listed(*, is_descending: bool) -> list[str]:
        order = Order(OrderBy.LAST_ACCESSED_AT, is_descending)
        return [memory.memory_id for memory in of.list_memories("ana", ACTIVE, 10, order=order).memories]

    assert listed(is_descending=True) == [ids[0], ids[2], ids[1]]
    assert listed(is_descending=False) == [ids[2], ids[0], ids[1]]


def test_a_use_that_cannot_be_kept_costs_no_answer() -> None:
    dying = DyingStore(InMemoryMemoryStore())
    of = controller(dying.port)
    memory_id = stored(of, "green tea")

    def refuse() -> None:
        raise Unavailable("the table is busy")

    dying.interrupt(3, "before", refuse)
    assert [hit.memory.memory_id for hit in of.search("ana", SearchQuery(text="tea")).hits] == [memory_id]
    assert dying.calls == ["read_log", "fetch", "touch"]
    assert use(of, memory_id)[0] == 0


def test_a_slow_search_looks_again_before_it_keeps_its_use_so_that_an_erased_user_gets_none() -> None:
    clock = Clock()
    dying = DyingStore(InMemoryMemoryStore())
    of = controller(dying.port, clock=clock)
    stored(of, "green tea")

    def erase_meanwhile() -> None:
        clock.now_ms += writing.TOUCH_WITHIN_MS + 1
        controller(dying.port, prefix="01HFB").erase("ana")

    dying.interrupt(2, "after", erase_meanwhile)
    assert of.search("ana", SearchQuery(text="tea")).hits

    assert "touch" not in dying.calls
    assert dying.port.items("ana", 9) == []


def test_an_erasure_waits_for_touches_in_flight_and_takes_them_along() -> None:
    waits: list[float] = []
    store = InMemoryMemoryStore()
    of = controller(store)
    memory_id = stored(of, "green tea")

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        store.touch("ana", Touch(touch_id="late", seq=1, at_ms=NOW_MS, memory_ids=(memory_id,)), 0)

    object.__setattr__(of._surroundings, "sleep", sleep)
    erasure = of.erase("ana")

    assert waits == [erasing.SETTLING_MS / 1000]
    assert erasure.counts["touches"] == 1
    assert store.items("ana", 9) == []
    assert writing.TOUCH_WITHIN_MS < erasing.SETTLING_MS


def test_use_is_not_kept_with_a_memory() -> None:
    of = controller()
    memory_id = stored(of, "green tea")
    of.search("ana", SearchQuery(text="tea"))

    kept: Memory = of._store.fetch("ana", [memory_id])[memory_id]

    assert (kept.access_count, kept.last_accessed_at_ms) == (0, None)
