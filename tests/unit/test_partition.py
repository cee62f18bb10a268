from dataclasses import replace

import numpy as np
import pytest
from recollect.changes import columns_for
from recollect.errors import CorruptData
from recollect.filtering import visible
from recollect.filters import ACTIVE, EVERYTHING, Filter
from recollect.model import Columns, Entry, Head, Memory, Operation, Status
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


def seen(of: Partition, wanted: Filter = ACTIVE, now_ms: int = NOW_MS) -> list[str]:
    return [of.memory_id(int(row)) for row in np.flatnonzero(visible(of, wanted, now_ms))]


def test_a_changed_memory_shows_its_newest_row_only() -> None:
    old = memory("old", memory_id="A")
    made = partition(entry(1, old), entry(2, replace(old, content="new", version=2), Operation.UPDATE))

    assert seen(made) == ["A"]
    assert made.version_of("A") == 2
    assert len(made) == 1
    assert made.row_count == 2


def test_a_deleted_memory_is_gone_from_every_look_up() -> None:
    gone = memory("gone", memory_id="A")
    made = partition(entry(1, gone), entry(2, gone, Operation.DELETE))

    assert seen(made, EVERYTHING) == []
    assert made.version_of("A") is None
    assert made.same_statement(columns(gone).identity, NOW_MS) is None


def test_a_purged_memory_is_known_by_its_trail_only() -> None:
    gone, kept = memory("gone", memory_id="A"), memory("kept", memory_id="B")
    purging = replace(entry(4, replace(gone, version=3)), operation=Operation.PURGE, columns=None)
    redacted = [
        replace(entry(1, gone), columns=None, content_hash="h"),
        entry(2, kept),
        replace(entry(3, replace(gone, version=2), Operation.UPDATE), columns=None, content_hash="h"),
    ]
    made = partition(*redacted, purging)

    assert seen(made, EVERYTHING) == ["B"]
    assert (made.row_count, made.version_of("A")) == (1, None)
    assert (made.last_version_of("A"), made.last_seq_of("A"), made.is_purged("A")) == (3, 4, True)
    assert (made.last_version_of("B"), made.last_seq_of("B"), made.is_purged("B")) == (1, 2, False)
    assert (made.last_version_of("C"), made.last_seq_of("C"), made.is_purged("C")) == (None, None, False)
    assert made.purged() == {"A"}


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

    assert seen(stepwise) == seen(at_once) == ["A"]
    np.testing.assert_array_equal(stepwise.live, at_once.live)
    for of in (stepwise, at_once):
        assert of.cosines(VECTOR, np.arange(3)).tolist() == [1.0, 1.0, 1.0]
        assert (len(of), of.corpus.live_count, of.corpus.live_length) == (1, 1, 1)


@pytest.mark.parametrize("numbers", [[2], [1, 3], [1, 1]])
def test_a_gap_in_the_log_is_corrupt(numbers: list[int]) -> None:
    entries = [entry(seq, memory(str(seq), memory_id=str(place))) for place, seq in enumerate(numbers)]

    with pytest.raises(CorruptData):
        Partition("hashing", DIM).apply(entries, Head(seq=numbers[-1], epoch="E"))


def test_an_expired_memory_is_hidden_from_the_second_that_it_expires() -> None:
    short = memory("short", memory_id="A", expires_at_ms=NOW_MS + 1000)
    made = partition(entry(1, short))

    assert seen(made, now_ms=NOW_MS + 999) == ["A"]
    assert seen(made, now_ms=NOW_MS + 1000) == []
    assert made.same_statement(columns(short).identity, NOW_MS + 1000) is None


def test_vectors_of_another_embedder_are_pending_never_compared() -> None:
    foreign = replace(columns(memory("x", memory_id="A")), embedder="another")
    made = partition(replace(entry(1, memory("x", memory_id="A")), columns=foreign))

    assert not made.where(lambda part: part.has_vector).any()
    assert made.cosines(VECTOR, np.arange(1)).tolist() == [0.0]


def test_active_rows_and_rows_with_a_label_are_told_apart() -> None:
    made = partition(
        entry(1, memory("a", memory_id="A", session_id="s")),
        entry(2, memory("b", memory_id="B", status=Status.ARCHIVED)),
        entry(3, memory("c", memory_id="C", expires_at_ms=NOW_MS)),
    )

    assert made.active(NOW_MS).tolist() == [True, False, False]
    assert made.labelled("session_id", "s").tolist() == [True, False, False]
    assert made.labelled("session_id", None).tolist() == [False, True, True]
    assert not made.labelled("session_id", "unknown").any()
