"""The scan in two stages: what is left out must not be missed."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from recollect.errors import InvalidInput
from recollect.scan import (
    EXACT_ROWS,
    Codes,
    Quantised,
    Rows,
    exact,
    norms_of,
    shortlists,
    sign_bits,
    top_k,
)

from tests.support.embedder import HashingEmbedder
from tests.support.vectors import (
    KINDS,
    Sample,
    best_rows,
    clustered,
    encoded,
    found_rows,
    quantised,
    recall,
    repeated,
    scattered,
    shortlist,
    unit_rows,
)

some_codes = hnp.arrays(
    np.int8, st.tuples(st.integers(1, 40), st.sampled_from([1, 5, 63, 64, 65, 130])), elements=st.integers(-127, 127)
)


@cache
def sample_of(kind: str, count: int) -> Sample:
    return KINDS[kind](count, 5)


def all_rows(vectors: Quantised) -> Rows:
    return np.arange(len(vectors.codes), dtype=np.int64)


def some_rows(count: int, share: float, seed: int) -> Rows:
    return np.flatnonzero(np.random.default_rng(seed).random(count) < share)


def naive_cosine(query: np.ndarray, codes: Codes) -> np.ndarray:
    values = codes.astype(np.float64)
    norms = np.linalg.norm(values, axis=1)
    return np.asarray(np.divide(values @ query, norms, out=np.zeros(len(codes)), where=norms > 0))


@given(some_codes)
def test_bits_tell_which_components_are_positive(codes: Codes) -> None:
    bits = sign_bits(codes)

    rows, components = np.nonzero(codes > 0)
    expected = np.zeros_like(bits)
    np.bitwise_or.at(expected, (components // 64, rows), np.uint64(1) << (components % 64).astype(np.uint64))
    np.testing.assert_array_equal(bits, expected)
    assert bits.flags.c_contiguous


@given(some_codes)
def test_norms_are_the_lengths_of_the_codes(codes: Codes) -> None:
    np.testing.assert_allclose(norms_of(codes), np.linalg.norm(codes.astype(np.float64), axis=1), rtol=1e-6)


@given(some_codes, st.data())
def test_exact_scores_are_cosines(codes: Codes, data: st.DataObject) -> None:
    query = unit_rows(np.random.default_rng(3).standard_normal((1, codes.shape[1]), dtype=np.float32))[0]
    rows = np.flatnonzero(data.draw(hnp.arrays(np.bool_, len(codes))))

    np.testing.assert_allclose(exact(query, quantised(codes), rows), naive_cosine(query, codes)[rows], atol=1e-5)


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_exact_scores_of_many_rows_are_cosines(share: float) -> None:
    sample = scattered(1_111, seed=1)
    rows = some_rows(1_111, share, seed=2)

    scores = exact(sample.queries[0], sample.vectors, rows)

    np.testing.assert_allclose(scores, naive_cosine(sample.queries[0], sample.vectors.codes)[rows], atol=1e-5)
    assert scores.dtype == np.float32


@pytest.mark.parametrize("dimension", [37, 384, 1_024])
def test_equal_rows_have_equal_scores_wherever_they_stand(dimension: int) -> None:
    one = scattered(1, seed=4, dimension=dimension)
    vectors = quantised(np.repeat(one.vectors.codes, 600, axis=0))

    scores = [exact(one.queries[0], vectors, all_rows(vectors)[:count]) for count in (1, 3, 17, 255, 257, 600)]

    assert len(set(np.concatenate(scores).tolist())) == 1


@pytest.mark.parametrize("share", [1.0, 0.5, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("count", [1_500, 20_000])
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_rows_are_found(kind: str, count: int, share: float) -> None:
    sample = sample_of(kind, count)

    assert recall(sample, some_rows(count, share, seed=6)) >= 0.99


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("make", [clustered, scattered])
def test_the_best_rows_are_found_for_any_seed(make: Callable[[int, int], Sample], seed: int) -> None:
    sample = make(5_000, seed)

    assert recall(sample, all_rows(sample.vectors)) >= 0.99


@pytest.mark.parametrize("dimension", [100, 300, 1_024])
def test_the_best_rows_are_found_in_any_dimension(dimension: int) -> None:
    sample = clustered(3_000, 7, dimension=dimension)

    assert recall(sample, all_rows(sample.vectors)) >= 0.99


@pytest.mark.parametrize("k", [1, 3, 100])
def test_as_many_best_rows_as_wanted_are_found(k: int) -> None:
    sample = clustered(5_000, 8)

    assert recall(sample, all_rows(sample.vectors), k) >= 0.99


def test_the_best_rows_are_found_if_all_components_of_a_query_are_equally_strong() -> None:
    sample = clustered(3_000, 9)
    queries = (np.sign(sample.queries) / np.float32(384**0.5)).astype(np.float32)

    assert recall(replace(sample, queries=queries), all_rows(sample.vectors)) >= 0.99


def test_most_of_the_best_rows_are_found_among_vectors_of_few_components() -> None:
    rng = np.random.default_rng(10)
    texts = [" ".join(f"word{number}" for number in rng.integers(0, 400, 12)) for _ in range(3_020)]
    vectors = HashingEmbedder().embed(texts)
    sample = Sample(quantised(encoded(vectors[20:])), vectors[:20])

    assert recall(sample, all_rows(sample.vectors)) >= 0.95


@pytest.mark.parametrize("dimension", [384, 1_024])
def test_the_shortlist_is_short(dimension: int) -> None:
    sample = clustered(20_000, 11, dimension=dimension)

    sizes = [shortlist(query, sample.vectors, all_rows(sample.vectors), 10).size for query in sample.queries]

    assert min(sizes) >= 10
    assert float(np.mean(sizes)) < 400


def test_a_shortlist_is_some_of_the_rows_in_order_and_always_the_same() -> None:
    sample = scattered(6_000, 12)
    rows = some_rows(6_000, 0.5, seed=13)

    first, second = (shortlist(sample.queries[0], sample.vectors, rows, 10) for _ in range(2))

    assert first.tolist() == sorted(set(first.tolist()) & set(rows.tolist()))
    assert first.size < rows.size
    np.testing.assert_array_equal(first, second)


def test_equal_rows_stay_in_their_order() -> None:
    sample = repeated(20_000, 14)
    rows = some_rows(20_000, 0.7, seed=15)

    for number in range(len(sample.queries)):
        assert found_rows(sample, number, rows, 10).tolist() == best_rows(sample, number, rows, 10).tolist()


def test_of_rows_that_are_all_equal_the_first_are_best() -> None:
    one = scattered(1, seed=16)
    sample = replace(one, vectors=quantised(np.repeat(one.vectors.codes, 5_000, axis=0)))

    assert found_rows(sample, 0, all_rows(sample.vectors), 10).tolist() == list(range(10))


def test_rows_that_come_at_regular_intervals_are_not_taken_for_all() -> None:
    sample = scattered(2_000, 26, queries=1)
    codes = sample.vectors.codes.copy()
    codes[::25] = encoded(sample.queries)
    regular = replace(sample, vectors=quantised(codes))

    assert recall(regular, all_rows(regular.vectors), 100) >= 0.99


@pytest.mark.parametrize("count", [0, 1, 7])
def test_all_rows_are_the_best_if_more_are_wanted(count: int) -> None:
    sample = scattered(2_000, 17)
    rows = all_rows(sample.vectors)[5 : 5 + count]

    assert shortlist(sample.queries[0], sample.vectors, rows, 10).tolist() == rows.tolist()
    assert exact(sample.queries[0], sample.vectors, rows).shape == (count,)


def test_nothing_is_left_out_without_bits_or_when_nearly_all_are_wanted() -> None:
    sample = scattered(EXACT_ROWS + 500, 18)
    rows = all_rows(sample.vectors)

    assert shortlist(sample.queries[0], replace(sample.vectors, bits=None), rows, 10).tolist() == rows.tolist()
    assert shortlist(sample.queries[0], sample.vectors, rows, rows.size - 1).tolist() == rows.tolist()


def test_rows_without_a_vector_score_nothing_and_are_below_all_that_are_alike() -> None:
    sample = clustered(4_000, 19)
    codes = sample.vectors.codes.copy()
    codes[::2] = 0
    pending = replace(sample, vectors=quantised(codes))
    rows = all_rows(pending.vectors)

    scores = exact(pending.queries[0], pending.vectors, rows)

    assert set(scores[::2].tolist()) == {0.0}
    assert (top_k(scores, 10) % 2 == 1).all()
    assert recall(pending, rows) >= 0.99


def test_rows_are_compared_if_none_has_a_vector() -> None:
    sample = scattered(2_000, 20)
    empty = replace(sample, vectors=quantised(np.zeros_like(sample.vectors.codes)))

    assert found_rows(empty, 0, all_rows(empty.vectors), 10).tolist() == list(range(10))


def test_a_query_of_zeros_is_as_far_from_every_row() -> None:
    sample = scattered(2_000, 21)
    query = np.zeros(384, dtype=np.float32)

    assert shortlist(query, sample.vectors, all_rows(sample.vectors), 10).size == 2_000
    assert not exact(query, sample.vectors, all_rows(sample.vectors)).any()


def test_arrays_that_cannot_be_written_to_are_enough() -> None:
    sample = clustered(3_000, 22)
    vectors, rows = sample.vectors, some_rows(3_000, 0.9, seed=23)
    for array in (vectors.codes, vectors.norms, vectors.bits, rows, sample.queries):
        assert array is not None
        array.setflags(write=False)

    assert found_rows(sample, 0, rows, 10).tolist() == best_rows(sample, 0, rows, 10).tolist()


def test_queries_of_another_dimension_are_refused() -> None:
    vectors = scattered(3, seed=24, dimension=65).vectors
    query = np.ones(64, dtype=np.float32)

    with pytest.raises(InvalidInput):
        exact(query, vectors, all_rows(vectors))
    with pytest.raises(InvalidInput):
        shortlist(query, vectors, all_rows(vectors), 10)


def test_less_than_one_row_cannot_be_wanted() -> None:
    sample = scattered(3, seed=25)

    with pytest.raises(InvalidInput):
        shortlist(sample.queries[0], sample.vectors, all_rows(sample.vectors), 0)


@pytest.mark.parametrize("kind", ["clustered", "graded", "scattered"])
def test_parts_are_shortlisted_together_and_no_better_than_one(kind: str) -> None:
    sample = KINDS[kind](12_000, 5)
    whole = sample.vectors
    cuts = [0, 7_000, 7_000, 11_500, 12_000]
    parts = [
        (Quantised(whole.codes[at:end], whole.norms[at:end], whole.bits[:, at:end]), np.arange(end - at))
        for at, end in pairwise(cuts)
        if whole.bits is not None
    ]
    for query in sample.queries[:5]:
        found = shortlists(query, parts, 10)
        joined = np.concatenate([at + rows for at, rows in zip(cuts, found, strict=False)])
        assert joined.tolist() == shortlist(query, whole, all_rows(whole), 10).tolist()


def test_a_part_without_bits_stays_whole_beside_others() -> None:
    sample = clustered(6_000, 5)
    tail = replace(sample.vectors, bits=None)
    rows = np.arange(0, 6_000, 3)

    found = shortlists(sample.queries[0], [(tail, rows), (sample.vectors, all_rows(sample.vectors))], 10)

    assert found[0].tolist() == rows.tolist()
    assert found[1].tolist() == shortlist(sample.queries[0], sample.vectors, all_rows(sample.vectors), 10).tolist()
