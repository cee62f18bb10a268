"""Finds out that a text is a log of who said what, and its turns. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.conversation import Role
from recollect.times import NotAnInstant, read_instant

_TURN = re.compile(
    r"\s*(?:\[(?P<time>[^\]]{1,40})\]\s*)?(?:\*\*|__)?(?P<name>[^\W_][\w .'’-]{0,39})(?:\*\*|__)?"
    r"[ \t]?(?::(?=[\s*_]|$)|：)(?:\*\*|__)?\s*(?P<text>\S.*)?"
)
_ROLES = {
    **dict.fromkeys(("user", "human", "me"), Role.USER),
    **dict.fromkeys(("assistant", "ai", "bot", "chatbot", "agent", "model"), Role.ASSISTANT),
    **dict.fromkeys(("chatgpt", "claude", "gemini", "copilot"), Role.ASSISTANT),
    **dict.fromkeys(("system", "developer"), Role.SYSTEM),
    **dict.fromkeys(("tool", "function"), Role.TOOL),
}
_LABEL_MAX_WORDS = 4
_INITIAL_CHARS = 2
_UNKNOWN_MIN_TURNS = 3
_LINES_PER_TURN_MAX = 3  # on average; more is a text with a colon here and there


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said; the name is ``None`` for a speaker that is named by a role."""

    role: Role
    name: str | None
    text: str
    at_ms: int | None


def turns(text: str) -> list[Turn]:
    """Read a log of ``Speaker: text`` lines; nothing if the text is no such log."""
    lines = [line for line in text.splitlines() if line.strip()]
    matches = [_label(line) for line in lines]
    labels = [match["name"].strip() for match in matches if match is not None]
    if not lines or matches[0] is None or not _is_log(labels, len(lines)):
        return []
    found: list[tuple[re.Match[str], list[str]]] = []
    for line, match in zip(lines, matches, strict=True):
        if match is None:
            found[-1][1].append(line.strip())
        else:
            found.append((match, [match["text"] or ""]))
    return [_turn(match, said) for match, said in found]


def _label(line: str) -> re.Match[str] | None:
    match = _TURN.fullmatch(line)
    if match is None:
        return None
    name = match["name"].strip()
    return match if name.lower() in _ROLES or _is_name(name) else None


def _is_name(label: str) -> bool:
    first, *others = label.split()
    has_end = any("." in word and len(word) > _INITIAL_CHARS for word in others)  # of a sentence
    return not (first[0].islower() or first[0].isdigit() or has_end) and len(others) < _LABEL_MAX_WORDS


def _is_log(labels: Sequence[str], line_count: int) -> bool:
    """Tell a log from a text with labels: its speakers come again, or are named by roles."""
    speakers = {label.lower() for label in labels}
    if len(labels) * _LINES_PER_TURN_MAX < line_count:
        return False
    return speakers <= _ROLES.keys() or (len(labels) >= _UNKNOWN_MIN_TURNS and len(speakers) < len(labels))


def _turn(match: re.Match[str], said: Sequence[str]) -> Turn:
    name = match["name"].strip()
    role = _ROLES.get(name.lower())
    try:
        at_ms = read_instant((match["time"] or "").strip())
    except NotAnInstant:
        at_ms = None
    return Turn(role or Role.USER, None if role else name, "\n".join(said).strip(), at_ms)
