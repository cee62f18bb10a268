"""Deleting, versions and events, as whole controllers do it on every store."""

from collections.abc import Callable
from typing import Any

import pytest
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.errors import NotFound
from recollect.filters import EVERYTHING
from recollect.model import Operation
from recollect.ports import MemoryStore

from tests.support.builders import NOW_MS, Clock, asking, controller, entries_of
from tests.support.faults import DyingStore, Killed, deaths
from tests.support.histories import CANARY, seen_by, stored, with_history


def test_after_a_delete_no_read_path_of_any_warm_instance_returns_the_memory(store: MemoryStore) -> None:  # case D2
    one, other = controller(store, prefix="01HFA"), controller(store, prefix="01HFB")
    memory_id = stored(one, "green tea")
    assert "green tea" in seen_by(one, query="tea") & seen_by(other, query="tea")

    one.delete(asking(), memory_id)

    for of in (one, other, controller(store)):
        assert seen_by(of, query="tea") == set()
        with pytest.raises(NotFound):
            of.get("ana", memory_id)


@pytest.mark.parametrize("work", ["delete", "update"])
def test_memory_index_counts_and_log_agree_wherever_a_change_dies_and_is_retried(
    store: MemoryStore, work: str
) -> None:  # case D3
    def run(of: MemoryController, user_id: str, memory_id: str) -> None:
        if work == "update":
            of.update(asking(user_id, key="k"), memory_id, Patch({"content": "black tea"}))
        else:
            of.delete(asking(user_id, key="k"), memory_id)

    dying = DyingStore(store)
    rehearsed = stored(controller(store), "green tea", "user")
    moments = deaths(lambda _: run(controller(dying.port, prefix="01HF1"), "user", rehearsed), dying)
    assert len(moments) == 8
    for turn, (at, when) in enumerate(moments):
        user_id = f"user {turn}"
        memory_id = stored(controller(store), "green tea", user_id)
        dying.die(at, when)

        with pytest.raises(Killed):
            run(controller(dying.port, prefix="01HF1"), user_id, memory_id)
        of = controller(store, prefix="01HF2")
        run(of, user_id, memory_id)

        is_there = work == "update"
        assert [entry.seq for entry in entries_of(store, user_id)] == [1, 2]
        assert store.read_head(user_id).seq == 2
        assert len(of.versions(user_id, memory_id, 9).versions) == (2 if is_there else 1)
        assert bool(store.fetch(user_id, [memory_id])) == is_there
        assert of.stats(user_id).total == len(of.list_memories(user_id, EVERYTHING, 9).memories) == int(is_there)
        assert bool(seen_by(of, user_id, "tea")) == is_there


def test_five_updates_make_six_versions_any_readable_and_a_restore_makes_the_seventh(
    store: MemoryStore,
) -> None:  # case M6
    of = controller(store)
    memory_id = with_history(of, changes=5)

    of.restore(asking(), memory_id, 2)

    page = of.versions("ana", memory_id, 4)
    rest = of.versions("ana", memory_id, 4, page.cursor)
    contents = [version.memory.content for version in (*page.versions, *rest.versions)]
    assert [version.memory.version for version in page.versions] == [7, 6, 5, 4]
    assert rest.cursor is None
    assert contents == [f"{CANARY} number {n}" for n in (0, 4, 3, 2, 1, 0)] + [f"the {CANARY} is in the cellar"]
    assert [of.version("ana", memory_id, n).memory.version for n in range(1, 8)] == list(range(1, 8))


def test_versions_of_a_deleted_memory_are_there_and_those_of_an_unknown_or_foreign_one_are_not(
    store: MemoryStore,
) -> None:
    of = controller(store)
    memory_id = with_history(of, changes=1)
    of.delete(asking(), memory_id)

    assert [version.memory.version for version in of.versions("ana", memory_id, 9).versions] == [2, 1]
    assert of.version("ana", memory_id, 1).memory.content == f"the {CANARY} is in the cellar"
    for user_id, name, number in (("ana", memory_id, 3), ("bob", memory_id, 1), ("ana", "0" * 26, 1), ("ana", "x", 1)):
        with pytest.raises(NotFound):
            of.version(user_id, name, number)
    for user_id, name in (("bob", memory_id), ("ana", "0" * 26)):
        with pytest.raises(NotFound):
            of.versions(user_id, name, 9)


