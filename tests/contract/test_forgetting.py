"""Memories that forget a transcript which goes, as whole controllers do it on every store."""

from typing import Any

import pytest
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.commit import Request
from recollect.controller import MemoryController
from recollect.errors import Conflict, NotFound
from recollect.filters import EVERYTHING
from recollect.forgetting import Forgotten
from recollect.model import Operation, Source, Status
from recollect.nominating import OnSimilar
from recollect.ports import MemoryStore

from tests.support.builders import NOW_MS, TRANSCRIPTS, Clock, asking, controller, entries_of, to_store
from tests.support.faults import DyingStores, Killed, deaths
from tests.support.histories import CANARY, Ticking, erased, everything_kept
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.worlds import World

FIRST, SECOND, _ = TRANSCRIPTS
LATER = 2 * NOW_MS
DONE = Forgotten(deleted=0, released=0, is_done=True)


def extracted(of: MemoryController, content: str, *transcripts: str, user_id: str = "ana", **values: Any) -> str:
    """Store what was extracted from transcripts, one after the other."""
    for transcript_id in transcripts:
        new = to_store(content, on_similar=OnSimilar.CREATE, sources=(Source(transcript_id, 0, 1),), **values)
        (outcome,) = of.store(asking(user_id), [new])
    return outcome.memory_id


def forget(of: MemoryController, *, cascade: bool, purge: bool = False, user_id: str = "ana") -> Forgotten:
    return of.forget_transcript(asking(user_id), FIRST, cascade=cascade, purge=purge, deadline_ms=LATER)


def shown(of: MemoryController, user_id: str = "ana") -> dict[str, tuple[str, ...]]:
    return {one.content: one.transcripts for one in of.list_memories(user_id, EVERYTHING, 200).memories}


def populated(of: MemoryController) -> None:
    extracted(of, f"only {CANARY}", FIRST)
    extracted(of, "both", FIRST, SECOND)
    extracted(of, "another", SECOND)
    of.store(asking(), [to_store("own word")])
    extracted(of, "of somebody else", FIRST, user_id="bob")


@pytest.mark.parametrize("purge", [False, True])
def test_with_cascade_what_cites_it_alone_goes_and_others_lose_the_reference(
    store: MemoryStore, purge: bool
) -> None:  # case D7
    of, other = controller(store), controller(store, prefix="01HFB")
    populated(of)
    other.stats("ana")

    assert forget(of, cascade=True, purge=purge) == Forgotten(deleted=1, released=1, is_done=True)

    for instance in (of, other, controller(store)):
        assert shown(instance) == {"both": (SECOND,), "another": (SECOND,), "own word": ()}
        assert shown(instance, "bob") == {"of somebody else": (FIRST,)}
    assert (CANARY in everything_kept(store)) is not purge
    last = {entry.operation: entry.reason for entry in entries_of(store)}
    assert last[Operation.CITE] == "a transcript that it cites was deleted"
    assert (Operation.PURGE in last, Operation.DELETE in last) == (purge, not purge)


def test_without_cascade_every_memory_stays_and_cites_it_no_more(store: MemoryStore) -> None:  # case D7
    of = controller(store)
    populated(of)

    assert forget(of, cascade=False, purge=True) == Forgotten(deleted=0, released=2, is_done=True)

    assert shown(of) == {f"only {CANARY}": (), "both": (SECOND,), "another": (SECOND,), "own word": ()}


def test_again_there_is_nothing_to_do_and_nothing_is_written(store: MemoryStore) -> None:
    of = controller(store)
    populated(of)
    forget(of, cascade=True)
    before = everything_kept(store)

    assert forget(of, cascade=True) == forget(controller(store), cascade=False) == DONE
    assert forget(of, cascade=True, user_id="nobody") == DONE
    assert everything_kept(store) == before


def test_memories_of_every_status_and_expired_ones_forget_it_too(store: MemoryStore) -> None:
    clock = Clock()
    of = controller(store, clock=clock)
    old = extracted(of, "The user's team uses PostgreSQL 14", FIRST)
    (new,) = of.store(asking(), [to_store("The user's team uses PostgreSQL 15")])
    assert new.outcome == "superseded"
    extracted(of, f"short {CANARY}", FIRST, expires_at_ms=NOW_MS + 1)
    clock.now_ms += 5

    assert forget(of, cascade=True, purge=True) == Forgotten(deleted=2, released=0, is_done=True)

    assert CANARY not in everything_kept(store)
    assert [one.memory_id for one in of.list_memories("ana", EVERYTHING, 9).memories] == [new.memory_id]
    with pytest.raises(NotFound):
        of.get("ana", old)


def test_a_deletion_by_cascade_can_be_taken_back(store: MemoryStore) -> None:
    of = controller(store)
    memory_id = extracted(of, "green tea", FIRST)
    forget(of, cascade=True)

    of.restore(asking(), memory_id, 1)

    assert of.get("ana", memory_id).status is Status.ACTIVE
    assert forget(of, cascade=True) == Forgotten(deleted=1, released=0, is_done=True)


def test_a_restored_version_does_not_cite_what_is_gone(store: MemoryStore) -> None:
    of = controller(store)
    memory_id = extracted(of, "green tea", FIRST, SECOND)
    forget(of, cascade=False)

    of.restore(asking(), memory_id, 1)

    assert of.get("ana", memory_id).transcripts == (SECOND,)


