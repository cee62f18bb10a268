"""Reads what was sent, of any format, as messages with their digests. Pure."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect import strict_json
from recollect.conversation import DIGEST_BYTES, MESSAGE_MAX_COUNT, Format, Message, Part, Role
from recollect.errors import InvalidInput
from recollect.formats import chat, dialogue, documents


@dataclass(frozen=True, slots=True)
class Sent:
    """Messages as they came together.

    Parameters
    ----------
    messages : tuple of Message
        Numbered from 0.
    digests : tuple of bytes
        8 bytes for each, by which one that is sent again is known: of its id, if it has one, else of what it says.
    lines : tuple of bytes
        Each as one line of JSON; none for a document, which is kept as a whole.
    """

    messages: tuple[Message, ...]
    digests: tuple[bytes, ...]
    lines: tuple[bytes, ...] = ()


def read_list(values: Sequence[object]) -> Sent:
    """Read a list of messages.

    Raises
    ------
    InvalidInput
        If there are none, or too many, or one of them is not a message.
    """
    _check_count(len(values))
    read = [chat.read_message(value, index) for index, value in enumerate(values)]
    return Sent(
        tuple(message for message, _ in read),
        tuple(_digest(message, rest) for message, rest in read),
        tuple(chat.line_of(value, index) for index, value in enumerate(values)),
    )


def read_bytes(data: bytes, form: Format) -> Sent:
    """Read a part as a whole.

    Raises
    ------
    InvalidInput
        If it is not of that format.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("the text is not UTF-8") from error
    if form is Format.TEXT:
        return _read_document(text)
    return read_list(_lines(text) if form is Format.JSONL else _list(text))


def messages_of(part: Part, data: bytes) -> list[Message]:
    """Read the messages of a part that was kept, with their numbers in the transcript; all have a time.

    Raises
    ------
    InvalidInput
        If the bytes are not those of the part.
    """
    messages = read_bytes(data, part.format).messages[part.skipped :]
    if len(messages) != part.count:
        raise InvalidInput("the object holds another number of messages than its part")
    return [
        replace(
            message,
            index=part.first + message.index - part.skipped,
            at_ms=part.occurred_at_ms if message.at_ms is None else message.at_ms,
        )
        for message in messages
    ]


def _read_document(text: str) -> Sent:
    said = dialogue.turns(text)
    messages = [
        Message(index=index, role=turn.role, text=turn.text, name=turn.name, at_ms=turn.at_ms)
        for index, turn in enumerate(said)
    ] or [Message(index=index, role=Role.DOCUMENT, text=chunk) for index, chunk in enumerate(documents.chunks(text))]
    _check_count(len(messages))
    return Sent(tuple(messages), tuple(_digest(message, None) for message in messages))


def _list(text: str) -> Sequence[object]:
    try:
        value = strict_json.loads(text)
    except ValueError as error:
        raise InvalidInput("the text is not valid JSON; check quotes, commas and braces") from error
    if isinstance(value, dict):
        value = value.get("messages")
    if not isinstance(value, list):
        raise InvalidInput("the JSON must be a list of messages, or an object with `messages`")
    return value


def _lines(text: str) -> Sequence[object]:
    values: list[object] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(strict_json.loads(line))
        except ValueError as error:
            raise InvalidInput(f"line {number} is not valid JSON; there must be one message a line") from error
    return values


def _check_count(count: int) -> None:
    if not count:
        raise InvalidInput("there is nothing to read in it")
    if count > MESSAGE_MAX_COUNT:
        raise InvalidInput(f"at most {MESSAGE_MAX_COUNT:,} messages can come together; send them in several parts")


def _digest(message: Message, rest: Any) -> bytes:
    said = [message.role, message.name, message.at_ms, message.text, rest]
    key = json.dumps({"id": message.message_id} if message.message_id is not None else said, sort_keys=True)
    return hashlib.blake2b(key.encode(), digest_size=DIGEST_BYTES).digest()
