"""A process that dies at any of its calls to the database, and a caller who then sends the same again.

The database is reached over HTTP with the service's own client. Dying before a call, the request is not sent; dying
after it, the answer is lost. Whatever is there afterwards is what one undisturbed execution leaves, and every
instance sees it: the one that completed the work, one that knew the user before, and one that has just started.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pytest
from recollect import erasing, keys
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.changes import Outcome, Patch
from recollect.commit import Request
from recollect.controller import MemoryController
from recollect.errors import NotFound
from recollect.ports import MemoryStore

from tests.e2e.conftest import Database
from tests.support.builders import asking, controller, to_store
from tests.support.faults import Dying, Killed, When, deaths
from tests.support.histories import CANARY, erased, stored, with_history
from tests.support.pictures import everything_in, items_of, kept_of, shown_of
from tests.support.table import TABLE_NAME

Do = Callable[[MemoryController, Request, str], Outcome]


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of work.

    Parameters
    ----------
    do : callable
        Given an instance, the request, and the id of the memory that has a history.
    outcome : str
        What it comes to, so that it is known to be that kind of work.
    again : str or None
        What it comes to when it is done already and there is no key to tell; ``None`` if nothing is there any more.
    """

    do: Do
    outcome: str
    again: str | None


def storing(content: str, **values: Any) -> Do:
    return lambda of, request, _: of.store(request, [to_store(content, **values)])[0]


WORKS = {
    "store": Work(storing("the spare key is with the neighbour"), "created", "unchanged"),
    "merge": Work(storing("The user has a dog named Rex"), "merged", "unchanged"),
    "supersede": Work(storing("The user's team uses PostgreSQL 15"), "superseded", "unchanged"),
    "update": Work(
        lambda of, request, memory_id: of.update(request, memory_id, Patch({"content": "in the attic"})),
        "updated",
        "unchanged",
    ),
    "delete": Work(lambda of, request, memory_id: of.delete(request, memory_id), "deleted", None),
    "purge": Work(lambda of, request, memory_id: of.purge(request, memory_id), "purged", "purged"),
}


@dataclass(frozen=True, slots=True)
class Scene:
    """The database, and a client of it that dies when told."""

    client: Any
    dying: Dying

    @property
    def store(self) -> MemoryStore:
        return DynamoDBMemoryStore(self.client, TABLE_NAME)

    def instance(self, name: str) -> MemoryController:
        """Start an instance; its ids begin with its name."""
        return controller(self.store, prefix=f"01HF{name}")

    def mortal(self, name: str) -> MemoryController:
        """Start an instance that will die."""
        return controller(DynamoDBMemoryStore(self.dying, TABLE_NAME), prefix=f"01HF{name}")

    def user(self) -> tuple[str, str]:
        """Make a user with something of everything; give its id, and that of the memory that has a history."""
        user_id, of = f"user-{uuid.uuid4()}", self.instance("A")
        memory_id = with_history(of, user_id, changes=1)
        of.store(asking(user_id), [to_store("The user has a dog"), to_store("The user's team uses PostgreSQL 14")])
        return user_id, memory_id

    def seen(self, user_id: str, *instances: MemoryController) -> list[Any]:
        """Describe all that is kept of a user, and what each of the instances and a new one tell."""
        kept = kept_of(self.client, user_id)
        return [kept, *(shown_of(of, user_id) for of in (*instances, self.instance("X")))]


@pytest.fixture(scope="module")
def scene(database: Database) -> Iterator[Scene]:
    client = database.client()
    yield Scene(client, Dying(client))
    client.close()


@pytest.mark.parametrize("key", [None, "k"], ids=["without a key", "with a key"])
@pytest.mark.parametrize("kind", WORKS)
def test_whichever_call_dies_a_repeat_leaves_what_one_execution_leaves(
    scene: Scene, kind: str, key: str | None
) -> None:
    work = WORKS[kind]
    outcome, expected = undisturbed(scene, work, key)
    users: set[str] = set()
    for at, when in moments(scene, work, key):
        user_id, memory_id = scene.user()
        users.add(user_id)
        bystander, seq = scene.instance("D"), last_seq(scene, user_id)
        assert bystander.stats(user_id).seq == seq
        scene.dying.die(at, when)
        with pytest.raises(Killed):
            work.do(scene.mortal("B"), asking(user_id, key), memory_id)
        was_done = last_seq(scene, user_id) > seq

        second = scene.instance("C")
        again = attempt(work, second, asking(user_id, key), memory_id)

        if was_done and key is None:
            assert (again and again.outcome) == work.again, (at, when)
        else:
            assert comparable(again) == comparable(outcome), (at, when)
        assert scene.seen(user_id, second, bystander) == expected, (at, when)
    tell_of_the_canary = {
        item["pk"]["S"].partition("#")[2] for item in everything_in(scene.client) if CANARY in repr(item)
    }
    assert users.isdisjoint(tell_of_the_canary) is (kind == "purge")


