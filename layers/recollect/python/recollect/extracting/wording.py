"""Rewrites what a speaker says of himself into a statement about him, by rule.

Pure. "Well, I really prefer dark mode!" becomes "The user prefers dark mode": fillers and marks go, so that the same
thing said twice becomes the same statement; then persons and verbs change. Sentences are of bounded length.
"""

import re

from recollect.extracting.people import NAME, PERSON
from recollect.reconciling.wordlists import words

_CONTRACTIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), by)
    for pattern, by in (
        (r"\bcan['’]?t\b|\bcannot\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should|must)n'?t\b", r"\1 not"),
        (r"\bi'?m\b", "I am"),
        (r"\bi'?ve\b", "I have"),
        (r"\bi'll\b", "I will"),
        (r"\bi'd (?=been|had|never|already)", "I had "),
        (r"\bi'd\b", "I would"),
        (r"\bwe're\b", "we are"),
        (r"\bwe've\b", "we have"),
        (r"\bwe'll\b", "we will"),
        (r"\blet's\b", "let us"),
        (r"\bgonna\b", "going to"),
        (r"\bwanna\b", "want to"),
        (r"\b(name|birthday|flight|favou?rite [\w ]{2,20})'s (?!name)", r"\1 is "),
        (
            r"^(my(?: \w+){1,2})'s (?=(?:an?|allergic|diabetic|vegan|vegetarian|called|named|from|pregnant|\d|deaf|blind|the)\b)",
            r"\1 is ",
        ),
    )
)
_APOSTROPHE = re.compile(r"’|(?<=[^\W_])[`´](?=[^\W_])")
_BULLET = re.compile(r"^(?:[-*•–]|\d{1,2}[.)])\s+")
_OPENERS = re.compile(
    r"^(?:(?:well|so|also|and|but|plus|btw|by the way|oh|yeah|yes|yep|anyway|anyways|fyi|actually|honestly|basically"
    r"|hey|hi|hello|for context|for the record|just so you know|just to be clear|to be clear|please note(?: that)?"
    r"|(?:please )?remember(?: that)?|note(?: that)?|one more thing|first of all|as you know|as i (?:said|mentioned)"
    r"|like i said|to be honest|tbh|i mean|you know|you know what|guess what|it turns out(?: that)?|quick note|update"
    r"|edit|p\.?s\.?|correction|context|reminder|haha|lol|hmm|personally|in general|generally|obviously|speaking of which"
    r"|ok|okay|wow|aww?|thanks|thank you|no worries|sure|no|nope|nah|right(?=[,:])|sorry|oops|wait|fun fact|good news"
    r"|for me|of course|as a matter of fact|in fact|fortunately|unfortunately|luckily|sadly|importantly|important)"
    r"(?:[,:;!.–—-]+ ?| (?=(?:i|my|we|our|the|please|always|never|let|to|when|call)\b|\w+,? (?:i|my|we|our)\b)))",
    re.IGNORECASE,
)
_VOCATIVE = re.compile(r"^[A-Z][a-z]{1,20}[,!–-]+ (?=(?:I|My|my|We|we|Our|our)\b)")
_CLOSERS = re.compile(
    r"(?:(?: -)?,? (?:though|can not wait|too|as well|by the way|btw|haha|lol|you know|right|ok|okay|please|thanks|thank you|fyi|actually"
    r"|honestly|for sure|tbh|so yeah|if that helps|in case it helps|just so you know|of course|for now|to be honest"
    r"|personally|(?:so |and )?that's why|so much|very much|a lot|by far))+$",
    re.IGNORECASE,
)
_COMMENT = re.compile(
    r", which (?:is|was|has been|makes|made|feels|felt|helps) (?!called|in|at|on|near)[^,]*$", re.IGNORECASE
)
_STRESS = (
    r"(?:really|actually|honestly|definitely|absolutely|totally|basically|personally|literally|just|simply|also|still"
    r"|truly|certainly|clearly|obviously|kinda|sort of|kind of|generally|so)"
)
_STRESSED = re.compile(
    rf"^((?:I|we|my \w+|our \w+)(?: (?:am|are|is|have|has|do not|does not|do|will|had|was|were|can not))?) (?:{_STRESS} )+",
    re.IGNORECASE,
)
_EDGES = " \t.!…,;:~-–—*_"

_VERBS = words(
    "prefer like love hate enjoy dislike adore detest favor favour live reside work study teach run own rent lead manage "
    "speak play use drink eat smoke take suffer wear need want plan intend hope aim know maintain build write develop "
    "come belong commute exercise swim jog meditate practice practise train drive ride sleep wake get cook bake read "
    "watch listen collect volunteer travel tend avoid keep make follow support host deploy store ship start finish "
    "walk hike bike cycle dance sing paint draw sew knit garden fish surf ski climb code program design report mostly "
    "require identify celebrate attend visit call see meet think believe feel find buy sell pay send give bring help "
    "turn share spend do go have be code pray fast lift stretch order share stay park check look try wash clean set ask tell write test wait stop rely adopt review release merge migrate open close answer"
)
_MODALS = words("can will would should must could may might shall")
_ADVERBS = words(
    "always never usually often mostly generally normally typically rarely seldom sometimes mainly only now currently "
    "recently already officially finally both all still also just strongly much no longer not really absolutely totally"
)
_HABITS = words("always never usually often mostly normally typically rarely seldom sometimes only")
_PAST = words(
    "was were had did went got met saw bought took made left came ran began gave found lost won told said ate been thought knew felt"
)
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\S")
_PERSONS = re.compile(
    r"(?<![\w'-])(I|i|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|us|[Oo]ur|[Oo]urs|[Oo]urselves)(?![\w'-])(?! ?/)"
)
_AND_I = re.compile(rf"^(?:my (?P<relative>{PERSON})|(?P<name>{NAME})) and (?:I|me)\b", re.IGNORECASE)
_I_AND = re.compile(rf"^(?:me|I) and (my {PERSON})(?= )", re.IGNORECASE)
_LET_US = re.compile("^let us ", re.IGNORECASE)
_ACTOR = re.compile(r"(?<![\w'-])(?:I|we)(?![\w'-])", re.IGNORECASE)
_LATER_AM = re.compile(r"(?<![\w'-])(I) am\b", re.IGNORECASE)
_LATER_WAS = re.compile(r"(?<![\w'-])(I) was\b", re.IGNORECASE)
_FOLLOWING = re.compile(r"( and|, and| but|,) ((?:also |then |now |never |always )?)([a-z]+)(?= [\w\d])")


