from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect import keys
from recollect.erasure import OBJECTS, claiming, content_hash, counts_of, erased_with, erasing_head, redacted
from recollect.model import Head, Memory, MemoryType, Status
from recollect.object_store import ObjectVersion
from recollect.ports import Item, Version

from tests.support.builders import NOW_MS, memory

FULL = memory(
    "peanuts",
    type=MemoryType.EPISODIC,
    status=Status.SUPERSEDED,
    version=3,
    importance=0.9,
    tags=("x",),
    metadata_json='{"x": 1}',
    agent_id="agent",
    session_id="session",
    actor="Mia",
    occurred_at_ms=1,
    expires_at_ms=2,
    pinned=True,
    flags=("instruction",),
    supersedes="B",
    superseded_by="C",
    valid_until_ms=5,
    conflicts_with=("D",),
    merged_content="more peanuts",
    access_count=3,
    last_accessed_at_ms=4,
    updated_at_ms=NOW_MS + 1,
)
KEPT = {
    *("memory_id", "version", "type", "status", "importance"),
    *("created_at_ms", "updated_at_ms", "valid_until_ms"),
}


def test_a_redacted_version_keeps_only_what_says_nothing_of_its_text() -> None:
    left = redacted(Version(FULL))

    blank = Memory(memory_id="", content="", created_at_ms=0, updated_at_ms=0)
    for field in fields(Memory):
        kept = getattr(left.memory, field.name)
        assert kept == getattr(FULL if field.name in KEPT else blank, field.name), field.name
    assert left.content_hash == content_hash(FULL)
    assert redacted(left) == left


@given(st.text(st.characters()), st.text(st.characters()))
def test_a_hash_is_of_the_content_and_the_memory(one: str, other: str) -> None:
    of_one = content_hash(memory(one))

    assert of_one == content_hash(memory(one, tags=("x",), version=9))
    assert (of_one == content_hash(memory(other))) == (one == other)
    assert of_one != content_hash(memory(one, memory_id="01HF0000000000000000000009"))


@pytest.mark.parametrize(
    ("sort_key", "kind"),
    [
        (keys.entry(7), "log_entries"),
        (keys.memory("A"), "memories"),
        (keys.version("A", 3), "versions"),
        (keys.idempotency("MEM#A"), "stored_answers"),
        ("ODD#1", "other"),
    ],
)
def test_every_item_counts_as_one_of_its_kind(sort_key: str, kind: str) -> None:
    counts = counts_of([Item("memories", sort_key)])

    assert counts == {**{name: int(name == kind) for name in keys.KINDS}, OBJECTS: 0}


def test_the_head_of_an_erasure_counts_what_goes() -> None:
    seen = Head(seq=9, epoch="E", embedder="hashing", dimension=64)
    head = erasing_head(seen, "F", NOW_MS)
    items = [Item("log", keys.entry(1)), Item("log", keys.entry(2)), Item("memories", keys.memory("A"))]

    later = erased_with(erased_with(head, items), items[:1])

    assert (head.seq, head.epoch, head.erasing_since_ms) == (0, "F", NOW_MS)
    assert head.erased == counts_of(())
    assert later.erased == counts_of(()) | {"log_entries": 3, "memories": 1}
    assert replace(later, erased=head.erased) == head


def test_objects_that_were_counted_before_a_crash_are_not_counted_again() -> None:
    head = erasing_head(Head(seq=9, epoch="E"), "F", NOW_MS)
    a, b, c = (ObjectVersion(key, "null") for key in "abc")

    claimed = claiming(head, [a, b])
    again = claiming(claimed, [b])
    more = claiming(again, [b, c])

    assert (claimed.erased[OBJECTS], claimed.erased_to) == (2, "b")
    assert again == claimed
    assert (more.erased[OBJECTS], more.erased_to) == (3, "c")
    assert replace(more, erased=head.erased, erased_to="") == head
    assert erasing_head(more, "G", NOW_MS).erased_to == ""
