from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recollect.changes import columns_for
from recollect.columns import MISSING, PATHS_KEPT, Mask
from recollect.errors import CorruptSegment
from recollect.filtering import predicate
from recollect.filters import Operand, Operator
from recollect.model import Columns, Entry, Head, Memory
from recollect.partition import Partition
from recollect.scan import encode as quantise
from recollect.scan import norms_of, sign_bits
from recollect.segments import ids, postings
from recollect.segments.building import from_entries
from recollect.segments.postings import Postings
from recollect.segments.segment import Segment

from tests.support.builders import TRANSCRIPTS, memory
from tests.support.filters import MEMORIES
from tests.support.segments import COLUMNS, DIM, EMBEDDER, IDS, about, counts_in, entry, logs, newest, segment

OPERANDS: list[Operand] = ["a", "b", "Mia", "", "\ud800", "semantic", "active", "1", 1, 1.0, 0.5, 2, True, None]
ASKED = [
    *((relation, one) for one in OPERANDS for relation in (Operator.EQ, Operator.NE, Operator.CONTAINS)),
    *((relation, one) for one in ("a", "b", 1, 0.5) for relation in (Operator.GT, Operator.LTE)),
    (Operator.IN, ("a", "active", "episodic", 1)),
    (Operator.EXISTS, True),
    (Operator.EXISTS, False),
]
PATHS = [(), ("a",), ("b",), ("a.b",), ("a", "b"), ("b", "b"), ("c",)]
NUMBERS = (
    "importance",
    "created_at",
    "updated_at",
    "occurred_at",
    "expires_at",
    "valid_until",
    "pinned",
    "in_conflict",
)
VECTOR = quantise(np.linspace(-1, 1, DIM, dtype=np.float32)).tobytes()
IDS_OR_NOT = st.sampled_from([*IDS, "", "A", "é", "01HF\x00", IDS[1].lower(), IDS[1] + "0", "Z" * 26, "8" + "0" * 25])


def partition(entries: list[Entry]) -> Partition:
    made = Partition(EMBEDDER, DIM)
    made.apply(entries, Head(seq=len(entries), epoch="E"))
    return made


def seen(of: Segment, mask: Mask) -> list[str]:
    return [memory_id.decode() for memory_id in of.memory_ids[mask].tolist()]


def seen_live(of: Partition, mask: Any) -> list[str]:
    return sorted(of.memory_id(int(row)) for row in np.flatnonzero(np.asarray(mask, dtype=np.bool_) & of.live))


def order_of(naive: Partition) -> list[int]:
    """Give the live rows by id, as a segment has them."""
    return sorted(np.flatnonzero(naive.live).tolist(), key=naive.memory_id)


def assert_same_answers(read: Segment, naive: Partition) -> None:
    for relation, operand in ASKED:
        is_wanted = predicate(relation, operand)
        for name in ("type", "status", "agent_id", "session_id", "actor", "consolidated_into"):
            found = read.labels(name).matching(is_wanted)
            assert seen(read, found) == seen_live(naive, naive.parts[-1].labels(name).matching(is_wanted))
        for path in PATHS:
            found = read.metadata_matching(path, is_wanted)
            assert seen(read, found) == seen_live(naive, naive.parts[-1].metadata_matching(path, is_wanted))
    for name in ("tags", "flags", "transcripts", "derived_from"):
        texts, expected = read.texts(name), naive.parts[-1].texts(name)
        assert seen(read, texts.filled) == seen_live(naive, expected.filled)
        for text in (*OPERANDS, "c", "é", "a\x00", IDS[1], *TRANSCRIPTS):
            assert seen(read, texts.holding(text)) == seen_live(naive, expected.holding(text))


@settings(max_examples=40)
@given(logs())
def test_filters_see_the_rows_that_they_see_in_a_partition(entries: list[Entry]) -> None:
    assert_same_answers(segment(entries), partition(entries))


@settings(max_examples=40)
@given(st.lists(MEMORIES, max_size=len(IDS)))
def test_filters_see_the_rows_that_they_see_in_a_partition_of_likely_memories(memories: list[Memory]) -> None:
    columns = [columns_for(one, (VECTOR, EMBEDDER)) for one in memories]
    entries = [entry(seq, IDS[seq - 1], one) for seq, one in enumerate(columns, start=1)]

    assert_same_answers(segment(entries), partition(entries))


