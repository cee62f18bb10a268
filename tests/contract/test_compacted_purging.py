"""What a purge and an erasure leave of what was compacted."""

from dataclasses import replace

import pytest
from recollect import keys
from recollect.changes import Patch
from recollect.compacting import Compaction
from recollect.controller import MemoryController
from recollect.erasure import ErasureState
from recollect.errors import NotFound
from recollect.filters import EVERYTHING
from recollect.model import Head
from recollect.segments.segment import Segment
from recollect.text import term_counts

from tests.support.builders import asking, entries_of
from tests.support.faults import DyingStores, Killed, deaths
from tests.support.histories import CANARY, erased, everything_kept, seen_by, stored, with_history
from tests.support.worlds import SMALL, World

LATE_ID = "01HF0000000000000000000X00"


def uses(of: MemoryController) -> dict[str, int]:
    return {one.content: one.access_count for one in of.list_memories("ana", EVERYTHING, 99).memories}


def segments_of(world: World) -> list[Segment]:
    return [Segment.decode(world.objects.get(key), key) for key in world.segment_keys()]


def spread(world: World) -> str:
    """Leave a memory's text in two of three segments, in the tail, and in an object of a compaction that died."""
    world.policy = replace(SMALL, fan=9)
    of = world.instance()
    memory_id = with_history(of)
    for number in range(8):
        stored(of, f"fact {number}", tags=("a",))
    world.compact(is_forced=True)
    of.update(asking(), memory_id, Patch({"content": f"{CANARY} once more"}))
    world.compact(is_forced=True)
    of.update(asking(), memory_id, Patch({"content": f"{CANARY} in the tail"}))
    world.objects.put_new(keys.segment("ana", world.head().epoch, LATE_ID), world.objects.get(world.segment_keys()[0]))
    return memory_id


def test_a_purge_leaves_nothing_of_the_text_in_any_object(world: World, kept: DyingStores) -> None:
    memory_id = spread(world)
    of, warm = world.instance(), world.instance()
    assert CANARY in str(seen_by(warm))
    terms = set(term_counts(CANARY))
    before = dict(zip(world.segment_keys(), segments_of(world), strict=True))
    held = {key for key, segment in before.items() if terms & set(segment.columns["terms"].tolist())}
    assert len(held) == len(before) - 1 == 2

    of.purge(asking(), memory_id)

    assert CANARY not in everything_kept(kept.inner)
    present = world.object_keys()
    assert set(before) - set(present) == held
    assert {key for key in present if "/segments/" in key} == set(world.segment_keys())
    assert not [key for key in present if CANARY.encode() in world.objects.get(key)]
    assert [segment.rows_of([memory_id]).tolist() for segment in segments_of(world)] == [[-1]] * 3
    assert not any(terms & set(segment.columns["terms"].tolist()) for segment in segments_of(world))
    for instance in (of, warm, world.instance()):
        assert CANARY not in str(seen_by(instance))
        assert set(uses(instance)) == {f"fact {number}" for number in range(8)}
        entries = instance.events("ana", 99, memory_id=memory_id).entries
        assert [entry.operation.value for entry in entries] == ["purge", *["update"] * 4, "create"]
        assert all(entry.content_hash for entry in entries[1:])


def test_a_purge_that_died_anywhere_is_completed_by_a_repeat(world: World, kept: DyingStores) -> None:
    def begun(user_id: str) -> str:
        of = world.instance()
        memory_id = with_history(of, user_id, changes=1)
        for number in range(3):
            stored(of, f"fact {number}", user_id)
        world.compact(user_id, is_forced=True)
        of.update(asking(user_id), memory_id, Patch({"content": f"{CANARY} in the tail"}))
        return memory_id

    def purge(user_id: str, memory_id: str) -> None:
        world.instance().purge(asking(user_id), memory_id)

    memory_id = begun("rehearsal")
    moments = deaths(lambda _: purge("rehearsal", memory_id), kept)
    for number, (at, when) in enumerate(moments[::4]):
        user_id = f"u{number}"
        memory_id = begun(user_id)
        kept.die(at, when)
        with pytest.raises(Killed):
            purge(user_id, memory_id)
        purge(user_id, memory_id)

        assert all(CANARY.encode() not in world.objects.get(key) for key in world.object_keys(user_id))
        assert world.instance().stats(user_id).total == 3
        with pytest.raises(NotFound):
            world.instance().get(user_id, memory_id)


def test_an_erasure_takes_segments_and_archives(world: World) -> None:
    of, warm = world.instance(), world.instance()
    for user_id in ("ana", "bob"):
        for number in range(9):
            stored(of, f"fact {number}", user_id)
        world.compact(user_id)
    assert len(uses(warm)) == 9
    number = len(world.object_keys())

    erasure = erased(world.instance())

    assert erasure.state is ErasureState.ERASED
    assert erasure.by_store["s3"] == {"objects": number} != {"objects": 0}
    assert world.object_keys() == []
    assert (world.head(), entries_of(world.store)) == (Head(), [])
    assert seen_by(warm) == seen_by(world.instance()) == set()
    assert len(world.instance().list_memories("bob", EVERYTHING, 99).memories) == 9
    assert world.compactor().compact("ana") == Compaction()
