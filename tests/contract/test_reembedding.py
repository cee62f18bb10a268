"""Embedding what is pending: after a change of the embedder, and after a time when it did not answer."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from recollect import pending
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.errors import Conflict, Unavailable
from recollect.filters import EVERYTHING
from recollect.maintenance import Run, StepReport
from recollect.model import Entry, Operation, Status
from recollect.ranking import Mode
from recollect.scan import Vectors
from recollect.segments.segment import Segment

from tests.support.builders import Clock, asking, entries_of, to_store
from tests.support.embedder import HashingEmbedder
from tests.support.faults import DyingStores, Killed, When, deaths
from tests.support.histories import CANARY, erased, everything_kept, seen_by, stored, with_history
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.worlds import LATER_MS, World, everything_read

BATCH = 4


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "BATCH_MAX_COUNT", BATCH)


def other_embedder() -> HashingEmbedder:
    """Make one of another model and dimension."""
    return HashingEmbedder("another", 48)


class Slow(HashingEmbedder):
    """Takes a second of a world's time for each call."""

    def __init__(self, world: World) -> None:
        super().__init__("another", 48)
        self._clock = world.clock

    def embed(self, texts: Sequence[str]) -> Vectors:
        self._clock.now_ms += 1_000
        return super().embed(texts)