@given(logs())
def test_numbers_are_those_of_a_partition(entries: list[Entry]) -> None:
    read, naive = segment(entries), partition(entries)
    order = order_of(naive)

    for name in NUMBERS:
        assert read.number(name).dtype == naive.number(name).dtype
        assert read.number(name).tolist() == [naive.number(name)[row] for row in order]
    assert read.text_keys.tolist() == [naive.parts[-1].text_keys[row] for row in order]


@given(logs())
def test_vectors_are_those_of_a_partition(entries: list[Entry]) -> None:
    read, naive = segment(entries), partition(entries)
    order = order_of(naive)
    rows = np.array(order, dtype=np.int64)
    mine, expected = read.vectors, naive.parts[-1].vectors

    np.testing.assert_array_equal(mine.codes, expected.codes[rows].reshape(-1, DIM))
    np.testing.assert_array_equal(mine.norms, expected.norms[rows])
    assert read.has_vector.tolist() == naive.parts[-1].has_vector[rows].tolist()
    assert read.comparable(EMBEDDER, DIM) is read
    assert not read.comparable("another", DIM + 1).has_vector.any()


@given(logs(), st.lists(IDS_OR_NOT, max_size=12))
def test_rows_are_found_by_the_memory_that_they_are_of(entries: list[Entry], asked: list[str]) -> None:
    there = list(newest(entries))

    rows = segment(entries).rows_of(asked)

    assert rows.dtype == np.int64
    assert rows.tolist() == [there.index(one) if one in there else -1 for one in asked]


@given(logs())
def test_postings_are_those_of_the_rows(entries: list[Entry]) -> None:
    lexical = segment(entries).lexical
    documents = [one.columns.term_counts for one in newest(entries).values() if one.columns]

    for term in {0, 1, 2**32 - 1, *(term for document in documents for term in document)}:
        rows, counts = lexical.of(term)
        expected = [(row, min(document[term], 255)) for row, document in enumerate(documents) if term in document]
        assert list(zip(rows.tolist(), counts.tolist(), strict=True)) == expected


@given(st.dictionaries(st.tuples(st.sampled_from([0, 7, 2**32 - 1]), st.integers(0, 199_999)), st.integers(1, 255)))
def test_postings_reach_over_any_number_of_blocks_of_rows(counted: dict[tuple[int, int], int]) -> None:
    last = (7, 199_999)
    counted[last] = 3
    row_count = 200_000
    terms, rows = (np.array(part) for part in zip(*counted, strict=True))
    columns = postings.packed(terms.astype(np.uint32), rows, np.array([*counted.values()], dtype=np.uint8), row_count)
    made = Postings(**{name.removeprefix("postings."): column for name, column in columns.items()}, lengths=rows)

    for term in {term for term, _ in counted}:
        found = zip(*(part.tolist() for part in made.of(term)), strict=True)
        assert list(found) == sorted((row, count) for (one, row), count in counted.items() if one == term)
    for row in {row for _, row in counted}:
        assert counts_in(made, row) == {term: count for (term, one), count in counted.items() if one == row}
    backwards = np.arange(row_count)[::-1].copy()
    backwards[:100_000] = -1
    moved = [part for block in made.moved(backwards) for part in zip(*(one.tolist() for one in block), strict=True)]
    assert sorted(moved) == sorted(
        (term, row_count - 1 - row, count) for (term, row), count in counted.items() if row >= 100_000
    )


@given(st.lists(st.integers(0, 2**128 - 1), unique=True, max_size=8))
def test_ids_and_their_numbers_are_the_same_and_sort_the_same(numbers: list[int]) -> None:
    high = np.array([number >> 64 for number in numbers], dtype=np.uint64)
    low = np.array([number % 2**64 for number in numbers], dtype=np.uint64)

    written = [memory_id.decode() for memory_id in ids.ids_of(high, low).tolist()]

    assert all(ids.is_in_range(memory_id) for memory_id in written)
    assert [half.tolist() for half in ids.halves_of(written)] == [high.tolist(), low.tolist()]
    assert sorted(written) == [written[place] for place in np.argsort(np.array(numbers, dtype=object))]
    np.testing.assert_array_equal(np.argsort(ids.keys_of(high, low)), np.argsort(np.array(numbers, dtype=object)))


