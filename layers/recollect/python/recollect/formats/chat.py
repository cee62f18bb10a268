"""Chat messages as JSON values: our own, OpenAI-style and Anthropic-style ones. Pure.

Role, text, name, id and time are read; whatever else a message has is the caller's and is kept where it is stored.
Texts of content parts count; pictures, thoughts and calls of tools say nothing in words. What is wrong is told by
place, without the text.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from recollect.conversation import Message, Role
from recollect.errors import InvalidInput
from recollect.model import SCOPE_MAX_CHARS
from recollect.text import is_blank
from recollect.times import NotAnInstant, read_instant

ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "document": Role.DOCUMENT,
}
_WITHOUT_ROLE = {  # items of OpenAI's Responses API, by type
    "function_call": Role.ASSISTANT,
    "reasoning": Role.ASSISTANT,
    "function_call_output": Role.TOOL,
}
_TEXTS = frozenset({"text", "input_text", "output_text"})
_TIMES = ("at", "timestamp", "created_at")
_CALLS = ("tool_calls", "tool_call_id", "function_call", "call_id", "arguments")
_FIRST_MS = 10**11  # smaller numbers are seconds
_LAST_MS = 253_402_300_799_999  # of the year 9999


def read_message(value: object, index: int) -> tuple[Message, Any]:
    """Read one message.

    Returns
    -------
    message : Message
    rest : Any
        What else tells it from another one: JSON, ``None`` if nothing does.

    Raises
    ------
    InvalidInput
        If it is not a message.
    """
    if not isinstance(value, dict):
        _refuse(index, "", "must be an object with `role` and `content`")
    content = value.get("content", value.get("output"))
    role = _role(value, index)
    if role is Role.USER and _is_of_tools(content):
        role = Role.TOOL
    message = Message(
        index=index,
        role=role,
        text=_text(content, role, index),
        name=_label(value, "name", index),
        at_ms=_time(value, index),
        message_id=_label(value, "id", index),
    )
    calls = {name: value[name] for name in _CALLS if value.get(name) is not None}
    has_more = not isinstance(content, str) and content is not None and not _is_text_only(content)
    return message, [content if has_more else None, calls] if has_more or calls else None


def line_of(value: object, index: int) -> bytes:
    """Write a message as one line of JSON, as it was sent.

    Raises
    ------
    InvalidInput
        If it cannot be written.
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except RecursionError:
        _refuse(index, "", "must not be nested so deeply")
    except ValueError:
        _refuse(index, "", "must be JSON without NaN, infinity or broken characters")


def _role(value: Mapping[str, Any], index: int) -> Role:
    name = value.get("role")
    if name is None and isinstance(value.get("type"), str) and value["type"] in _WITHOUT_ROLE:
        return _WITHOUT_ROLE[value["type"]]
    role = ROLES.get(name.lower()) if isinstance(name, str) else None
    if role is None:
        _refuse(index, "/role", f"must be one of {', '.join(ROLES)}")
    return role


def _text(content: object, role: Role, index: int) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts: Sequence[object] = content if isinstance(content, list) else [content]
    texts: list[str] = []
    for number, part in enumerate(parts):
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            texts += _part_texts(part, role, index)
        else:
            _refuse(index, f"/content/{number}", "must be a text or an object with `type`")
    return "\n".join(text for text in texts if text)


def _part_texts(part: Mapping[str, Any], role: Role, index: int) -> list[str]:
    kind = part.get("type", "text")
    if kind == "tool_result" and role is Role.TOOL:
        inner = part.get("content")
        return [_text(inner, Role.USER, index)]  # one level: results hold no results
    if not _is_text(part):
        return []
    text = part.get("text")
    if isinstance(text, dict):
        text = text.get("value")
    if not isinstance(text, str):
        _refuse(index, "/content", "must have `text` in each part of type text")
    return [text]


def _is_of_tools(content: object) -> bool:
    """Tell whether a user's message only carries results of tools, as Anthropic's do."""
    if not isinstance(content, list):
        return False
    kinds = [part.get("type") if isinstance(part, dict) else None for part in content]
    return bool(kinds) and all(kind == "tool_result" for kind in kinds)


def _is_text_only(content: object) -> bool:
    parts = content if isinstance(content, list) else [content]
    return all(isinstance(part, str) or (isinstance(part, dict) and _is_text(part)) for part in parts)


def _is_text(part: Mapping[str, Any]) -> bool:
    kind = part.get("type", "text")
    return isinstance(kind, str) and kind in _TEXTS


def _label(value: Mapping[str, Any], name: str, index: int) -> str | None:
    label = value.get(name)
    if isinstance(label, int) and not isinstance(label, bool):
        label = str(label)
    if label is None or (isinstance(label, str) and is_blank(label)):
        return None
    if not isinstance(label, str) or len(label) > SCOPE_MAX_CHARS:
        _refuse(index, f"/{name}", f"must be a text of at most {SCOPE_MAX_CHARS} characters")
    return label


def _time(value: Mapping[str, Any], index: int) -> int | None:
    """Read the time of a message; our own field must be one, others may hold whatever their owners keep there."""
    for name in _TIMES:
        if value.get(name) is None:
            continue
        try:
            return _instant(value[name])
        except NotAnInstant as error:
            if name == _TIMES[0]:
                _refuse(index, f"/{name}", str(error))
    return None


def _instant(value: object) -> int:
    if isinstance(value, str):
        return read_instant(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotAnInstant("must be a time such as 2026-05-01T09:30:00+02:00, or a number of seconds since 1970")
    at_ms = int(value if abs(value) >= _FIRST_MS else value * 1000)
    if abs(at_ms) > _LAST_MS:
        raise NotAnInstant("must be in the years 1 to 9999")
    return at_ms


def _refuse(index: int, field: str, what: str) -> NoReturn:
    raise InvalidInput(
        f"message {index}: {field.removeprefix('/') or 'it'} {what}", pointer=f"/messages/{index}{field}"
    )
