"""The LoCoMo conversations as values: turns to remember, questions to ask, the turns that answer them.

Reads one JSON file and changes nothing. Malformed evidence ids are read leniently; evidence that names no turn of
its conversation is dropped, and a question without any evidence left is not asked.

References
----------
Maharana et al.: Evaluating Very Long-Term Conversational Memory of LLM Agents (2024); the data set's licence is
CC BY-NC 4.0, so it is never copied into this project.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ANSWERABLE = (1, 2, 3, 4)  # category 5 asks for what was never said
CHOSEN_ON_EVERY = 2  # constants of the ranking were chosen on the 1st, 3rd, 5th … conversation of the file
DEFAULT_PATH = Path(__file__).resolve().parents[3] / "shared" / "data" / "locomo" / "locomo10.json"

_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")
_DATE_FORMAT = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that somebody said.

    Parameters
    ----------
    turn_id : str
        ``D<session>:<number>``, without leading zeros.
    content : str
        What was said, with the caption of a shared image after it.
    occurred_at_ms : int or None
        Start of its session, epoch milliseconds; the data names no time zone, UTC is assumed.
    """

    turn_id: str
    session_id: str
    actor: str
    content: str
    occurred_at_ms: int | None


@dataclass(frozen=True, slots=True)
class Question:
    """One question and the turns that answer it.

    Parameters
    ----------
    category : int
        1 several turns, 2 time, 3 open, 4 one turn.
    evidence : frozenset of str
        Turn ids, at least one.
    """

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Two people's turns in order, and what is asked about them."""

    conversation_id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    @property
    def ended_at_ms(self) -> int:
        """Start of its last session, epoch milliseconds; 0 if the data does not say."""
        return max((turn.occurred_at_ms or 0 for turn in self.turns), default=0)


def load(path: Path) -> tuple[Conversation, ...]:
    """Read the conversations of a file.

    Raises
    ------
    ValueError
        If the file does not hold a list of conversations.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(data, list) or not all(isinstance(sample, dict) for sample in data):
        raise ValueError(f"{path} holds no list of conversations; give the path of locomo10.json")
    return tuple(parse(sample) for sample in data)


def parse(sample: Mapping[str, Any]) -> Conversation:
    """Turn one sample of the data set into a conversation."""
    turns = tuple(_turns(sample["conversation"]))
    known = frozenset(turn.turn_id for turn in turns)
    asked = (
        Question(entry["question"], entry["category"], turn_ids(entry["evidence"]) & known)
        for entry in sample["qa"]
        if entry["category"] in ANSWERABLE
    )
    return Conversation(sample["sample_id"], turns, tuple(question for question in asked if question.evidence))


def held_out(conversations: Sequence[Conversation]) -> list[Conversation]:
    """Take those that no constant of the ranking was chosen on."""
    return [one for number, one in enumerate(conversations) if number % CHOSEN_ON_EVERY != 0]


def turn_ids(texts: Sequence[str]) -> frozenset[str]:
    """Find the turn ids in evidence strings: several in one string, leading zeros and a stray colon are accepted.

    Examples
    --------
    >>> sorted(turn_ids(["D1:2; D3:04", "D:5:6", "D"]))
    ['D1:2', 'D3:4', 'D5:6']
    """
    found = (match.groups() for text in texts for match in _TURN_ID.finditer(text))
    return frozenset(f"D{int(session)}:{int(number)}" for session, number in found)


def _turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(match[1]) for name in conversation if (match := _SESSION.fullmatch(name)))
    for number in numbers:
        session_id = f"session_{number}"
        started = datetime.strptime(conversation[f"{session_id}_date_time"], _DATE_FORMAT)
        occurred_at_ms = int(started.replace(tzinfo=UTC).timestamp()) * 1000
        for turn in conversation[session_id]:
            (turn_id,) = turn_ids([turn["dia_id"]])
            yield Turn(turn_id, session_id, turn["speaker"], _content(turn), occurred_at_ms)


def _content(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [image: {caption}]" if caption else str(turn["text"])
