"""Uses of memories before and after a compaction folds them."""

from dataclasses import replace

from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.filters import EVERYTHING
from recollect.model import Touch
from recollect.partition import LATE_TOUCH_MS

from tests.support.builders import asking, to_store
from tests.support.histories import stored
from tests.support.worlds import LATER_MS, World

LATE_ID = "01HF0000000000000000000X00"


def uses(of: MemoryController) -> dict[str, int]:
    return {one.content: one.access_count for one in of.list_memories("ana", EVERYTHING, 99).memories}


def search(of: MemoryController, text: str) -> None:
    of.search("ana", SearchQuery(text=text, k=1))


def touches_of(world: World) -> list[Touch]:
    records, _ = world.store.read_log("ana", 0)
    return [record for record in records if isinstance(record, Touch)]


def test_uses_count_once_before_and_after_they_are_folded(world: World) -> None:
    of, warm = world.instance(), world.instance()
    for number in range(4):
        stored(of, f"fact {number}")
    expected = {f"fact {number}": 0 for number in range(4)}
    for number in (0, 1, 1, 3, 1, 0, 0, 0):
        search(of, f"fact {number}")
        expected[f"fact {number}"] += 1
        if number:
            world.compact()
        for instance in (of, warm, world.instance()):
            assert uses(instance) == expected
    assert world.head().seq == 4  # nothing but searches since the first compaction
    assert touches_of(world) != []
    world.compact(is_forced=True)
    assert touches_of(world) == []
    assert uses(world.instance()) == uses(warm) == expected


def test_a_use_that_was_just_counted_waits_for_the_next_compaction(world: World) -> None:
    of = world.instance()
    for number in range(4):
        stored(of, f"fact {number}")
    search(of, "fact 1")
    world.clock.now_ms += LATE_TOUCH_MS - 1

    assert world.compactor().compact("ana").folded_touches == 0
    [touch] = touches_of(world)
    late = replace(touch, touch_id=LATE_ID, at_ms=world.clock.now_ms - LATE_TOUCH_MS + 1)
    world.store.touch("ana", late, 10**10)
    assert uses(of)["fact 1"] == uses(world.instance())["fact 1"] == 2
    world.clock.now_ms += 2
    assert world.compactor().compact("ana", is_forced=True).folded_touches == 2
    assert uses(of)["fact 1"] == uses(world.instance())["fact 1"] == 2


def test_a_clock_that_goes_back_does_not_count_a_use_again(world: World) -> None:
    of = world.instance()
    ids = [stored(of, f"fact {number}") for number in range(4)]
    search(of, "fact 1")
    world.compact(is_forced=True)
    folded_ms = world.head().folded_ms
    new, late = (
        Touch(touch_id=f"{LATE_ID[:-1]}{at}", seq=4, at_ms=folded_ms + at, memory_ids=(ids[1],)) for at in (1, 0)
    )
    for touch in (new, late):
        world.store.touch("ana", touch, 10**10)
    world.clock.now_ms -= 2 * LATER_MS

    world.compactor().compact("ana", is_forced=True)

    assert world.head().folded_ms == folded_ms
    assert uses(world.instance())["fact 1"] == 2


def test_a_memory_that_takes_anothers_place_goes_on_with_its_use(world: World) -> None:
    of = world.instance()
    old = stored(of, "the old fact")
    for _ in range(3):
        search(of, "the old fact")
    world.compact(is_forced=True)
    new = of.store(asking(), [to_store("the new fact", supersedes=old)])[0].memory_id
    search(of, "the new fact")
    of.update(asking(), new, Patch({"importance": 0.7}))

    for _ in range(2):
        assert [uses(one)["the new fact"] for one in (of, world.instance())] == [4, 4]
        world.compact(is_forced=True)
