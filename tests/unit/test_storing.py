import json
from collections.abc import Sequence
from typing import Any

import pytest
from recollect.chunks import ACTIONS_MAX_COUNT, COMMIT_MAX_BYTES, action_count, commit_bytes
from recollect.controller import MemoryController
from recollect.errors import Conflict
from recollect.filters import ACTIVE
from recollect.model import Change, Head
from recollect.nominating import OnSimilar
from recollect.ranking import Mode

from tests.support.asked import found, stored
from tests.support.builders import NOW_MS, Clock, asking, controller, entries_of, to_store
from tests.support.inmemory import InMemoryMemoryStore


def test_what_is_asked_is_cut_where_a_transaction_is_full() -> None:
    store = InMemoryMemoryStore()
    of = controller(store)
    commits: list[int] = []
    append = store.append

    def counting(user_id: str, head: Head, seen: Head, changes: Sequence[Change], *rest: Any) -> None:
        assert action_count(changes) <= ACTIONS_MAX_COUNT
        assert commit_bytes(changes) <= COMMIT_MAX_BYTES
        commits.append(len(changes))
        append(user_id, head, seen, changes, *rest)

    store.append = counting  # type: ignore[method-assign,assignment]
    small = [to_store(f"{number}", on_similar=OnSimilar.CREATE) for number in range(100)]
    note = json.dumps({"note": "x" * 16_000})
    large = [
        to_store(f"{number}" + "😀" * 15_990, on_similar=OnSimilar.CREATE, metadata_json=note) for number in range(48)
    ]

    assert len(of.store(asking(), small)) == 100
    assert commits == [48, 48, 4]
    assert len(of.store(asking(), large)) == 48
    assert len(commits) > 4


def test_a_changed_value_takes_the_place_of_the_old_one_in_one_commit() -> None:  # case M1
    store = InMemoryMemoryStore()
    of = controller(store)
    (old_id,) = stored(of, "The user's team uses PostgreSQL 14")

    (outcome,) = of.store(asking(key="k"), [to_store("The user's team uses PostgreSQL 15")])

    answer = store.stored_answer("ana", "k")
    assert (outcome.outcome, outcome.other_id) == ("superseded", old_id)
    assert outcome.detail is not None
    assert [entry.operation for entry in entries_of(store)] == ["create", "supersede", "create"]
    assert all("PostgreSQL" not in entry.reason for entry in entries_of(store))
    assert answer is not None
    assert "PostgreSQL" not in answer.answer_json
    assert found(of, "PostgreSQL") == ["The user's team uses PostgreSQL 15"]


@pytest.mark.parametrize(
    ("said", "contradiction", "outcome"),
    [
        ("The user's team uses PostgreSQL 14", "The user's team uses PostgreSQL 15", "superseded"),
        (
            "The user likes to work from the office on Mondays",
            "The user hates to be at the office on Mondays for work",
            "conflict",
        ),
    ],
)
def test_a_contradiction_never_makes_the_old_memory_stronger(
    said: str, contradiction: str, outcome: str
) -> None:  # case M10
    of = controller()
    (old_id,) = stored(of, said, importance=0.4)
    before = of.get("ana", old_id)

    (decided,) = of.store(asking(), [to_store(contradiction, importance=0.9, tags=("x",), pinned=True)])

    after = of.get("ana", old_id)
    links = {"status", "superseded_by", "valid_until_ms", "conflicts_with", "version", "updated_at_ms", "seq"}
    assert decided.outcome == outcome
    assert {name for name in before.__dataclass_fields__ if getattr(before, name) != getattr(after, name)} <= links


def test_a_corrected_memory_inherits_and_the_old_one_leaves_default_results() -> None:  # case M11
    of = controller()
    (old_id,) = stored(of, "The user's team uses PostgreSQL 14", importance=0.9, tags=("work", "db"), pinned=True)

    (outcome,) = of.store(asking(), [to_store("The user's team uses PostgreSQL 15", tags=("new",))])

    new = of.get("ana", outcome.memory_id)
    assert (outcome.outcome, outcome.other_id) == ("superseded", old_id)
    assert (new.importance, new.tags, new.pinned) == (0.9, ("new", "work", "db"), True)
    assert [one.content for one in of.list_memories("ana", ACTIVE, 9).memories] == [new.content]
    for mode in Mode:
        assert found(of, "PostgreSQL 14", mode=mode) == [new.content]


