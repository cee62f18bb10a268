"""What memories cite, as whole controllers store and undo it on every store."""

import pytest
from recollect.changes import Outcome
from recollect.controller import MemoryController
from recollect.filters import Compare, Operator, within_reach
from recollect.model import SOURCE_MAX_COUNT, Memory, Operation, Source, Status
from recollect.nominating import OnSimilar
from recollect.ports import MemoryStore

from tests.support.builders import TRANSCRIPTS, asking, controller, entries_of, to_store
from tests.support.faults import DyingStore
from tests.support.histories import everything_kept

FIRST, SECOND, THIRD = TRANSCRIPTS
DOG, REX = "The user has a dog", "The user has a dog named Rex"
OLD, NEW = "The user's team uses PostgreSQL 14", "The user's team uses PostgreSQL 15"


def said(of: MemoryController, content: str, *sources: Source, on_similar: OnSimilar = OnSimilar.RECONCILE) -> Outcome:
    """Store what was extracted, or what a caller says without a source."""
    return of.store(asking(), [to_store(content, on_similar=on_similar, sources=sources)])[0]


def cited(of: MemoryController, memory_id: str) -> tuple[str, ...]:
    return of.get("ana", memory_id).transcripts


def citing(of: MemoryController, transcript_id: str) -> list[str]:
    wanted = within_reach(Compare(("transcripts",), Operator.CONTAINS, transcript_id))
    return [one.content for one in of.list_memories("ana", wanted, 200).memories]


@pytest.mark.parametrize("again", [DOG, "the user has a DOG!"])
def test_what_another_transcript_says_again_is_cited_and_counts_as_a_use(store: MemoryStore, again: str) -> None:
    of = controller(store)
    first = said(of, DOG, Source(FIRST, 0, 1))

    outcome = said(of, again, Source(SECOND, 4, 4))

    memory = of.get("ana", first.memory_id)
    assert (outcome.outcome, outcome.memory_id, outcome.version) == ("unchanged", first.memory_id, 2)
    assert (memory.sources, memory.content) == ((Source(FIRST, 0, 1), Source(SECOND, 4, 4)), DOG)
    assert memory.access_count == 1
    assert [entry.operation for entry in entries_of(store)] == [Operation.CREATE, Operation.CITE]
    assert entries_of(store)[-1].reason == "said again in another transcript"
    assert citing(controller(store), SECOND) == [DOG]
    assert controller(store).get("ana", first.memory_id) == memory


def test_the_same_transcript_again_writes_nothing_at_all(store: MemoryStore) -> None:
    of = controller(store)
    batch = [
        to_store(content, sources=(Source(FIRST, number, number),))
        for number, content in enumerate((DOG, OLD, "black coffee", REX, NEW, "Black coffee!"))
    ]
    of.store(asking(), batch)
    before = everything_kept(store)

    outcomes = [
        outcome for number in range(3) for outcome in controller(store, prefix=f"01HF{number}").store(asking(), batch)
    ]

    assert {outcome.outcome for outcome in outcomes} == {"unchanged"}
    assert everything_kept(store) == before
    assert [
        one.content
        for one in of.list_memories("ana", within_reach(Compare(("status",), Operator.EQ, "superseded")), 9).memories
    ] == [OLD]


def test_a_value_that_comes_back_later_in_the_same_transcript_is_news(store: MemoryStore) -> None:
    of = controller(store)

    outcomes = [said(of, content, Source(FIRST, place, place)) for place, content in enumerate((OLD, NEW, OLD))]

    assert [outcome.outcome for outcome in outcomes] == ["created", "superseded", "superseded"]
    assert of.get("ana", outcomes[2].memory_id).status is Status.ACTIVE


def test_a_callers_own_word_stays_its_own_whoever_says_it_again(store: MemoryStore) -> None:
    of = controller(store)
    own = said(of, DOG)
    before = everything_kept(store)

    assert said(of, DOG, Source(FIRST, 0, 0)).outcome == "unchanged"
    assert everything_kept(store) == before

    assert said(of, REX, Source(FIRST, 1, 1)).outcome == "merged"
    assert cited(of, own.memory_id) == ()


def test_what_a_caller_says_again_cites_nothing_new_and_changes_nothing(store: MemoryStore) -> None:
    of = controller(store)
    first = said(of, DOG, Source(FIRST, 0, 0))

    outcome = said(of, DOG)

    assert (outcome.outcome, outcome.version) == ("unchanged", 1)
    assert (cited(of, first.memory_id), of.get("ana", first.memory_id).access_count) == ((FIRST,), 1)


def test_a_merged_memory_cites_both_and_apart_each_has_its_own(store: MemoryStore) -> None:
    of = controller(store)
    first = said(of, DOG, Source(FIRST, 0, 0))
    assert said(of, REX, Source(SECOND, 7, 8)).outcome == "merged"
    assert cited(of, first.memory_id) == (FIRST, SECOND)

    _, taken_out = of.unmerge(asking(), first.memory_id)

    assert of.get("ana", first.memory_id).sources == (Source(FIRST, 0, 0),)
    assert of.get("ana", taken_out.memory_id).sources == (Source(SECOND, 7, 8),)


