"""What users ask the agent to do from now on, and how something is done: memories of type procedural.

Pure. An instruction must be meant to last ("always", "from now on", a language, a style of answers); what is asked
once, for the text or the task at hand, is none. Patterns read sentences of bounded length.
"""

import re

from recollect.extracting import wording
from recollect.extracting.kinds import INSTRUCTION, Kind

_CALLED = Kind(("identity", "preference"), 0.8)

_ASKED = re.compile(
    r"^(?:(?:from now on|in (?:the )?future|going forward|from here on(?: out)?|by default|in general)(?P<lasting>),? )?"
    r"(?:(?:please|kindly|(?:can|could|would|will) you(?: please)?|I (?:want|need|expect|would like) you to|I would prefer (?:if |that )?you"
    r"|you (?:should|must|need to|have to)|make sure (?:to|you|that you)|be sure to|remember to|remember:?)(?: please)?,? )*",
    re.IGNORECASE,
)
_REQUEST = re.compile(r"(?:please )?(?:can|could|would|will) you\b", re.IGNORECASE)
_ANSWER = r"(?:answer|reply|respond|write|speak|talk|explain|communicate)"
_DOING = (
    rf"(?:{_ANSWER}|use|include|add|address|format|give|show|send|suggest|recommend|ask|make|keep|start|end|assume|mention|remind|apologi[sz]e"
    r"|summari[sz]e|translate|commit|push|deploy|delete|run|touch|modify|change|edit|create|remove|generate|put|wrap|quote|cite|repeat|skip"
    r"|avoid|check|test|type|name|prefix|prefer|begin|sign|tell|provide|list|follow|stick to|consider|propose|book|buy|order|share|call)"
)
_LANGUAGE = (
    r"(?:English|German|French|Spanish|Portuguese|Italian|Dutch|Polish|Russian|Turkish|Arabic|Hindi|Japanese|Chinese|Mandarin|Korean"
    r"|Swedish|Danish|Norwegian|Finnish|Greek|Czech|Ukrainian|Hebrew|(?:British|American) English)"
)
_STYLE = (
    r"(?:answers|replies|responses|messages|explanations|tone|sentences|emojis?|exclamation marks|bullet points|markdown|jargon|small talk|metric"
    r"|imperial|celsius|fahrenheit|24-hour|12-hour|units|spelling|type hints|tabs|spaces|semicolons|docstrings|comments|code examples"
    r"|headings|disclaimers|apologies|filler|first name|honorifics|prices in|dates in)"
)
_LASTING = re.compile(
    rf"(?:always|never|do not ever) {_DOING}\b"
    rf"|(?:(?:always|only) )?{_ANSWER}(?: to me| with me| me)? (?:only )?in {_LANGUAGE}\b(?! (?:the|this|about))"
    rf"|(?:do not|never|avoid|no|keep|use|prefer|stick to|give|write|add|include|skip|make)\b(?: using| adding| all| me| the| your| my| in)?(?: [\w-]+){{0,6}}? {_STYLE}\b"
    rf"|be (?:brief|concise|short|direct|formal|informal|polite|blunt|honest|critical|terse)\b"
    rf"|{_ANSWER}(?: to me)? (?:briefly|concisely|directly|formally|informally|in (?:short|one|two|three|a few|full|plain|simple) [\w ]{{0,20}}?sentences?)"
    rf"|(?:whenever|every time|each time|when|if|before|after|unless)\b [^,]{{0,80}}\b(?:I|you|me|your|my)\b[^,]{{0,60}}, (?:then )?(?:please )?(?:always |never |do not )?{_DOING}\b"
    rf"|{_DOING}\b.{{3,120}}\b(?:every time|each time|whenever|by default|from now on|in (?:the )?future|in all (?:your|my)|in every)\b",
    re.IGNORECASE,
)
_IN_LANGUAGE = re.compile(rf"{_ANSWER}(?: to me| with me| me)? in {_LANGUAGE}\b", re.IGNORECASE)
_SAYS_HOW_OFTEN = re.compile(
    r"(?:always|never|only|do not|no|when|whenever|if|every|each|before|after|unless)\b", re.IGNORECASE
)
_AFTER = re.compile(rf"(?:always |never |do not |only )?{_DOING}\b", re.IGNORECASE)
_CALL_ME = re.compile(r"(?:just )?(?:call|address) me (?:as )?(?P<name>[^\W\d_][\w'. -]{0,39})", re.IGNORECASE)
_NOT_NAMES = re.compile(r"\b(?:back|later|when|if|at|on|crazy|old|tomorrow|a|an|the|in|for|and|now)\b", re.IGNORECASE)
_POINTING = re.compile(r"\b(?:this|that|these|those|above|below|(?<!keep )it|them|following|attached)\b", re.IGNORECASE)
_TAIL = re.compile(
    r",? (?:please|from now on|in (?:the )?future|going forward|thanks|thank you|ok|okay)$", re.IGNORECASE
)

