"""Restores and unmerges where time has passed, or another writer came between."""

import pytest
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.errors import Conflict, NotFound, StaleVersion
from recollect.model import Status
from recollect.nominating import OnSimilar

from tests.support.asked import found, stored
from tests.support.builders import NOW_MS, Clock, asking, controller, to_store
from tests.support.faults import DyingStore
from tests.support.inmemory import InMemoryMemoryStore


def merged(of: MemoryController) -> str:
    stored(of, "The user has a dog")
    (outcome,) = of.store(asking(), [to_store("The user has a dog named Rex")])
    assert outcome.outcome == "merged"
    return outcome.memory_id


def test_a_version_that_has_expired_is_not_restored_since_the_memory_would_be_gone_with_it() -> None:
    clock = Clock()
    of = controller(clock=clock)
    (memory_id,) = stored(of, "green tea", expires_at_ms=NOW_MS + 1)
    of.update(asking(), memory_id, Patch({"expires_at_ms": None}))
    clock.now_ms += 1

    with pytest.raises(Conflict):
        of.restore(asking(), memory_id, 1)

    assert found(of, "green tea") == ["green tea"]
    assert of.restore(asking(), memory_id, 2).version == 3


def test_a_restore_frees_whoever_took_the_place_while_it_was_under_way() -> None:
    store = InMemoryMemoryStore()
    slow = DyingStore(store)
    (memory_id,) = stored(controller(store, prefix="01HFA"), "the office is in Porto")
    other = controller(store, prefix="01HFB")
    successors: list[str] = []

    def meanwhile() -> None:
        (outcome,) = other.store(asking(), [to_store("we meet in Lisbon now", supersedes=memory_id)])
        other.delete(asking(), memory_id)
        successors.append(outcome.memory_id)

    slow.interrupt(3, "after", meanwhile)
    controller(slow.port, prefix="01HFC").restore(asking(), memory_id, 1)

    assert other.get("ana", memory_id).status is Status.ACTIVE
    assert other.get("ana", successors[0]).supersedes is None


def test_what_was_stored_again_after_a_merge_is_in_the_way_of_taking_it_apart() -> None:
    of = controller()
    memory_id = merged(of)
    of.store(asking(), [to_store("The user has a dog", on_similar=OnSimilar.CREATE)])

    with pytest.raises(Conflict):
        of.unmerge(asking(), memory_id)

    assert of.get("ana", memory_id).content == "The user has a dog named Rex"
    assert sorted(found(of, "dog")) == ["The user has a dog", "The user has a dog named Rex"]


def test_an_unmerge_looks_again_if_the_memory_was_changed_since_it_was_read() -> None:
    store = InMemoryMemoryStore()
    slow, of = DyingStore(store), controller(store, prefix="01HFA")
    memory_id = merged(of)
    slow.interrupt(1, "after", lambda: of.update(asking(), memory_id, Patch({"importance": 0.9})))

    with pytest.raises(Conflict) as refused:
        controller(slow.port, prefix="01HFB").unmerge(asking(), memory_id)

    assert slow.calls[0] == "fetch"
    assert not isinstance(refused.value, StaleVersion)
    assert of.get("ana", memory_id).version == 3


def test_a_superseded_memory_can_be_changed_though_its_successor_says_the_same() -> None:
    of = controller()
    (old_id,) = stored(of, "green tea")
    of.store(asking(), [to_store("green tea", supersedes=old_id)])

    assert of.update(asking(), old_id, Patch({"tags": ("old",)})).outcome == "updated"

    with pytest.raises(Conflict):
        of.restore(asking(), old_id, 1)
    assert of.get("ana", old_id).status is Status.SUPERSEDED


def test_a_memory_that_was_deleted_before_it_expired_cannot_come_back_afterwards() -> None:
    clock = Clock()
    of = controller(clock=clock)
    (memory_id,) = stored(of, "green tea", expires_at_ms=NOW_MS + 1)
    of.delete(asking(), memory_id)
    clock.now_ms += 1

    with pytest.raises(NotFound):
        of.restore(asking(), memory_id, 1)
