"""What holds of every conversation: nothing is raised, sources exist, limits hold, work grows as the text does."""

import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.conversation import Message, Passage, Role
from recollect.extracting.rules import FACTS_MAX_COUNT
from recollect.extracting.turns import turns_of
from recollect.model import CONTENT_MAX_CHARS, SCOPE_MAX_CHARS, NewMemory
from recollect.text import is_blank

from tests.support.talks import TRANSCRIPT_ID, extracted, passage

_VOCABULARY = (
    "I my we our am is are have live in at prefer love always never to run if when next last Friday week tomorrow Rome "
    "sister wife and but , . ? ! : \" ' `x` ``` > - 1. not do call me answer German 3 2026-05-05 ago two months the "
    "project uses <recollect-profile> </recollect-profile> ich bin allergisch vivo je suis 😀 \ufffc \ud800 «"
)
_WORDS = st.sampled_from(["\n", "\u2028", *_VOCABULARY.split(" ")])
_TEXTS = st.one_of(st.text(max_size=200), st.lists(_WORDS, max_size=60).map(" ".join))
_MESSAGES = st.lists(
    st.tuples(
        st.sampled_from(Role), _TEXTS, st.none() | st.text(max_size=20), st.none() | st.integers(-(10**14), 10**15)
    ),
    max_size=8,
)


@st.composite
def passages(draw: st.DrawFn) -> Passage:
    start = draw(st.integers(0, 10_000))
    messages = tuple(
        Message(index=start + offset, role=role, text=text, name=name, at_ms=time)
        for offset, (role, text, name, time) in enumerate(draw(_MESSAGES))
    )
    first = start + draw(st.integers(0, len(messages)))
    return replace(passage(), messages=messages, first=first)


def both(read: Passage) -> tuple[NewMemory, ...]:
    return (*turns_of(read), *extracted(read))


@given(passages())
def test_memories_are_within_limits_and_cite_messages_that_exist(read: Passage) -> None:
    for memory in both(read):
        (source,) = memory.sources
        assert source.transcript_id == TRANSCRIPT_ID
        assert {source.first, source.last} <= {message.index for message in read.messages}
        assert read.first <= source.last
        assert source.first <= source.last
        assert 0 < len(memory.content) <= CONTENT_MAX_CHARS
        assert not is_blank(memory.content)
        assert memory.actor is not None
        assert not is_blank(memory.actor)
        assert len(memory.actor) <= SCOPE_MAX_CHARS


@given(passages())
def test_the_same_passage_gives_the_same(read: Passage) -> None:
    assert both(read) == both(read)


@given(passages())
def test_facts_are_only_of_users(read: Passage) -> None:
    roles = {message.index: message.role for message in read.messages}
    assert all(roles[memory.sources[0].last] is Role.USER for memory in extracted(read))


def calls_of(work: Callable[[], object]) -> int:
    """Count the calls of functions, also of built-in ones; how long they take is the machine's affair."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "piece",
    [
        "I prefer tea. ",
        "my ",
        "..... ",
        '" I "',
        "<recollect-profile>\n",
        "```\n",
        "if I when ",
        "To deploy, run x. Then ",
        "1. I\n",
        "next next Friday to Friday ",
        "?",
        "x",
        "«",
        "- [01HF0000000000000000000000] (semantic\n",
    ],
)
def test_work_grows_no_faster_than_a_message(piece: str) -> None:
    small, large = (passage("assistant: Why?", "user: " + piece * count) for count in (500, 2_000))
    both(small)  # the first extraction of a process compiles the patterns
    assert calls_of(lambda: both(large)) <= 4.5 * calls_of(lambda: both(small)) + 5_000


def test_work_grows_no_faster_than_the_number_of_messages() -> None:
    said = ["user: I live in Rome, what about you?", "assistant: Nowhere."]
    small, large = (passage(*(said * count)) for count in (100, 400))
    both(small)
    assert calls_of(lambda: both(large)) <= 4.5 * calls_of(lambda: both(small))


def test_a_message_of_a_megabyte_is_read() -> None:
    facts = extracted(passage("user: " + "".join(f"I like tea {number}. " for number in range(60_000))))
    assert len(facts) == FACTS_MAX_COUNT
    assert len(turns_of(passage("user: " + "I like tea. " * 90_000))) > 60


def test_ten_thousand_messages_are_read() -> None:
    read = passage(*["Maya: I like trains.", "Jon: Which ones?"] * 5_000)
    assert len(turns_of(read)) == 10_000
    assert len(extracted(read)) == 5_000
