from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.changes import columns_for
from recollect.columns import UNKNOWN, Mask
from recollect.errors import CorruptData
from recollect.model import Columns, Entry, Memory, Operation, Source
from recollect.segments.building import Use, from_entries, merge
from recollect.segments.layout import encode
from recollect.segments.segment import Last, Segment

from tests.support.builders import memory
from tests.support.segments import (
    COLUMNS,
    DIM,
    EMBEDDER,
    IDS,
    about,
    assert_same_columns,
    columns_of,
    entry,
    kept,
    logs,
    newest,
    segment,
    use_of,
)

CANARY = "xylophone"


def of_memory(of: Memory, codes: bytes = b"\x01" * DIM) -> Columns:
    return columns_for(of, (codes, EMBEDDER if codes else ""))


def live_rows(parts: Sequence[Segment], entries: Sequence[Entry]) -> list[Mask]:
    """Mark the rows that are the newest of a memory that is still there."""
    seqs = [one.seq for one in newest(entries).values()]
    return [np.isin(part.number("seq"), np.array(seqs, dtype=np.uint64)) for part in parts]


def merged(*batches: Sequence[Entry]) -> Segment:
    parts = [segment(batch) for batch in batches]
    live = live_rows(parts, [one for batch in batches for one in batch])
    columns = merge(parts, live, [use_of(part) for part in parts])
    return Segment(columns, about(columns))


@given(logs())
def test_what_entries_say_comes_back_from_the_bytes(entries: list[Entry]) -> None:
    expected = newest(entries)

    read = segment(entries)

    assert read.memory_ids.tolist() == [memory_id.encode() for memory_id in expected]
    assert read.number("seq").tolist() == [one.seq for one in expected.values()]
    assert read.number("version").tolist() == [one.version for one in expected.values()]
    assert read.number("access_count").tolist() == [0] * len(expected)
    assert read.number("last_accessed_at").tolist() == [UNKNOWN] * len(expected)
    for row, one in enumerate(expected.values()):
        assert one.columns is not None
        assert columns_of(read, row) == kept(one.columns)
        assert bool(read.number("succeeds")[row]) == (one.columns.supersedes is not None)
        assert int(read.lexical.lengths[row]) == sum(one.columns.term_counts.values())


@given(logs(), st.lists(st.integers(0, 10), max_size=3))
def test_merging_equals_building_from_the_whole_log(entries: list[Entry], cuts: list[int]) -> None:
    ends = [0, *sorted(min(cut, len(entries)) for cut in cuts), len(entries)]
    batches = [entries[start:end] for start, end in pairwise(ends)]

    found = merged(*batches)

    assert_same_columns(found.columns, from_entries(entries, EMBEDDER, DIM))


@given(logs(), st.integers(1, 9))
def test_the_order_of_merges_does_not_matter(entries: list[Entry], cut: int) -> None:
    parts = [segment(batch) for batch in (entries[:cut], entries[cut:])]
    live = live_rows(parts, entries)
    alone = merge(parts[:1], live[:1], [use_of(parts[0])])
    first = Segment(alone, about(alone))

    found = merge([first, parts[1]], live_rows([first, parts[1]], entries), [use_of(first), use_of(parts[1])])

    assert_same_columns(found, from_entries(entries, EMBEDDER, DIM))


@given(st.lists(COLUMNS, min_size=len(IDS), max_size=len(IDS)), st.data())
def test_merging_leaves_out_whatever_is_dead(columns: list[Columns], data: st.DataObject) -> None:
    entries = [entry(seq, IDS[seq - 1], one) for seq, one in enumerate(columns, start=1)]
    batches = [entries[::2], entries[1::2]]
    live = [np.array([data.draw(st.booleans()) for _ in batch], dtype=np.bool_) for batch in batches]
    parts = [segment(batch) for batch in batches]
    alive = [
        one
        for batch, mask in zip(batches, live, strict=True)
        for one, is_live in zip(batch, mask, strict=True)
        if is_live
    ]

    found = merge(parts, live, [use_of(part) for part in parts])

    assert_same_columns(found, from_entries(alive, EMBEDDER, DIM))


