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


ulids = st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", min_size=26, max_size=26)
seqs = st.integers(min_value=0, max_value=10**20 - 1)
any_user_ids = st.one_of(user_ids, st.text(st.characters(), min_size=1, max_size=256))  # also lone surrogates


@given(any_user_ids, any_user_ids, ulids, ulids, seqs)
def test_objects_have_plain_keys_under_a_prefix_of_their_user(
    one: str, other: str, epoch: str, segment_id: str, seq: int
) -> None:
    prefix = keys.objects_of(one)

    for key in (keys.segment(one, epoch, segment_id), keys.archive(one, epoch, seq)):
        assert key.startswith(prefix)
        assert key.isascii()
        assert key.isprintable()
        assert len(key) <= 1024
        assert key.startswith(keys.objects_of(other)) == (one == other)


@given(any_user_ids, ulids, ulids, seqs)
def test_epoch_and_name_come_back_out_of_the_key_of_an_object(
    user_id: str, epoch: str, segment_id: str, seq: int
) -> None:
    segment, archive = keys.segment(user_id, epoch, segment_id), keys.archive(user_id, epoch, seq)

    assert keys.segment_of(segment) == (epoch, segment_id)
    assert keys.archive_of(archive) == (epoch, seq)
    with pytest.raises(CorruptData):
        keys.archive_of(segment)
    with pytest.raises(CorruptData):
        keys.segment_of(archive)


@given(seqs, seqs)
def test_archives_sort_as_their_last_numbers(one: int, other: int) -> None:
    assert (keys.archive("ana", "E", one) < keys.archive("ana", "E", other)) == (one < other)


@pytest.mark.parametrize(
    "key",
    [
        "",
        "users/ana/E/segments/S.seg",
        keys.segment("ana", "E", "S") + "\n",
        keys.segment("ana", "E", "S/../S"),
        keys.segment("ana", "", "S"),
        "x" + keys.segment("ana", "E", "S"),
        keys.archive("ana", "E", 10**20),
        keys.archive("ana", "E", 1).replace("1.", "\u0661."),
    ],
)
def test_another_key_is_not_that_of_an_object(key: str) -> None:
    with pytest.raises(CorruptData):
        keys.segment_of(key)
    with pytest.raises(CorruptData):
        keys.archive_of(key)
