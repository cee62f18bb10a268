"""The extractor that asks no model: durable statements of the speakers, found and rewritten by rule."""

import re
from collections.abc import Iterator
from itertools import islice

from recollect.conversation import Message, Passage, Role
from recollect.extracting.turns import actor_of
from recollect.extraction import Extraction, Recall
from recollect.model import NewMemory, Source

FACTS_MAX_COUNT = 200  # of one message: more is a text that was handed over, not something said
_NAME = re.compile(r"[^\W\d_]+(?:[ '.-][^\W\d_]+){0,3}\.?")
_NAME_MAX_CHARS = 60
_NO_NAMES = frozenset(
    ["user", "human", "me", "you", "customer", "client", "guest", "anonymous", "unknown", "the user", "admin"]
)


class RulesExtractor:
    """Finds statements by rule; costs nothing, and gives the same for the same passage."""

    name = "rules"
    costs_tokens = False

    def extract(self, passage: Passage, recall: Recall) -> Extraction:
        """Find what the passage's users state of themselves, ask of the agent, and know how to do."""
        users = [message for message in passage.messages if message.role is Role.USER]
        is_alone = len({actor_of(message) for message in users}) <= 1
        new = (message for message in users if message.index >= passage.first)
        return Extraction(tuple(memory for message in new for memory in _memories(passage, message, is_alone)))


def subject_of(message: Message) -> str:
    """Name the speaker in a statement: a name, or ``the user`` of one who has none that reads as a name."""
    name = " ".join((message.name or "").split())
    is_name = len(name) <= _NAME_MAX_CHARS and _NAME.fullmatch(name) and name.casefold() not in _NO_NAMES
    return name if is_name else "the user"


def _memories(passage: Passage, message: Message, is_alone: bool) -> Iterator[NewMemory]:
    from recollect.extracting.reading import Speech, read  # its patterns take long to compile

    at_ms = passage.time_of(message)
    found = dict(islice(read(Speech(message.text, subject_of(message), at_ms, is_alone)), FACTS_MAX_COUNT))
    for content, kind in found.items():
        yield NewMemory(
            content=content,
            type=kind.type,
            tags=kind.tags,
            importance=kind.importance,
            agent_id=passage.agent_id,
            session_id=passage.session_id,
            actor=actor_of(message),
            occurred_at_ms=at_ms,
            sources=(Source(passage.transcript_id, message.index, message.index),),
        )
