"""Conversations as lines of text, and what was made of them as lines of text."""

from datetime import UTC, datetime

from recollect.conversation import Message, Passage, Role
from recollect.extracting.rules import RulesExtractor
from recollect.extracting.turns import turns_of
from recollect.model import NewMemory

TRANSCRIPT_ID = "01HF0000000000000000000000"
TUESDAY = "2026-05-05"
_ROLES = {role.value: role for role in Role}


def at_ms(day: str) -> int:
    """Noon of a day in UTC."""
    return int(datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC).timestamp()) * 1000


def passage(*lines: str, day: str = TUESDAY, first: int = 0) -> Passage:
    """Make a passage of lines such as ``user: Hi`` or, of a user with a name, ``Maya: Hi``."""
    messages = []
    for index, line in enumerate(lines):
        speaker, _, text = line.partition(": ")
        role = _ROLES.get(speaker, Role.USER)
        messages.append(Message(index=index, role=role, text=text, name=None if speaker in _ROLES else speaker))
    return Passage(
        transcript_id=TRANSCRIPT_ID,
        session_id="chat",
        agent_id="helper",
        occurred_at_ms=at_ms(day),
        messages=tuple(messages),
        first=first,
    )


def facts(*lines: str, day: str = TUESDAY) -> list[str]:
    """Extract by rule; give each memory as a line: messages, speaker, type, tags, content."""
    return [shown(memory) for memory in extracted(passage(*lines, day=day))]


def contents(text: str, *, name: str = "user", day: str = TUESDAY) -> list[str]:
    """Extract from one message; give the contents."""
    return [memory.content for memory in extracted(passage(f"{name}: {text}", day=day))]


def turns(*lines: str, first: int = 0) -> list[str]:
    """Make the memories of turns; give each as a line."""
    return [shown(memory) for memory in turns_of(passage(*lines, first=first))]


def extracted(read: Passage) -> tuple[NewMemory, ...]:
    """Extract by rule."""
    return RulesExtractor().extract(read, lambda _: ()).memories


def shown(memory: NewMemory) -> str:
    """Write a memory as a line."""
    (source,) = memory.sources
    place = f"{source.first}" if source.first == source.last else f"{source.first}-{source.last}"
    tags = f" [{' '.join(memory.tags)}]" if memory.tags else ""
    return f"{place} {memory.actor} {memory.type}{tags}: {memory.content}"
