import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from recollect.embedding.windows import mean_direction, pieces, spans, unit_vectors, well_formed
from recollect.errors import CorruptData

texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200)


@given(count=st.integers(0, 5_000), limit=st.integers(1, 300))
def test_spans_cover_a_sequence_once_in_the_fewest_nearly_equal_parts(count: int, limit: int) -> None:
    parts = [range(count)[span] for span in spans(count, limit)]

    lengths = [len(part) for part in parts]
    assert [i for part in parts for i in part] == list(range(count))
    assert len(parts) == max(1, -(-count // limit))
    assert max(lengths) <= limit
    assert max(lengths) - min(lengths) <= 1


@given(text=texts, limit=st.integers(4, 60))
def test_pieces_join_to_the_text_and_none_is_too_long_or_empty(text: str, limit: int) -> None:
    parts = pieces(text, limit)

    assert "".join(parts) == text
    assert all(len(part.encode()) <= limit for part in parts)
    assert all(parts) or not text


def test_a_text_is_cut_between_words() -> None:
    assert pieces("one two three four", 12) == ["one two ", "three four"]


def test_a_text_inside_the_limit_stays_whole() -> None:
    assert pieces("żółw", 7) == ["żółw"]


def test_a_lone_surrogate_becomes_a_question_mark() -> None:
    assert well_formed("a\ud800b 😀") == "a?b 😀"


@given(
    vectors=arrays.arrays(np.float32, (4, 3), elements=st.floats(0.125, 1024.0, width=32)),
    lengths=st.lists(st.integers(1, 254), min_size=4, max_size=4),
)
def test_the_mean_direction_is_the_weighted_mean_at_length_one(vectors: np.ndarray, lengths: list[int]) -> None:
    units = unit_vectors(vectors, 4, 3)

    mean = mean_direction(units, lengths)

    expected = np.average(units.astype(np.float64), axis=0, weights=lengths)
    assert mean.dtype == np.float32
    np.testing.assert_allclose(mean, expected / np.linalg.norm(expected), atol=1e-6)


def test_the_vector_of_a_single_part_comes_back_as_it_is() -> None:
    unit = unit_vectors([[0.1, 0.2, 0.3]], 1, 3)

    assert (mean_direction(unit, [7]) == unit[0]).all()


def test_parts_that_cancel_out_leave_the_first() -> None:
    opposite = np.array([[0.0, 1.0], [0.0, -1.0]], dtype=np.float32)

    assert (mean_direction(opposite, [5, 5]) == opposite[0]).all()


@pytest.mark.parametrize(
    "answer",
    [
        [[1.0, 0.0]],
        [[1.0, 0.0], [1.0]],
        [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]],
        [1.0, 0.0],
        [["a", "b"], ["c", "d"]],
        [[1.0, 0.0], None],
        [[1.0, 0.0], [1.0, None]],
        [[1.0, 0.0], [1.0, float("nan")]],
        [[1.0, 0.0], [1.0, float("inf")]],
        [[1.0, 0.0], [1.0, 1e300]],
        [[1.0, 0.0], [3e38, 3e38]],
        [[1.0, 0.0], [0.0, 0.0]],
        {"0": [1.0, 0.0]},
    ],
)
def test_an_answer_that_is_not_unit_vectors_to_be_is_corrupt(answer: object) -> None:
    with np.errstate(all="raise"), pytest.raises(CorruptData):
        unit_vectors(answer, 2, 2)  # type: ignore[arg-type]


def test_an_answer_is_scaled_to_length_one() -> None:
    units = unit_vectors([[3.0, 4.0], [0.0, 0.5]], 2, 2)

    assert units.dtype == np.float32
    assert units.flags.c_contiguous
    np.testing.assert_allclose(units, [[0.6, 0.8], [0.0, 1.0]], atol=1e-7)
