"""What every memory store must keep to about what was, and about making it go away."""

from dataclasses import replace

import pytest
from recollect import keys
from recollect.erasure import content_hash, erased_with, erasing_head, redacted
from recollect.errors import Conflict
from recollect.model import Head, Operation
from recollect.ports import Item, MemoryStore, Version

from tests.contract.test_memory_store import ANSWER, FULL, HEAD, commit, creating
from tests.support.builders import NOW_MS, entries_of, memory


def updated(store: MemoryStore, times: int) -> Head:
    """Make a memory and change it."""
    present = replace(FULL, version=1)
    head = commit(store, creating(present))
    for _ in range(times):
        newer = replace(present, version=present.version + 1, content=f"content {present.version + 1}")
        head = commit(store, replace(creating(newer), operation=Operation.UPDATE, before=present), seen=head)
        present = newer
    return head


def test_earlier_versions_come_newest_first_and_page_by_page(store: MemoryStore) -> None:
    updated(store, 12)

    assert [one.memory.version for one in store.versions("ana", "A", None, 5)] == [12, 11, 10, 9, 8]
    assert [one.memory.version for one in store.versions("ana", "A", 3, 5)] == [2, 1]
    assert store.versions("ana", "A", 2, 5) == [Version(replace(FULL, version=1))]
    assert store.versions("ana", "A", 1, 5) == []
    assert store.versions("ana", "B", None, 5) == store.versions("bob", "A", None, 5) == []


def test_large_versions_come_whole(store: MemoryStore) -> None:
    present = memory("漢" * 16_000, memory_id="A", version=1, metadata_json='{"x": "' + "y" * 16_000 + '"}')
    head = commit(store, creating(present))
    for number in range(2, 25):
        newer = replace(present, version=number)
        head = commit(store, replace(creating(newer), operation=Operation.UPDATE, before=present), seen=head)
        present = newer

    assert [one.memory.version for one in store.versions("ana", "A", None, 200)] == list(range(23, 0, -1))


def test_entries_come_in_the_order_asked_for(store: MemoryStore) -> None:
    commit(store, *(creating(memory(str(number), memory_id=str(number))) for number in range(9)))

    assert [entry.seq for entry in store.read_entries("ana", range(2, 6))] == [2, 3, 4, 5]
    assert [entry.seq for entry in store.read_entries("ana", range(6, 2, -1))] == [6, 5, 4, 3]
    assert [entry.seq for entry in store.read_entries("ana", [9, 1, 5])] == [9, 1, 5]
    assert [entry.seq for entry in store.read_entries("ana", [8, 9, 10])] == [8, 9]
    assert store.read_entries("ana", []) == store.read_entries("bob", [1]) == []


def test_more_than_a_hundred_scattered_entries_come_whole(store: MemoryStore) -> None:
    head = Head()
    for start in range(0, 205, 41):
        changes = [creating(memory(f"{n}", memory_id=f"{n:03}")) for n in range(start, start + 41)]
        head = commit(store, *changes, seen=head)

    odd = list(range(205, 0, -2))

    assert [entry.seq for entry in store.read_entries("ana", odd)] == odd


def test_a_redacted_version_keeps_ids_numbers_times_and_a_hash(store: MemoryStore) -> None:
    updated(store, 2)
    (second, first) = store.versions("ana", "A", None, 9)

    store.redact_version("ana", redacted(second))

    read = store.versions("ana", "A", None, 9)
    assert read == [redacted(second), first]
    assert read[0].content_hash == content_hash(second.memory)
    kept = read[0].memory
    assert (kept.memory_id, kept.version, kept.content, kept.metadata_json) == ("A", 2, "", "{}")
    assert (kept.actor, kept.session_id, kept.agent_id, kept.tags, kept.merged_content) == (None, None, None, (), None)


def test_only_a_version_that_is_there_is_redacted(store: MemoryStore) -> None:
    updated(store, 1)

    store.redact_version("ana", redacted(Version(replace(FULL, version=5))))
    store.redact_version("bob", redacted(Version(replace(FULL, version=1))))

    assert len(store.versions("ana", "A", None, 9)) == 1
    assert store.versions("bob", "A", None, 9) == []


