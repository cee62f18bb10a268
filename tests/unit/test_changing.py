import pytest
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.errors import Conflict, NotFound, StaleVersion
from recollect.model import Status
from recollect.undoing import Resolution

from tests.support.asked import found, stored
from tests.support.builders import NOW_MS, asking, controller, to_store
from tests.support.inmemory import InMemoryMemoryStore


def test_two_agents_race_to_update_one_version_and_one_wins() -> None:
    store = InMemoryMemoryStore()
    of = controller(store)
    (memory_id,) = stored(of, "green tea")

    of.update(asking(), memory_id, Patch({"importance": 0.9}), expected_version=1)

    with pytest.raises(StaleVersion):
        of.update(asking(), memory_id, Patch({"importance": 0.1}), expected_version=1)
    with pytest.raises(StaleVersion):
        of.delete(asking(), memory_id, expected_version=1)
    assert of.get("ana", memory_id).version == 2


def test_every_version_is_kept_and_any_can_be_restored() -> None:  # case M6
    of = controller()
    (memory_id,) = stored(of, "version one", tags=("x",))
    for number in ("two", "three", "four", "five", "six"):
        of.update(asking(), memory_id, Patch({"content": f"version {number}", "tags": ()}))

    restored = of.restore(asking(), memory_id, 1)

    assert (restored.outcome, restored.version) == ("restored", 7)
    assert [one.memory.version for one in of.versions("ana", memory_id, 9).versions] == [7, 6, 5, 4, 3, 2, 1]
    assert [one.memory.content for one in of.versions("ana", memory_id, 9).versions][-2:] == [
        "version two",
        "version one",
    ]
    assert (of.get("ana", memory_id).content, of.get("ana", memory_id).tags) == ("version one", ("x",))
    assert found(of, "version one") == ["version one"]
    with pytest.raises(NotFound):
        of.restore(asking(), memory_id, 8)
    with pytest.raises(NotFound):
        of.restore(asking("bob"), memory_id, 1)


def test_a_deleted_memory_can_be_restored_unless_it_was_stored_again() -> None:
    of = controller()
    (memory_id,) = stored(of, "green tea")
    of.delete(asking(), memory_id)
    assert [one.memory.version for one in of.versions("ana", memory_id, 9).versions] == [1]

    assert of.restore(asking(), memory_id, 1).version == 3
    assert found(of, "green tea") == ["green tea"]

    of.delete(asking(), memory_id)
    stored(of, "green tea")
    with pytest.raises(Conflict):
        of.restore(asking(), memory_id, 1)


def test_a_memory_takes_the_place_of_another_by_the_callers_word() -> None:  # case M11
    of = controller()
    (old_id,) = stored(of, "the office is in Porto", tags=("work",), importance=0.9, pinned=True)

    (outcome,) = of.store(asking(), [to_store("we meet in Lisbon now", supersedes=old_id)])

    old, new = of.get("ana", old_id), of.get("ana", outcome.memory_id)
    assert (outcome.outcome, outcome.other_id) == ("superseded", old_id)
    assert (old.status, old.superseded_by, old.valid_until_ms) == (Status.SUPERSEDED, new.memory_id, NOW_MS)
    assert (new.supersedes, new.tags, new.importance, new.pinned) == (old_id, ("work",), 0.9, True)
    assert found(of, "the office is in Porto or Lisbon") == ["we meet in Lisbon now"]
    assert [one.memory.version for one in of.versions("ana", old_id, 9).versions] == [2, 1]


def test_restoring_a_superseded_memory_frees_it_from_its_successor() -> None:
    of = controller()
    (old_id,) = stored(of, "the office is in Porto")
    new_id = of.store(asking(), [to_store("we meet in Lisbon now", supersedes=old_id)])[0].memory_id

    of.restore(asking(), old_id, 1)

    old, new = of.get("ana", old_id), of.get("ana", new_id)
    assert (old.status, old.superseded_by, old.valid_until_ms) == (Status.ACTIVE, None, None)
    assert (new.status, new.supersedes) == (Status.ACTIVE, None)


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_restored_memory_takes_the_place_only_of_what_is_still_behind_it(is_deleted: bool) -> None:
    of = controller()
    (old_id,) = stored(of, "the office is in Porto")
    new_id = of.store(asking(), [to_store("we meet in Lisbon now", supersedes=old_id)])[0].memory_id
    of.restore(asking(), old_id, 1)
    if is_deleted:
        of.delete(asking(), new_id)

    of.restore(asking(), new_id, 1)

    old, new = of.get("ana", old_id), of.get("ana", new_id)
    assert (old.status, old.superseded_by) == (Status.ACTIVE, None)
    assert (new.status, new.supersedes) == (Status.ACTIVE, None)


