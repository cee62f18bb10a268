"""Turns: which are kept, what they carry, how they are cut, and what of a message is not the speaker's own."""

from dataclasses import replace

import pytest
from recollect.context import joined, render
from recollect.extracting.turns import turns_of
from recollect.model import CONTENT_MAX_CHARS, SCOPE_MAX_CHARS

from tests.support.builders import MEMORY
from tests.support.talks import contents, passage, turns


@pytest.mark.parametrize(
    "said",
    [
        "Hi!",
        "Hey Mel! Good to see you! How have you been?",
        "Thanks, Gina.",
        "Thank you so much for your help!",
        "Ok, got it",
        "Wow, that's awesome!",
        "Bye, take care! Talk to you soon.",
        "👍",
        "...",
        " \n\u200b",
        "Vielen Dank, bis bald!",
        "¡Muchas gracias!",
        "Merci beaucoup, au revoir",
    ],
)
def test_chatter_is_not_kept(said: str) -> None:
    assert turns(f"user: {said}") == []


@pytest.mark.parametrize(
    "said",
    [
        "See you at McGee's Pub",
        "Thanks, the red one arrived",
        "Hi, my order 66 is late",
        "Yes! I got the job at Bosch",
        "Berlin.",
        "私は花生アレルギーです",
        "Спасибо, я живу в Киеве",
    ],
)
def test_what_says_something_is_kept(said: str) -> None:
    assert turns(f"user: {said}") == [f"0 user episodic: {said}"]


@pytest.mark.parametrize("speaker", ["system", "tool"])
def test_what_nobody_said_is_not_kept(speaker: str) -> None:
    assert turns(f"{speaker}: The user lives in Rome.") == []


def test_a_short_answer_carries_the_question_before_it() -> None:
    kept = turns("assistant: Nice! When do you fly?", "tool: {}", "user: Next Tuesday")
    assert kept[1:] == ["0-2 user episodic: Next Tuesday [in answer to: When do you fly?]"]


def test_yes_says_something_only_in_answer_to_a_question() -> None:
    assert turns("user: Yes") == []
    assert turns("user: I fly on Monday.", "assistant: Noted.", "user: Yes")[1:] == []
    assert turns("assistant: Do you have a car?", "user: Yes")[1:] == [
        "0-1 user episodic: Yes [in answer to: Do you have a car?]"
    ]
    assert turns("assistant: Is there anything else?", "user: No, thanks!")[1:] == []


def test_nobody_answers_himself() -> None:
    assert turns("user: When do I fly?", "user: Monday then")[1:] == ["1 user episodic: Monday then"]


def test_an_answer_is_the_same_wherever_the_passage_begins() -> None:
    said = ["user: I like trains.", "assistant: Which ones?", "user: Night trains"]
    assert turns(*said)[2:] == turns(*said, first=2)


def test_a_long_question_is_shortened() -> None:
    (_, answer) = turns(f"assistant: Would you {'very ' * 100}much like tea?", "user: Yes")
    assert answer.endswith("…]")
    assert len(answer) < 260


def test_a_long_turn_is_cut_at_paragraphs_and_nothing_is_lost() -> None:
    paragraphs = [f"Paragraph {number}: " + "word " * 900 for number in range(20)]
    kept = turns_of(passage("user: " + "\n\n".join(paragraphs)))
    assert all(memory.content.startswith("Paragraph") for memory in kept)
    assert all(len(memory.content) <= CONTENT_MAX_CHARS for memory in kept)
    assert " ".join(memory.content for memory in kept).split() == " ".join(paragraphs).split()


def test_a_text_without_any_space_is_cut_too() -> None:
    kept = turns_of(passage("user: " + "x" * (2 * CONTENT_MAX_CHARS + 1)))
    assert [len(memory.content) for memory in kept] == [CONTENT_MAX_CHARS, CONTENT_MAX_CHARS, 1]


def test_a_speakers_name_fits_into_its_field() -> None:
    read = passage("Maya: I like trains.")
    long = replace(read, messages=(replace(read.messages[0], name=" Maya \n" + "x" * 300),))
    (memory,) = turns_of(long)
    assert memory.actor is not None
    assert memory.actor.startswith("Maya x")
    assert len(memory.actor) == SCOPE_MAX_CHARS


def _recalled() -> str:
    stable = replace(MEMORY, content="I prefer dark mode. I live in Oslo.")
    volatile = replace(MEMORY, content="To deploy, run make.", actor="Maya", occurred_at_ms=0)
    return joined(*render([stable], [volatile], 1_000))


@pytest.mark.parametrize("speaker", ["user", "assistant", "Maya"])
def test_our_own_context_block_gives_no_memories(speaker: str) -> None:
    block = _recalled()
    assert "dark mode" in block
    for text in (block, f"  {block}  ", "\n".join(block.split("\n")[1:]), block.split("\n")[2], f"{block}\n{block}"):
        assert turns(f"{speaker}: {text}") == []
        assert contents(text, name=speaker) == []


def test_what_stands_around_a_context_block_is_kept() -> None:
    said = f"{_recalled()}\n\nI prefer tea."
    assert turns(f"user: {said}") == ["0 user episodic: I prefer tea."]
    assert contents(said) == ["The user prefers tea"]
