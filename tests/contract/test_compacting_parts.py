"""What a compaction folds, archives and deletes."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from recollect import archive, keys
from recollect.answers import SearchQuery
from recollect.compacting import GARBAGE_AGE_MS, Compaction
from recollect.controller import MemoryController
from recollect.errors import Conflict, Unavailable
from recollect.filters import EVERYTHING

from tests.support.builders import asking, entries_of
from tests.support.faults import DyingStores
from tests.support.histories import stored
from tests.support.worlds import LATER_MS, SMALL, World

LATE_ID = "01HF0000000000000000000X00"


def uses(of: MemoryController) -> dict[str, int]:
    return {one.content: one.access_count for one in of.list_memories("ana", EVERYTHING, 99).memories}


def search(of: MemoryController, text: str) -> None:
    of.search("ana", SearchQuery(text=text, k=1))


def test_a_compaction_tells_what_it_did_and_a_plan_what_it_would(world: World) -> None:
    of = world.instance()
    for number in range(5):
        stored(of, f"fact {number}")
    search(of, "fact 1")
    world.clock.now_ms += LATER_MS

    assert world.compactor().plan("ana") == Compaction(folded_entries=5, folded_touches=1)
    assert world.object_keys() == []
    done = world.compactor().compact("ana")

    assert replace(done, written_bytes=0) == Compaction(5, 1, 0, 5, 0, archived_entries=5, segments=1)
    assert done.written_bytes == len(world.objects.get(world.segment_keys()[0])) == world.head().manifest[0].size
    assert world.compactor().compact("ana") == world.compactor().plan("ana") == Compaction(segments=1)
    assert world.compactor().compact("nobody") == world.compactor().plan("nobody") == Compaction()


def test_a_long_tail_is_folded_in_portions_and_the_entries_go_to_an_archive(world: World) -> None:
    of = world.instance()
    for number in range(SMALL.fold_max_entries + SMALL.fold_entries + 1):
        stored(of, f"fact {number}")

    done = world.compact()

    head = world.head()
    assert (head.seq, head.compacted_seq, len(head.manifest)) == (12, 12, 2)
    assert (done.folded_entries, done.archived_entries) == (12, 12)
    assert entries_of(world.store) == []
    [place] = [key for key in world.object_keys() if key.startswith(keys.archives("ana", head.epoch))]
    assert keys.archive_of(place) == (head.epoch, 12)
    archived = archive.decode(world.objects.get(place), place)
    assert [entry.seq for entry in archived] == list(range(1, 13))
    assert b"fact" not in world.objects.get(place)


def test_replaced_objects_stay_until_no_request_can_read_them(world: World) -> None:
    of = world.instance()
    for number in range(3 * SMALL.fold_entries):
        stored(of, f"fact {number}")
        if number % SMALL.fold_entries == 3:
            world.compactor().compact("ana")
    assert len(world.head().manifest) == 1
    replaced = set(world.object_keys()) - set(world.segment_keys())
    segments = {key for key in replaced if "/segments/" in key}
    assert len(segments) == SMALL.fan
    orphan = keys.segment("ana", world.head().epoch, "01HG00000000000000000000XX")
    world.objects.put_new(orphan, b"of a compaction that died")

    world.clock.now_ms += GARBAGE_AGE_MS - LATER_MS
    assert world.compactor().compact("ana").deleted_objects == 0
    world.clock.now_ms += 2 * LATER_MS
    assert world.compactor().compact("ana").deleted_objects == len(segments) + 1
    assert set(world.object_keys()) == replaced - segments | set(world.segment_keys())


def test_events_are_found_in_whichever_archive_holds_them(world: World) -> None:
    of = world.instance()
    for number in range(12):
        stored(of, f"fact {number}")
    before = of.events("ana", 99).entries
    world.compact(is_forced=True)
    epoch = world.head().epoch
    archived = archive.decode(world.objects.get(keys.archive("ana", epoch, 12)), "k")
    # As two compactions leave it that ran at once, of which the slower one saw what the other had not deleted yet.
    world.objects.put_new(keys.archive("ana", epoch, 8), archive.encode(archived[5:8]))
    world.objects.put_new(keys.archive("ana", epoch, 10), archive.encode(archived[3:10]))

    for limit in (1, 5, 99):
        found: list[Any] = []
        page = of.events("ana", limit)
        found += page.entries
        while page.cursor is not None:
            page = of.events("ana", limit, page.cursor)
            found += page.entries
        assert [entry.seq for entry in found] == [entry.seq for entry in before]
        assert found == [replace(entry, columns=None) for entry in before]


def test_events_that_are_archived_between_two_reads_are_not_missed(world: World, kept: DyingStores) -> None:
    of = world.instance()
    for number in range(5):
        stored(of, f"fact {number}")
    world.clock.now_ms += LATER_MS
    kept.interrupt(1, "after", partial(world.compactor().compact, "ana"))

    assert [entry.seq for entry in of.events("ana", 9).entries] == [5, 4, 3, 2, 1]


class Deaf:
    """A store whose answers get lost: a call takes effect, and its repeat finds that somebody was first."""

    def __init__(self, inner: Any, name: str) -> None:
        self._inner = inner
        self._name = name

    def __getattr__(self, name: str) -> Any:
        run = getattr(self._inner, name)
        return partial(self._repeated, run) if name == self._name else run

    def _repeated(self, run: Callable[..., Any], *args: Any) -> Any:
        run(*args)
        return run(*args)


def test_a_commit_whose_answer_was_lost_is_a_commit(world: World) -> None:
    of = world.instance()
    for number in range(5):
        stored(of, f"fact {number}")
    world.clock.now_ms += LATER_MS

    done = world.compactor(store=Deaf(world.store, "commit_manifest")).compact("ana")

    assert (done.folded_entries, done.archived_entries) == (5, 5)
    assert world.segment_keys()[0] in world.object_keys()
    assert len(uses(world.instance())) == 5


def test_an_object_whose_answer_was_lost_is_not_committed_and_an_archive_is_looked_at(world: World) -> None:
    of = world.instance()
    for number in range(5):
        stored(of, f"fact {number}")
    world.clock.now_ms += LATER_MS

    with pytest.raises(Unavailable):
        world.compactor(objects=Deaf(world.objects, "put_new")).compact("ana")
    assert world.head().manifest == ()
    assert len(entries_of(world.store)) == 5
    world.objects.put_new(keys.archive("ana", world.head().epoch, 5), archive.encode(entries_of(world.store)[2:]))
    assert world.compactor().compact("ana").archived_entries == 3
    assert [entry.seq for entry in entries_of(world.store)] == [1, 2]
    assert [entry.seq for entry in of.events("ana", 9).entries] == [5, 4, 3, 2, 1]


def test_a_manifest_is_committed_on_the_revision_that_was_seen_only(world: World) -> None:
    stored(world.instance(), "fact")
    seen = world.head()
    newer = replace(seen, compacted_seq=1, folded_ms=7, revision=1)

    for stale in (replace(seen, epoch="another"), replace(seen, revision=1)):
        with pytest.raises(Conflict):
            world.store.commit_manifest("ana", newer, stale)
    with pytest.raises(Conflict):
        world.store.commit_manifest("nobody", newer, seen)
    assert world.head() == seen
    world.store.commit_manifest("ana", newer, seen)
    assert world.head() == newer
    with pytest.raises(Conflict):
        world.store.commit_manifest("ana", newer, seen)


def test_transcripts_stay_whatever_is_compacted_or_purged(world: World) -> None:
    of = world.instance()
    memory_id = stored(of, "Ana drinks green tea")
    stored(of, "Ana lives in Porto")
    messages = keys.part_object("ana", world.head().epoch, "01HT", "01HP")
    of_another_life = keys.part_object("ana", "01HZ", "01HT", "01HP")
    for key in (messages, of_another_life):
        world.objects.put_new(key, b"{}")

    world.compact(is_forced=True)
    world.clock.now_ms += GARBAGE_AGE_MS + LATER_MS
    world.compact(is_forced=True)
    assert messages in world.object_keys()
    assert of_another_life not in world.object_keys()

    of.purge(asking(), memory_id)
    assert messages in world.object_keys()
