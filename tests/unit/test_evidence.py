"""What settles a conflict by the rules alone: both sides as they were when a store linked them."""

from dataclasses import replace

import numpy as np
import pytest
from recollect.changes import Embedded, columns_for
from recollect.evidence import REPLACED, Settlement, pairs, settle, settlement
from recollect.model import Entry, Memory, MemoryType, Operation, Status
from recollect.partition import Partition
from recollect.undoing import Resolution

from tests.support.builders import NOW_MS, memory
from tests.support.embedder import HashingEmbedder
from tests.support.texts import DIMENSION, HIKES, NINE, SLEEPS, TEA, TEA_AT_BREAKFAST, TEN

OLDER, NEWER = "01HF0000000000000000000001", "01HF0000000000000000000002"


def linked(old: str, new: str, **values: object) -> tuple[Partition, Memory, Memory]:
    """Make two memories as the store left them that found them in conflict."""
    older = replace(memory(old), memory_id=OLDER, version=2, conflicts_with=(NEWER,), seq=2)
    newer = replace(memory(new), memory_id=NEWER, conflicts_with=(OLDER,), seq=3, created_at_ms=NOW_MS + 1)
    older, newer = (replace(one, **values) for one in (older, newer))  # type: ignore[arg-type]
    embedder = HashingEmbedder(dimension=DIMENSION)
    partition = Partition("hashing", DIMENSION)
    entries = [
        Entry(
            seq=seq,
            operation=Operation.LINK,
            memory_id=one.memory_id,
            version=one.version,
            at_ms=NOW_MS,
            by="ana",
            reason="r",
            columns=columns_for(one, Embedded(np.asarray(embedder.embed([one.content])[0]), "hashing")),
        )
        for seq, one in enumerate((older, older, newer), start=1)
    ]
    partition.apply(entries, replace(partition.head, seq=3))
    return partition, older, newer


def test_what_newer_rules_say_of_what_older_ones_left_open_holds() -> None:
    partition, older, newer = linked(NINE, TEN)

    assert settlement(partition, older, newer) == Settlement(newer, older, Resolution.SUPERSEDE, REPLACED)
    assert settlement(partition, newer, older) == settlement(partition, older, newer)

    decision = settle(partition, {OLDER: older, NEWER: newer}, (OLDER, NEWER), NOW_MS)
    retired = next(change.after for change in decision.changes if change.memory_id == OLDER)
    assert retired is not None
    assert (retired.status, retired.superseded_by) == (Status.SUPERSEDED, NEWER)


@pytest.mark.parametrize("changed", [{"seq": 9}, {"seq": 4}, {"seq": 1}])
def test_but_not_once_one_of_them_was_changed(changed: dict[str, int]) -> None:
    partition, older, newer = linked(NINE, TEN)

    assert settlement(partition, replace(older, **changed), newer) is None  # type: ignore[arg-type]
    assert settlement(partition, older, replace(newer, version=2)) is None


@pytest.mark.parametrize(
    ("old", "new", "resolution"),
    [
        (HIKES, SLEEPS, None),
        (TEA, TEA_AT_BREAKFAST, Resolution.KEEP_BOTH),
        (TEA_AT_BREAKFAST, TEA, Resolution.KEEP_THIS),
        (TEA, "the printer is out of ink", Resolution.KEEP_BOTH),
    ],
)
def test_each_verdict_has_its_end(old: str, new: str, resolution: Resolution | None) -> None:
    partition, older, newer = linked(old, new)

    found = settlement(partition, older, newer)

    assert (found and found.resolution) == resolution


def test_memories_that_cannot_be_compared_any_more_are_no_conflict() -> None:
    partition, older, newer = linked(HIKES, SLEEPS)
    found = settlement(partition, older, replace(newer, type=MemoryType.PROCEDURAL))

    assert found is not None
    assert found.resolution is Resolution.KEEP_BOTH


def test_what_depends_on_how_close_the_two_are_settles_nothing() -> None:
    assert settlement(*linked("Ana prefers the window seat", "Ana prefers the aisle seat")) is not None
    assert settlement(*linked("Ana studies at MIT", "Ana studies at Stanford")) is None


def test_each_pair_is_named_once_also_if_one_side_is_gone() -> None:
    one = memory("a", memory_id="A", conflicts_with=("B", "C"))
    other = memory("b", memory_id="B", conflicts_with=("A",))

    assert pairs({"A": one, "B": other}) == [("A", "B"), ("A", "C")]