def test_a_caller_may_store_it_all_the_same_or_have_it_rejected() -> None:
    of = controller()
    stored(of, "The user's team uses PostgreSQL 14")

    (rejected,) = of.store(asking(), [to_store("The user's team uses PostgreSQL 15", on_similar=OnSimilar.REJECT)])
    assert rejected.outcome == "rejected"
    assert of.stats("ana").total == 1

    (created,) = of.store(asking(), [to_store("The user's team uses PostgreSQL 15", on_similar=OnSimilar.CREATE)])
    assert created.outcome == "created"
    assert of.stats("ana").by_status == {"active": 2}


def test_a_batch_that_contradicts_itself_is_reconciled_in_its_order() -> None:
    of = controller()

    outcomes = of.store(asking(), [to_store(f"The user's team uses PostgreSQL {version}") for version in (13, 14, 15)])

    assert [outcome.outcome for outcome in outcomes] == ["created", "superseded", "superseded"]
    assert found(of, "PostgreSQL") == ["The user's team uses PostgreSQL 15"]
    assert of.get("ana", outcomes[2].memory_id).supersedes == outcomes[1].memory_id


def test_a_memory_that_one_of_a_batch_retires_does_not_stand_for_the_next_one() -> None:
    of = controller()
    (old_id,) = stored(of, "green tea")

    outcomes = of.store(asking(), [to_store("black coffee", supersedes=old_id), to_store("green tea")])

    assert [outcome.outcome for outcome in outcomes] == ["superseded", "created"]
    assert sorted(found(of, "tea or coffee")) == ["black coffee", "green tea"]


def test_a_memory_that_one_of_a_batch_changes_is_told_to_the_next_one_as_it_is_then() -> None:
    of = controller()
    (memory_id,) = stored(of, "The user has a dog")

    outcomes = of.store(asking(), [to_store("The user has a dog named Rex"), to_store("The user has a dog")])

    assert [(one.outcome, one.memory_id, one.version) for one in outcomes] == [
        ("merged", memory_id, 2),
        ("unchanged", memory_id, 2),
    ]


def test_an_expired_memory_cannot_be_superseded() -> None:
    clock = Clock()
    of = controller(clock=clock)
    (old_id,) = stored(of, "green tea", expires_at_ms=NOW_MS + 1)
    clock.now_ms += 1

    (outcome,) = of.store(asking(), [to_store("black coffee", supersedes=old_id, on_similar=OnSimilar.CREATE)])

    assert (outcome.outcome, outcome.memory_id) == ("missing", old_id)
    assert of.stats("ana").total == 0


def test_saying_it_again_in_other_letters_changes_nothing() -> None:  # case M2
    of = controller()
    (first,) = stored(of, "Ana's dentist is Dr. Lima")

    outcomes = [
        of.store(asking(), [to_store(text)])[0] for text in ("ana's dentist is dr lima!", "Ana's dentist is Dr. Lima")
    ]

    assert [(outcome.outcome, outcome.memory_id) for outcome in outcomes] == [("unchanged", first)] * 2
    assert of.stats("ana").by_status == {"active": 1}


def test_two_values_that_can_both_be_true_stay() -> None:  # case M9
    of = controller()

    of.store(asking(), [to_store("The user has a daughter Ines"), to_store("The user has a daughter Vera")])
    of.store(asking(), [to_store("Ana is my dentist"), to_store("Ana is my landlord")])

    assert of.stats("ana").by_status == {"active": 4}


def merged(of: MemoryController) -> str:
    of.store(asking(), [to_store("The user has a dog")])
    outcome = of.store(asking(), [to_store("The user has a dog named Rex")])[0]
    assert outcome.outcome == "merged"
    return outcome.memory_id


def test_a_merge_keeps_both_and_can_be_taken_apart() -> None:  # case M8
    of = controller()
    memory_id = merged(of)
    assert "Rex" in of.get("ana", memory_id).content

    restored, created = of.unmerge(asking(), memory_id)

    assert (restored.memory_id, restored.version) == (memory_id, 3)
    assert of.get("ana", memory_id).content == "The user has a dog"
    assert of.get("ana", created.memory_id).content == "The user has a dog named Rex"
    with pytest.raises(Conflict):
        of.unmerge(asking(), memory_id)