def plain(sentence: str) -> str:
    """Reduce a sentence to what it says: no fillers, no contractions, no marks at its ends."""
    text = _BULLET.sub("", " ".join(_APOSTROPHE.sub("'", sentence).split()))
    for pattern, by in _CONTRACTIONS:
        text = pattern.sub(by, text)
    text = _COMMENT.sub("", text)
    for _ in range(4):
        before = text
        text = _VOCATIVE.sub("", _OPENERS.sub("", text.lstrip(_EDGES)))
        text = _CLOSERS.sub("", _without_end(text))
        if text == before:
            break
    return _I_AND.sub(r"\1 and I", _STRESSED.sub(r"\1 ", text))


def statement(clause: str, subject: str, *, team: bool) -> str:
    """Say of a subject what it says of itself: "I prefer tea" of Alice is "Alice prefers tea".

    Parameters
    ----------
    subject : str
        ``the user`` or a name.
    team : bool
        Whether "we" are people who work together.
    """
    clause = _LET_US.sub("we decided to ", clause)
    together = _AND_I.match(clause)
    if together:
        other = f"\ufffa {together['relative']}" if together["relative"] else together["name"]
        clause = f"\ufff9 and {other}{clause[together.end() :]}"
    clause = _conjugated(clause, team)
    together_as = f"{subject}'s team" if team else f"{subject} and others"
    state = {"named": bool(together), "acting": False}

    def replaced(found: re.Match[str]) -> str:
        return _person(found[0].casefold(), subject, together_as, state)

    text = _PERSONS.sub(replaced, clause).replace("\ufff9", subject).replace("\ufffa", "their")
    return text[:1].upper() + text[1:]


def _person(word: str, subject: str, together: str, state: dict[str, bool]) -> str:
    was_named, was_acting = state["named"], state["acting"]
    state["named"] = True
    if word in {"i", "we"}:
        state["acting"] = True
        if was_acting:
            return "they"
        return subject if word == "i" else together
    if word in {"my", "our"}:
        return "their" if was_named else f"{subject}'s"
    if word in {"mine", "ours"}:
        return "theirs" if was_named else f"{subject}'s"
    if word in {"myself", "ourselves"}:
        return "themselves"
    return "them" if was_named else subject


def _conjugated(clause: str, team: bool) -> str:
    """Put the verbs of the first subject into the third person, and those of later ones into the plural."""
    found = _ACTOR.search(clause)
    if found is None:
        return clause
    start = found.end()
    later = _LATER_AM.sub(r"\1 are", clause[start:])
    later = _LATER_WAS.sub(r"\1 were", later)
    if found[0].casefold() == "we" and not team:
        return clause[:start] + later
    position, is_habit = 0, False
    for one in _WORD.finditer(later):
        word = one[0].casefold()
        if word in _ADVERBS:
            is_habit = is_habit or word in _HABITS
            continue
        third = _third(word) or (_regular(word) if is_habit and _may_be_present(word) else None)
        if third is None:
            break
        position = one.start() + len(third)
        later = later[: one.start()] + third + later[one.end() :]
        if word not in {"do", "have"} and not _CONDITION.match(clause):
            later = later[:position] + _FOLLOWING.sub(_coordinate, later[position:])
        break
    return clause[:start] + later


def _coordinate(found: re.Match[str]) -> str:
    link, adverb, verb = found.groups()
    third = _third(verb) if verb in _COORDINATED else None
    return f"{link} {adverb}{third or verb}"


_CONDITION = re.compile(r"(?:if|when|whenever|unless|before|after|every time)\b", re.IGNORECASE)
_COORDINATED = words(
    "work live speak prefer use own teach study have hate love am do like want need manage lead run train"
)


def _third(verb: str) -> str | None:
    """Give the third person of a verb, or ``None`` if it has the same form in each person, as far as is known."""
    if verb in _THIRD:
        return _THIRD[verb]
    return None if verb in _MODALS or verb not in _VERBS else _regular(verb)


def _regular(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else verb + "s"


def _may_be_present(word: str) -> bool:
    return word.isalpha() and not word.endswith(("ed", "ing")) and word not in _MODALS | _PAST


_THIRD = {"am": "is", "are": "is", "were": "was", "have": "has", "do": "does", "go": "goes"}


def _without_end(text: str) -> str:
    end = len(text)
    while end and not (text[end - 1].isalnum() or text[end - 1] in ")\"'%+#*/>]}`€$£°"):
        end -= 1
    return text[:end]