@pytest.mark.parametrize("is_deleted", [False, True])
def test_an_expired_memory_has_no_versions_any_more(store: MemoryStore, is_deleted: bool) -> None:  # case T6
    clock = Clock()
    of = controller(store, clock=clock)
    memory_id = stored(of, "green tea", expires_at_ms=NOW_MS + 1)
    of.update(asking(), memory_id, Patch({"content": "black tea"}))
    if is_deleted:
        of.delete(asking(), memory_id)
    first = of.versions("ana", memory_id, 1)
    assert first.cursor is not None
    assert len(of.versions("ana", memory_id, 9).versions) == 2

    clock.now_ms += 1

    with pytest.raises(NotFound):
        of.versions("ana", memory_id, 9)
    with pytest.raises(NotFound):
        of.versions("ana", memory_id, 1, first.cursor)
    with pytest.raises(NotFound):
        of.version("ana", memory_id, 1)


def test_a_page_of_large_versions_fits_one_answer() -> None:
    of = controller()
    memory_id = stored(of, "漢" * 16_000)
    for number in range(130):
        of.update(asking(), memory_id, Patch({"content": "漢" * 15_990 + str(number)}))

    seen: list[int] = []
    cursor: str | None = None
    while True:
        page = of.versions("ana", memory_id, 200, cursor)
        assert sum(len(version.memory.content.encode()) for version in page.versions) < 5_000_000
        seen += [version.memory.version for version in page.versions]
        cursor = page.cursor
        if cursor is None:
            break

    assert seen == list(range(131, 0, -1))


def test_events_tell_who_did_what_to_which_memory_when_and_why(store: MemoryStore) -> None:
    of = controller(store)
    first = with_history(of, changes=1)
    second = stored(of, "green tea")
    of.delete(asking(), second)

    entries = of.events("ana", 50).entries

    assert [(one.seq, one.operation, one.memory_id, one.version) for one in entries] == [
        (4, Operation.DELETE, second, 2),
        (3, Operation.CREATE, second, 1),
        (2, Operation.UPDATE, first, 2),
        (1, Operation.CREATE, first, 1),
    ]
    assert {(one.at_ms, one.by) for one in entries} == {(NOW_MS, "ana")}
    assert entries[0].reason == "deleted as asked"
    assert [one.seq for one in of.events("ana", 50, memory_id=first).entries] == [2, 1]
    assert of.events("ana", 50, memory_id="0" * 26).entries == of.events("bob", 50).entries == ()


@pytest.mark.parametrize("is_descending", [True, False])
@pytest.mark.parametrize("of_one", [True, False])
def test_pages_of_events_are_complete_while_others_write(store: MemoryStore, is_descending: bool, of_one: bool) -> None:
    of = controller(store)
    memory_id = with_history(of, changes=6)
    named = memory_id if of_one else None

    seen: list[int] = []
    cursor: str | None = None
    while True:
        page = of.events("ana", 3, cursor, named, is_descending=is_descending)
        seen += [entry.seq for entry in page.entries]
        if len(seen) < 7:
            stored(of, f"other {len(seen)}")
        cursor = page.cursor
        if cursor is None:
            break

    wanted = list(range(7, 0, -1)) if is_descending else list(range(1, 8))
    assert (seen if of_one or is_descending else seen[:7]) == wanted
    assert len(seen) == len(set(seen))


def test_a_cursor_fits_its_own_listing_only(store: MemoryStore) -> None:
    of = controller(store)
    memory_id, other_id = with_history(of, changes=3), with_history(of, "bob", changes=3)
    events = of.events("ana", 1).cursor
    versions = of.versions("ana", memory_id, 1).cursor

    refused: list[Callable[[], Any]] = [
        lambda: of.events("bob", 1, events),
        lambda: of.events("ana", 1, events, memory_id),
        lambda: of.events("ana", 1, events, is_descending=False),
        lambda: of.events("ana", 1, versions),
        lambda: of.events("ana", 1, f"{events}x"),
        lambda: of.events("ana", 1, "WzEsIHRydWVd"),
        lambda: of.events("ana", 1, "漢"),
        lambda: of.versions("bob", other_id, 1, versions),
        lambda: of.versions("ana", memory_id, 1, events),
    ]
    for ask in refused:
        with pytest.raises(Exception, match="cursor is not one of this listing"):
            ask()