def test_sign_bits_are_one_word_after_the_other_from_the_lowest_bit() -> None:
    codes = np.zeros((2, 70), dtype=np.int8)
    codes[0, [0, 63, 69]] = [1, 127, 5]
    codes[1, [1, 64]] = [-1, 2]

    bits = sign_bits(codes)

    assert bits.tolist() == [[1 | 1 << 63, 0], [1 << 5, 1]]
    assert bits.flags.c_contiguous
    np.testing.assert_allclose(norms_of(codes), [(1 + 127**2 + 25) ** 0.5, 5**0.5], rtol=1e-6)


def test_a_label_is_asked_for_once_for_each_different_text() -> None:
    entries = [
        entry(seq, memory_id, columns_for(memory("tea", actor="Mia", metadata_json='{"a": 1}'), (b"", "")))
        for seq, memory_id in enumerate(IDS, start=1)
    ]
    read, asked = segment(entries), list[object]()

    def is_wanted(value: object) -> bool:
        asked.append(value)
        return value in ("Mia", 1)

    assert read.labels("actor").matching(is_wanted).all()
    assert read.metadata_matching(("a",), is_wanted).all()
    assert asked == ["Mia", MISSING, 1, MISSING]
    assert list(read.labels("actor").values) == ["Mia"]


def test_any_number_of_metadata_paths_is_answered() -> None:
    read = segment([entry(1, IDS[1], columns_for(memory("tea", metadata_json='{"7": 1}'), (b"", "")))])

    for _ in range(2):
        for number in range(2 * PATHS_KEPT):
            assert read.metadata_matching((str(number),), lambda value: value == 1).tolist() == [number == 7]


@given(COLUMNS)
def test_columns_are_read_only(columns: Columns) -> None:
    read = segment([entry(1, IDS[1], columns)])
    codes, norms, bits = read.vectors.codes, read.vectors.norms, read.vectors.bits
    assert bits is not None

    for shown in (codes, norms, bits, *read.identities, read.text_keys, read.memory_ids, read.number("pinned")):
        assert not shown.flags.writeable
    assert read.nbytes >= codes.nbytes + norms.nbytes + bits.nbytes


FAULTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a column is missing": lambda columns: columns.pop("norms"),
    "another dtype": lambda columns: columns.update(seq=columns["seq"].astype(np.int64)),
    "a row too few": lambda columns: columns.update(importance=columns["importance"][:-1]),
    "another dimension": lambda columns: columns.update(codes=columns["codes"][:, :-1]),
    "a word too few": lambda columns: columns.update(bits=columns["bits"][:1]),
    "offsets that begin late": lambda columns: columns.update({"tags.offsets": np.array([1, 0], dtype=np.uint32)}),
    "offsets that end early": lambda columns: columns.update({"tags.values": np.zeros(9, dtype=np.int32)}),
    "no offsets": lambda columns: columns.update({"actor.texts.offsets": np.zeros(0, dtype=np.uint32)}),
    "terms without postings": lambda columns: columns.update(terms=columns["terms"][:-1]),
    "a posting too few": lambda columns: columns.update({"postings.rows": columns["postings.rows"][:-1]}),
    "half a deleted memory": lambda columns: columns.update({"gone.version": np.zeros(1, dtype=np.uint32)}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_columns_of_another_form_are_refused(fault: str) -> None:
    columns = from_entries([entry(1, IDS[1], columns_for(memory("green tea"), (VECTOR, EMBEDDER)))], EMBEDDER, DIM)
    said = about(columns)
    FAULTS[fault](columns)

    with pytest.raises(CorruptSegment) as caught:
        Segment(columns, said, "users/u/1.seg")

    assert caught.value.context["key"] == "users/u/1.seg"


def test_changes_of_older_segments_that_are_announced_must_be_there() -> None:
    columns = from_entries([], EMBEDDER, DIM)

    assert Segment(columns, about(columns)).changed == []
    with pytest.raises(CorruptSegment):
        Segment(columns, replace(about(columns), older=("01HE",)))