@pytest.mark.parametrize("content_hash", ["5e", None])
def test_a_redacted_entry_keeps_what_was_done_and_no_columns(store: MemoryStore, content_hash: str | None) -> None:
    commit(store, creating(FULL), creating(memory("b", memory_id="B")))
    before, other = entries_of(store)
    gone = replace(before, columns=None, content_hash=content_hash)

    store.redact_entry("ana", gone)
    store.redact_entry("ana", gone)

    assert entries_of(store) == [gone, other]


def test_only_an_entry_of_the_memory_is_redacted(store: MemoryStore) -> None:
    commit(store, creating(FULL))
    (entry,) = entries_of(store)

    store.redact_entry("ana", replace(entry, memory_id="B", columns=None))
    store.redact_entry("ana", replace(entry, seq=2, columns=None))

    assert entries_of(store) == [entry]


def test_a_purge_of_a_deleted_memory_is_an_entry_alone(store: MemoryStore) -> None:
    head = commit(store, creating(FULL))
    deleting = replace(creating(FULL), operation=Operation.DELETE, version=8, columns=None, before=FULL, after=None)
    head = commit(store, deleting, seen=head)

    commit(store, replace(deleting, operation=Operation.PURGE, version=9, before=None), seen=head)

    entries = entries_of(store, after_seq=2)
    assert [(entry.operation, entry.version) for entry in entries] == [(Operation.PURGE, 9)]


def test_what_is_kept_is_listed_once_and_without_the_head(store: MemoryStore) -> None:
    updated(store, 2)
    store.append("ana", replace(HEAD, seq=3), replace(HEAD, seq=3), [], "x", ANSWER)

    found = store.items("ana", 100)

    assert sorted(keys.kind_of(item.key) for item in found) == [
        *["log_entries"] * 3,
        "memories",
        "stored_answers",
        *["versions"] * 2,
    ]
    assert found == sorted(found)
    assert store.items("bob", 100) == []
    paged: list[Item] = []
    while page := store.items("ana", 2, paged[-1] if paged else None):
        assert len(page) <= 2
        paged += page
    assert paged == found


def test_an_erasure_begins_on_the_head_of_the_same_life_only(store: MemoryStore) -> None:
    head = commit(store, creating(FULL))
    erasing = erasing_head(head, "F", NOW_MS)

    with pytest.raises(Conflict):
        store.begin_erasure("ana", erasing, replace(head, epoch="another"))
    with pytest.raises(Conflict):
        store.begin_erasure("ana", erasing, Head())
    store.begin_erasure("ana", erasing, replace(head, seq=77))

    assert store.read_head("ana") == erasing
    with pytest.raises(Conflict):
        commit(store, creating(memory("b", memory_id="B")), seen=head)


def test_an_erasure_may_begin_without_a_head(store: MemoryStore) -> None:
    store.append("ana", Head(), Head(), [], "x", ANSWER)
    assert store.read_head("ana") == Head()

    store.begin_erasure("ana", erasing_head(Head(), "F", NOW_MS), Head())

    assert store.read_head("ana").erasing_since_ms == NOW_MS


def test_items_go_with_the_count_or_not_at_all(store: MemoryStore) -> None:
    head = updated(store, 2)
    commit(store, creating(memory("of bob", memory_id="A")), user_id="bob")
    erasing = erasing_head(head, "F", NOW_MS)
    store.begin_erasure("ana", erasing, head)
    first, rest = store.items("ana", 100)[:2], store.items("ana", 100)[2:]
    newer = erased_with(erasing, first)

    store.erase_items("ana", first, newer, erasing)

    assert store.items("ana", 100) == rest
    assert store.read_head("ana") == newer
    for stale in (erasing, replace(newer, epoch="another"), Head()):
        with pytest.raises(Conflict):
            store.erase_items("ana", rest, erased_with(newer, rest), stale)
    assert store.items("ana", 100) == rest
    assert len(store.items("bob", 100)) == 2


def test_the_head_goes_last_and_only_that_of_the_erasure(store: MemoryStore) -> None:
    head = commit(store, creating(FULL))
    erasing = erasing_head(head, "F", NOW_MS)
    store.begin_erasure("ana", erasing, head)

    with pytest.raises(Conflict):
        store.end_erasure("ana", head)
    store.end_erasure("ana", erasing)

    assert store.read_head("ana") == Head()
    with pytest.raises(Conflict):
        store.end_erasure("ana", erasing)
