from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.changes import columns_for
from recollect.errors import CorruptData
from recollect.filters import Filter, Range
from recollect.model import Columns, Entry, Head, Memory, MemoryType, Operation, Status
from recollect.partition import Partition
from recollect.scan import encode

from tests.support.builders import NOW_MS, memory

DIM = 8
VECTOR = np.eye(DIM, dtype=np.float32)[0]


def columns(of: Memory) -> Columns:
    return columns_for(of, (encode(VECTOR).tobytes(), "hashing"))


def entry(seq: int, of: Memory, operation: Operation = Operation.CREATE) -> Entry:
    kept = None if operation is Operation.DELETE else columns(of)
    return Entry(
        seq=seq,
        operation=operation,
        memory_id=of.memory_id,
        version=of.version,
        at_ms=NOW_MS,
        by="ana",
        reason="r",
        columns=kept,
    )


def partition(*entries: Entry) -> Partition:
    made = Partition("hashing", DIM)
    made.apply(entries, Head(seq=len(entries), epoch="E"))
    return made


EVERYTHING = Filter()


def visible(of: Partition, wanted: Filter = EVERYTHING, now_ms: int = NOW_MS) -> list[str]:
    return [of.memory_id(int(row)) for row in np.flatnonzero(of.mask(wanted, now_ms))]


def test_a_changed_memory_shows_its_newest_row_only() -> None:
    old = memory("old", memory_id="A")
    made = partition(entry(1, old), entry(2, replace(old, content="new", version=2), Operation.UPDATE))

    assert visible(made) == ["A"]
    assert made.version_of("A") == 2
    assert len(made) == 1
    assert made.row_count == 2


def test_a_deleted_memory_is_gone_from_every_look_up() -> None:
    gone = memory("gone", memory_id="A")
    made = partition(entry(1, gone), entry(2, gone, Operation.DELETE))

    assert visible(made, Filter(statuses=())) == []
    assert made.version_of("A") is None
    assert made.same_statement(columns(gone).identity, NOW_MS) is None


def test_entries_applied_one_by_one_equal_entries_applied_at_once() -> None:
    first, second = memory("first", memory_id="A"), memory("second", memory_id="B")
    entries = [
        entry(1, first),
        entry(2, second),
        entry(3, replace(first, version=2, tags=("x",)), Operation.UPDATE),
        entry(4, second, Operation.DELETE),
    ]
    stepwise = Partition("hashing", DIM)
    for number, one in enumerate(entries, start=1):
        stepwise.apply([one], Head(seq=number, epoch="E"))

    at_once = partition(*entries)

    assert visible(stepwise) == visible(at_once) == ["A"]
    np.testing.assert_array_equal(stepwise.live, at_once.live)
    np.testing.assert_array_equal(stepwise.vectors, at_once.vectors)


@pytest.mark.parametrize("numbers", [[2], [1, 3], [1, 1]])
def test_a_gap_in_the_log_is_corrupt(numbers: list[int]) -> None:
    entries = [entry(seq, memory(str(seq), memory_id=str(place))) for place, seq in enumerate(numbers)]

    with pytest.raises(CorruptData):
        Partition("hashing", DIM).apply(entries, Head(seq=numbers[-1], epoch="E"))


def test_an_expired_memory_is_hidden_from_the_second_that_it_expires() -> None:
    short = memory("short", memory_id="A", expires_at_ms=NOW_MS + 1000)
    made = partition(entry(1, short))

    assert visible(made, now_ms=NOW_MS + 999) == ["A"]
    assert visible(made, now_ms=NOW_MS + 1000) == []
    assert made.same_statement(columns(short).identity, NOW_MS + 1000) is None


def test_vectors_of_another_embedder_are_pending_never_compared() -> None:
    foreign = replace(columns(memory("x", memory_id="A")), embedder="another")
    made = partition(replace(entry(1, memory("x", memory_id="A")), columns=foreign))

    assert not made.has_vector.any()
    assert not made.vectors.any()


FILTERS = st.builds(
    Filter,
    types=st.lists(st.sampled_from(MemoryType), max_size=2).map(tuple),
    statuses=st.sampled_from([(), (Status.ACTIVE,), (Status.ARCHIVED, Status.SUPERSEDED)]),
    tags_all=st.lists(st.sampled_from("abz"), max_size=2).map(tuple),
    tags_any=st.lists(st.sampled_from("abz"), max_size=2).map(tuple),
    importance=st.none() | st.builds(Range, gte=st.none() | st.just(0.5), lt=st.none() | st.just(0.9)),
    created_at_ms=st.none() | st.builds(Range, gt=st.none() | st.just(NOW_MS), lte=st.none() | st.just(NOW_MS + 5)),
    occurred_at_ms=st.none() | st.builds(Range, gte=st.none() | st.just(3), lte=st.none() | st.just(7)),
    agent_id=st.none() | st.sampled_from(["one", "two", "unknown"]),
    session_id=st.none() | st.sampled_from(["one", "unknown"]),
    actor=st.none() | st.sampled_from(["Mia", "unknown"]),
)
MEMORIES = st.builds(
    replace,
    st.just(memory("text")),
    type=st.sampled_from(MemoryType),
    status=st.sampled_from(Status),
    tags=st.lists(st.sampled_from("abc"), max_size=2, unique=True).map(tuple),
    importance=st.sampled_from([0.0, 0.5, 0.9, 1.0]),
    created_at_ms=st.sampled_from([NOW_MS - 1, NOW_MS, NOW_MS + 5, NOW_MS + 6]),
    occurred_at_ms=st.none() | st.sampled_from([0, 3, 7, 9]),
    expires_at_ms=st.none() | st.sampled_from([NOW_MS, NOW_MS + 1]),
    agent_id=st.none() | st.sampled_from(["one", "two"]),
    session_id=st.none() | st.just("one"),
    actor=st.none() | st.sampled_from(["Mia", "Leo"]),
)


def lets_through(wanted: Filter, of: Memory) -> bool:
    """Decide one memory by one filter, naively."""
    if wanted.statuses and of.status not in wanted.statuses:
        return False
    if wanted.types and of.type not in wanted.types:
        return False
    if not set(wanted.tags_all) <= set(of.tags) or (wanted.tags_any and not set(wanted.tags_any) & set(of.tags)):
        return False
    if any(getattr(wanted, n) not in (None, getattr(of, n)) for n in ("agent_id", "session_id", "actor")):
        return False
    if of.expires_at_ms is not None and of.expires_at_ms <= NOW_MS:
        return False
    return all(
        within(getattr(of, name), getattr(wanted, name)) for name in ("importance", "created_at_ms", "occurred_at_ms")
    )


def within(value: float | None, bounds: Range | None) -> bool:
    if bounds is None:
        return True
    if value is None:
        return False
    return (
        (bounds.gte is None or value >= bounds.gte)
        and (bounds.gt is None or value > bounds.gt)
        and (bounds.lte is None or value <= bounds.lte)
        and (bounds.lt is None or value < bounds.lt)
    )


@given(st.lists(MEMORIES, max_size=12), FILTERS)
def test_a_filter_lets_through_what_a_naive_evaluator_lets_through(memories: list[Memory], wanted: Filter) -> None:
    named = [replace(one, memory_id=str(number)) for number, one in enumerate(memories)]
    made = partition(*[entry(number, one) for number, one in enumerate(named, start=1)])

    assert visible(made, wanted) == [one.memory_id for one in named if lets_through(wanted, one)]
