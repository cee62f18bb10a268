import json
from dataclasses import replace

import numpy as np
import pytest
from recollect import changes, storing
from recollect.changes import Embedded, Patch
from recollect.errors import Conflict, InvalidInput
from recollect.model import Entry, Head, Memory, MemoryType, Operation, identity
from recollect.nominating import Asked, nominate
from recollect.partition import Partition

from tests.support.builders import NOW_MS, memory

EMBEDDED = Embedded(np.eye(4, dtype=np.float32)[0], "hashing")


def holding(*memories: Memory) -> Partition:
    partition = Partition("hashing", 4)
    entries = [
        Entry(
            seq=number,
            operation=Operation.CREATE,
            memory_id=one.memory_id,
            version=one.version,
            at_ms=NOW_MS,
            by="ana",
            reason="r",
            columns=changes.columns_for(one, EMBEDDED),
        )
        for number, one in enumerate(memories, start=1)
    ]
    partition.apply(entries, Head(seq=len(entries), epoch="E"))
    return partition


def outcomes(partition: Partition, *asked: Memory) -> list[tuple[str, str]]:
    nominations = nominate(partition, [Asked(one, EMBEDDED) for one in asked], NOW_MS)
    decision = storing.store(partition, {}, nominations, {})
    return [(one.outcome, one.memory_id) for one in decision.outcomes]


def test_the_same_statement_is_unchanged_and_names_the_one_that_is_there() -> None:
    there = memory("tea at four", memory_id="A")

    assert outcomes(holding(there), memory("tea at four\r\n", memory_id="B")) == [("unchanged", "A")]


def test_the_same_statement_twice_in_one_batch_is_created_once() -> None:
    first, second = memory("tea", memory_id="A"), memory("tea", memory_id="B")

    assert outcomes(holding(), first, second) == [("created", "A")]  # the second is decided on what this one leaves
    assert outcomes(holding(first), second) == [("unchanged", "A")]


@pytest.mark.parametrize(
    "other",
    [
        memory("Tea", memory_id="B"),
        memory("tea", memory_id="B", type=MemoryType.PROCEDURAL),
        memory("tea", memory_id="B", actor="Leo"),
    ],
)
def test_another_statement_is_created(other: Memory) -> None:
    assert outcomes(holding(memory("tea", memory_id="A")), other) == [("created", "B")]


def test_two_agents_with_one_fact_make_one_memory() -> None:
    assert outcomes(
        holding(memory("tea", memory_id="A", agent_id="one")), memory("tea", memory_id="B", agent_id="two")
    ) == [("unchanged", "A")]


def test_the_same_words_at_another_time_are_another_episode() -> None:
    episode = memory("we met", memory_id="A", type=MemoryType.EPISODIC, occurred_at_ms=1, session_id="s")

    assert identity(episode) == identity(replace(episode, memory_id="B", importance=1.0))
    for other in (
        replace(episode, occurred_at_ms=2),
        replace(episode, session_id="t"),
        replace(episode, occurred_at_ms=None),
    ):
        assert identity(episode) != identity(other)


def test_parts_of_an_identity_cannot_slide_into_each_other() -> None:
    assert identity(memory("b", actor="a")) != identity(memory("", actor="a\0b"))


def test_an_expired_memory_does_not_stand_in_the_way() -> None:
    expired = memory("tea", memory_id="A", expires_at_ms=NOW_MS)

    assert outcomes(holding(expired), memory("tea", memory_id="B")) == [("created", "B")]


def patched(metadata_json: str, patch: Patch) -> Memory:
    old = memory("tea", memory_id="A", metadata_json=metadata_json)
    after = changes.update(holding(old), old, patch, None, NOW_MS + 1).changes[0].after
    assert after is not None
    return after


def test_a_patch_changes_what_it_names_and_keeps_the_rest() -> None:
    after = patched('{"a": 1}', Patch({"importance": 0.9, "tags": ("x",)}))

    assert (after.importance, after.tags, after.content, after.metadata_json) == (0.9, ("x",), "tea", '{"a": 1}')
    assert (after.version, after.updated_at_ms, after.created_at_ms) == (2, NOW_MS + 1, NOW_MS)


def test_metadata_is_merged_and_null_removes() -> None:  # case M15
    after = patched('{"a": 1.0, "b": {"c": 1, "d": null}}', Patch({}, {"a": None, "b": {"c": 2.5}, "n": 10**20}))

    assert json.loads(after.metadata_json) == {"b": {"c": 2.5, "d": None}, "n": 10**20}


def test_metadata_can_be_emptied() -> None:
    assert patched('{"a": 1}', Patch({}, None, clears_metadata=True)).metadata_json == "{}"


def test_metadata_may_not_grow_past_its_limit_by_patches() -> None:
    with pytest.raises(InvalidInput):
        patched(json.dumps({"a": "x" * 9_000}), Patch({}, {"b": "x" * 9_000}))


def test_a_patch_that_changes_nothing_commits_nothing() -> None:
    old = memory("tea", memory_id="A")

    decision = changes.update(holding(old), old, Patch({"importance": old.importance}), None, NOW_MS + 1)

    assert decision.changes == ()
    assert decision.outcomes[0].outcome == "unchanged"


def test_a_patch_may_not_make_a_second_memory_of_one_statement() -> None:
    old, other = memory("tea", memory_id="A"), memory("coffee", memory_id="B")

    with pytest.raises(Conflict):
        changes.update(holding(old, other), other, Patch({"content": "tea"}), EMBEDDED, NOW_MS)


def test_a_patch_without_new_content_keeps_the_embedding() -> None:
    old = memory("tea", memory_id="A")
    partition = holding(old)

    change = changes.update(partition, old, Patch({"importance": 1.0}), None, NOW_MS).changes[0]

    kept = partition.embedding_of("A")
    assert change.columns is not None
    assert (change.columns.codes, change.columns.embedder) == kept
    assert kept[0]
    assert kept[1] == "hashing"


def test_a_delete_keeps_the_memory_as_it_was() -> None:
    old = memory("tea", memory_id="A", version=3)

    change = changes.delete(old, NOW_MS).changes[0]

    assert (change.before, change.after, change.columns, change.version) == (old, None, None, 4)
