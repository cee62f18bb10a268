import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from layers.model.build import read_safetensors
from layers.model.graph import quantise


def test_safetensors_are_read_in_their_shapes_and_only_floats() -> None:
    matrix = np.arange(6, dtype="<f4").reshape(2, 3)
    bias = np.array([-1.5, 2.5], dtype="<f4")
    header = {
        "__metadata__": {"format": "pt"},
        "matrix": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "position_ids": {"dtype": "I64", "shape": [1], "data_offsets": [24, 32]},
        "bias": {"dtype": "F32", "shape": [2], "data_offsets": [32, 40]},
    }
    header_bytes = json.dumps(header).encode()
    content = len(header_bytes).to_bytes(8, "little") + header_bytes + matrix.tobytes() + bytes(8) + bias.tobytes()

    weights = read_safetensors(content)

    assert set(weights) == {"matrix", "bias"}
    np.testing.assert_array_equal(weights["matrix"], matrix)
    np.testing.assert_array_equal(weights["bias"], bias)


@pytest.mark.parametrize("axis", [0, 1])
@given(matrix=arrays.arrays(np.float32, (5, 4), elements=st.floats(-8.0, 8.0, width=32, allow_subnormal=False)))
def test_a_quantised_matrix_is_within_half_a_step(axis: int, matrix: np.ndarray) -> None:
    codes, scales = quantise(matrix, axis=axis)

    assert codes.dtype == np.int8
    assert codes.min() >= -127
    assert scales.shape == ((1, 4) if axis == 0 else (5, 1))
    assert (np.abs(codes * scales - matrix) <= scales * 0.501).all()
