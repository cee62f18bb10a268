"""Reads what a user says, sentence by sentence: statements about himself, instructions to the agent, how-tos.

Pure. Each sentence is judged alone, but for the steps of a how-to. What is about others stays about them; what is
doubtful, asked, quoted, passing, or only understood from what was said before is left to the memory of its turn.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recollect.extracting import dates, instructions, languages, wording
from recollect.extracting.kinds import HOW_TO, INSTRUCTION, Kind
from recollect.extracting.people import NAME, PERSON
from recollect.extracting.recalled import QUOTED, own_lines, without_recalled
from recollect.extracting.sentences import SENTENCE_MAX_CHARS, sentences
from recollect.extracting.statements import kind_of

_STEPS_MAX_CHARS = 4_000
_DOUBT = re.compile(
    r"\b(?:if|would(?! (?:rather|prefer|always choose))|could|might|maybe|perhaps|probably|wish|wished|suppose|supposed|imagine|unless"
    r"|i guess|i think|i thought|i believe|i feel like|hopefully|should|not sure|unsure|apparently|pretend|hypothetically|as though"
    r"|kidding|joking|let us say|what|(?-i:may)(?! \d))\b|[?\u061f]|" + QUOTED,
    re.IGNORECASE,
)
_UNRESOLVED = re.compile(
    r"\b(?:you|your|yours|yourself|it|its|this|these|those|there|here|such|y'all|u|that one|the same|so far)\b"
    r"|\bthat$|\b(?:of|like|with|for|about|to|at|love|hate) that\b(?! \w+ \w)"
    r"|\b(?:an?|few|one|some|to|with|for|of|about|and|or|the|my|at|from|into|even|so|because|than|when)$"
    r"|\b(?:\w+ing|have|got|like|love|want|make|create|need|buy|bought) one\b"
    r"|\b(?:the (?:one|ones|other|others|latter|former|first one|second one))\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(r"\b(?:they|them|their|theirs|he|she|him|her|hers|his)\b", re.IGNORECASE)
_ANTECEDENT = re.compile(r"\b(?:my|our) \w|[a-z,] (?-i:[A-Z])\w", re.IGNORECASE)
_JOINT = re.compile(
    r"[,;]? (?:and|but|so|plus|–|—|-) (?=(?:(?:now|also|then|currently) )?(?:I|we|please|always|never|maybe|perhaps|(?:my|our) [\w' ]{1,40}? (?:is|are|was|were|has|have|lives?|works?|can|do|does|likes?|loves?|hates?|prefers?|moved|runs?|uses?|speaks?|studies|wants?|expires|leaves))\b)|; |, (?=I\b)",
    re.IGNORECASE,
)
_COUPLE = re.compile(rf"(?:^|, )(?:(?:my|our) {PERSON}(?:'s)?|me|I|{NAME})$", re.IGNORECASE)
_SELF = re.compile(r"(?:I|my|we|our)\b", re.IGNORECASE)
_LEAD = re.compile(
    r"^((?:since|from|in|on|at|for|after|as an?|as of|these days|nowadays|currently|lately|every|each|next|last|this|yesterday|tomorrow|today|tonight"
    r"|right now|most|at work|at home|when i|whenever i|in my|once a|twice a|until|later|earlier|now)\b[^,]{0,50}?),? (?=(?:I|my|we|our)\b)",
    re.IGNORECASE,
)
_START = re.compile(
    rf"(?:I|my|we|our|let us|the|{NAME} and I)\b|(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)? is my\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Speech:
    """What is known of the words to read.

    Parameters
    ----------
    subject : str
        Who speaks, as a statement names him: ``the user`` or a name.
    at_ms : int
        When.
    is_to_agent : bool
        Whether nobody but an agent is spoken to, so that what is asked is asked of it.
    """

    text: str
    subject: str
    at_ms: int
    is_to_agent: bool


def read(speech: Speech) -> Iterator[tuple[str, Kind]]:
    """Yield what is worth remembering, in its order: the statement and what kind it is."""
    said = [one for line in own_lines(without_recalled(speech.text)) for one in sentences(line)]
    position = 0
    while position < len(said):
        steps = _steps(said, position)
        if steps:
            yield _told(" ".join(said[position : position + steps]), speech), HOW_TO
        elif len(said[position]) <= SENTENCE_MAX_CHARS:
            yield from _stated(said[position], speech)
        position += steps or 1


def _steps(said: Sequence[str], start: int) -> int:
    """Count the sentences of the how-to that begins here; 0 if none does."""
    first = said[start]
    if len(first) > SENTENCE_MAX_CHARS or "?" in first or QUOTED in first:
        return 0
    plain = wording.plain(first)
    is_heading = first.endswith(":") and instructions.is_heading(plain + ":")
    if not is_heading and not instructions.is_how_to(plain):
        return 0
    end, size = start + 1, len(first)
    while end < len(said) and size + len(said[end]) < _STEPS_MAX_CHARS and _goes_on(said[end], is_heading):
        size += len(said[end])
        end += 1
    return 0 if is_heading and end == start + 1 else end - start


def _goes_on(sentence: str, is_list: bool) -> bool:
    return instructions.is_step(sentence) or (not is_list and instructions.goes_on(sentence))


def _told(how: str, speech: Speech) -> str:
    text = wording.plain(how)
    return wording.statement(text, speech.subject, team=True)


def _stated(sentence: str, speech: Speech) -> Iterator[tuple[str, Kind]]:
    found = [one for clause in _clauses(wording.plain(sentence)) if (one := _of_clause(clause, sentence, speech))]
    yield from found
    if not found and "?" not in sentence and QUOTED not in sentence:
        others = languages.stated(sentence)
        yield from (one for one in others if one[1] != INSTRUCTION or speech.is_to_agent)


def _of_clause(clause: str, sentence: str, speech: Speech) -> tuple[str, Kind] | None:
    if speech.is_to_agent and QUOTED not in clause and ("?" not in sentence or instructions.is_request(clause)):
        asked = instructions.instruction(clause, speech.subject)
        if asked is not None:
            return asked
    return None if "?" in sentence else _fact(clause, speech)


def _fact(said: str, speech: Speech) -> tuple[str, Kind] | None:
    clause = dates.resolved(said, speech.at_ms)
    lead, core = _parted(clause)
    if not _START.match(core) or _DOUBT.search(clause) or _is_unresolved(clause):
        return None
    kind = kind_of(f"{core} {lead}" if lead else core)
    return None if kind is None else (wording.statement(clause, speech.subject, team=kind.team), kind)


def _clauses(sentence: str) -> Iterator[str]:
    position = 0
    for found in _JOINT.finditer(sentence):
        part = sentence[position : found.start()]
        is_splice = found[0] == ", "  # but not behind "As a nurse"
        if not (_COUPLE.search(part) or (is_splice and not _SELF.match(part))):
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
    return other is not None and not _ANTECEDENT.search(clause[: other.start()])