_DOES = (
    r"(?:run|use|open|click|go|call|set|type|press|execute|install|start|restart|clear|delete|copy|create|export|push|merge|deploy|build"
    r"|check|add|enter|select|choose|edit|ssh|log|connect|pull|update|change|turn|hold|mix|bake|boil|fill|ask|send|make|wait|rebase|drop"
    r"|unplug|reboot|stop|kill|apply|follow|tag|write|put|take|rinse|soak|cook|heat|remove|rotate|revert|roll|scale|invoke|bump|publish|upload)"
)
_SUBJECT = r"(?:(?:first|just|simply|always|you|one|need to|needs to|have to|has to|must|should|can)[, ]+)*"
_HOW_TO = re.compile(
    rf"(?:in order )?to (?!(?:be|me|my|you|your|the|a|an|this|that|some|everyone|all|tell|say|sum|give you|put it)\b)[^,]{{2,120}}, {_SUBJECT}{_DOES}\b"
    rf"|(?:when|whenever|if|before|after|every time)\b (?!I\b|you\b)[^,]{{3,100}}, {_SUBJECT}{_DOES}\b"
    r"|(?:the|our|my) (?:best |only |right |usual )?(?:way|trick|fix|solution|workaround|command|procedure|process|recipe|steps?) (?:to|for) [^,]{2,100}? (?:is|are|was)(?: to| by|:)? \w"
    r"|(?:steps|how) to [^:]{2,100}: ?\w"
    r"|(?:we|you) (?:deploy|build|test|release|publish|roll back|back up|restore) [^,]{0,80}?(?:by|with|via|using) \w"
    rf"|(?:deploys|deployments?|builds|releases|backups|tests|migrations) (?:is|are) (?:done|made|run|started|triggered) (?:by|with|via|through) \w",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(?:steps|how) to [^:]{2,100}:$|(?:in order )?to (?!be\b)[^:]{2,100}:$", re.IGNORECASE)
_NEXT = re.compile(
    r"(?:and )?(?:then|next|after that|afterwards|finally|lastly|secondly|second|third)\b", re.IGNORECASE
)
_STEP = re.compile(r"(?:[-*•]|\d{1,2}[.)])\s+\S")
_TASK_AT_HAND = re.compile(
    r"\b(?:yours?|this|that|these|those|above|attached)\b(?! (?:run|will|is|does|command)\b)", re.IGNORECASE
)


def instruction(plain: str, subject: str) -> tuple[str, Kind] | None:
    """Find what a user asks the agent to do from now on.

    Parameters
    ----------
    plain : str
        A sentence as ``wording.plain`` gives it.
    subject : str
        ``the user`` or a name.
    """
    asked = _ASKED.match(plain)
    rest = plain[asked.end() :] if asked else plain
    while tail := _TAIL.search(rest):
        rest = rest[: tail.start()]
    named = _CALL_ME.fullmatch(rest)
    if named:
        is_name = not _NOT_NAMES.search(named["name"])
        return (f"{_capital(subject)} wants to be called {named['name']}", _CALLED) if is_name else None
    if (asked is not None and asked["lasting"] is not None) or _IN_LANGUAGE.match(rest):
        rest = rest if _SAYS_HOW_OFTEN.match(rest) else f"always {rest[:1].lower()}{rest[1:]}"
    lasts = asked is not None and asked["lasting"] is not None and _AFTER.match(rest)
    if _POINTING.search(rest) or not (lasts or _LASTING.match(rest)):
        return None
    return wording.statement(rest, subject, team=False), INSTRUCTION


def is_request(plain: str) -> bool:
    """Tell whether a question asks the agent to do something."""
    return bool(_REQUEST.match(plain))


def is_how_to(plain: str) -> bool:
    """Tell whether a sentence says how something is done."""
    return bool(_HOW_TO.match(plain)) and not _TASK_AT_HAND.search(plain)


def is_heading(line: str) -> bool:
    """Tell whether a line announces steps."""
    return bool(_HEADING.match(line))


def goes_on(sentence: str) -> bool:
    """Tell whether a sentence is the next step of what was said before."""
    return bool(_NEXT.match(sentence))


def is_step(line: str) -> bool:
    """Tell whether a line is an item of a list."""
    return bool(_STEP.match(line))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
