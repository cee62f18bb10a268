"""The plan: what is folded and merged, how often a memory is written, how long a manifest becomes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.compaction import DEFAULT, Policy, Tail, folds, garbage, to_merge, write_amplification
from recollect.model import SegmentRef
from recollect.object_store import StoredObject

POLICY = Policy(fold_entries=4, fold_touches=3, fold_max_entries=8, fan=3, tiers=2)  # sizes below 6, below 18, more


def manifest(*rows: int) -> list[SegmentRef]:
    return [SegmentRef(f"{number:026d}", count, 100 * count) for number, count in enumerate(rows)]


def chosen(*rows: int, live: list[int] | None = None) -> slice | None:
    return to_merge(manifest(*rows), list(rows) if live is None else live, POLICY)


@pytest.mark.parametrize(
    ("tail", "is_forced", "is_folded"),
    [
        (Tail(4, 0), False, True),
        (Tail(3, 2), False, False),
        (Tail(0, 3), False, True),
        (Tail(1, 0), True, True),
        (Tail(0, 1), True, True),
        (Tail(0, 0), True, False),
    ],
)
def test_a_tail_is_folded_when_it_is_long_or_by_force(tail: Tail, is_forced: bool, is_folded: bool) -> None:
    assert folds(tail, POLICY, is_forced=is_forced) is is_folded


@pytest.mark.parametrize(
    ("rows", "span"),
    [
        ((), None),
        ((4, 4), None),
        ((4, 4, 4), slice(0, 3)),
        ((4, 4, 4, 4), slice(0, 4)),
        ((12, 4, 4), None),
        ((12, 4, 4, 4), slice(1, 4)),
        ((12, 12, 12, 4), slice(0, 3)),
        ((4, 12, 12), slice(0, 3)),  # a small one before larger ones goes with them
        ((18, 18, 18, 18), None),
        ((18, 0, 0, 0), slice(1, 4)),
    ],
)
def test_neighbours_of_one_size_become_one_of_the_next(rows: tuple[int, ...], span: slice | None) -> None:
    assert chosen(*rows) == span


def test_a_segment_that_is_dead_for_the_larger_part_is_written_anew() -> None:
    assert chosen(18, 20, live=[9, 10]) is None
    assert chosen(18, 20, live=[9, 9]) == slice(1, 2)
    assert chosen(18, 0, live=[18, 0]) is None


@given(st.lists(st.integers(0, 40), max_size=30))
def test_merging_comes_to_an_end_and_leaves_few_of_each_size(rows: list[int]) -> None:
    left = manifest(*rows)
    while (span := to_merge(left, [ref.rows for ref in left], POLICY)) is not None:
        assert span.stop - span.start >= POLICY.fan
        left[span] = [replace(left[span.start], rows=sum(ref.rows for ref in left[span]))]
    assert sum(ref.rows for ref in left) == sum(rows)
    for small in (6, 18):
        newest = [ref.rows for ref in left]
        run = 0
        while newest and newest.pop() < small:
            run += 1
        assert run <= 2 * (POLICY.fan - 1)


def test_only_old_objects_that_nothing_refers_to_are_garbage() -> None:
    present = [StoredObject(key, 1, at) for key, at in (("a", 5), ("b", 5), ("c", 10), ("d", 11))]

    assert garbage(present, {"a"}, 10) == ["b", "c"]


def test_a_hundred_thousand_single_stores_are_written_at_most_six_times_each() -> None:
    amplification = write_amplification(100_000, 256, DEFAULT)

    assert 2 < amplification <= 6


@pytest.mark.parametrize("each", [256, 2_048])
def test_the_manifest_of_a_million_memories_is_short(each: int) -> None:
    made: list[SegmentRef] = []
    longest = 0
    for _ in range(0, 1_000_000, each):
        made = grown(made, each)
        longest = max(longest, len(made))

    assert sum(ref.rows for ref in made) >= 1_000_000
    assert longest <= 40


def grown(made: list[SegmentRef], rows: int) -> list[SegmentRef]:
    made = [*made, SegmentRef("new", rows, rows)]
    while (span := to_merge(made, [ref.rows for ref in made], DEFAULT)) is not None:
        made[span] = [SegmentRef("merged", sum(ref.rows for ref in made[span]), 1)]
    return made
