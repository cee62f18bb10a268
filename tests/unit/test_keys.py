import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect import keys
from recollect.errors import CorruptData

HOSTILE = [
    "#",
    "/",
    "..",
    "%",
    "%23",
    "$",
    " ",
    "a b",
    "mia+test@example.invalid",
    "用户-7",
    "😀",
    "\u05d0\u202e",
    "LOG#HEAD",
]
user_ids = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=256))


@given(user_ids, user_ids)
def test_two_users_never_share_a_partition(one: str, other: str) -> None:
    built = {keys.log_partition(one), keys.user_partition(one), keys.log_partition(other), keys.user_partition(other)}

    assert len(built) == (2 if one == other else 4)


@given(st.integers(min_value=0, max_value=10**20 - 1))
def test_a_log_number_comes_back_and_sorts_before_the_head(seq: int) -> None:
    assert keys.seq_of(keys.entry(seq)) == seq
    assert keys.entry(seq) < keys.HEAD


@given(st.integers(min_value=0, max_value=10**19), st.integers(min_value=0, max_value=10**19))
def test_log_keys_sort_as_their_numbers(one: int, other: int) -> None:
    assert (keys.entry(one) < keys.entry(other)) == (one < other)


@pytest.mark.parametrize("key", ["LOG#HEAD", "LOG#1", "MEM#00000000000000000001", "", "LOG#0000000000000000000x"])
def test_another_key_is_not_a_log_entry(key: str) -> None:
    with pytest.raises(CorruptData):
        keys.seq_of(key)
