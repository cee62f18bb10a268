"""From what people have to messages: chats in common shapes, documents, logs."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.conversation import Extract, Format, Part, Role
from recollect.errors import InvalidInput
from recollect.formats import dialogue, documents
from recollect.formats.reading import Sent, messages_of, read_bytes, read_list

AT_MS = 1_777_629_600_000


def one(**values: Any) -> Any:
    return read_list([values]).messages[0]


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("user", Role.USER),
        ("User", Role.USER),
        ("human", Role.USER),
        ("assistant", Role.ASSISTANT),
        ("model", Role.ASSISTANT),
        ("system", Role.SYSTEM),
        ("developer", Role.SYSTEM),
        ("tool", Role.TOOL),
        ("function", Role.TOOL),
    ],
)
def test_roles_of_all_houses_are_known(name: str, role: Role) -> None:
    assert one(role=name, content="x").role is role


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("hello", "hello"),
        ("", ""),
        (None, ""),
        ([], ""),
        (
            [
                {"type": "text", "text": "a"},
                {"type": "image_url", "image_url": {"url": "x"}},
                {"type": "text", "text": "b"},
            ],
            "a\nb",
        ),
        ([{"type": "input_text", "text": "a"}, "b"], "a\nb"),
        ([{"type": "output_text", "text": "a", "annotations": []}], "a"),
        ([{"type": "text", "text": {"value": "a", "annotations": []}}], "a"),
        ({"type": "text", "text": "a"}, "a"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "name": "f", "input": {}}], ""),
    ],
)
def test_texts_of_all_content_parts_count_and_nothing_else_does(content: Any, text: str) -> None:
    assert one(role="assistant", content=content).text == text


def test_calls_of_tools_and_their_results_are_no_words_of_the_user() -> None:
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
    }
    result = {"role": "tool", "tool_call_id": "c", "content": "21 °C"}
    block = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "21 °C"}]}
    anthropic = {"role": "user", "content": [block, {**block, "content": "sunny"}]}
    mixed = {"role": "user", "content": [block, {"type": "text", "text": "And tomorrow?"}]}
    items = [
        {"type": "function_call", "call_id": "c", "name": "f"},
        {"type": "function_call_output", "output": "21 °C"},
    ]

    read = read_list([call, result, anthropic, mixed, *items]).messages

    assert [(message.role, message.text) for message in read] == [
        (Role.ASSISTANT, ""),
        (Role.TOOL, "21 °C"),
        (Role.TOOL, "21 °C\nsunny"),
        (Role.USER, "And tomorrow?"),
        (Role.ASSISTANT, ""),
        (Role.TOOL, "21 °C"),
    ]


@pytest.mark.parametrize(
    ("values", "at_ms"),
    [
        ({"at": "2026-05-01T12:00:00+02:00"}, AT_MS),
        ({"timestamp": AT_MS / 1000}, AT_MS),
        ({"created_at": AT_MS}, AT_MS),
        ({"at": None, "timestamp": "2026-05-01T10:00:00Z"}, AT_MS),
        ({"timestamp": "yesterday"}, None),
        ({"created_at": {"seconds": 1}}, None),
        ({}, None),
    ],
)
def test_times_are_read_from_the_fields_that_people_have(values: Any, at_ms: int | None) -> None:
    assert one(role="user", content="x", **values).at_ms == at_ms


@pytest.mark.parametrize(
    ("sent", "label"), [("Ana", "Ana"), (7, "7"), (None, None), (" ", None), ("x" * 256, "x" * 256)]
)
def test_names_and_ids_may_be_numbers_or_nothing(sent: Any, label: str | None) -> None:
    message = one(role="user", content="x", name=sent, id=sent)

    assert (message.name, message.message_id) == (label, label)


def test_digests_tell_messages_apart_by_what_they_say_and_not_by_what_else_they_have() -> None:
    said = {"role": "user", "content": "x"}
    others = [
        {"role": "assistant", "content": "x"},
        {"role": "user", "content": "y"},
        {"role": "user", "content": "x", "name": "Ana"},
        {"role": "user", "content": "x", "at": "2026-05-01T10:00:00Z"},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "1"}}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "2"}}]},
        {"role": "user", "content": "x", "tool_calls": [1]},
    ]
    same = [{"content": [{"type": "text", "text": "x"}], "role": "human"}, {**said, "metadata": {"n": 1}}]

    assert len(set(read_list([said, *others]).digests)) == 1 + len(others)
    assert len(set(read_list([said, *same]).digests)) == 1


def test_a_message_with_an_id_is_known_by_it_whatever_it_says() -> None:
    first, second = read_list([{"role": "user", "content": text, "id": "m"} for text in ("a", "b")]).digests

    assert first == second != read_list([{"role": "user", "content": "a"}]).digests[0]


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda of: st.lists(of) | st.dictionaries(st.text(), of)
    )
)
def test_whatever_is_sent_is_read_or_refused(value: Any) -> None:
    for sent in (
        [value],
        [{"role": "user", "content": value}],
        [{"role": "user", "content": "x", "at": value, "id": value}],
    ):
        with suppress(InvalidInput):
            assert json.loads(read_list(sent).lines[0]) == sent[0]


def test_a_line_is_the_message_with_everything_that_it_has() -> None:
    sent = {"role": "user", "content": "漢 😀\n", "x": [1.5, 10**30, None, {"y": "\u2028"}]}

    (line,) = read_list([sent]).lines

    assert json.loads(line) == sent
    assert b"\n" not in line
    assert "漢 😀".encode() in line


@pytest.mark.parametrize(
    ("data", "form", "says"),
    [
        (b"\xff", Format.TEXT, "UTF-8"),
        (b"", Format.TEXT, "nothing"),
        (b"[", Format.MESSAGES, "JSON"),
        (b"3", Format.MESSAGES, "list"),
        (b'{"a": 1}', Format.MESSAGES, "list"),
        (b"[]", Format.MESSAGES, "nothing"),
        (b"[NaN]", Format.MESSAGES, "finite"),
        (b"[" * 100_000, Format.MESSAGES, "deeply"),
        (b'{"role": "user"}\n\n{"role"', Format.JSONL, "line 3"),
        (b'{"role": "user"}\n[]', Format.JSONL, "message 1"),
        (b'{"role": "user"}\n' * 20_001, Format.JSONL, "20,000"),
        (b"# h\n" * 20_001, Format.TEXT, "20,000"),
    ],
)
def test_bytes_of_another_form_are_refused_and_it_is_said_where(data: bytes, form: Format, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        read_bytes(data, form)


def test_the_messages_of_a_part_have_their_numbers_and_times() -> None:
    data = b'{"role":"user","content":"a"}\n{"role":"user","content":"b","at":1}\n{"role":"user","content":"c"}\n'
    part = Part(
        part_id="P",
        first=7,
        count=2,
        size=len(data),
        occurred_at_ms=AT_MS,
        format=Format.JSONL,
        extract=Extract.BOTH,
        extractor="rules",
        digests=b"",
        skipped=1,
    )

    read = messages_of(part, data)

    assert [(message.index, message.text, message.at_ms) for message in read] == [(7, "b", 1_000), (8, "c", AT_MS)]
    with pytest.raises(InvalidInput):
        messages_of(part, data + data)


GUIDE = """\
Intro before any heading.

