"""Damaged and lost segments are made anew from the memories, by whoever finds them."""

from collections.abc import Callable
from functools import partial

import pytest
from recollect import telemetry
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.compaction import Policy
from recollect.controller import MemoryController
from recollect.errors import NotFound
from recollect.filters import EVERYTHING
from recollect.model import Source
from recollect.ranking import Mode

from tests.support.builders import TRANSCRIPTS, asking, to_store
from tests.support.faults import DyingStores
from tests.support.histories import CANARY, everything_kept, stored
from tests.support.inmemory import InMemoryObjectStore
from tests.support.worlds import World, everything_read

APART = Policy(fold_entries=4, fold_touches=2, fan=9, tiers=2, dead_share_max=1.0)  # nothing is merged
BOTH = (Source(TRANSCRIPTS[0], 1, 1), Source(TRANSCRIPTS[2], 2, 2))
Damage = Callable[[bytes], bytes | None]
DAMAGES: dict[str, Damage] = {
    "a flipped byte": lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
    "a flipped byte at the end": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "a short object": lambda data: data[: len(data) // 2],
    "nothing in it": lambda _: b"",
    "another version": lambda data: data[:8] + b"\xff" + data[9:],
    "no object": lambda _: None,
}


@pytest.fixture
def world() -> World:
    return World(policy=APART)


def damage(world: World, how: Damage, *places: int) -> None:
    """Damage objects of live segments."""
    objects = world.objects
    assert isinstance(objects, InMemoryObjectStore)
    for place in places:
        key = world.segment_keys()[place]
        damaged = how(objects.get(key))
        objects.delete([key])
        if damaged is not None:
            objects.put_new(key, damaged)


def with_past(world: World) -> list[str]:
    """Make three segments and a tail: memories that were changed, deleted, superseded, purged, at any time."""
    of = world.instance()
    ids = [
        stored(of, f"fact {number} of the green tea", tags=("a",), sources=sources)
        for number, sources in enumerate([*[()] * 3, *[(Source(one, 0, 9),) for one in TRANSCRIPTS], (), BOTH])
    ]
    world.compact(is_forced=True)
    of.update(asking(), ids[0], Patch({"content": "another green tea"}))
    of.update(asking(), ids[1], Patch({"importance": 0.9}))
    of.delete(asking(), ids[2])
    of.purge(asking(), ids[3])
    world.compact(is_forced=True)
    ids += [stored(of, "and one more green tea"), stored(of, "and another green tea")]
    ids.append(of.store(asking(), [to_store("instead of the fourth", supersedes=ids[4])])[0].memory_id)
    of.forget_transcript(asking(), TRANSCRIPTS[2], cascade=False, deadline_ms=world.clock.now_ms + 1)
    of.update(asking(), ids[0], Patch({"content": "the third green tea"}))
    of.delete(asking(), ids[8])
    world.compact(is_forced=True)
    of.update(asking(), ids[0], Patch({"importance": 0.1}))
    of.update(asking(), ids[5], Patch({"importance": 0.2}))
    of.delete(asking(), ids[6])
    assert len(world.head().manifest) == 3
    return ids


@pytest.mark.parametrize("how", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("places", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_every_read_answers_as_before(world: World, how: Damage, places: tuple[int, ...]) -> None:
    ids = with_past(world)
    before = everything_read(world.instance(), ids)
    damage(world, how, *places)

    with telemetry.measured() as measures:
        found = everything_read(world.instance(), ids)

    assert {name: found[name] == value for name, value in before.items()} == dict.fromkeys(before, True)
    assert measures.counts["corrupt_segments"] == len(places)
    assert len(world.head().manifest) == 4 - len(places)
    with telemetry.measured() as measures:
        assert everything_read(world.instance(), ids) == before
    assert "corrupt_segments" not in measures.counts


def test_what_was_deleted_can_be_restored_and_purged_and_what_was_purged_cannot(world: World) -> None:
    ids = with_past(world)
    damage(world, DAMAGES["no object"], 0, 1, 2)
    of = world.instance()

    assert of.restore(asking(), ids[2], 1).version == 3
    assert of.restore(asking(), ids[6], 1).version == 3
    assert of.purge(asking(), ids[8]).version == 3
    with pytest.raises(NotFound):
        of.restore(asking(), ids[3], 1)
    world.compact(is_forced=True)
    contents = {one.content for one in world.instance().list_memories("ana", EVERYTHING, 99).memories}
    assert {"fact 2 of the green tea", "fact 6 of the green tea"} < contents


def test_without_the_embedder_memories_are_found_by_their_words(world: World) -> None:
    with_past(world)
    damage(world, DAMAGES["a short object"], 0, 1, 2)
    world.embedder.is_down = True
    of = world.instance()

    pending = of.stats("ana").pending_embeddings
    hits = of.search("ana", SearchQuery(text="fact 7", mode=Mode.LEXICAL)).hits
    assert hits[0].memory.content == "fact 7 of the green tea"
    assert pending == 5  # of seven; two are in the tail with their vectors
    world.embedder.is_down = False
    assert (
        world.instance().search("ana", SearchQuery(text="fact 7")).hits[0].memory.content == "fact 7 of the green tea"
    )


def test_two_instances_that_find_the_damage_at_once_mend_it_once(world: World) -> None:
    ids = with_past(world)
    before = everything_read(world.instance(), ids)
    damage(world, DAMAGES["a flipped byte"], 1)
    kept = DyingStores(world.store, world.objects)
    rehearsed = _mending_calls(world, kept)

    for at in range(1, rehearsed + 1):
        fresh = World(policy=APART)
        same = with_past(fresh)
        damage(fresh, DAMAGES["a flipped byte"], 1)
        stores = DyingStores(fresh.store, fresh.objects)
        stores.interrupt(at, "before", partial(fresh.instance().stats, "ana"))
        one = _instance(fresh, stores)
        assert everything_read(one, same) == before
        assert everything_read(fresh.instance(), same) == before
        assert len(fresh.head().manifest) == 3
        assert len(fresh.object_keys()) - len(fresh.segment_keys()) == 3 + 1  # archives, and the damaged one


def _instance(world: World, stores: DyingStores) -> MemoryController:
    other = World(stores.store, stores.objects, clock=world.clock)
    other.last_id = 5_000
    return other.instance()


def _mending_calls(world: World, kept: DyingStores) -> int:
    kept.calls = []
    _instance(world, kept).stats("ana")
    return len(kept.calls)


def test_a_memory_that_is_purged_while_its_segment_is_made_anew_is_in_no_object() -> None:
    at, calls = 0, 1
    while at < calls:
        at += 1
        world = World(policy=APART)
        memory_id = stored(world.instance(), f"the {CANARY} in the cellar", tags=(CANARY,))
        world.compact(is_forced=True)
        purger = world.instance()
        purger.stats("ana")
        damage(world, DAMAGES["a flipped byte at the end"], 0)
        kept = DyingStores(world.store, world.objects)
        kept.interrupt(at, "after", partial(purger.purge, asking(), memory_id))
        _instance(world, kept).stats("ana")
        calls = len(kept.calls)

        assert world.instance().stats("ana").total == 0
        assert CANARY not in everything_kept(world.store)
        assert all(CANARY.encode() not in world.objects.get(key) for key in world.object_keys())
    assert calls > 5