def test_what_was_merged_from_one_transcript_cites_it_on_both_sides_when_it_is_apart(store: MemoryStore) -> None:
    of = controller(store)
    first = said(of, DOG, Source(FIRST, 0, 0))
    said(of, REX, Source(FIRST, 3, 3))

    _, taken_out = of.unmerge(asking(), first.memory_id)

    assert cited(of, first.memory_id) == cited(of, taken_out.memory_id) == (FIRST,)


def test_a_memory_that_takes_the_place_of_another_cites_its_own_sources(store: MemoryStore) -> None:
    of = controller(store)
    old = said(of, OLD, Source(FIRST, 0, 0))

    new = said(of, NEW, Source(SECOND, 0, 0))

    assert new.outcome == "superseded"
    assert (cited(of, new.memory_id), cited(of, old.memory_id)) == ((SECOND,), (FIRST,))


def test_a_restored_version_brings_back_what_it_cited_and_loses_nothing(store: MemoryStore) -> None:
    of = controller(store)
    first = said(of, DOG, Source(FIRST, 0, 0))
    said(of, REX, Source(SECOND, 7, 8))
    _, taken_out = of.unmerge(asking(), first.memory_id)
    said(of, DOG, Source(THIRD, 1, 1))
    assert cited(of, first.memory_id) == (FIRST, THIRD)

    of.restore(asking(), first.memory_id, 1)
    assert cited(of, first.memory_id) == (FIRST, THIRD)

    of.delete(asking(), taken_out.memory_id)
    of.restore(asking(), first.memory_id, 2)
    assert cited(of, first.memory_id) == (FIRST, THIRD)  # nothing tells that the second is still there
    said(of, "black coffee", Source(SECOND, 1, 1))
    of.delete(asking(), first.memory_id)
    of.restore(asking(), first.memory_id, 2)
    assert cited(of, first.memory_id) == (SECOND, FIRST, THIRD)


def test_at_most_sixteen_are_cited_and_the_oldest_go(store: MemoryStore) -> None:
    of = controller(store)
    names = [f"01TR{number:022d}" for number in range(SOURCE_MAX_COUNT + 2)]
    outcomes = [said(of, DOG, Source(name, 0, 0)) for name in names]

    assert cited(of, outcomes[0].memory_id) == tuple(names[2:])
    assert (citing(of, names[1]), citing(of, names[-1])) == ([], [DOG])


def test_a_batch_that_says_a_thing_twice_cites_each_transcript_once(store: MemoryStore) -> None:
    of = controller(store)
    first = said(of, DOG, Source(FIRST, 0, 0))
    batch = [to_store(DOG, sources=(Source(SECOND, number, number),)) for number in range(3)]

    request = asking(key="k")
    outcomes = of.store(request, batch)

    assert [(outcome.outcome, outcome.version) for outcome in outcomes] == [("unchanged", 2)] * 3
    assert of.get("ana", first.memory_id).sources == (Source(FIRST, 0, 0), Source(SECOND, 0, 0))
    assert [(one.outcome, one.version) for one in controller(store).store(request, batch)] == [("unchanged", 2)] * 3
    assert len(entries_of(store)) == 2


def test_a_hundred_references_are_added_in_transactions_that_fit(store: MemoryStore) -> None:
    of = controller(store)
    contents = [f"{number} {'x' * number}" for number in range(100)]
    for transcript_id in (FIRST, SECOND):
        outcomes = of.store(
            asking(),
            [
                to_store(content, on_similar=OnSimilar.CREATE, sources=(Source(transcript_id, 0, 0),))
                for content in contents
            ],
        )

    assert {(outcome.outcome, outcome.version) for outcome in outcomes} == {("unchanged", 2)}
    assert len(citing(of, SECOND)) == 100


def test_close_memories_that_are_said_again_are_cited_in_one_commit(store: MemoryStore) -> None:
    of, counted = controller(store), DyingStore(store)
    said(of, OLD, Source(FIRST, 0, 0))
    said(of, NEW, Source(FIRST, 1, 1), on_similar=OnSimilar.CREATE)

    outcomes = controller(counted.port, prefix="01HFB").store(
        asking(), [to_store(content, sources=(Source(SECOND, 0, 0),)) for content in (OLD, NEW)]
    )

    assert [(outcome.outcome, outcome.version) for outcome in outcomes] == [("unchanged", 2)] * 2
    assert counted.calls.count("append") == 1


def test_two_instances_that_hear_it_again_at_once_cite_both(store: MemoryStore) -> None:
    one, other = controller(store, prefix="01HFA"), controller(store, prefix="01HFB")
    first = said(one, DOG, Source(FIRST, 0, 0))
    other.stats("ana")
    said(one, DOG, Source(SECOND, 0, 0))

    said(other, DOG, Source(THIRD, 0, 0))

    assert cited(one, first.memory_id) == (FIRST, SECOND, THIRD)


def test_a_version_that_was_purged_names_no_transcript(store: MemoryStore) -> None:
    of = controller(store)
    first = said(of, DOG, Source(FIRST, 0, 0))
    said(of, DOG, Source(SECOND, 0, 0))

    of.purge(asking(), first.memory_id)

    versions: list[Memory] = [one.memory for one in of.versions("ana", first.memory_id, 9).versions]
    assert [one.sources for one in versions] == [(), ()]
    assert [entry.columns for entry in entries_of(store)] == [None] * 3