# Guide

Setext is not needed.

## Install #

1. Get it.
2. Run it.

```sh
# not a heading
make run
```

## Empty

# Other
Text right below.
####### seven is none
"""


def test_a_document_is_cut_at_its_headings_which_stay_with_the_text() -> None:
    assert documents.chunks(GUIDE) == [
        "Intro before any heading.",
        "Guide\n\nSetext is not needed.",
        "Guide > Install\n\n1. Get it.\n2. Run it.\n\n```sh\n# not a heading\nmake run\n```",
        "Guide > Empty",
        "Other\n\nText right below.\n####### seven is none",
    ]


def test_long_sections_are_cut_between_paragraphs_then_lines_then_sentences_then_words() -> None:
    paragraphs = [f"Paragraph {number}. " + "Some words here. " * 30 for number in range(5)]
    items = "\n".join(f"- item {number} " + "with words " * 10 for number in range(40))
    wall = "word " * 1_000

    chunks = documents.chunks("\n\n".join(["# T", *paragraphs, items, wall, "漢" * 3_000]))

    assert max(map(len, chunks)) <= documents.CHUNK_MAX_CHARS
    assert all(chunk.startswith("T\n\n") for chunk in chunks)
    assert [chunk.count("Paragraph") for chunk in chunks[:3]] == [2, 2, 1]
    assert all(line.startswith("- item") for chunk in chunks for line in chunk.split("\n") if "item" in line)
    assert not [
        word for chunk in chunks for word in chunk.split() if word.startswith("wor") and word not in ("word", "words")
    ]
    assert sum(chunk.count("漢") for chunk in chunks) == 3_000


@given(
    st.lists(
        st.sampled_from(
            ["# a b", "## c", "### d e", "", "f g h", "- i", "```", "# " + "j " * 60, "k" * 1_300, "l. " * 500]
        )
    )
)
def test_no_word_of_a_document_is_lost_or_moved_and_no_piece_is_too_long(lines: list[str]) -> None:
    text = "\n".join(lines)

    chunks = documents.chunks(text)

    assert all(0 < len(chunk) <= documents.CHUNK_MAX_CHARS for chunk in chunks)
    there = set("".join(chunks).split()) | set("".join(chunks))
    assert {letter for letter in text if letter.isalpha()} <= there
    assert documents.chunks(text.replace("\n", "\r\n")) == chunks


@pytest.mark.parametrize("text", ["", " \n\t\n", "\u200b\u2060"])
def test_a_document_without_anything_to_read_has_no_pieces(text: str) -> None:
    assert documents.chunks(text) == []


LOG = """\
[2026-05-01T10:00:00Z] Ana: Hi, are you there?
Bob: Yes.
  What is it?