class Flaky(HashingEmbedder):
    """Does not answer every third call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.calls % 3 == 0:
            raise Unavailable("the model does not answer")
        return super().embed(texts)


def with_past(world: World, user_id: str = "ana") -> list[str]:
    """Give a user segments and a tail: of memories that were changed, deleted, superseded and used at any time."""
    of = world.instance()
    ids = [stored(of, f"fact number {number} of the green tea", user_id, tags=("a",)) for number in range(6)]
    of.search(user_id, SearchQuery(text="number 3", k=2, mode=Mode.LEXICAL))
    world.compact(user_id, is_forced=True)
    of.update(asking(user_id), ids[0], Patch({"content": "another green tea"}))
    of.update(asking(user_id), ids[1], Patch({"importance": 0.9}))
    of.delete(asking(user_id), ids[2])
    ids.append(of.store(asking(user_id), [to_store("instead of the third office", supersedes=ids[3])])[0].memory_id)
    world.compact(user_id, is_forced=True)
    ids += [stored(of, f"and {text}", user_id) for text in ("coffee", "the office")]
    of.update(asking(user_id), ids[4], Patch({"importance": 0.1}))
    world.clock.now_ms += LATER_MS
    return ids


def trail_left_out(read: dict[str, Any]) -> dict[str, Any]:
    """Leave out how many entries the log has: embeddings are in it."""
    return {name: value for name, value in read.items() if name not in ("stats", "events")}


def pending_of(of: MemoryController, user_id: str = "ana") -> int:
    return of.stats(user_id).pending_embeddings


def found(of: MemoryController, text: str, mode: Mode, user_id: str = "ana") -> list[str]:
    hits = of.search(user_id, SearchQuery(text=text, mode=mode, reinforces=False, filter=EVERYTHING, k=50)).hits
    return [hit.memory.memory_id for hit in hits]


def test_vectors_of_another_model_are_never_compared_and_reads_work_meanwhile(world: World) -> None:  # case E1
    ids = with_past(world)
    before = everything_read(world.instance(), ids)["lists"]
    world.embedder = Slow(world)
    warm = world.instance()

    assert pending_of(warm) == 8
    assert found(warm, "green tea", Mode.SEMANTIC) == []
    assert set(found(warm, "green tea", Mode.HYBRID)) == {ids[number] for number in (0, 1, 3, 4, 5)}
    assert warm.search("ana", SearchQuery(text="green tea", reinforces=False)).is_degraded
    report = world.reembed(within_ms=500)

    assert (report.looked_at, report.changed, report.is_done, report.counts) == (8, BATCH, False, {"pending": 4})
    assert pending_of(warm) == pending_of(world.instance()) == 4
    embedded = set(found(warm, "green tea", Mode.SEMANTIC))
    assert len(embedded) == BATCH
    assert embedded < set(ids)
    assert set(found(warm, "and coffee", Mode.HYBRID)) >= {ids[7]}
    report = world.reembed()
    assert (report.looked_at, report.changed, report.is_done, report.counts) == (4, 4, True, {"pending": 0})
    assert everything_read(warm, ids)["lists"] == before
    assert not warm.search("ana", SearchQuery(text="green tea", reinforces=False)).is_degraded


def test_afterwards_all_is_as_if_the_new_model_had_always_been_there(world: World) -> None:  # case E1
    same = World(clock=Clock(world.clock.now_ms), embedder=other_embedder())
    ids = with_past(world)
    before = everything_read(world.instance(), ids)
    warm = world.instance()
    world.embedder = other_embedder()

    assert world.reembed().is_done

    assert with_past(same) == ids
    expected = trail_left_out(everything_read(same.instance(), ids))
    of_new_model = world.instance()
    for of in (of_new_model, world.instance()):
        assert trail_left_out(everything_read(of, ids)) == {
            **expected,
            "versions": before["versions"],
            "events of": before["events of"],
        }
    assert pending_of(of_new_model) == 0
    assert pending_of(warm) == 8  # until the old code is gone: it does not compare either


def test_after_a_compaction_all_segments_are_of_the_new_model_and_read_the_same(world: World) -> None:  # case E1
    ids = with_past(world)
    world.embedder = other_embedder()
    world.reembed()
    before = everything_read(world.instance(), ids)

    world.compact(is_forced=True)

    now_ms = world.clock.now_ms
    world.clock.now_ms = now_ms - LATER_MS
    assert everything_read(world.instance(), ids) == before
    segments = [Segment.decode(world.objects.get(key), key) for key in world.segment_keys()]
    assert {(one.about.embedder, one.about.dimension) for one in segments} == {("another", 48)}
    assert sum(int(one.has_vector.sum()) for one in segments) == 8


def test_when_every_segment_is_lost_the_text_gives_the_same_results(world: World) -> None:  # case E10
    ids = with_past(world)
    world.embedder = other_embedder()
    world.reembed()
    world.compact(is_forced=True)
    of = world.instance()
    before = everything_read(of, ids)
    assert len(world.segment_keys()) > 0

    world.objects.delete(world.segment_keys())

    assert uses_left_out(everything_read(world.instance(), ids)) == uses_left_out(before)
    assert pending_of(world.instance()) == 0


def uses_left_out(read: dict[str, Any]) -> Any:
    """Leave out how often memories were used, which is lost with their segments."""
    lists = [[one[:3] for one in some] for some in read["lists"][:1]]
    hits = [[one[0] for one in hits] for hits, *_ in read["hits"]]
    return lists, hits, read["versions"], read["events"], read["events of"], read["stats"]


def test_what_is_stored_while_the_model_fails_is_found_by_words_and_ranks_first_later(world: World) -> None:  # case E2
    world.embedder = Flaky()
    of = world.instance()
    texts = [f"remark{number} about matter{number * 7 % 30}" for number in range(30)]
    outcomes = [of.store(asking(), [to_store(text)])[0] for text in texts]
    waiting = [number for number, outcome in enumerate(outcomes) if outcome.is_pending]

    assert [outcome.outcome for outcome in outcomes] == ["created"] * 30
    assert waiting == list(range(2, 30, 3))
    assert (of.stats("ana").total, pending_of(of)) == (30, 10)
    for number in waiting:
        assert found(of, f"remark{number}", Mode.LEXICAL)[0] == outcomes[number].memory_id
    assert of.store(asking(), [to_store(texts[2])])[0].outcome == "unchanged"

    world.embedder = HashingEmbedder()
    report = world.reembed()

    assert (report.changed, report.is_done, pending_of(of)) == (10, True, 0)
    for mode in (Mode.SEMANTIC, Mode.HYBRID):
        first = [found(world.instance(), text, mode)[0] for text in texts]
        assert first == [outcome.memory_id for outcome in outcomes]


def test_a_model_that_fails_on_the_way_leaves_the_rest_to_the_next_run(world: World) -> None:
    with_past(world)
    world.embedder = Flaky()
    world.embedder.name = "another"
    world.embedder.calls = 1

    report = world.reembed()

    assert (report.changed, report.is_done, report.counts) == (BATCH, False, {"pending": 4})
    assert report.failure == "the model does not answer"
    assert world.reembed().is_done


def test_a_second_run_and_a_dry_run_change_nothing(world: World, kept: DyingStores) -> None:  # case M4
    with_past(world)
    world.embedder = other_embedder()
    before = everything_kept(kept.inner)

    assert world.reembed(is_dry_run=True) == StepReport(looked_at=8, changed=8)
    assert everything_kept(kept.inner) == before
    assert world.embedder.texts == []
    world.reembed()
    before = everything_kept(kept.inner)
    assert world.reembed() == StepReport(counts={"pending": 0})
    assert everything_kept(kept.inner) == before


def test_embeddings_are_in_the_list_of_all_events_and_not_among_those_of_a_memory(world: World) -> None:
    ids = with_past(world)
    world.embedder = other_embedder()
    world.reembed()
    world.compact(is_forced=True)
    of = world.instance()

    entries = of.events("ana", 200, is_descending=False).entries
    assert [entry.seq for entry in entries] == list(range(1, of.stats("ana").seq + 1))
    made = [entry for entry in entries if entry.operation is Operation.EMBED]
    assert {(entry.memory_id, entry.version) for entry in made} == {
        (one.memory_id, one.version) for one in of.list_memories("ana", EVERYTHING, 50).memories
    }
    assert {entry.by for entry in made} == {"maintenance"}
    assert not any(
        entry.operation is Operation.EMBED
        for memory_id in ids
        for entry in of.events("ana", 50, memory_id=memory_id).entries
    )


def test_the_version_that_a_caller_has_seen_stays_the_present_one(world: World) -> None:
    ids = with_past(world)
    of = world.instance()
    seen = of.get("ana", ids[1])
    world.embedder = other_embedder()
    world.reembed()

    assert world.instance().get("ana", ids[1]) == seen
    assert world.instance().update(asking(), ids[1], Patch({"importance": 0.3}), seen.version).version == 3


def test_expired_memories_are_left_alone_and_active_ones_come_first(world: World) -> None:
    ids = with_past(world)
    of = world.instance()
    of.update(asking(), ids[5], Patch({"expires_at_ms": world.clock.now_ms + 5}))
    world.clock.now_ms += 5
    world.embedder = Slow(world)

    world.reembed(within_ms=1_500)

    of = world.instance()
    left = pending_of(of)
    assert left == 3
    statuses = {one.memory_id: one.status for one in of.list_memories("ana", EVERYTHING, 50).memories}
    embedded = found(of, "green tea", Mode.SEMANTIC)
    assert {statuses[memory_id] for memory_id in embedded} == {Status.ACTIVE}
    assert ids[5] not in embedded


Moment = tuple[int, When]


def rehearsed(world: World, kept: DyingStores) -> list[Moment]:
    """Name the moments of a run; on emulated stores, which are slow, those around the first write."""
    with_past(world, "rehearsal")
    world.embedder = other_embedder()
    found = deaths(lambda _: run(world, kept, "rehearsal"), kept)
    assert kept.calls.count("append") == 2
    if isinstance(kept.inner, InMemoryMemoryStore):
        return found
    return [(at, when) for at, when in found if kept.calls[at - 1] == "append"][:2]


def run(world: World, kept: DyingStores, user_id: str) -> StepReport:
    epoch = world.head(user_id).epoch
    return world.reembedding(kept).run(user_id, Run(epoch, world.clock.now_ms + LATER_MS))


def begun(world: World, user_id: str) -> tuple[list[str], list[Any]]:
    """Give a user memories that the present embedder has not embedded."""
    present, world.embedder = world.embedder, HashingEmbedder()
    ids = with_past(world, user_id)
    world.embedder = present
    return ids, listed(world, user_id)


def listed(world: World, user_id: str) -> list[Any]:
    of = world.instance()
    memories = of.list_memories(user_id, EVERYTHING, 200).memories
    return [(one.memory_id, one.version, one.content, one.updated_at_ms) for one in memories]


def sound(world: World, user_id: str) -> list[Entry]:
    """Check that log, versions and partition agree; give the entries."""
    assert world.instance().replay(user_id, verifies=True).disagreements == ()
    entries = list(world.instance().events(user_id, 200, is_descending=False).entries)
    assert [entry.seq for entry in entries] == list(range(1, world.head(user_id).seq + 1))
    return entries


def test_a_run_that_died_anywhere_is_completed_by_the_next(world: World, kept: DyingStores) -> None:
    for number, (at, when) in enumerate(rehearsed(world, kept)):
        user_id = f"u{number}"
        _, before = begun(world, user_id)
        kept.die(at, when)
        with pytest.raises(Killed):
            run(world, kept, user_id)

        assert listed(world, user_id) == before
        assert run(world, kept, user_id).is_done
        assert listed(world, user_id) == before
        assert pending_of(world.instance(), user_id) == 0
        assert sum(entry.operation is Operation.EMBED for entry in sound(world, user_id)) == 8


def test_two_runs_at_once_embed_each_memory_once(world: World, kept: DyingStores) -> None:
    for number, (at, when) in enumerate(rehearsed(world, kept)):
        user_id = f"u{number}"
        _, before = begun(world, user_id)
        kept.interrupt(at, when, partial(run, world, DyingStores(world.store, world.objects), user_id))

        assert run(world, kept, user_id).is_done
        assert listed(world, user_id) == before
        assert sum(entry.operation is Operation.EMBED for entry in sound(world, user_id)) == 8


def write(world: World, user_id: str, ids: Sequence[str]) -> None:
    of = world.instance()
    of.update(asking(user_id), ids[0], Patch({"content": "written meanwhile"}))
    of.update(asking(user_id), ids[4], Patch({"importance": 0.7}))
    of.delete(asking(user_id), ids[5])


def test_what_a_writer_changes_meanwhile_is_never_overwritten(world: World, kept: DyingStores) -> None:  # case M13
    for number, (at, when) in enumerate(rehearsed(world, kept)):
        user_id = f"u{number}"
        ids, _ = begun(world, user_id)
        kept.interrupt(at, when, partial(write, world, user_id, ids))
        report = run(world, kept, user_id)
        run(world, kept, user_id)

        of = world.instance()
        assert of.get(user_id, ids[0]).content == "written meanwhile"
        assert of.get(user_id, ids[4]).importance == 0.7
        assert ids[5] not in {one[0] for one in listed(world, user_id)}
        assert found(of, "written meanwhile", Mode.SEMANTIC, user_id)[0] == ids[0]
        assert pending_of(of, user_id) == 0
        assert set(report.skipped) <= {"changed meanwhile"}
        sound(world, user_id)


def test_what_is_purged_before_during_or_after_is_kept_nowhere(world: World, kept: DyingStores) -> None:
    for number, (at, when) in enumerate([*rehearsed(world, kept), (0, "before")]):
        user_id = f"u{number}"
        present, world.embedder = world.embedder, HashingEmbedder()
        memory_id = with_history(world.instance(), user_id)
        world.embedder = present
        purge: Callable[[], object] = partial(world.instance().purge, asking(user_id), memory_id)
        kept.interrupt(at, when, purge)
        run(world, kept, user_id)
        purge()

        assert seen_by(world.instance(), user_id) == set()
        assert CANARY not in everything_kept(kept.inner)
        assert not any(entry.columns for entry in entries_of(world.store, user_id))
        events = sound(world, user_id)
        assert all(entry.content_hash for entry in events if entry.operation is not Operation.PURGE)
        world.compact(user_id, is_forced=True)
        assert [(entry.seq, entry.content_hash) for entry in sound(world, user_id)] == [
            (entry.seq, entry.content_hash) for entry in events
        ]


def test_an_embedding_that_was_archived_before_a_purge_has_the_hash_of_its_version(world: World) -> None:
    memory_id = with_history(world.instance())
    world.embedder = other_embedder()
    world.reembed()
    world.compact(is_forced=True)

    world.instance().purge(asking(), memory_id)

    *earlier, embedding, purge = sound(world, "ana")
    assert (embedding.operation, purge.operation) == (Operation.EMBED, Operation.PURGE)
    assert embedding.content_hash == earlier[-1].content_hash
    assert len({entry.content_hash for entry in earlier}) == 3


def test_a_user_who_is_erased_during_a_run_stays_erased(world: World, kept: DyingStores) -> None:
    for number, (at, when) in enumerate(rehearsed(world, kept)):
        user_id = f"u{number}"
        begun(world, user_id)
        kept.interrupt(at, when, partial(erased, world.instance(), user_id))
        with suppress(Conflict):
            run(world, kept, user_id)

        assert world.store.items(user_id, 9) == []
        assert world.object_keys(user_id) == []