def test_a_merge_takes_over_the_use_that_it_is_told() -> None:
    parts = [segment([entry(2, IDS[2], of_memory(memory("b")))]), segment([entry(1, IDS[1], of_memory(memory("a")))])]
    uses = [
        Use(np.array([3], dtype=np.int64), np.array([50], dtype=np.int64)),
        Use(np.array([2**40], dtype=np.int64), np.array([UNKNOWN], dtype=np.int64)),
    ]

    columns = merge(parts, [np.ones(1, dtype=np.bool_)] * 2, uses)

    assert columns["access_count"].tolist() == [2**32 - 1, 3]
    assert columns["last_accessed_at"].tolist() == [UNKNOWN, 50]


def test_nothing_of_a_dead_row_is_left_in_the_bytes() -> None:
    secret = memory(
        CANARY, tags=(CANARY,), flags=(CANARY,), actor=CANARY, session_id=CANARY, agent_id=CANARY,
        metadata_json=f'{{"{CANARY}": 1}}', sources=(Source(CANARY, 0, 1),),
    )  # fmt: skip
    parts = [
        segment([entry(1, IDS[1], of_memory(secret)), entry(2, IDS[2], of_memory(memory("tea")))]),
        segment([entry(3, IDS[1], None, Operation.PURGE)]),
    ]
    assert CANARY.encode() in encode(parts[0].columns, parts[0].about)

    columns = merge(parts, [np.array([False, True]), np.ones(0, dtype=np.bool_)], [use_of(part) for part in parts])
    read = Segment(columns, about(columns))

    assert CANARY.encode() not in encode(columns, about(columns))
    assert read.columns["terms"].tolist() == list(of_memory(memory("tea")).term_counts)
    assert read.gone_of(IDS[1]) == Last(3, 3, is_purged=True)
    assert read.purged_ids.tolist() == [IDS[1].encode()]


def test_a_memory_that_is_back_in_a_newer_part_is_not_gone_though_that_row_is_dead_too() -> None:
    parts = [
        segment([entry(1, IDS[1], None, Operation.DELETE), entry(2, IDS[2], None, Operation.DELETE)]),
        segment([entry(3, IDS[1], of_memory(memory("back")))]),
    ]

    columns = merge(parts, [np.ones(0, dtype=np.bool_), np.array([False])], [use_of(part) for part in parts])

    assert Segment(columns, about(columns)).gone_ids.tolist() == [IDS[2].encode()]


@pytest.mark.parametrize("dimension", [2, DIM])
def test_vectors_of_another_embedder_are_pending_after_a_merge(dimension: int) -> None:
    old = segment([entry(1, IDS[1], of_memory(memory("a")))])
    fresh = replace(of_memory(memory("b")), codes=b"\x02" * dimension, embedder="new")
    new_columns = from_entries([entry(2, IDS[2], fresh)], "new", dimension)
    new = Segment(new_columns, replace(about(new_columns), embedder="new"))

    columns = merge([old, new], [np.ones(1, dtype=np.bool_)] * 2, [use_of(old), use_of(new)])
    read = Segment(columns, replace(about(columns), embedder="new"))

    assert read.vectors.codes.tolist() == [[0] * dimension, [2] * dimension]
    assert read.has_vector.tolist() == [False, True]
    assert columns_of(read, 0).term_counts == of_memory(memory("a")).term_counts


def test_two_live_rows_of_one_memory_are_refused() -> None:
    part = segment([entry(1, IDS[1], of_memory(memory("a")))])

    with pytest.raises(CorruptData):
        merge([part, part], [np.ones(1, dtype=np.bool_)] * 2, [use_of(part)] * 2)


@pytest.mark.parametrize("memory_id", ["", "A", IDS[1].lower(), "8" + IDS[1][1:], IDS[1] + "0"])
def test_an_entry_about_something_else_than_an_id_is_refused(memory_id: str) -> None:
    with pytest.raises(CorruptData):
        from_entries([entry(1, memory_id, of_memory(memory("a")))], EMBEDDER, DIM)
