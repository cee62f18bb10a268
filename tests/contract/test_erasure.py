"""Deleting, purging and erasing, as whole controllers do it, on every store: cases D1 to D5, D8, D10 and M6."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import boto3
import pytest
from moto import mock_aws
from recollect import erasing
from recollect.answers import SearchQuery
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.erasure import Erasure, ErasureState
from recollect.errors import Conflict, NotFound, StaleVersion, Unavailable
from recollect.filters import EVERYTHING
from recollect.model import Entry, Head, Operation
from recollect.ports import MemoryStore
from recollect.ranking import Mode
from recollect.storing import OnSimilar

from tests.support.builders import NOW_MS, Clock, asking, controller, to_store
from tests.support.faults import Dying, DyingStore, Killed, When, deaths
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.table import TABLE_NAME, create_table

CANARY = "xylophone"
NOTHING: tuple[list[Entry], Head] = ([], Head())


def stored(of: MemoryController, content: str, user_id: str = "ana", **values: Any) -> str:
    return of.store(asking(user_id), [to_store(content, on_similar=OnSimilar.CREATE, **values)])[0].memory_id


def with_history(of: MemoryController, user_id: str = "ana", changes: int = 2) -> str:
    """Store a memory and change it, each time with words of its own."""
    values = {"tags": (CANARY,), "metadata_json": f'{{"x": "{CANARY}"}}', "actor": CANARY, "session_id": CANARY}
    memory_id = stored(of, f"the {CANARY} is in the cellar", user_id, agent_id=CANARY, **values)
    for number in range(changes):
        of.update(asking(user_id), memory_id, Patch({"content": f"{CANARY} number {number}"}))
    return memory_id


def seen_by(of: MemoryController, user_id: str = "ana", query: str = CANARY) -> set[str]:
    """Whatever any read path shows."""
    listed = {one.content for one in of.list_memories(user_id, EVERYTHING, 200).memories}
    found = {
        hit.memory.content
        for mode in Mode
        for hit in of.search(user_id, SearchQuery(text=query, mode=mode, k=100)).hits
    }
    context = of.context(user_id, SearchQuery(text=query), 1_000).text
    return listed | found | ({context} if context else set())


def everything_kept(store: MemoryStore) -> str:
    """All bytes of a store, as text."""
    if isinstance(store, InMemoryMemoryStore):
        return repr(vars(store))
    items = boto3.client("dynamodb", region_name="us-east-1").scan(TableName=TABLE_NAME)["Items"]
    return repr(items)


def erased(of: MemoryController, user_id: str = "ana") -> Erasure:
    """Call until it is done."""
    for _ in range(100):
        erasure = of.erase(user_id)
        if erasure.state is ErasureState.ERASED:
            return erasure
    raise AssertionError("never done")


class Ticking(Clock):
    """A time that goes on by itself, so that budgets come to an end."""

    def __init__(self, step_ms: int) -> None:
        super().__init__()
        self._step_ms = step_ms

    def __call__(self) -> int:
        self.now_ms += self._step_ms
        return self.now_ms


# --- deleting ------------------------------------------------------------------------------------------------------


def test_after_a_delete_no_read_path_of_any_warm_instance_returns_the_memory(store: MemoryStore) -> None:
    one, other = controller(store, prefix="01HFA"), controller(store, prefix="01HFB")
    memory_id = stored(one, "green tea")
    assert "green tea" in seen_by(one, query="tea") & seen_by(other, query="tea")

    one.delete(asking(), memory_id)

    for of in (one, other, controller(store)):
        assert seen_by(of, query="tea") == set()
        with pytest.raises(NotFound):
            of.get("ana", memory_id)


@pytest.mark.parametrize("work", ["delete", "update"])
def test_memory_index_counts_and_log_agree_wherever_a_change_dies_and_is_retried(store: MemoryStore, work: str) -> None:
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
        entries, head = store.read_log(user_id, 0)
        assert [entry.seq for entry in entries] == [1, 2]
        assert head.seq == 2
        assert len(of.versions(user_id, memory_id, 9).versions) == (2 if is_there else 1)
        assert (store.present(user_id, memory_id) is not None) == is_there
        assert of.stats(user_id).total == len(of.list_memories(user_id, EVERYTHING, 9).memories) == int(is_there)
        assert bool(seen_by(of, user_id, "tea")) == is_there


# --- versions and events -------------------------------------------------------------------------------------------


def test_five_updates_make_six_versions_any_readable_and_a_restore_makes_the_seventh(store: MemoryStore) -> None:
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


def test_an_expired_memory_has_no_versions_any_more(store: MemoryStore) -> None:
    clock = Clock()
    of = controller(store, clock=clock)
    memory_id = stored(of, "green tea", expires_at_ms=NOW_MS + 1)
    of.update(asking(), memory_id, Patch({"content": "black tea"}))
    assert len(of.versions("ana", memory_id, 9).versions) == 2

    clock.now_ms += 1

    with pytest.raises(NotFound):
        of.versions("ana", memory_id, 9)
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


# --- purging -------------------------------------------------------------------------------------------------------


def test_a_purge_leaves_the_trail_and_no_word_of_the_text_anywhere(store: MemoryStore) -> None:
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
    assert [entry.columns is None for entry in store.read_log("ana", 0)[0]] == [True, True, True, False, True]
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
    before = everything_kept(store)

    assert controller(store).purge(asking(), memory_id) == of.purge(asking(), memory_id) == first
    assert everything_kept(store) == before


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
    monkeypatch.setattr(erasing, "BUDGET_MS", 60)
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


def test_a_purge_that_dies_anywhere_and_is_repeated_is_one_purge(store: MemoryStore) -> None:
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

        once = [replace(entry, by=user_id, memory_id=memory_id) for entry in store.read_log("user", 0)[0]]
        assert store.read_log(user_id, 0)[0] == once
        assert [version.memory.content for version in store.versions(user_id, memory_id, None, 9)] == [""] * 2
    assert CANARY not in everything_kept(store)


# --- erasing -------------------------------------------------------------------------------------------------------


def test_erasing_one_user_leaves_the_other(store: MemoryStore) -> None:
    of = controller(store)
    with_history(of)
    of.store(asking(key="k"), [to_store("green tea")])
    with_history(of, "ana2")
    before = of.list_memories("ana2", EVERYTHING, 9).memories

    erasure = of.erase("ana")

    assert erasure.state is ErasureState.ERASED
    assert erasure.counts == {"log_entries": 4, "memories": 2, "versions": 2, "stored_answers": 1, "other": 0}
    assert erasure.backup_until_ms == NOW_MS + 35 * 24 * 3600 * 1000
    assert store.items("ana", 9) == []
    assert store.read_log("ana", 0) == NOTHING
    assert of.list_memories("ana2", EVERYTHING, 9).memories == before
    assert seen_by(of, "ana2")


def test_an_erased_user_is_gone_from_every_warm_instance(store: MemoryStore) -> None:
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
    assert erasure.counts == {"log_entries": 3, "memories": 1, "versions": 2, "stored_answers": 0, "other": 0}
    assert everything_kept(store) == before


def test_an_erasure_goes_on_over_calls_and_ends_with_exact_counts(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert erasure.counts == {"log_entries": 33, "memories": 31, "versions": 2, "stored_answers": 0, "other": 0}


def test_a_count_that_runs_out_of_time_says_so(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    of = controller(store)
    for number in range(9):
        stored(of, f"fact {number}")
    monkeypatch.setattr(erasing, "ITEMS_PER_READ", 4)
    monkeypatch.setattr(erasing, "COUNT_BUDGET_MS", 1)

    erasure = controller(store, clock=Ticking(10), prefix="01HFB").count_erasable("ana")

    assert (erasure.left, erasure.is_partial) == (4, True)


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
) -> None:
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
    is_commit = 1 if other_work == "store" else 2
    slow.interrupt(is_commit, "after", lambda: erased(controller(store)))

    with pytest.raises(Conflict, match="erased in the meantime"):
        works[other_work]()

    assert slow.calls[is_commit] == "append"
    assert store.items("ana", 9) == []
    assert store.read_head("ana") == Head()


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


@pytest.mark.parametrize("work", ["purge", "erase"])
def test_whichever_aws_call_dies_a_repeat_completes_the_work(work: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(erasing, "ITEMS_PER_DELETE", 3)

    def run(of: MemoryController, user_id: str, memory_id: str) -> None:
        if work == "purge":
            of.purge(asking(user_id), memory_id)
        else:
            erased(of, user_id)

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
