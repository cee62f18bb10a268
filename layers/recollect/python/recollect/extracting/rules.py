"""The extractor that asks no model: durable statements of the speakers, found and rewritten by rule.

Only what users say is read; each sentence is judged alone. What is about others stays about them, what is doubtful,
asked, quoted or passing is left to the memory of its turn.
"""

import re
from collections.abc import Iterator

from recollect.conversation import Message, Passage, Role
from recollect.extracting import dates, wording
from recollect.extracting.recalled import QUOTED, own_lines, without_recalled
from recollect.extracting.sentences import SENTENCE_MAX_CHARS, sentences
from recollect.extracting.statements import Kind, kind_of
from recollect.extracting.turns import actor_of
from recollect.extraction import Extraction, Recall
from recollect.model import MemoryType, NewMemory, Source

_NAME = re.compile(r"[^\W\d_]+(?:[ '.-]+[^\W\d_]+){0,3}\.?")
_NO_NAMES = frozenset(
    {"user", "human", "me", "you", "customer", "client", "guest", "anonymous", "unknown", "the user", "admin"}
)
_DOUBT = re.compile(
    r"\b(?:if|would(?! (?:rather|prefer|always choose))|could|might|maybe|perhaps|probably|wish|wished|suppose|supposed|imagine|unless"
    r"|i guess|i think|i thought|i believe|i feel like|hopefully|should|not sure|unsure|apparently|pretend|hypothetically|as though"
    r"|kidding|joking|let us say|what|may)\b|[?\u061f]|" + QUOTED,
    re.IGNORECASE,
)
_UNRESOLVED = re.compile(
    r"\b(?:you|your|yours|yourself|it|its|he|she|this|these|those|there|here|him|such|y'all|u|that one|the same|so far)\b"
    r"|\bthat$|\b(?:of|like|with|for|about|to|at|love|hate) that\b(?! \w+ \w)"
    r"|\b(?:the (?:one|ones|other|others|latter|former|first one|second one))\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(r"\b(?:they|them|their|theirs|her|hers|his)\b", re.IGNORECASE)
_ANTECEDENT = re.compile(r"\b(?:my|our) \w|[a-z,] (?-i:[A-Z])\w", re.IGNORECASE)
_JOINT = re.compile(
    r"[,;]? (?:and|but|so|plus|–|—|-) (?=(?:(?:now|also|then|currently) )?(?:I|i|my|we|our)\b)|; ",
    re.IGNORECASE,
)
_COUPLE = re.compile(r"^(?:my|our|me)?(?: ?[\w'-]+){0,3}$", re.IGNORECASE)
_LEAD = re.compile(
    r"^((?:since|from|in|on|at|for|after|as an?|these days|nowadays|currently|lately|every|each|next|last|this|yesterday|tomorrow|today|tonight"
    r"|right now|most|at work|at home|when i|whenever i|in my|once a|twice a|until|later|earlier|now)\b[^,]{0,50}?),? (?=(?:I|my|we|our)\b)",
    re.IGNORECASE,
)
_START = re.compile(r"(?:I|my|we|our|let us|the)\b|(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)? is my\b", re.IGNORECASE)


class RulesExtractor:
    """Finds statements by rule; costs nothing, and gives the same for the same passage."""

    name = "rules"
    costs_tokens = False

    def extract(self, passage: Passage, recall: Recall) -> Extraction:
        """Find what the passage's users state of themselves, ask of the agent, and know how to do."""
        found = (memory for message in passage.new if message.role is Role.USER for memory in _facts(passage, message))
        return Extraction(tuple(found))


def subject_of(message: Message) -> str:
    """Name the speaker in a statement: a name, or ``the user`` of one who has none that reads as a name."""
    name = " ".join((message.name or "").split())
    is_name = len(name) <= 60 and _NAME.fullmatch(name) and name.casefold() not in _NO_NAMES
    return name if is_name else "the user"


def _facts(passage: Passage, message: Message) -> Iterator[NewMemory]:
    seen: set[str] = set()
    for line in own_lines(without_recalled(message.text)):
        for sentence in sentences(line):
            for content, kind in _statements(sentence, message, passage.time_of(message)):
                if content not in seen:
                    seen.add(content)
                    yield _memory(passage, message, content, kind)


def _statements(sentence: str, message: Message, at_ms: int) -> Iterator[tuple[str, Kind]]:
    if len(sentence) > SENTENCE_MAX_CHARS or "?" in sentence:
        return
    for clause in _clauses(wording.plain(sentence)):
        lead, core = _parted(clause)
        if not _START.match(core) or _DOUBT.search(clause) or _is_unresolved(clause):
            continue
        kind = kind_of(f"{core} {lead}".strip()) if lead else kind_of(core)
        if kind is not None:
            dated = dates.resolved(clause, at_ms)
            yield wording.statement(dated, subject_of(message), team=kind.team), kind


def _clauses(sentence: str) -> Iterator[str]:
    position = 0
    for found in _JOINT.finditer(sentence):
        part = sentence[position : found.start()]
        if not _COUPLE.match(part):
            yield wording.plain(part)
            position = found.end()
    yield wording.plain(sentence[position:])


def _parted(clause: str) -> tuple[str, str]:
    lead = _LEAD.match(clause)
    return (lead[1], clause[lead.end() :]) if lead else ("", clause)


def _is_unresolved(clause: str) -> bool:
    if _UNRESOLVED.search(clause):
        return True
    other = _OTHERS.search(clause)
    return bool(other) and not _ANTECEDENT.search(clause[: other.start()]) if other else False


def _memory(passage: Passage, message: Message, content: str, kind: Kind) -> NewMemory:
    return NewMemory(
        content=content,
        type=MemoryType.SEMANTIC,
        tags=kind.tags,
        importance=kind.importance,
        agent_id=passage.agent_id,
        session_id=passage.session_id,
        actor=actor_of(message),
        occurred_at_ms=passage.time_of(message),
        sources=(Source(passage.transcript_id, message.index, message.index),),
    )
