"""What a compaction folds, archives and deletes, and what a purge and an erasure leave of it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from recollect import archive, keys
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.compacting import GARBAGE_AGE_MS, Compaction
from recollect.controller import MemoryController
from recollect.erasure import ErasureState
from recollect.errors import Conflict, NotFound, Unavailable
from recollect.filters import EVERYTHING
from recollect.model import Head, Touch
from recollect.partition import LATE_TOUCH_MS
from recollect.segments.segment import Segment
from recollect.text import term_counts

from tests.support.builders import asking, entries_of, to_store
from tests.support.faults import DyingStores, Killed, deaths
from tests.support.histories import CANARY, erased, everything_kept, seen_by, stored, with_history
from tests.support.worlds import LATER_MS, SMALL, World

LATE_ID = "01HF0000000000000000000X00"


def uses(of: MemoryController) -> dict[str, int]:
    return {one.content: one.access_count for one in of.list_memories("ana", EVERYTHING, 99).memories}


def search(of: MemoryController, text: str) -> None:
    of.search("ana", SearchQuery(text=text, k=1))


def touches_of(world: World) -> list[Touch]:
    records, _ = world.store.read_log("ana", 0)
    return [record for record in records if isinstance(record, Touch)]


def segments_of(world: World) -> list[Segment]:
    return [Segment.decode(world.objects.get(key), key) for key in world.segment_keys()]


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