def test_a_memory_that_was_deleted_and_comes_back_frees_its_successor() -> None:
    of = controller()
    (old_id,) = stored(of, "the office is in Porto")
    new_id = of.store(asking(), [to_store("we meet in Lisbon now", supersedes=old_id)])[0].memory_id
    of.delete(asking(), old_id)

    of.restore(asking(), old_id, 1)

    assert of.get("ana", old_id).status is Status.ACTIVE
    assert of.get("ana", new_id).supersedes is None


@pytest.mark.parametrize("target", ["01HF0000000000000000000099", "foreign"])
def test_a_memory_that_is_not_there_cannot_be_superseded(target: str) -> None:
    of = controller()
    (foreign,) = stored(of, "secret of bob", user_id="bob")

    (outcome,) = of.store(asking(), [to_store("new", supersedes=foreign if target == "foreign" else target)])

    assert outcome.outcome == "missing"
    assert of.stats("ana").total == 0


LIKES = "The user likes to work from the office on Mondays"
HATES = "The user hates to be at the office on Mondays for work"


def conflicting(of: MemoryController) -> tuple[str, str]:
    (first,) = stored(of, LIKES)
    outcome = of.store(asking(), [to_store(HATES)])[0]
    assert (outcome.outcome, outcome.other_id) == ("conflict", first)
    return first, outcome.memory_id


@pytest.mark.parametrize(
    ("resolution", "statuses"),
    [
        (Resolution.KEEP_BOTH, (Status.ACTIVE, Status.ACTIVE)),
        (Resolution.KEEP_THIS, (Status.ARCHIVED, Status.ACTIVE)),
        (Resolution.SUPERSEDE, (Status.SUPERSEDED, Status.ACTIVE)),
    ],
)
def test_a_conflict_is_linked_on_both_sides_until_it_is_settled(
    resolution: Resolution, statuses: tuple[Status, Status]
) -> None:
    of = controller()
    first, second = conflicting(of)
    assert of.get("ana", first).conflicts_with == (second,)
    assert of.get("ana", second).conflicts_with == (first,)

    of.resolve(asking(), second, first, resolution)

    one, other = of.get("ana", first), of.get("ana", second)
    assert (one.status, other.status) == statuses
    assert one.conflicts_with == other.conflicts_with == ()
    assert one.superseded_by == (second if resolution is Resolution.SUPERSEDE else None)
    with pytest.raises(Conflict):
        of.resolve(asking(), second, first, resolution)


@pytest.mark.parametrize("corrections", [0, 1, 2])
@pytest.mark.parametrize("is_newer_kept", [True, False])
def test_a_conflict_of_corrected_memories_is_settled_as_one_chain(corrections: int, is_newer_kept: bool) -> None:
    of = controller()
    ids: list[str] = []
    for content in [*(f"desk {number}" for number in range(corrections)), LIKES]:
        supersedes = ids[-1] if ids else None
        ids += [of.store(asking(), [to_store(content, supersedes=supersedes)])[0].memory_id]
    (newer,) = stored(of, HATES)
    assert of.get("ana", ids[-1]).conflicts_with == (newer,)
    kept, rest = (newer, ids[-1]) if is_newer_kept else (ids[-1], newer)

    of.resolve(asking(), kept, rest, Resolution.SUPERSEDE)

    chain = [of.get("ana", kept)]
    while chain[-1].supersedes is not None:
        chain.append(of.get("ana", chain[-1].supersedes))
    assert [one.memory_id for one in chain] == [kept, rest, *ids[-2::-1]]
    assert [one.superseded_by for one in chain] == [None, *(one.memory_id for one in chain[:-1])]
    assert [one.status for one in chain] == [Status.ACTIVE] + [Status.SUPERSEDED] * (corrections + 1)


@pytest.mark.parametrize("resolution", [Resolution.KEEP_THIS, Resolution.SUPERSEDE])
def test_a_conflict_with_what_is_superseded_by_now_can_only_be_taken_off(resolution: Resolution) -> None:
    of = controller()
    first, second = conflicting(of)
    of.store(asking(), [to_store("The user works at home", supersedes=first)])

    for this, other in ((first, second), (second, first)):
        with pytest.raises(Conflict):
            of.resolve(asking(), this, other, resolution)
    assert of.get("ana", second).status is Status.ACTIVE

    of.resolve(asking(), second, first, Resolution.KEEP_BOTH)

    assert of.get("ana", first).conflicts_with == of.get("ana", second).conflicts_with == ()


def test_a_conflict_stays_until_it_is_settled_though_a_version_is_restored() -> None:
    of = controller()
    first, second = conflicting(of)

    of.restore(asking(), first, 1)

    assert of.get("ana", first).conflicts_with == (second,)
    assert of.get("ana", second).conflicts_with == (first,)
