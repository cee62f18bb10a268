"""Which messages of a transcript are worked on together, and what is to become of them. Pure.

Parts that are treated alike are worked on together, wherever their borders are, in passages of a bounded size. What is
found in a message does not depend on where passages begin, but for what a model makes of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.conversation import EXTRACTION_CONTEXT_COUNT, Extract, Message, Part, Passage, Transcript
from recollect.model import (
    BATCH_MAX_CONTENT_BYTES,
    BATCH_MAX_COUNT,
    CONTENT_MAX_CHARS,
    METADATA_MAX_BYTES,
    TAG_MAX_COUNT,
    NewMemory,
)
from recollect.progress import Task
from recollect.text import is_blank

PASSAGE_MAX_COUNT = 40  # new messages: what one commit takes, if each becomes a memory
PASSAGE_MAX_CHARS = 12_000  # of their texts, if it is more than one: what a model is shown at once
LONG_MIN_CHARS = 50_000  # of a single message: some seconds of embedding, in the worst of scripts
READ_MAX_BYTES = 32 * 2**20  # of parts that are read at once, beside the first


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages up to number `to` (exclusive) that are treated alike.

    Parameters
    ----------
    is_wanted : bool
        Whether there is anything to do with them.
    extractor : str
        Names what finds their facts.
    """

    to: int
    is_wanted: bool
    extractor: str


@dataclass(frozen=True, slots=True)
class Step:
    """A piece of work, after which a task is done up to message number `to` (exclusive).

    Parameters
    ----------
    passage : Passage or None
        The messages in question; ``None`` if nothing is to be made of them.
    extractor : str
        Names what finds their facts; empty if it is about turns.
    """

    task: Task
    to: int
    passage: Passage | None
    extractor: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Parts that follow each other, and the messages in them."""

    parts: tuple[Part, ...]
    messages: tuple[Message, ...]

    def covers(self, start: int) -> bool:
        """Tell whether message number `start` is here, with those before it that help to understand it."""
        if not self.messages:
            return False
        return self.messages[0].index <= context_of(start) and start <= self.messages[-1].index


def context_of(start: int) -> int:
    """Give the number of the first message that helps to understand message number `start`."""
    return max(0, start - EXTRACTION_CONTEXT_COUNT)


def to_read(parts: Sequence[Part], start: int) -> list[Part]:
    """Choose the parts to read: up to the one with message number `start`, and a bounded number of bytes after it."""
    chosen: list[Part] = []
    size = 0
    for part in parts:
        if part.first > start:
            size += part.size
            if size > READ_MAX_BYTES:
                break
        chosen.append(part)
    return chosen


def step(transcript: Transcript, reading: Reading, task: Task, start: int) -> Step:
    """Give the work on message number `start`, which the reading has, and on as many after it as belong to it."""
    alike = stretch(reading.parts, task, start)
    if not alike.is_wanted:
        return Step(task, alike.to, None, alike.extractor)
    found = passage(transcript, reading.messages, start, alike.to)
    return Step(task, found.messages[-1].index + 1, found, alike.extractor)


def stretch(parts: Sequence[Part], task: Task, start: int) -> Stretch:
    """Find the messages from number `start` on that are treated alike; the parts hold that one."""
    found: Stretch | None = None
    for part in parts:
        if part.first + part.count <= start:
            continue
        wanted = part.extract in (Extract.BOTH, Extract(task.value))
        extractor = part.extractor if wanted and task is Task.FACTS else ""
        if found is not None and (found.is_wanted, found.extractor) != (wanted, extractor):
            break
        found = Stretch(part.first + part.count, wanted, extractor)
    if found is None:
        raise ValueError("no part holds the message")
    return found


def passage(transcript: Transcript, messages: Sequence[Message], start: int, to: int) -> Passage:
    """Take messages from number `start` on, not over `to`, with those before that help to understand them."""
    base = messages[0].index
    end, size = start, 0
    for message in messages[start - base : to - base][:PASSAGE_MAX_COUNT]:
        size += len(message.text)
        if size > PASSAGE_MAX_CHARS and end > start:
            break
        end = message.index + 1
    return Passage(
        transcript_id=transcript.transcript_id,
        session_id=transcript.session_id,
        agent_id=transcript.agent_id,
        occurred_at_ms=transcript.occurred_at_ms,
        messages=tuple(messages[context_of(start) - base : end - base]),
        first=start,
    )


def is_long(step: Step) -> bool:
    """Tell whether a passage takes longer than a request has; only a single message can be so long."""
    return step.passage is not None and sum(len(message.text) for message in step.passage.new) >= LONG_MIN_CHARS


def is_storable(memory: NewMemory) -> bool:
    """Tell whether a memory keeps the limits that callers' memories have; one that does not must not sink others."""
    return (
        len(memory.content) <= CONTENT_MAX_CHARS
        and not is_blank(memory.content)
        and len(memory.tags) <= TAG_MAX_COUNT
        and len(memory.metadata_json.encode("utf-8", "surrogatepass")) <= METADATA_MAX_BYTES
    )


def batches(memories: Sequence[NewMemory]) -> list[list[NewMemory]]:
    """Cut memories, in order, into as many as are embedded and stored at once."""
    found: list[list[NewMemory]] = []
    size = 0
    for memory in memories:
        of_this = len(memory.content.encode("utf-8", "surrogatepass"))
        if not found or len(found[-1]) == BATCH_MAX_COUNT or size + of_this > BATCH_MAX_CONTENT_BYTES:
            found.append([])
            size = 0
        found[-1].append(memory)
        size += of_this
    return found
