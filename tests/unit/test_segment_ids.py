"""Memory ids as numbers and back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from recollect.segments import ids

from tests.support.segments import IDS

_NUMBERS = st.integers(0, 2**128 - 1) | st.integers(0, 3).map(lambda low: (7 << 64) | low)


def _id(number: int) -> str:
    return ids.id_of(number >> 64, number & (2**64 - 1))


@given(st.lists(_NUMBERS, unique=True, max_size=8), st.lists(_NUMBERS, max_size=4))
def test_ids_are_numbers_and_are_found_among_others(there: list[int], others: list[int]) -> None:
    ordered = sorted(there)
    names = [_id(number) for number in ordered]
    high, low = ids.halves_of(names)
    wanted = [*there, *others]

    assert [int(one) << 64 | int(other) for one, other in zip(high, low, strict=True)] == ordered
    assert ids.ids_of(high, low).tolist() == [name.encode() for name in names] == sorted(ids.ids_of(high, low).tolist())
    assert ids.places_among([_id(number) for number in wanted], high, low).tolist() == [
        ordered.index(number) if number in ordered else -1 for number in wanted
    ]


def test_ids_of_both_ends_of_the_range_are_read() -> None:
    high, low = ids.halves_of(IDS)

    assert [ids.id_of(int(one), int(other)) for one, other in zip(high, low, strict=True)] == IDS
    assert (high[0], low[0], high[-1], low[-1]) == (0, 0, np.uint64(2**64 - 1), np.uint64(2**64 - 1))
