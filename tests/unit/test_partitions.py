"""The warm partitions of an instance: what a refresh reads, what it notices, what is kept."""

from dataclasses import replace

import pytest
from recollect import keys
from recollect.answers import SearchQuery
from recollect.controller import MemoryController
from recollect.errors import NotFound, Unavailable
from recollect.partitions import Partitions

from tests.support.builders import BUDGET_BYTES, asking
from tests.support.embedder import HashingEmbedder
from tests.support.faults import DyingStores
from tests.support.histories import erased, seen_by, stored
from tests.support.worlds import SMALL, World


@pytest.fixture
def world() -> World:
    return World()


def filled(world: World, count: int = 9, user_id: str = "ana") -> MemoryController:
    """Store facts, and make a segment of the first, in a few sizes."""
    of = world.instance()
    for number in range(count):
        stored(of, f"fact {number} of the green tea", user_id)
        world.compact(user_id)
    return of


def counting(world: World, budget_bytes: int = BUDGET_BYTES) -> tuple[DyingStores, Partitions]:
    kept = DyingStores(world.store, world.objects)
    return kept, Partitions(kept.store, kept.objects, world.embedder, world.clock, budget_bytes)


def calls(kept: DyingStores, partitions: Partitions, user_id: str = "ana") -> list[str]:
    kept.calls = []
    partitions.refresh(user_id)
    return kept.calls


def test_a_cold_refresh_is_one_query_and_all_segments_at_once_a_warm_one_only_the_query(world: World) -> None:
    filled(world)
    kept, partitions = counting(world)

    assert len(world.head().manifest) > 1
    assert calls(kept, partitions) == ["read_log", "get_many"]
    assert calls(kept, partitions) == ["read_log"]
    stored(world.instance(), "one more")
    assert calls(kept, partitions) == ["read_log"]
    assert len(partitions.refresh("ana")) == 10


def test_an_instance_that_slept_through_compactions_reads_only_the_segments_that_are_new(world: World) -> None:
    of = filled(world, 5)
    _, partitions = counting(world)
    first = partitions.refresh("ana").segments
    for number in range(SMALL.fold_entries):
        stored(of, f"another {number}")
    world.compact()
    [old, new] = world.segment_keys()
    world.objects.delete([old])  # nobody asks for it

    second = partitions.refresh("ana").segments

    assert list(second) == [keys.segment_of(key)[1] for key in (old, new)]
    assert [second[name] for name in first] == list(first.values())


def test_an_instance_that_slept_through_an_erasure_and_a_new_life_shows_the_new_one_only(world: World) -> None:
    filled(world)
    sleeper = world.instance()
    assert len(seen_by(sleeper)) > 1

    erased(world.instance())
    assert seen_by(sleeper) == set()
    sleeper.stats("ana")
    filled(world, 5, "bob")
    of = world.instance()
    for number in range(5):
        stored(of, f"new life {number}")
    world.compact()

    assert seen_by(sleeper, query="new life") >= {f"new life {number}" for number in range(5)}
    assert not [text for text in seen_by(sleeper) if "fact" in text]
    assert sleeper.stats("ana").total == 5


def test_an_instance_with_another_embedder_finds_by_words_what_it_cannot_compare(world: World) -> None:
    filled(world, 6)
    other = HashingEmbedder("another", 32)
    new, sleeper = world.instance(embedder=other), world.instance()
    assert sleeper.stats("ana").pending_embeddings == 0
    stored(new, "fact of another embedder")

    assert new.stats("ana").pending_embeddings == 6
    assert sleeper.stats("ana").pending_embeddings == 1
    world.embedder = other
    world.compact(is_forced=True)
    for of, pending in ((new, 6), (sleeper, 3), (world.instance(), 6)):  # two were folded for the other one
        assert of.stats("ana").pending_embeddings == pending
        hits = of.search("ana", SearchQuery(text="fact 3")).hits
        assert hits[0].memory.content == "fact 3 of the green tea"


def test_the_least_recently_used_partitions_go_when_memory_is_short(world: World) -> None:
    for user_id in ("ana", "bob", "cleo"):
        filled(world, 5, user_id)
    one = world.partitions().refresh("ana").nbytes
    kept, partitions = counting(world, budget_bytes=int(2.5 * one))

    for user_id in ("ana", "bob", "ana", "cleo"):
        partitions.refresh(user_id)

    assert calls(kept, partitions, "ana") == ["read_log"]
    assert calls(kept, partitions, "cleo") == ["read_log"]
    assert calls(kept, partitions, "bob") == ["read_log", "get_many"]
    _, small = counting(world, budget_bytes=1)
    assert len(small.refresh("ana")) == len(small.refresh("ana")) == 5


def test_a_segment_that_is_replaced_while_it_is_read_is_no_error(world: World) -> None:
    of = filled(world, 5)
    memory_id = stored(of, "xylophone")
    world.compact(is_forced=True)
    kept, partitions = counting(world)
    kept.interrupt(1, "after", lambda: of.purge(asking(), memory_id))  # its segment is gone at once

    assert len(partitions.refresh("ana")) == 5
    assert kept.calls == ["read_log", "get_many", "read_log", "get_many"]


def test_segments_that_are_lost_and_cannot_be_made_anew_are_an_error_for_this_user_only(world: World) -> None:
    filled(world)
    filled(world, 5, "bob")
    _, partitions = counting(world)
    world.objects.delete(world.segment_keys())

    with pytest.raises(NotFound):
        partitions.refresh("ana")
    assert len(partitions.refresh("bob")) == 5


def test_segments_that_keep_being_replaced_are_given_up(world: World) -> None:
    filled(world)
    kept, partitions = counting(world)

    def replace_a_segment() -> None:
        head = world.head()
        refs = (replace(head.manifest[0], segment_id=f"{head.revision:026d}"), *head.manifest[1:])
        world.store.commit_manifest("ana", replace(head, manifest=refs, revision=head.revision + 1), head)
        kept.interrupt(2, "before", replace_a_segment)  # with the next read of the log

    replace_a_segment()
    kept.interrupt(1, "before", replace_a_segment)
    with pytest.raises(Unavailable, match="keep being replaced"):
        partitions.refresh("ana")


def test_a_touch_that_was_folded_and_is_still_in_the_log_counts_once(world: World) -> None:
    of = filled(world, 4)
    of.search("ana", SearchQuery(text="fact 1", k=1))
    head = world.head()
    touches, _ = world.store.read_log("ana", head.compacted_seq)
    world.compact(is_forced=True)
    for touch in touches:
        world.store.touch("ana", touch, 10**10)  # type: ignore[arg-type]  # as if the deletion had not come so far

    for instance in (world.instance(), of, of):
        hits = instance.search("ana", SearchQuery(text="fact 1", k=1, reinforces=False)).hits
        assert hits[0].memory.access_count == 1
