import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from recollect.errors import InvalidInput
from recollect.scan import encode, exact, top_k

from tests.support.vectors import decode, quantised, unit_rows

scores = hnp.arrays(np.float32, st.integers(0, 60), elements=st.sampled_from([0.0, 0.25, 0.5, 0.5, 0.75, 1.0]))


@given(scores, st.integers(1, 70))
def test_top_k_equals_the_naive_sort(values: np.ndarray, k: int) -> None:
    naive = sorted(range(len(values)), key=lambda row: (-values[row], row))[:k]

    assert top_k(values, k).tolist() == naive


def test_top_k_refuses_less_than_one() -> None:
    with pytest.raises(InvalidInput):
        top_k(np.zeros(3, dtype=np.float32), 0)


def test_rows_become_unit_rows_and_the_input_stays_as_it_is() -> None:
    vectors = np.array([[3.0, 4.0], [0.0, 0.0], [1e-9, 0.0]], dtype=np.float32)
    kept = vectors.copy()

    rows = unit_rows(vectors)

    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 0.0], [1.0, 0.0]], atol=1e-6)
    np.testing.assert_array_equal(vectors, kept)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_components_that_are_not_finite_are_refused(bad: float) -> None:
    with pytest.raises(InvalidInput):
        unit_rows(np.array([[bad, 1.0]], dtype=np.float32))


def test_queries_of_another_dimension_are_refused() -> None:
    with pytest.raises(InvalidInput):
        exact(np.ones(3, dtype=np.float32), quantised(np.ones((2, 4), dtype=np.int8)), np.arange(2))


@given(hnp.arrays(np.float32, 48, elements=st.floats(-1, 1, width=32)).filter(lambda v: np.abs(v).max() > 1e-3))
def test_the_stored_codes_keep_the_direction(vector: np.ndarray) -> None:
    unit = unit_rows(vector[None, :])[0]

    back = decode(encode(unit)[None, :])[0]

    assert float(unit @ back) >= 0.999


def test_a_zero_vector_stays_zero() -> None:
    assert not decode(encode(np.zeros(4, dtype=np.float32))[None, :]).any()
