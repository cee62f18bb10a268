import re

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


indexes = st.integers(min_value=0, max_value=10**10 - 1)


@given(ulids, ulids, indexes, indexes)
def test_parts_sort_by_transcript_and_then_as_their_numbers(one: str, other: str, first: int, second: int) -> None:
    assert (keys.part(one, first) < keys.part(other, second)) == ((one, first) < (other, second))
    assert keys.part(one, first) <= keys.last_part(one)
    assert keys.part(other, second).startswith(keys.part(one, 0)[:-10]) == (one == other)


@given(st.text(), st.text())
def test_a_claim_is_known_by_itself_alone_and_its_key_tells_nothing_of_it(one: str, other: str) -> None:
    assert (keys.session(one) == keys.session(other)) == (one == other)
    assert len(keys.session(one)) == len("SES#") + 64


@given(any_user_ids, any_user_ids, ulids, ulids, ulids)
def test_epoch_transcript_and_part_come_back_out_of_the_key_of_an_upload(
    user_id: str, other: str, epoch: str, transcript_id: str, part_id: str
) -> None:
    upload = keys.part_object(user_id, epoch, transcript_id, part_id, is_upload=True)
    part = keys.part_object(user_id, epoch, transcript_id, part_id)

    assert keys.upload_of(upload, user_id) == (epoch, transcript_id, part_id)
    for key in (upload, part):
        assert key.startswith(keys.transcript_objects(user_id, epoch, transcript_id))
        assert key.startswith(keys.objects_of(user_id))
        assert key.isascii()
    assert upload.endswith(keys.UPLOAD_SUFFIX)
    assert not part.endswith(keys.UPLOAD_SUFFIX)
    for key, of in ((part, user_id), (keys.segment(user_id, epoch, part_id), user_id), (upload + "\n", user_id)):
        with pytest.raises(CorruptData):
            keys.upload_of(key, of)
    if other != user_id:
        with pytest.raises(CorruptData):
            keys.upload_of(upload, other)


@given(any_user_ids)
def test_a_user_comes_back_out_of_the_metadata_of_an_object(user_id: str) -> None:
    mark = keys.user_mark(user_id)

    assert keys.user_of(mark) == user_id
    assert re.fullmatch("[A-Za-z0-9_=-]+", mark)


@pytest.mark.parametrize("mark", ["a", "YQ", "YQ==\n", "Y Q=", "_w==", "漢"])
def test_metadata_that_were_not_written_here_name_no_user(mark: str) -> None:
    with pytest.raises(CorruptData):
        keys.user_of(mark)
