"""Erasures and purges that die, sleep, or meet other writers."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import boto3
import pytest
from moto import mock_aws
from recollect import erasing, keys
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.erasure import ErasureState
from recollect.errors import Conflict, NotFound
from recollect.filters import EVERYTHING
from recollect.model import Head
from recollect.ports import MemoryStore

from tests.support.builders import asking, controller, to_store
from tests.support.faults import Dying, DyingStore, Killed, When, deaths
from tests.support.histories import CANARY, NOTHING, Ticking, erased, everything_kept, seen_by, stored, with_history
from tests.support.table import TABLE_NAME, create_table


def test_while_a_user_is_being_erased_nothing_is_read_and_nothing_written(store: MemoryStore) -> None:
    one, other = controller(store, prefix="01HFA"), controller(store, prefix="01HFB")
    memory_id = with_history(one)
    seen_by(other)
    dying = DyingStore(store)
    dying.die(3, "after")  # the head is fenced, and everything still there
    with pytest.raises(Killed):
        controller(dying.port, prefix="01HFC").erase("ana")
    assert dying.calls == ["read_head", "begin_erasure", "items"]
    assert CANARY in everything_kept(store)

    for of in (one, other, controller(store, prefix="01HFD")):
        assert seen_by(of) == set()
        assert of.stats("ana").total == 0
        assert of.events("ana", 9).entries == ()
        with pytest.raises(NotFound):
            of.get("ana", memory_id)
        with pytest.raises(NotFound):
            of.versions("ana", memory_id, 9)
        writes: list[Callable[[MemoryController], Any]] = [
            lambda of: of.store(asking(), [to_store("green tea")]),
            lambda of: of.update(asking(), memory_id, Patch({"content": "x"})),
            lambda of: of.delete(asking(), memory_id),
            lambda of: of.purge(asking(), memory_id),
        ]
        for write in writes:
            with pytest.raises(Conflict, match="being erased"):
                write(of)
    assert erased(one).counts["memories"] == 1
    assert store.items("ana", 9) == []


def test_an_erasure_that_dies_anywhere_and_is_repeated_is_one_erasure(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:  # case D4
    monkeypatch.setattr(erasing, "ITEMS_PER_DELETE", 3)
    dying = DyingStore(store)
    with_history(controller(store, prefix="01HF0"), "user")
    moments = deaths(lambda _: controller(dying.port, prefix="01HF1").erase("user"), dying)
    assert len(moments) >= 14
    for turn, (at, when) in enumerate(moments):
        user_id = f"user {turn}"
        with_history(controller(store, prefix="01HF0"), user_id)
        dying.die(at, when)

        with pytest.raises(Killed):
            controller(dying.port, prefix="01HF1").erase(user_id)
        was_over = store.read_head(user_id) == Head()
        erasure = erased(controller(store, prefix="01HF2"), user_id)

        assert store.read_log(user_id, 0) == NOTHING
        assert store.items(user_id, 9) == []
        assert sum(erasure.counts.values()) == (0 if was_over else 6)
    assert CANARY not in everything_kept(store)


@pytest.mark.parametrize("other_work", ["store", "update", "delete", "purge"])
def test_a_commit_that_was_in_flight_brings_nothing_back(store: MemoryStore, other_work: str) -> None:
    slow = DyingStore(store)
    of = controller(slow.port, prefix="01HFB")
    memory_id = with_history(of)
    works: dict[str, Callable[[], Any]] = {
        "store": lambda: of.store(asking(), [to_store("green tea")]),
        "update": lambda: of.update(asking(), memory_id, Patch({"content": "green tea"})),
        "delete": lambda: of.delete(asking(), memory_id),
        "purge": lambda: of.purge(asking(), memory_id),
    }
    is_commit = {"store": 1, "purge": 5}.get(other_work, 2)
    slow.interrupt(is_commit, "after", lambda: erased(controller(store)))

    with pytest.raises(Conflict, match="erased in the meantime"):
        works[other_work]()

    assert slow.calls[is_commit] == "append"
    assert store.items("ana", 9) == []
    assert store.read_head("ana") == Head()


@pytest.mark.parametrize("work", ["restore", "versions"])
def test_what_read_a_version_before_an_erasure_brings_nothing_back(store: MemoryStore, work: str) -> None:
    works: dict[str, Callable[[MemoryController, str], Any]] = {
        "restore": lambda of, memory_id: of.restore(asking(), memory_id, 1),
        "versions": lambda of, memory_id: of.versions("ana", memory_id, 9),
    }
    slow = DyingStore(store)
    for at in range(1, 20):
        of = controller(slow.port, prefix=f"01HFB{at:02d}")
        memory_id = with_history(controller(store, prefix=f"01HFA{at:02d}"))
        seen: list[Any] = []
        slow.interrupt(at, "after", lambda: seen.append(erased(controller(store, prefix="01HFC"))))  # noqa: B023

        with suppress(NotFound, Conflict):
            works[work](of, memory_id)

        if not seen:
            break
        assert store.items("ana", 9) == []
        assert store.read_head("ana") == Head()
    assert at > 3


def test_an_eraser_that_was_asleep_leaves_the_next_life_alone(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "ITEMS_PER_DELETE", 2)
    for at in range(2, 9):  # from after its first look at the head on
        with_history(controller(store))
        slow = DyingStore(store)

        def meanwhile(turn: int = at) -> None:
            erased(controller(store, prefix=f"01HFC{turn}"))
            for number in range(7):
                stored(controller(store, prefix=f"01HFD{turn}{number}"), f"new {number}")

        slow.interrupt(at, "after", meanwhile)
        sleeper = controller(slow.port, prefix="01HFE")
        sleeper.erase("ana")

        entries, head = store.read_log("ana", 0)
        assert head.erasing_since_ms is None
        assert [entry.seq for entry in entries] == list(range(1, 8))
        assert len(controller(store).list_memories("ana", EVERYTHING, 9).memories) == 7
        erased(controller(store))


@pytest.mark.parametrize("store", ["dynamodb"], indirect=True)  # only a table holds what no commit has put there
def test_what_turns_up_while_a_user_is_erased_goes_too(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:  # case D4
    stray = {"pk": {"S": keys.user_partition("ana")}, "sk": {"S": "STRAY#1"}}
    client = boto3.client("dynamodb", region_name="us-east-1")
    monkeypatch.setattr(erasing, "ITEMS_PER_DELETE", 2)
    with_history(controller(store))
    slow = DyingStore(store)
    slow.interrupt(6, "after", lambda: client.put_item(TableName=TABLE_NAME, Item=stray))

    erasure = controller(slow.port, prefix="01HFB").erase("ana")

    assert slow.calls[3:8] == ["erase_items", "erase_items", "erase_items", "items", "erase_items"]
    assert (erasure.state, erasure.counts["other"]) == (ErasureState.ERASED, 1)
    assert client.scan(TableName=TABLE_NAME)["Count"] == 0


def test_two_erasers_at_once_do_no_harm_and_count_nothing_twice(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "ITEMS_PER_DELETE", 2)
    with_history(controller(store))
    slow = DyingStore(store)
    monkeypatch.setattr(erasing, "BUDGET_MS", 1)
    hurried = controller(store, clock=Ticking(1), prefix="01HFC")
    slow.interrupt(4, "before", lambda: hurried.erase("ana"))

    erasure = erased(controller(slow.port, prefix="01HFB"))

    assert sum(erasure.counts.values()) == 6
    assert store.items("ana", 9) == []


@pytest.mark.parametrize("work", ["purge", "purge under a key", "erase"])
def test_whichever_aws_call_dies_a_repeat_completes_the_work(
    work: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # case D3
    for name, value in {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(erasing, "ITEMS_PER_DELETE", 3)

    def run(of: MemoryController, user_id: str, memory_id: str) -> None:
        if work == "erase":
            erased(of, user_id)
        else:
            of.purge(asking(user_id, None if work == "purge" else "k"), memory_id)

    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_table(client)
        dying = Dying(client)
        store = DynamoDBMemoryStore(client, TABLE_NAME)
        dying_store = DynamoDBMemoryStore(dying, TABLE_NAME)
        rehearsed = with_history(controller(store), "user", changes=1)
        moments: list[tuple[int, When]] = deaths(
            lambda _: run(controller(dying_store, prefix="01HF1"), "user", rehearsed), dying
        )
        assert len(moments) >= 14
        for turn, (at, when) in enumerate(moments):
            memory_id = with_history(controller(store), f"user {turn}", changes=1)
            dying.die(at, when)
            with pytest.raises(Killed):
                run(controller(dying_store, prefix="01HF1"), f"user {turn}", memory_id)
            run(controller(store, prefix="01HF2"), f"user {turn}", memory_id)

        assert CANARY not in everything_kept(store)
        if work == "erase":
            assert client.scan(TableName=TABLE_NAME)["Count"] == 0
