"""Which messages are new to a transcript, whatever is sent again."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.errors import Conflict
from recollect.joining import digests_of, new_messages


def digests(text: str) -> list[bytes]:
    return [letter.encode() * 8 for letter in text]


def new(known: str, sent: str, first: int | None = None, ids: str = "") -> str:
    """Name the new ones of messages that are letters; those of `ids` have an id."""
    places = new_messages(digests(known), digests(sent), [letter in ids for letter in sent], first)
    return "".join(sent[place] for place in places)


@pytest.mark.parametrize(
    ("known", "sent", "expected"),
    [
        ("", "abc", "abc"),
        ("abc", "abc", ""),
        ("abc", "def", "def"),
        ("abc", "c", ""),
        ("abc", "bcd", "d"),
        ("abc", "abcde", "de"),
        ("abcdef", "abc", ""),
        ("abcdef", "ab", ""),
        ("abcdef", "bcd", "bcd"),  # from the middle: nothing tells that it is no repetition
        ("abab", "ab", ""),
        ("aba", "abc", "c"),
        ("aaa", "aa", ""),
        ("aaa", "aaaa", "a"),
        ("hxy", "h", "h"),  # one greeting more
        ("abcxe", "abcde", "de"),  # the end was made again
        ("abcxdefg", "abcdefgh", "h"),  # and sent before
        ("a", "ab", "b"),
    ],
)
def test_what_was_sent_before_is_known_by_its_place(known: str, sent: str, expected: str) -> None:
    assert new(known, sent) == expected


@pytest.mark.parametrize(
    ("known", "sent", "expected"),
    [("abc", "xbz", "xz"), ("abc", "cba", ""), ("", "aab", "ab"), ("abc", "dad", "d")],
)
def test_a_message_with_an_id_is_known_anywhere(known: str, sent: str, expected: str) -> None:
    assert new(known, sent, ids="abcd") == expected


def test_equal_messages_without_an_id_are_all_new() -> None:
    assert new("abc", "xxbx") == "xxbx"


@pytest.mark.parametrize(
    ("first", "sent", "expected"), [(0, "abc", ""), (1, "bcd", "d"), (3, "abc", "abc"), (3, "a", "a"), (1, "b", "")]
)
def test_a_place_that_is_told_decides(first: int, sent: str, expected: str) -> None:
    assert new("abc", sent, first) == expected


@pytest.mark.parametrize(("first", "sent"), [(0, "b"), (2, "ca"[::-1]), (4, "a"), (1, "bx")])
def test_a_place_that_cannot_be_is_a_conflict(first: int, sent: str) -> None:
    with pytest.raises(Conflict):
        new("abc", sent, first)


letters = st.text("abc", max_size=12)


@given(letters, letters)
def test_what_was_added_is_never_new_again(known: str, sent: str) -> None:
    grown = known + new(known, sent)

    assert new(grown, grown) == ""
    assert new(known, known + sent) == sent or known == ""
    assert len(new(grown, sent)) in (0, len(sent)) or new(grown, sent) in sent


@given(st.lists(letters, min_size=1, max_size=5))
def test_histories_that_are_sent_whole_each_time_give_every_message_once(rounds: Sequence[str]) -> None:
    transcript = history = ""
    for said in rounds:
        history += said
        transcript += new(transcript, history)

    assert transcript == history


def longest_overlap(known: str, sent: str) -> int:
    return max(n for n in range(min(len(known), len(sent)) + 1) if known.endswith(sent[:n]))


@given(letters, letters)
def test_the_longest_end_that_was_sent_before_is_left_out(known: str, sent: str) -> None:
    if sent[:1] != known[:1]:
        assert new(known, sent) == sent[longest_overlap(known, sent) :]


def test_twenty_thousand_equal_messages_are_compared_in_no_time() -> None:
    assert new("a" * 20_000, "a" * 20_000 + "b") == "b"
    assert new("b" + "a" * 20_000, "a" * 19_999 + "b") == "b"


def test_digests_come_apart_as_they_were_put_together() -> None:
    assert digests_of(b"".join(digests("abc"))) == digests("abc")
