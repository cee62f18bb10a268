"""Compactions that die, meet each other and writers, purges and erasures; what they leave and what they delete."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from recollect import keys
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.compacting import GARBAGE_AGE_MS
from recollect.errors import Unavailable
from recollect.filters import EVERYTHING
from recollect.model import Head

from tests.support.builders import asking, entries_of
from tests.support.faults import DyingStores, Killed, When, deaths
from tests.support.histories import CANARY, erased, seen_by, stored, with_history
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.worlds import LATER_MS, World


def begun(world: World, user_id: str) -> dict[str, Any]:
    """Give a user a segment, a tail with touches, changes of what is in the segment; tell what is read of it."""
    of = world.instance()
    ids = [stored(of, f"fact {number} of the green tea", user_id, tags=("a",)) for number in range(5)]
    of.search(user_id, SearchQuery(text="fact 1", k=2))
    world.compact(user_id)
    of.update(asking(user_id), ids[0], Patch({"content": "another green tea"}))
    of.delete(asking(user_id), ids[1])
    with_history(of, user_id)
    of.search(user_id, SearchQuery(text="green tea", k=3))
    world.clock.now_ms += LATER_MS
    return read(world, user_id)


Moment = tuple[int, When]
WRITES = ("put_new", "commit_manifest", "drop_items")


def read(world: World, user_id: str) -> dict[str, Any]:
    of = world.instance()
    memories = of.list_memories(user_id, EVERYTHING, 200).memories
    hits = of.search(user_id, SearchQuery(text="green tea", k=100, reinforces=False)).hits
    entries = of.events(user_id, 200, is_descending=False).entries
    assert [entry.seq for entry in entries] == list(range(1, of.stats(user_id).seq + 1))
    return {
        "memories": [(one.memory_id, one.version, one.content, one.access_count) for one in memories],
        "hits": sorted((hit.memory.memory_id, round(hit.score, 5)) for hit in hits),
        "events": [(entry.seq, entry.operation, entry.memory_id, entry.version) for entry in entries],
    }


def compact(world: World, kept: DyingStores, user_id: str) -> None:
    world.compactor(kept.store, kept.objects).compact(user_id)


def moments(world: World, kept: DyingStores) -> list[Moment]:
    """Name the moments of a compaction; on emulated stores, which are slow, those just before something is written."""
    begun(world, "rehearsal")
    found = deaths(lambda _: compact(world, kept, "rehearsal"), kept)
    assert set(WRITES) < set(kept.calls)
    if isinstance(kept.inner, InMemoryMemoryStore):
        return found
    return [(at, when) for at, when in found if kept.calls[at - 1] in WRITES and when == "before"]


def assert_settled(world: World, user_id: str) -> None:
    """Nothing is left over: no entry that a segment holds, and, some time later, no object that nothing refers to."""
    head = world.head(user_id)
    assert all(entry.seq > head.compacted_seq for entry in entries_of(world.store, user_id))
    now_ms = world.clock.now_ms
    world.clock.now_ms += GARBAGE_AGE_MS + LATER_MS
    world.compactor().compact(user_id)
    world.clock.now_ms = now_ms
    archives = keys.archives(user_id, head.epoch)
    assert [key for key in world.object_keys(user_id) if not key.startswith(archives)] == sorted(
        world.segment_keys(user_id)
    )
    archived = [key for key in world.object_keys(user_id) if key.startswith(archives)]
    assert len(archived) >= 1


def test_a_compaction_that_died_anywhere_changed_nothing_and_is_completed_by_the_next(
    world: World, kept: DyingStores
) -> None:
    for number, (at, when) in enumerate(moments(world, kept)):
        user_id = f"u{number}"
        before = begun(world, user_id)
        kept.die(at, when)
        with pytest.raises(Killed):
            compact(world, kept, user_id)

        assert read(world, user_id) == before
        compact(world, kept, user_id)
        assert read(world, user_id) == before
        assert_settled(world, user_id)
        assert read(world, user_id) == before


def test_two_compactions_at_once_are_one(world: World, kept: DyingStores) -> None:
    for number, (at, when) in enumerate(moments(world, kept)):
        user_id = f"u{number}"
        before = begun(world, user_id)
        meeting(world, kept, user_id, (at, when), partial(compact, world, kept, user_id))

        assert read(world, user_id) == before
        assert_settled(world, user_id)
        assert read(world, user_id) == before


def write(world: World, user_id: str) -> None:
    writer = world.instance()
    stored(writer, "written meanwhile", user_id)
    writer.search(user_id, SearchQuery(text="written meanwhile", k=1))


def test_writers_and_a_compaction_do_not_wait_for_each_other(world: World, kept: DyingStores) -> None:
    for number, (at, when) in enumerate(moments(world, kept)):
        user_id = f"u{number}"
        before = begun(world, user_id)
        meeting(world, kept, user_id, (at, when), partial(write, world, user_id))
        after = read(world, user_id)
        new = [one for one in after["memories"] if one[2] == "written meanwhile"]

        assert [one[3] for one in new] == [1]
        assert [one for one in after["memories"] if one not in new] == before["memories"]
        assert after["events"][:-1] == before["events"]
        compact(world, kept, user_id)
        assert read(world, user_id) == after


def test_what_is_purged_during_a_compaction_is_in_no_object_afterwards(world: World, kept: DyingStores) -> None:
    for number, (at, when) in enumerate(moments(world, kept)):
        user_id = f"u{number}"
        begun(world, user_id)
        of = world.instance()
        memory_id = next(one[0] for one in read(world, user_id)["memories"] if CANARY in one[2])
        meeting(world, kept, user_id, (at, when), partial(of.purge, asking(user_id), memory_id))

        assert all(CANARY.encode() not in world.objects.get(key) for key in world.object_keys(user_id)), (at, when)
        assert CANARY not in str(seen_by(world.instance(), user_id))
        compact(world, kept, user_id)
        assert all(CANARY.encode() not in world.objects.get(key) for key in world.object_keys(user_id)), (at, when)


def test_a_user_erased_during_a_compaction_is_gone(world: World, kept: DyingStores) -> None:
    for number, (at, when) in enumerate(moments(world, kept)):
        user_id = f"u{number}"
        begun(world, user_id)
        meeting(world, kept, user_id, (at, when), partial(erased, world.instance(), user_id))

        assert world.object_keys(user_id) == [], (at, when)
        assert world.store.items(user_id, 9) == []
        assert world.head(user_id) == Head()


def meeting(world: World, kept: DyingStores, user_id: str, moment: Moment, other: Callable[[], Any]) -> None:
    """Compact, and let something else happen at that moment; the compaction may have to give up."""
    kept.interrupt(*moment, other)
    with suppress(Unavailable):
        compact(world, kept, user_id)
