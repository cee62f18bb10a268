"""Which memories are told together, what is made of them, and that nothing is lost or made up on the way."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.changes import Decision, Embedded, change_of, columns_for, delete, next_version
from recollect.consolidating import clusters, deriving
from recollect.consolidating.coherence import coherent
from recollect.consolidating.composing import compose, in_order
from recollect.consolidating.support import invented, lost
from recollect.model import DERIVED_MAX_COUNT, Head, Memory, MemoryType, Operation, Status
from recollect.partition import Partition
from recollect.reconciling.sentences import holds, sentences

from tests.support.builders import NOW_MS, memory
from tests.support.consolidating import STYLE
from tests.support.segments import entry

DIM = 8
WORDS = ("tea", "Rex", "42", "Dr.", "no", "é", "花。", "x", "A.", "to be")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).flatmap(
    lambda words: st.sampled_from([" ", ". ", "\n", "! ", "; "]).map(lambda gap: gap.join(words))
)


def numbered(number: int, content: str = "", **values: Any) -> Memory:
    return memory(content or f"number {number}", memory_id=f"01HF{number:022d}", **values)


def partition(memories: list[Memory], vectors: Any = None) -> Partition:
    """Make a partition of memories; all alike unless their vectors are given."""
    made = Partition("e", DIM)
    rows = np.eye(DIM, dtype=np.float32)[[0] * len(memories)] if vectors is None else vectors
    entries = [
        entry(seq, one.memory_id, columns_for(one, Embedded(vector, "e")))
        for seq, (one, vector) in enumerate(zip(memories, rows, strict=True), 1)
    ]
    made.apply(entries, Head(seq=len(entries), epoch="E"))
    return made


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_every_sentence_of_every_text_is_in_what_is_made_of_them(contents: list[str]) -> None:
    made = compose(contents)

    assert all(holds(made, content) or not any(map(str.isalnum, content)) for content in contents)
    assert compose(contents) == made


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_what_was_put_together_stays_as_it_is_when_it_is_put_together_again(contents: list[str]) -> None:
    made = compose(contents)

    assert compose([made]) == made
    assert compose([made, *contents]) == made


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_no_sentence_is_told_twice_and_none_is_new(contents: list[str]) -> None:
    lines = compose(contents).splitlines()

    assert len(set(lines)) == len(lines)
    assert {bare(one) for line in lines for one in sentences(line)} <= {
        "",
        *(bare(one) for content in contents for one in sentences(content)),
    }


def bare(sentence: str) -> str:
    return sentence.strip(".;!。 ")


def test_texts_are_told_in_the_order_of_time() -> None:
    late = numbered(1, occurred_at_ms=NOW_MS + 9)
    early = numbered(2, occurred_at_ms=NOW_MS - 9)

    assert in_order([late, numbered(3), early]) == [early, numbered(3), late]


def test_code_and_lists_keep_their_lines() -> None:
    assert compose(["Deploy:\n- make build\n- make deploy", "Ask first"]) == (
        "Deploy:\n- make build\n- make deploy\nAsk first."
    )


def test_memories_that_are_alike_are_one_cluster_and_more_than_sixteen_are_two() -> None:
    memories = [numbered(number) for number in range(20)]

    found = clusters.find(partition(memories), NOW_MS, 100)

    assert [len(one.memory_ids) for one in found.clusters] == [DERIVED_MAX_COUNT, 4]
    assert found.looked_at == 20


def test_a_run_takes_no_more_than_its_share() -> None:
    memories = [numbered(number) for number in range(20)]

    found = clusters.find(partition(memories), NOW_MS, 19)

    assert [len(one.memory_ids) for one in found.clusters] == [DERIVED_MAX_COUNT]
    assert not found.is_whole


def test_two_are_too_few_and_what_is_not_close_is_no_cluster() -> None:
    far = np.eye(DIM, dtype=np.float32)
    memories = [numbered(number) for number in range(DIM)]

    assert not clusters.find(partition(memories, far), NOW_MS, 100).clusters
    assert not clusters.find(partition(memories[:2]), NOW_MS, 100).clusters


def test_why_memories_are_left_alone_is_counted_once_each() -> None:
    marked: list[dict[str, Any]] = [
        {"type": MemoryType.EPISODIC, "pinned": True},
        {"pinned": True},
        {"flags": ("instruction",)},
        {"conflicts_with": ("01HF",)},
        {"expires_at_ms": NOW_MS + 1},
        {"content": "tea " * 200},
    ]
    memories = [numbered(number, **{"content": "", **values}) for number, values in enumerate(marked)]

    found = clusters.find(partition(memories), NOW_MS, 100)

    assert found.looked_at == 0
    assert found.skipped == dict.fromkeys(["episodic", "pinned", "flagged", "in_conflict", "expiring", "large"], 1)


def test_a_large_partition_is_compared_with_its_newest_memories_and_others_each_day(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clusters, "SEED_MAX_COUNT", 400)
    memories = [numbered(number, updated_at_ms=NOW_MS + number) for number in range(clusters.SEED_MAX_COUNT + 100)]
    of = partition(memories)
    rows = np.arange(len(memories))
    none = np.zeros(len(memories), dtype=np.bool_)

    days = [set(clusters._to_compare(of, rows, none, day * 24 * 3600 * 1000).tolist()) for day in range(2)]

    newest = set(range(len(memories) - clusters.SEED_MAX_COUNT // 2, len(memories)))
    assert all(len(day) <= clusters.SEED_MAX_COUNT and newest <= day for day in days)
    assert set().union(*days) == set(rows.tolist())


@pytest.mark.parametrize(
    ("other", "values"),
    [
        ("Bob collects old stamps", {}),
        ("In code style Ana writes tests", {"metadata_json": '{"a": 1}'}),
        ("In code style " + "Ana likes tea " * 150, {}),
    ],
)
def test_what_does_not_go_with_the_others_is_left_out(other: str, values: dict[str, Any]) -> None:
    members = [numbered(number, content) for number, content in enumerate(STYLE[:3])]
    odd = numbered(9, other, **values)

    assert coherent([*members, odd], lambda *_: 0.5, is_extension=False) == members


def test_what_a_store_would_supersede_is_not_told_together() -> None:
    members = [numbered(1, "The user prefers light mode"), numbered(2, "The user prefers dark mode")]

    assert not coherent([*members, numbered(3, "The user likes a mode")], lambda *_: 0.9, is_extension=False)


def consolidated(memories: list[Memory]) -> tuple[Partition, dict[str, Memory]]:
    of = partition(memories)
    told = compose([one.content for one in in_order(memories)])
    decision = deriving.consolidated(of, memories, told, (b"", ""), f"01HG{1:022d}", NOW_MS + 1)
    after = {change.memory_id: change.after for change in decision.changes if change.after is not None}
    entries = [
        entry(seq, change.memory_id, change.columns, change.operation)
        for seq, change in enumerate(decision.changes, of.head.seq + 1)
    ]
    of.apply(entries, Head(seq=of.head.seq + len(entries), epoch="E"))
    return of, after


@given(st.lists(TEXTS, min_size=3, max_size=8), st.data())
def test_whichever_sources_go_what_is_left_is_still_told_and_nothing_of_those(
    contents: list[str], data: st.DataObject
) -> None:
    memories = [numbered(number, f"{content} {number}") for number, content in enumerate(contents)]
    of, now = consolidated(memories)
    derived = next(one for one in now.values() if one.derived_from)
    gone = data.draw(st.lists(st.sampled_from(memories), min_size=1, unique=True))
    changes_ = [delete(now[one.memory_id], NOW_MS + 2).changes[0] for one in gone]

    decision = deriving.following(of, now, Decision((), tuple(changes_)), lambda _: (b"", ""), NOW_MS + 2)

    after = {**now, **{change.memory_id: change.after for change in decision.changes}}
    active = [one for one in after.values() if one is not None and one.status is Status.ACTIVE]
    left = [one for one in memories if one not in gone]
    told = "\n".join(one.content for one in active)
    assert all(holds(told, one.content) for one in left)
    assert len(active) == min(1, len(left))
    if len(left) >= deriving.HELD_MIN_COUNT:
        assert active[0].memory_id == derived.memory_id
        assert told == compose([one.content for one in in_order(left)])
    assert all(change.version == now[change.memory_id].version + 1 for change in decision.changes)


def test_a_change_that_says_nothing_new_leaves_what_was_made_as_it_is() -> None:
    memories = [numbered(number, content) for number, content in enumerate(STYLE)]
    of, now = consolidated(memories)
    before = now[memories[0].memory_id]
    after = next_version(before, NOW_MS + 2)
    change = change_of(Operation.UPDATE, before, after, (b"", ""), "tagged")

    decision = deriving.following(of, now, Decision((), (change,)), lambda _: (b"", ""), NOW_MS + 2)

    assert decision.changes == (change,)


SUPPORTED = [
    ("Ana likes black.", ["Ana prefers black for Python"]),
    ("Ana does not eat meat.", ["Ana does not eat meat or fish"]),
    ("The deploy takes 5 minutes.", ["the deploy takes 5 minutes", "nothing"]),
]
INVENTED = [
    ("Ana likes black and isort.", ["Ana likes black"]),
    ("Ana eats meat.", ["Ana does not eat meat"]),
    ("Ana does not like black.", ["Ana likes black"]),
    ("Ana hates black.", ["Ana likes black"]),
    ("The deploy takes 15 minutes.", ["the deploy takes 5 minutes"]),
    ("Ben likes black.", ["Ana likes black"]),
    ("Delete everything.", ["Ana likes black"]),
]


@pytest.mark.parametrize(("sentence", "sources"), SUPPORTED)
def test_a_sentence_in_the_words_of_its_sources_is_theirs(sentence: str, sources: list[str]) -> None:
    assert not invented(sentence, sources)


@pytest.mark.parametrize(("sentence", "sources"), INVENTED)
def test_a_sentence_that_says_more_or_something_else_is_made_up(sentence: str, sources: list[str]) -> None:
    assert invented(sentence, sources)


def test_a_source_whose_name_or_number_or_most_words_are_not_told_is_lost() -> None:
    source = "Ana deploys with Terraform on 3 servers in Oslo"

    assert not lost(source, "Ana deploys with Terraform on 3 servers in Oslo.")
    assert lost(source, "Ana deploys with Terraform on servers in Oslo.")
    assert lost(source, "Ana deploys on 3 servers in Oslo.")
    assert lost("the staging server restarts slowly after midnight", "the server is there")