**Ana**: Note this: http://x.example
Dr. O'Neil-Smith: Here too.
"""


def test_a_log_of_who_said_what_is_read_as_turns() -> None:
    turns = dialogue.turns(LOG)

    assert [(turn.name, turn.text) for turn in turns] == [
        ("Ana", "Hi, are you there?"),
        ("Bob", "Yes.\nWhat is it?"),
        ("Ana", "Note this: http://x.example"),
        ("Dr. O'Neil-Smith", "Here too."),
    ]
    assert [turn.at_ms for turn in turns] == [AT_MS, None, None, None]
    assert {turn.role for turn in turns} == {Role.USER}


def test_speakers_that_are_roles_are_roles() -> None:
    text = "System: Be kind.\nuser: I like tea\nAssistant:\nNoted.\nHuman：再见"

    read = read_bytes(text.encode(), Format.TEXT).messages

    assert [(message.role, message.name, message.text) for message in read] == [
        (Role.SYSTEM, None, "Be kind."),
        (Role.USER, None, "I like tea"),
        (Role.ASSISTANT, None, "Noted."),
        (Role.USER, None, "再见"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Name: Ana\nCity: Lisbon\nPhone: 7",
        "Note: buy milk",
        "The list:\n- a\n- b",
        "We met Ana. Ana: said hello.\nThen we left.\nAna: bye\nAna: bye",
        "Ana: one\n" + "prose\n" * 20 + "Ana: two\nBob: three",
        "key: a\nkey: b\nkey: c",
        "12: a\n12: b\n13: c",
        "http://a\nhttp://b\nhttp://c",
    ],
)
def test_a_text_with_a_colon_here_and_there_is_no_log(text: str) -> None:
    assert dialogue.turns(text) == []


def test_a_sent_document_has_no_lines_of_its_own() -> None:
    sent = read_bytes(b"The office closes at six.", Format.TEXT)

    assert (len(sent.messages), len(sent.digests), sent.lines) == (1, 1, ())
    assert isinstance(sent, Sent)
    assert sent.messages[0].role is Role.DOCUMENT
