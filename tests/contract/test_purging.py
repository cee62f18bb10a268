"""Purging memories, as whole controllers do it on every store."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from recollect import erasing
from recollect.changes import Patch
from recollect.errors import NotFound, StaleVersion, Unavailable
from recollect.ports import MemoryStore

from tests.support.builders import NOW_MS, Clock, asking, controller, entries_of, to_store
from tests.support.faults import DyingStore, Killed, deaths
from tests.support.histories import CANARY, Ticking, everything_kept, seen_by, stored, with_history, without_head


def test_a_purge_leaves_the_trail_and_no_word_of_the_text_anywhere(store: MemoryStore) -> None:  # case D10
    of, other = controller(store), controller(store, prefix="01HFB")
    memory_id = with_history(of)
    kept = stored(of, "green tea")
    seen_by(other)
    assert CANARY in everything_kept(store)

    outcome = of.purge(asking(), memory_id)

    assert (outcome.outcome, outcome.version) == ("purged", 4)
    left = everything_kept(store)
    assert CANARY not in left
    assert "green tea" in left
    assert [entry.columns is None for entry in entries_of(store)] == [True, True, True, False, True]
    for instance in (of, other, controller(store)):
        assert not [text for text in seen_by(instance) if CANARY in text]
        assert "green tea" in seen_by(instance)
        assert instance.stats("ana").total == 1
        versions = [version.memory for version in instance.versions("ana", memory_id, 9).versions]
        assert [(one.version, one.content, one.memory_id) for one in versions] == [
            (number, "", memory_id) for number in (3, 2, 1)
        ]
        trail = instance.events("ana", 9, memory_id=memory_id).entries
        assert [entry.operation.value for entry in trail] == ["purge", "update", "update", "create"]
        assert all((entry.by, entry.at_ms) == ("ana", NOW_MS) and entry.reason for entry in trail)
        hashes = [version.content_hash for version in instance.versions("ana", memory_id, 9).versions]
        assert [entry.content_hash for entry in trail] == [None, *hashes]
        assert len(set(hashes)) == 3
        assert instance.get("ana", kept).content == "green tea"


def test_a_purge_again_answers_the_same_and_changes_nothing(store: MemoryStore) -> None:
    of = controller(store)
    memory_id = with_history(of)
    first = of.purge(asking(), memory_id)
    before = without_head(everything_kept(store))

    assert controller(store).purge(asking(), memory_id) == of.purge(asking(), memory_id) == first
    assert without_head(everything_kept(store)) == before


def test_deleted_superseded_and_expired_memories_can_be_purged(store: MemoryStore) -> None:
    clock = Clock()
    of = controller(store, clock=clock)
    deleted = stored(of, f"{CANARY} one")
    of.delete(asking(), deleted)
    superseded = stored(of, f"{CANARY} two")
    of.store(asking(), [to_store("the bass is in the cellar", supersedes=superseded)])
    expired = stored(of, f"{CANARY} three", expires_at_ms=NOW_MS + 1)
    clock.now_ms += 5

    outcomes = [of.purge(asking(), memory_id) for memory_id in (deleted, superseded, expired)]

    assert [outcome.outcome for outcome in outcomes] == ["purged"] * 3
    assert [outcome.version for outcome in outcomes] == [3, 3, 2]
    assert CANARY not in everything_kept(store)


def test_what_was_purged_cannot_be_changed_or_restored_and_may_be_stored_anew(store: MemoryStore) -> None:
    of = controller(store)
    memory_id = stored(of, "green tea")
    of.purge(asking(), memory_id)

    refused: list[Callable[[], Any]] = [
        lambda: of.get("ana", memory_id),
        lambda: of.restore(asking(), memory_id, 1),
        lambda: of.update(asking(), memory_id, Patch({"content": "x"})),
        lambda: of.delete(asking(), memory_id),
    ]
    for ask in refused:
        with pytest.raises(NotFound):
            ask()
    outcome = of.store(asking(), [to_store("green tea")])[0]
    assert outcome.outcome == "created"
    assert outcome.memory_id != memory_id


def test_a_restore_that_was_under_way_brings_nothing_back(store: MemoryStore) -> None:
    slow = DyingStore(store)
    of = controller(slow.port, prefix="01HFB")
    memory_id = with_history(of)
    of.delete(asking(), memory_id)
    slow.interrupt(1, "before", lambda: None)
    with pytest.raises(NotFound):
        of.restore(asking(), memory_id, 77)
    reads = len(slow.calls)
    slow.interrupt(reads, "after", lambda: controller(store).purge(asking(), memory_id))

    with pytest.raises(NotFound):
        of.restore(asking(), memory_id, 1)

    assert CANARY not in everything_kept(store)


def test_a_purge_of_an_unknown_or_foreign_memory_or_a_stale_version_changes_nothing(store: MemoryStore) -> None:
    of = controller(store)
    memory_id = with_history(of)
    before = everything_kept(store)

    for user_id, name in (("ana", "0" * 26), ("bob", memory_id), ("ana", "MEM#x")):
        with pytest.raises(NotFound):
            of.purge(asking(user_id), name)
    with pytest.raises(StaleVersion):
        of.purge(asking(), memory_id, 2)

    assert everything_kept(store) == before
    assert of.purge(asking(), memory_id, 3).outcome == "purged"


def test_a_purge_that_runs_out_of_time_hides_the_text_and_a_repeat_completes_it(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_id = with_history(controller(store), changes=8)
    monkeypatch.setattr(erasing, "BUDGET_MS", 120)
    hurried = controller(store, clock=Ticking(20), prefix="01HFB")

    for _ in range(50):
        try:
            hurried.purge(asking(), memory_id)
        except Unavailable:
            assert {version.memory.content for version in hurried.versions("ana", memory_id, 20).versions} == {""}
        else:
            break

    assert CANARY not in everything_kept(store)
    assert store.read_head("ana").seq == 10


def test_a_purge_that_dies_anywhere_and_is_repeated_is_one_purge(store: MemoryStore) -> None:  # case D10
    dying = DyingStore(store)
    rehearsed = with_history(controller(store, prefix="01HF0"), "user", changes=1)
    moments = deaths(lambda _: controller(dying.port, prefix="01HF1").purge(asking("user"), rehearsed), dying)
    assert len(moments) >= 16
    for turn, (at, when) in enumerate(moments):
        user_id = f"user {turn}"
        memory_id = with_history(controller(store, prefix="01HF0"), user_id, changes=1)
        dying.die(at, when)

        with pytest.raises(Killed):
            controller(dying.port, prefix="01HF1").purge(asking(user_id), memory_id)
        controller(store, prefix="01HF2").purge(asking(user_id), memory_id)

        once = [replace(entry, by=user_id, memory_id=memory_id) for entry in entries_of(store, "user")]
        assert entries_of(store, user_id) == once
        assert [version.memory.content for version in store.versions(user_id, memory_id, None, 9)] == [""] * 2
    assert CANARY not in everything_kept(store)