@pytest.mark.parametrize("kind", WORKS)
def test_a_request_that_dies_a_little_later_each_time_it_is_sent_is_one_request(scene: Scene, kind: str) -> None:
    work = WORKS[kind]
    outcome, expected = undisturbed(scene, work, "k")
    user_id, memory_id = scene.user()
    deadly = moments(scene, work, "k")
    for turn, (at, when) in enumerate(deadly):
        scene.dying.die(at, when)
        with suppress(Killed):
            work.do(scene.mortal(f"B{turn:02d}"), asking(user_id, "k"), memory_id)

    last = scene.instance("C")
    again = attempt(work, last, asking(user_id, "k"), memory_id)

    assert again is not None
    assert again.outcome == outcome.outcome
    assert scene.seen(user_id, last, last) == expected


def test_whichever_call_of_an_erasure_dies_a_repeat_leaves_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "ITEMS_PER_DELETE", 3)
    user_id, _ = scene.user()
    kept = Counter(keys.kind_of(item["sk"]["S"]) for item in items_of(scene.client, user_id))
    whole = erased(scene.instance("B"), user_id).counts
    assert sum(whole.values()) == kept.total() - 1  # the head is no item of its own
    nothing = scene.seen(user_id)
    rehearsed, _ = scene.user()
    deadly = deaths(lambda _: scene.mortal("B").erase(rehearsed), scene.dying)
    assert set(scene.dying.calls) == {"get_item", "update_item", "query", "transact_write_items", "delete_item"}
    for at, when in deadly:
        user_id, _ = scene.user()
        bystander = scene.instance("D")
        bystander.stats(user_id)
        scene.dying.die(at, when)
        with pytest.raises(Killed):
            scene.mortal("B").erase(user_id)
        was_over = items_of(scene.client, user_id) == []

        receipt = erased(scene.instance("C"), user_id)

        assert items_of(scene.client, user_id) == []
        assert receipt.counts == (dict.fromkeys(whole, 0) if was_over else whole), (at, when)
        assert scene.seen(user_id, bystander)[1:] == [nothing[1]] * 2, (at, when)
        stored(bystander, "a new life", user_id)
        assert [entry.seq for entry in scene.instance("E").events(user_id, 9).entries] == [1]


def moments(scene: Scene, work: Work, key: str | None) -> list[tuple[int, When]]:
    """Name every way to die in a piece of work, done once on a user of its own."""
    user_id, memory_id = scene.user()
    return deaths(lambda _: work.do(scene.mortal("B"), asking(user_id, key), memory_id), scene.dying)


def undisturbed(scene: Scene, work: Work, key: str | None) -> tuple[Outcome, list[Any]]:
    """Do it once on a user of its own, and see what is there then."""
    user_id, memory_id = scene.user()
    of, bystander = scene.instance("B"), scene.instance("D")
    outcome = work.do(of, asking(user_id, key), memory_id)
    assert outcome.outcome == work.outcome
    return outcome, scene.seen(user_id, of, bystander)


def attempt(work: Work, of: MemoryController, request: Request, memory_id: str) -> Outcome | None:
    """Do it; ``None`` if there is nothing to do it to."""
    try:
        return work.do(of, request, memory_id)
    except NotFound:
        return None


def comparable(outcome: Outcome | None) -> str:
    """Make outcomes of the instances B and C comparable; details are answered once and never kept."""
    return "" if outcome is None else repr(replace(outcome, detail=None)).replace("01HFC", "01HFB")


def last_seq(scene: Scene, user_id: str) -> int:
    """Look at the head."""
    return scene.store.read_head(user_id).seq