def test_a_hundred_memories_go_chunk_by_chunk_and_as_far_as_the_time_allows(store: MemoryStore) -> None:
    clock = Ticking(1)
    of = controller(store, clock=clock)
    new = [
        to_store(f"{number} {'x' * number}", on_similar=OnSimilar.CREATE, sources=(Source(FIRST, number, number),))
        for number in range(100)
    ]
    of.store(asking(), new)
    calls: list[Forgotten] = []

    while not calls or not calls[-1].is_done:
        calls.append(of.forget_transcript(asking(), FIRST, cascade=True, deadline_ms=clock.now_ms + 6))

    assert [call.deleted for call in calls if call.deleted] == [32, 32, 32, 4]
    assert len(calls) <= 5
    assert shown(of) == {}


def test_after_its_time_nothing_is_begun(store: MemoryStore) -> None:
    of = controller(store)
    populated(of)
    before = everything_kept(store)

    for purge in (False, True):
        late = of.forget_transcript(asking(), FIRST, cascade=True, purge=purge, deadline_ms=NOW_MS)
        assert late == Forgotten(deleted=0, released=0, is_done=False)
    assert everything_kept(store) == before


@pytest.mark.parametrize("purge", [False, True])
def test_what_another_transcript_says_meanwhile_is_not_deleted(store: MemoryStore, purge: bool) -> None:
    stores = DyingStores(store, World().objects)
    slow = controller(stores.store, prefix="01HFA", objects=stores.objects)
    fast = controller(store, prefix="01HFB", objects=stores.objects)
    extracted(fast, "green tea", FIRST)
    stores.interrupt("append", "before", lambda: extracted(fast, "green tea", SECOND))

    assert forget(slow, cascade=True, purge=purge) == Forgotten(deleted=0, released=1, is_done=True)

    assert shown(fast) == {"green tea": (SECOND,)}


def test_what_is_left_with_one_transcript_meanwhile_goes_with_it(store: MemoryStore) -> None:
    stores = DyingStores(store, World().objects)
    slow = controller(stores.store, prefix="01HFA", objects=stores.objects)
    fast = controller(store, prefix="01HFB", objects=stores.objects)
    extracted(fast, CANARY, FIRST, SECOND)
    stores.interrupt(
        "append", "before", lambda: fast.forget_transcript(asking(), SECOND, cascade=True, deadline_ms=LATER)
    )

    assert forget(slow, cascade=True, purge=True) == Forgotten(deleted=1, released=0, is_done=True)

    assert CANARY not in everything_kept(store)


def test_large_memories_are_taken_in_transactions_that_fit(store: MemoryStore) -> None:
    of = controller(store)
    content = "😀" * 15_900
    for number in range(30):
        extracted(of, f"{number} {content}", FIRST, SECOND)

    assert forget(of, cascade=True) == Forgotten(deleted=0, released=30, is_done=True)


def test_of_a_user_who_is_erased_in_the_middle_nothing_goes_on(store: MemoryStore) -> None:
    of, other = controller(store), controller(store, prefix="01HFB")
    populated(of)
    request = Request("ana", by="ingestion", epoch=store.read_head("ana").epoch)
    erased(other)
    extracted(other, "in the next life", FIRST)

    with pytest.raises(Conflict):
        of.forget_transcript(request, FIRST, cascade=True, deadline_ms=LATER)

    assert shown(other) == {"in the next life": (FIRST,)}


def cited_in_segments_and_tail(world: World, user_id: str) -> None:
    of = world.instance()
    extracted(of, f"one {CANARY}", FIRST, user_id=user_id, tags=(CANARY,))
    extracted(of, f"two {CANARY}", FIRST, user_id=user_id, tags=(CANARY,))
    kept = extracted(of, "both", FIRST, SECOND, user_id=user_id)
    world.compact(user_id, is_forced=True)
    changed = extracted(of, f"three {CANARY}", FIRST, user_id=user_id, tags=(CANARY,))
    of.update(asking(user_id), changed, Patch({"content": f"four {CANARY}"}))
    of.update(asking(user_id), kept, Patch({"importance": 0.9}))


@pytest.mark.parametrize("purge", [False, True])
def test_one_that_died_anywhere_is_completed_by_the_next(world: World, kept: DyingStores, purge: bool) -> None:
    def forgets(user_id: str) -> Forgotten:
        return forget(world.instance(), cascade=True, purge=purge, user_id=user_id)

    cited_in_segments_and_tail(world, "rehearsal")
    moments = deaths(lambda _: forgets("rehearsal"), kept)
    if not isinstance(kept.inner, InMemoryMemoryStore):
        moments = moments[::9]
    for number, (at, when) in enumerate(moments):
        user_id = f"u{number}"
        cited_in_segments_and_tail(world, user_id)
        kept.die(at, when)
        with pytest.raises(Killed):
            forgets(user_id)

        assert forgets(user_id).is_done
        assert shown(world.instance(), user_id) == {"both": (SECOND,)}
        hits = world.instance().search(user_id, SearchQuery(text=CANARY, reinforces=False)).hits
        assert [hit.memory.content for hit in hits] == ["both"]
    if purge:
        assert CANARY not in everything_kept(kept.inner)
        objects = [world.objects.get(key) for number in range(len(moments)) for key in world.object_keys(f"u{number}")]
        assert not [data for data in objects if CANARY.encode() in data]
