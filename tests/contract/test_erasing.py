"""Erasing users, as whole controllers do it on every store."""

from dataclasses import replace

import pytest
from recollect import erasing
from recollect.changes import Embedded, change_of
from recollect.erasure import ErasureState, counts_of
from recollect.errors import NotFound
from recollect.filters import EVERYTHING
from recollect.model import Head, Operation
from recollect.ports import MemoryStore

from tests.support.builders import NOW_MS, asking, controller, memory, to_store
from tests.support.embedder import HashingEmbedder
from tests.support.histories import CANARY, NOTHING, Ticking, everything_kept, seen_by, stored, with_history
from tests.support.inmemory import InMemoryMemoryStore


def test_erasing_one_user_leaves_the_other(store: MemoryStore) -> None:  # case D1
    of = controller(store)
    with_history(of)
    of.store(asking(key="k"), [to_store("green tea")])
    with_history(of, "ana2")
    before = of.list_memories("ana2", EVERYTHING, 9).memories

    erasure = of.erase("ana")

    assert erasure.state is ErasureState.ERASED
    assert erasure.counts == counts_of(()) | {
        "log_entries": 4,
        "memories": 2,
        "versions": 2,
        "stored_answers": 1,
    }
    assert erasure.backup_until_ms == NOW_MS + 35 * 24 * 3600 * 1000
    assert store.items("ana", 9) == []
    assert store.read_log("ana", 0) == NOTHING
    assert of.list_memories("ana2", EVERYTHING, 9).memories == before
    assert seen_by(of, "ana2")


def test_an_erased_user_is_gone_from_every_warm_instance(store: MemoryStore) -> None:  # case D5
    one, other = controller(store, prefix="01HFA"), controller(store, prefix="01HFB")
    memory_id = with_history(one)
    assert seen_by(one)
    assert seen_by(other)

    one.erase("ana")

    for of in (other, one, controller(store)):
        assert seen_by(of) == set()
        assert of.stats("ana").total == 0
        assert of.events("ana", 9).entries == ()
        with pytest.raises(NotFound):
            of.get("ana", memory_id)
        with pytest.raises(NotFound):
            of.versions("ana", memory_id, 9)


def test_a_user_made_anew_starts_empty(store: MemoryStore) -> None:
    one, other = controller(store, prefix="01HFA"), controller(store, prefix="01HFB")
    with_history(one, changes=8)
    seen_by(other)
    cursor = one.events("ana", 1).cursor
    one.erase("ana")

    for number in range(12):
        stored(one, f"new {number}")

    for of in (other, one, controller(store)):
        assert of.stats("ana").total == 12
        assert [entry.seq for entry in of.events("ana", 50).entries] == list(range(12, 0, -1))
        assert not [content for content in seen_by(of) if CANARY in content]
    with pytest.raises(Exception, match="cursor"):
        one.events("ana", 1, cursor)


def test_erasing_nothing_is_done_at_once_and_leaves_nothing(store: MemoryStore) -> None:
    of = controller(store)

    erasure = of.erase("nobody")

    assert erasure.state is ErasureState.ERASED
    assert set(erasure.counts.values()) == {0}
    assert store.read_head("nobody") == Head()


def test_a_user_with_a_stored_answer_only_is_erased_too(store: MemoryStore) -> None:
    of = controller(store)
    of.store(asking(key="k"), [to_store("x", supersedes="0" * 26)])
    assert store.read_head("ana") == Head()
    assert len(store.items("ana", 9)) == 1

    assert of.erase("ana").counts["stored_answers"] == 1
    assert store.items("ana", 9) == []
    assert store.read_head("ana") == Head()


def test_counting_deletes_nothing(store: MemoryStore) -> None:
    of = controller(store)
    with_history(of)
    before = everything_kept(store)

    erasure = of.count_erasable("ana")

    assert (erasure.state, erasure.left, erasure.is_partial) == (ErasureState.COUNTED, 6, False)
    assert erasure.counts == counts_of(()) | {
        "log_entries": 3,
        "memories": 1,
        "versions": 2,
    }
    assert everything_kept(store) == before


def test_an_erasure_goes_on_over_calls_and_ends_with_exact_counts(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:  # case D8
    of = controller(store)
    for number in range(30):
        stored(of, f"fact {number}")
    with_history(of)
    total = of.count_erasable("ana").left
    monkeypatch.setattr(erasing, "BUDGET_MS", 40)
    monkeypatch.setattr(erasing, "ITEMS_PER_DELETE", 4)
    monkeypatch.setattr(erasing, "ITEMS_PER_READ", 7)
    hurried = controller(store, clock=Ticking(15), prefix="01HFB")

    left: list[int] = []
    while (erasure := hurried.erase("ana")).state is ErasureState.ERASING:
        assert sum(erasure.counts.values()) + erasure.left == total
        left.append(erasure.left)

    assert len(left) > 3
    assert left == sorted(set(left), reverse=True)
    assert sum(erasure.counts.values()) == total
    assert erasure.counts == counts_of(()) | {
        "log_entries": 33,
        "memories": 31,
        "versions": 2,
    }


def test_fifty_thousand_memories_go_by_one_call_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:  # case D8
    store = InMemoryMemoryStore()
    content, embedded = memory("green tea"), Embedded(HashingEmbedder().embed(["green tea"])[0], "hashing")
    head = Head(epoch="E")
    for start in range(0, 50_000, 10_000):
        made = [replace(content, memory_id=f"{start + number:026d}") for number in range(10_000)]
        changes = [change_of(Operation.CREATE, None, one, embedded, "r") for one in made]
        seen, head = head, replace(head, seq=head.seq + len(changes))
        store.append("ana", head, seen if seen.seq else Head(), changes, "ana", None)
    monkeypatch.setattr(erasing, "ITEMS_PER_READ", 10_000)
    of = controller(store, clock=Ticking(10))
    assert of.stats("ana").total == 50_000

    left: list[int] = []
    while (erasure := of.erase("ana")).state is ErasureState.ERASING:
        left.append(erasure.left)
        assert sum(erasure.counts.values()) + erasure.left == 100_000

    assert len(left) == 2
    assert left == sorted(left, reverse=True)
    assert erasure.counts == counts_of(()) | {"log_entries": 50_000, "memories": 50_000}
    assert of.stats("ana").total == 0
    assert store.items("ana", 9) == []


def test_a_count_that_runs_out_of_time_says_so(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    of = controller(store)
    for number in range(9):
        stored(of, f"fact {number}")
    monkeypatch.setattr(erasing, "ITEMS_PER_READ", 4)
    monkeypatch.setattr(erasing, "COUNT_BUDGET_MS", 1)

    erasure = controller(store, clock=Ticking(10), prefix="01HFB").count_erasable("ana")

    assert (erasure.left, erasure.is_partial) == (4, True)
