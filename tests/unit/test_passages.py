from dataclasses import replace

import pytest
from recollect.conversation import (
    EXTRACTION_CONTEXT_COUNT,
    Extract,
    Format,
    Message,
    Part,
    Role,
    Transcript,
    TranscriptStatus,
)
from recollect.model import BATCH_MAX_CONTENT_BYTES, BATCH_MAX_COUNT, CONTENT_MAX_CHARS, NewMemory
from recollect.passages import (
    PASSAGE_MAX_CHARS,
    PASSAGE_MAX_COUNT,
    READ_MAX_BYTES,
    Reading,
    Stretch,
    batches,
    is_storable,
    passage,
    stretch,
    to_read,
)
from recollect.progress import Task, next_task

TRANSCRIPT = Transcript(
    transcript_id="01HF0000000000000000000001",
    session_id="s-1",
    agent_id="robot",
    occurred_at_ms=1,
    created_at_ms=1,
    updated_at_ms=1,
    status=TranscriptStatus.QUEUED,
    message_count=10,
)


def part(first: int, count: int, extract: Extract = Extract.BOTH, extractor: str = "rules", size: int = 10) -> Part:
    return Part(
        part_id=f"P{first}",
        first=first,
        count=count,
        size=size,
        occurred_at_ms=1,
        format=Format.JSONL,
        extract=extract,
        extractor=extractor,
        digests=b"",
    )


def messages(*texts: str, first: int = 0) -> list[Message]:
    return [Message(index=index, role=Role.USER, text=text) for index, text in enumerate(texts, start=first)]


def numbers(of: tuple[Message, ...]) -> list[int]:
    return [message.index for message in of]


@pytest.mark.parametrize(
    ("turns_to", "facts_to", "following"),
    [
        (0, 0, (Task.TURNS, 0)),
        (4, 0, (Task.TURNS, 4)),
        (10, 0, (Task.FACTS, 0)),
        (10, 7, (Task.FACTS, 7)),
        (10, 10, None),
    ],
)
def test_turns_come_first_and_then_facts(turns_to: int, facts_to: int, following: tuple[Task, int] | None) -> None:
    assert next_task(replace(TRANSCRIPT, turns_to=turns_to, facts_to=facts_to)) == following


@pytest.mark.parametrize(
    "status", [TranscriptStatus.AWAITING_UPLOAD, TranscriptStatus.DELETING, TranscriptStatus.FAILED]
)
def test_there_is_nothing_to_do_before_the_first_message_or_after_a_failure_or_a_delete(
    status: TranscriptStatus,
) -> None:
    assert next_task(replace(TRANSCRIPT, status=status)) is None


def test_parts_that_are_treated_alike_are_worked_on_together() -> None:
    parts = [
        part(0, 2),
        part(2, 1, Extract.TURNS),
        part(3, 4),
        part(7, 1, Extract.NONE),
        part(8, 1, Extract.FACTS, "bedrock"),
    ]

    assert stretch(parts, Task.TURNS, 1) == Stretch(7, True, "")
    assert stretch(parts, Task.TURNS, 7) == Stretch(9, False, "")
    assert stretch(parts, Task.FACTS, 0) == Stretch(2, True, "rules")
    assert stretch(parts, Task.FACTS, 2) == Stretch(3, False, "")
    assert stretch(parts, Task.FACTS, 4) == Stretch(7, True, "rules")
    assert stretch(parts, Task.FACTS, 8) == Stretch(9, True, "bedrock")


def test_a_passage_brings_what_was_said_before_along() -> None:
    said = messages(*"abcdefghijklmnop", first=4)

    found = passage(TRANSCRIPT, said, 14, 17)

    assert numbers(found.new) == [14, 15, 16]
    assert numbers(found.messages) == list(range(14 - EXTRACTION_CONTEXT_COUNT, 17))
    assert (found.session_id, found.agent_id, found.transcript_id) == ("s-1", "robot", TRANSCRIPT.transcript_id)


def test_a_passage_has_no_more_messages_and_characters_than_may_be() -> None:
    many = messages(*["x"] * (PASSAGE_MAX_COUNT + 5))
    long = messages(*["x" * (PASSAGE_MAX_CHARS // 3)] * 5)

    assert len(passage(TRANSCRIPT, many, 0, len(many)).new) == PASSAGE_MAX_COUNT
    assert numbers(passage(TRANSCRIPT, long, 1, 5).new) == [1, 2, 3]


def test_a_message_that_is_too_long_for_a_passage_is_one_alone() -> None:
    said = messages("short", "x" * 10 * PASSAGE_MAX_CHARS, "short")

    assert [numbers(passage(TRANSCRIPT, said, start, 3).new) for start in (0, 1, 2)] == [[0], [1], [2]]


def test_parts_are_read_up_to_a_number_of_bytes_but_never_fewer_than_are_needed() -> None:
    large = [part(place, 1, size=READ_MAX_BYTES * 2 // 3) for place in range(4)]

    assert to_read(large, 0) == large[:2]
    assert to_read(large, 2) == large


def test_a_reading_tells_whether_it_has_a_message_and_what_was_said_before_it() -> None:
    reading = Reading((), tuple(messages(*"abcdefghijklmnop", first=10)))

    assert [reading.covers(start) for start in (17, 18, 25, 26)] == [False, True, True, False]
    assert not Reading((), ()).covers(0)


def test_memories_are_stored_in_batches_of_a_bounded_size_in_their_order() -> None:
    many = [NewMemory(content=str(number)) for number in range(BATCH_MAX_COUNT + 1)]
    long = [NewMemory(content="x" * (BATCH_MAX_CONTENT_BYTES // 2))] * 3

    assert [len(batch) for batch in batches(many)] == [BATCH_MAX_COUNT, 1]
    assert [one for batch in batches(many) for one in batch] == many
    assert [len(batch) for batch in batches(long)] == [2, 1]
    assert batches([]) == []


@pytest.mark.parametrize(
    ("memory", "is_fine"),
    [
        (NewMemory(content="x" * CONTENT_MAX_CHARS), True),
        (NewMemory(content="x" * (CONTENT_MAX_CHARS + 1)), False),
        (NewMemory(content=" \u200b"), False),
        (NewMemory(content="x", tags=("t",) * 33), False),
        (NewMemory(content="x", metadata_json='{"a": "' + "x" * 17_000 + '"}'), False),
    ],
)
def test_memories_that_callers_could_not_store_are_left_out(memory: NewMemory, is_fine: bool) -> None:
    assert is_storable(memory) is is_fine
