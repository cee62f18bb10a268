"""What there was after any entry is told from log, archives and versions, and equals what was there then."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.errors import Conflict, NotFound, StaleVersion
from recollect.filters import EVERYTHING
from recollect.model import Memory, Operation
from recollect.ports import Version
from recollect.replay import Replay

from tests.support.builders import NOW_MS, asking, to_store
from tests.support.drawn import ANY_WORK, WORKS
from tests.support.embedder import HashingEmbedder
from tests.support.histories import CANARY, erased, stored
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.ledger import Ledger
from tests.support.texts import DIMENSION, VERDICTS
from tests.support.works import Store, Wish, Work, settled
from tests.support.worlds import World

COMPACT, REEMBED = "compact", "re-embed"
_SAYING = st.sampled_from(list(VERDICTS)).map(lambda pair: [Store((to_store(text),)) for text in pair])
_STEP = st.one_of(ANY_WORK, *WORKS.values(), st.sampled_from([COMPACT, REEMBED]))
STEPS = st.builds(lambda said, more: said + more, _SAYING, st.lists(_STEP, min_size=3, max_size=14))


def present(of: MemoryController) -> dict[str, Memory]:
    """All memories as a listing has them."""
    listed = of.list_memories("ana", EVERYTHING, 200).memories
    return {one.memory_id: replace(one, access_count=0, last_accessed_at_ms=None) for one in listed}


def do(world: World, of: MemoryController, work: Work, number: int) -> None:
    """Do a drawn work; what it names are the newest memories."""
    ids = sorted({entry.memory_id for entry in of.events("ana", 200).entries})[::-1] or ["0" * 26]

    def names(drawn: str, _: Wish) -> str:
        return ids[int(drawn[1:]) % len(ids)]

    work = settled(work, names, Ledger(lambda _: ""), f"m{number}", world.clock.now_ms)
    with suppress(Conflict, NotFound, StaleVersion):
        work.ask(of, asking(digest=str(number)))


@settings(max_examples=150, deadline=None)
@given(steps=STEPS)
def test_the_state_after_every_entry_is_what_was_listed_then(steps: list[Work | str]) -> None:
    world = World(embedder=HashingEmbedder(dimension=DIMENSION))
    listed: dict[int, dict[str, Memory]] = {0: {}}
    time_of: dict[int, int] = {}
    of = world.instance()
    for number, step in enumerate(steps):
        of = take(world, of, step, number)
        listed[world.head().seq] = present(of)
        time_of[world.head().seq] = world.clock.now_ms

    found = of.replay("ana", verifies=True)

    assert found.disagreements == ()
    assert (found.seq, seen(found, world.clock.now_ms)) == (world.head().seq, present(of))
    for seq, expected in listed.items():
        earlier = of.replay("ana", seq)
        assert_same(seen(earlier, NOW_MS), expected)
        assert earlier.disagreements == ()
        assert not seq or of.replay("ana", at_ms=time_of[seq]) == earlier


def take(world: World, of: MemoryController, step: Work | str, number: int) -> MemoryController:
    """Take a step, a second after the one before; give the instance that goes on."""
    world.clock.now_ms += 1_000
    if isinstance(step, Work):
        do(world, of, step, number)
    elif step == COMPACT:
        world.compactor().compact("ana", is_forced=True)
    else:
        world.embedder = HashingEmbedder(f"model {number}", DIMENSION + number)
        of = world.instance()
        world.reembed()
    return of


def seen(found: Replay, now_ms: int) -> dict[str, Version | Memory]:
    """Those that have not expired; redacted ones as versions."""
    return {
        version.memory.memory_id: version.memory if version.content_hash is None else version
        for version in found.memories
        if version.memory.expires_at_ms is None or version.memory.expires_at_ms > now_ms
    }


def assert_same(found: dict[str, Version | Memory], expected: dict[str, Memory]) -> None:
    """Compare; a memory that was purged since has kept its numbers only. Some of `found` may have expired by then."""
    assert expected.keys() <= found.keys()
    for memory_id, one in expected.items():
        other = found[memory_id]
        if isinstance(other, Version):
            assert (other.memory.version, other.memory.status, other.memory.content) == (one.version, one.status, "")
        else:
            assert other == one
    assert all(
        isinstance(other, Version) or other.expires_at_ms is not None
        for memory_id, other in found.items()
        if memory_id not in expected
    )


def with_past() -> tuple[World, MemoryController, list[str]]:
    """Make entries 1 to 7, the first five of them archived."""
    world = World()
    of = world.instance()
    ids = [stored(of, "green tea"), stored(of, f"the {CANARY}", tags=(CANARY,))]
    of.update(asking(), ids[0], Patch({"content": "black tea"}))
    of.delete(asking(), ids[0])
    of.restore(asking(), ids[0], 1)
    world.compact(is_forced=True)
    of.purge(asking(), ids[1])
    ids.append(stored(of, "coffee"))
    return world, of, ids


def told(found: Replay) -> list[tuple[str, int, str | None]]:
    return [
        (one.memory.memory_id, one.memory.version, None if one.content_hash else one.memory.content)
        for one in found.memories
    ]


def test_what_was_deleted_is_there_before_and_what_was_purged_is_redacted() -> None:
    _, of, (tea, purged, coffee) = with_past()

    assert told(of.replay("ana", 0)) == []
    assert told(of.replay("ana", 3)) == [(tea, 2, "black tea"), (purged, 1, None)]
    assert told(of.replay("ana", 4)) == [(purged, 1, None)]
    assert told(of.replay("ana", 6)) == [(tea, 4, "green tea")]
    assert told(of.replay("ana")) == [(tea, 4, "green tea"), (coffee, 1, "coffee")]
    assert CANARY not in repr(of.replay("ana", 3))


def test_there_is_nothing_of_an_unknown_user_and_no_state_after_an_entry_that_is_not_there() -> None:
    _, of, _ = with_past()

    assert of.replay("bob", verifies=True) == Replay(0, None, (), ())
    for seq in (-1, 8):
        with pytest.raises(NotFound):
            of.replay("ana", seq)
    erased(of)
    assert of.replay("ana").memories == ()


Damage = Callable[[World, list[str]], Any]


def memories(world: World) -> InMemoryMemoryStore:
    assert isinstance(world.store, InMemoryMemoryStore)
    return world.store


def lose_version(world: World, ids: list[str]) -> None:
    del memories(world)._versions["ana", ids[0], 1]


def lose_memory(world: World, ids: list[str]) -> None:
    del memories(world)._memories["ana", ids[2]]


def lose_entry(world: World, _: list[str]) -> None:
    del memories(world)._logs["ana"][7]


def lose_archive(world: World, _: list[str]) -> None:
    world.objects.delete([key for key in world.object_keys() if key.endswith(".ndjson")])


def confuse_versions(world: World, ids: list[str]) -> None:
    versions = memories(world)._versions
    versions["ana", ids[0], 2] = replace(versions["ana", ids[0], 2], ended_seq=6)


def change_text(world: World, ids: list[str]) -> None:
    of = memories(world)._memories
    of["ana", ids[0]] = replace(of["ana", ids[0]], content="tampered with")


def add_memory(world: World, _: list[str]) -> None:
    memories(world)._memories["ana", "Z" * 26] = replace(
        memories(world)._memories["ana", max(of for _, of in memories(world)._memories)], memory_id="Z" * 26
    )


DAMAGES: dict[str, tuple[Damage, str]] = {
    "a version is lost": (lose_version, "entry 1: version 1 of"),
    "a memory is lost": (lose_memory, "entry 7: version 1 of"),
    "a version ended at another time": (confuse_versions, "entry 6: it does not tell of the end of version 2"),
    "a text was changed": (change_text, "column content_bytes"),
    "a memory came from nowhere": (add_memory, "entry 7: it does not tell of version 1 of ZZZ"),
    "an archive is lost": (lose_archive, "entry 3: it is missing"),
}


@pytest.mark.parametrize(("damage", "said"), DAMAGES.values(), ids=DAMAGES)
def test_what_contradicts_the_log_is_told(damage: Damage, said: str) -> None:
    world, of, ids = with_past()
    damage(world, ids)

    disagreements = of.replay("ana", verifies=True).disagreements

    assert any(said in one for one in disagreements), disagreements
    assert "tampered" not in str(disagreements)


@pytest.mark.parametrize("is_known", [False, True])
def test_a_partition_with_other_rows_than_the_log_tells_of_is_told(is_known: bool) -> None:
    world, of, ids = with_past()
    world.compact(is_forced=True)
    other = World()
    other.last_id = 0 if is_known else 1_000
    stored(other.instance(), "something else")
    other.compact(is_forced=True)
    newest = world.segment_keys()[-1]
    world.objects.delete([newest])
    world.objects.put_new(newest, other.objects.get(other.segment_keys()[0]))

    found = world.instance().replay("ana", verifies=True)

    assert found.disagreements[0].startswith("the partition" if is_known else ids[2])
    assert told(found) == told(of.replay("ana"))


def test_embeddings_change_nothing_about_what_was_there() -> None:
    world, of, _ = with_past()
    before = of.replay("ana")
    world.embedder = HashingEmbedder("another", 32)
    world.reembed()
    world.compact(is_forced=True)
    of = world.instance()
    of.store(asking(), [to_store("milk")])

    found = of.replay("ana", verifies=True)

    assert [entry.operation for entry in of.events("ana", 3).entries][1:] == [Operation.EMBED] * 2
    assert found.disagreements == ()
    assert found.memories[:-1] == before.memories
