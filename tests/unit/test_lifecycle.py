"""How memories fade: the score, when it falls below the threshold, and which rows of a partition that concerns."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.changes import columns_for
from recollect.context import PROFILE_TAGS
from recollect.lifecycle import (
    DAY_MS,
    DEFAULT,
    FLOOR_SHARE,
    NEVER,
    Policy,
    expired,
    faded,
    faded_after,
    outlived,
    retention,
)
from recollect.model import Entry, Memory, MemoryType, Operation, Status, Touch
from recollect.partition import Partition

from tests.support.builders import NOW_MS, memory

AGES = st.floats(0, 20_000 * DAY_MS)
HALF_LIVES = st.floats(0.01 * DAY_MS, 4_000 * DAY_MS)
SHARES = st.floats(0, 1)
USES = st.integers(0, 10_000)
LATE_MS = NOW_MS + 5_000 * DAY_MS


def score(importance: float, age_ms: float, half_life_ms: float, uses: float) -> float:
    return float(retention(*map(np.atleast_1d, (importance, age_ms, half_life_ms, uses)))[0])


def fades(importance: float, half_life_ms: float, uses: float, below: float) -> int:
    return int(faded_after(np.atleast_1d(importance), np.atleast_1d(half_life_ms), np.atleast_1d(uses), below)[0])


def partition(*memories: Memory, used: tuple[int, ...] = ()) -> Partition:
    """Make a partition of memories, some of them used once."""
    ids = [f"{number:026d}" for number in range(len(memories))]
    entries = [
        Entry(
            seq=seq,
            operation=Operation.CREATE,
            memory_id=memory_id,
            version=1,
            at_ms=NOW_MS,
            by="ana",
            reason="r",
            columns=columns_for(one, (b"", "")),
        )
        for seq, (memory_id, one) in enumerate(zip(ids, memories, strict=True), start=1)
    ]
    touches = [Touch(touch_id="t", seq=len(entries), at_ms=NOW_MS, memory_ids=tuple(ids[one] for one in used))]
    made = Partition("e", 8)
    made.apply([*entries, *touches], replace(made.head, seq=len(entries)))
    return made


@given(SHARES, AGES, HALF_LIVES, USES)
def test_the_score_is_a_share_and_never_below_the_floor_that_importance_gives(
    importance: float, age: float, half_life: float, uses: int
) -> None:
    assert FLOOR_SHARE * importance <= score(importance, age, half_life, uses) <= 1
    assert score(importance, 0, half_life, uses) == pytest.approx(1)


@given(SHARES, AGES, HALF_LIVES, USES, st.floats(0, 1), st.floats(0, 1), st.integers(0, 9))
def test_age_lowers_the_score_importance_and_use_raise_it(
    importance: float, age: float, half_life: float, uses: int, less: float, younger: float, more: int
) -> None:
    rounding = 1e-12
    present = score(importance, age, half_life, uses)

    assert score(importance, age * younger, half_life, uses) >= present - rounding
    assert score(importance * less, age, half_life, uses) <= present + rounding
    assert score(importance, age, half_life, uses + more) >= present - rounding


@given(SHARES, HALF_LIVES, st.integers(0, 100), st.floats(0.001, 0.999))
def test_a_memory_fades_at_the_very_age_at_which_its_score_falls_below_the_threshold(
    importance: float, half_life: float, uses: int, below: float
) -> None:
    age = fades(importance, half_life, uses, below)

    if age == NEVER:
        assert FLOOR_SHARE * importance >= below
    else:
        assert score(importance, age, half_life, uses) <= below + 1e-9
        assert score(importance, max(0, age - 2), half_life, uses) >= below - 1e-6


def test_half_of_what_has_no_floor_is_left_after_the_half_life_and_each_use_adds_one() -> None:
    assert score(0.0, 30 * DAY_MS, 30 * DAY_MS, 0) == pytest.approx(0.5)
    assert score(0.0, 60 * DAY_MS, 30 * DAY_MS, 1) == pytest.approx(0.5)
    assert fades(0.7, 30 * DAY_MS, 0, DEFAULT.archive_below) == NEVER
    assert fades(0.0, 30 * DAY_MS, 0, 0.0) == NEVER


@pytest.mark.parametrize(("kind", "days"), [("episodic", 122), ("semantic", 735), ("procedural", 1491)])
def test_each_type_fades_in_its_own_time(kind: str, days: int) -> None:
    made = partition(memory("tea", type=MemoryType(kind)))

    due = faded(made, NOW_MS, DEFAULT)

    assert due.rows.size == 0
    assert due.next_at_ms is not None
    assert (due.next_at_ms - NOW_MS) // DAY_MS == days
    assert faded(made, due.next_at_ms - 1, DEFAULT).rows.size == 0
    assert faded(made, due.next_at_ms, DEFAULT).rows.tolist() == [0]


def test_what_is_pinned_used_of_the_profile_or_important_never_fades_and_the_reason_is_told() -> None:
    episodic = MemoryType.EPISODIC
    made = partition(
        memory("plain"),
        memory("pinned", pinned=True),
        memory("important", importance=0.7),
        *(memory(f"of {tag}", tags=(tag,)) for tag in PROFILE_TAGS),
        memory("a tagged day", tags=("preference",), type=episodic),
        memory("used"),
        memory("retired", status=Status.SUPERSEDED),
        memory("away", status=Status.ARCHIVED),
        memory("over", expires_at_ms=NOW_MS),
        used=(8,),
    )

    due = faded(made, LATE_MS, DEFAULT)

    assert due.rows.tolist() == [0, 7]
    assert due.skipped == {"pinned": 1, "profile": len(PROFILE_TAGS), "used": 1}
    assert due.next_at_ms is None
    assert due.looked_at == 9


def test_age_runs_from_the_last_thing_that_happened_and_what_is_yet_to_come_does_not_fade() -> None:
    long_ago, ahead = NOW_MS - 4_000 * DAY_MS, NOW_MS + 400 * DAY_MS
    made = partition(
        memory("told now", occurred_at_ms=long_ago),
        memory("planned", occurred_at_ms=ahead),
        memory("forgotten", occurred_at_ms=long_ago, created_at_ms=long_ago, updated_at_ms=long_ago),
    )

    assert faded(made, NOW_MS, DEFAULT).rows.tolist() == [2]
    assert faded(made, NOW_MS + 800 * DAY_MS, DEFAULT).rows.tolist() == [0, 2]


def test_what_expires_is_found_to_the_millisecond_whatever_its_status() -> None:
    made = partition(
        memory("one", expires_at_ms=NOW_MS),
        memory("other", expires_at_ms=NOW_MS + 1, status=Status.ARCHIVED, pinned=True),
        memory("never"),
    )

    due = expired(made, NOW_MS)
    assert (due.rows.tolist(), due.next_at_ms, due.looked_at) == ([0], NOW_MS + 1, 3)
    assert expired(made, NOW_MS + 1).rows.tolist() == [0, 1]
    assert expired(made, NOW_MS + 1).next_at_ms is None


def test_nothing_archived_is_deleted_unless_the_policy_says_so() -> None:
    away = Status.ARCHIVED
    made = partition(
        memory("a", status=away), memory("b", status=away, pinned=True), memory("c", status=away), used=(2,)
    )
    policy = Policy(retention_days=10)

    assert outlived(made, LATE_MS, DEFAULT).rows.size == 0
    assert outlived(made, NOW_MS, policy).next_at_ms == NOW_MS + 10 * DAY_MS
    assert outlived(made, NOW_MS + 10 * DAY_MS - 1, policy).rows.size == 0
    assert outlived(made, NOW_MS + 10 * DAY_MS, policy).rows.tolist() == [0]


def test_a_partition_without_memories_is_never_due() -> None:
    for due in (
        expired(partition(), NOW_MS),
        faded(partition(), NOW_MS, DEFAULT),
        outlived(partition(), NOW_MS, DEFAULT),
    ):
        assert (due.rows.size, due.next_at_ms, due.looked_at) == (0, None, 0)
