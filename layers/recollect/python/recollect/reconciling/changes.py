"""What a new statement says of a change: what it gives up, what it says is over, what has another value now.

Pure. The newer statement may say more than the change ("left X and now works at Y"), so that its clauses are compared
one by one; the older must say one thing only, or what else it says would be lost with it.
"""

import re
from collections.abc import Iterable
from itertools import pairwise

from recollect.reconciling import lexicon, senses, slots
from recollect.reconciling.actions import is_progressive
from recollect.reconciling.aligning import align
from recollect.reconciling.announcing import CHANGE_VERBS, RELATIVE, announces, is_changed_to, occasions
from recollect.reconciling.antonyms import exclude_each_other
from recollect.reconciling.matching import Alignment
from recollect.reconciling.pair import Finding, Pair
from recollect.reconciling.paraphrase import links_opposed
from recollect.reconciling.reading import read
from recollect.reconciling.subjects import Subjects, compare, is_person, subject
from recollect.reconciling.tokens import Kind, Reading, Token
from recollect.reconciling.wordlists import keys, words

_END = r"(?=\s+(?:to|for|with|by|and|in|on|at|since|because|nach|auf|zu|und|für|por|pelo|pela|para|as|of|y|e|a|à|et|pour|con|per|par)\b|[,;]|\.(?:\s|$)|$)"
_BEFORE_END = tuple(
    re.compile(pattern + _END, re.IGNORECASE)
    for pattern in (
        r"\b(?:moved?|switch(?:ed)?|migrat(?:ed|ing)|chang(?:ed|ing)|went|moving)\b.*?\bfrom\s+(.+?)",
        r"\bmoving there from\s+(.+?)",
        r"\b(?:instead of|in place of|rather than|au lieu de|à la place de|en lugar de|en vez de|em vez de|invece di|"
        r"al posto di|statt|anstelle von)\s+(.+?)",
        r"\b(?:replac(?:ed|es)|took over from|succeed(?:ed|s)|swapp(?:ed|s)|trad(?:ed|es)|exchang(?:ed|es)|left|quit|dropp(?:ed|s)|abandoned|ditched|"
        r"finish(?:ed|es)|complet(?:ed|es)|overcame|overcome|got over|recovered from|came (?:back |home )?from|returned from|shaved off|"
        r"threw away|threw out|remov(?:ed|es)|delet(?:ed|es)|uninstall(?:ed|s)|deprecat(?:ed|es)|phased out|"
        r"gave up|stopped using|stopped taking|no longer uses?|got rid of|sold|cancell?ed|retired|moved out of|"
        r"moved away from|broke up with|trocou|dejó|deixou|a quitté|ha lasciato|saiu d[aoe]|ersetzt)\s+(.+?)",
        r",\s*(?:and )?not\s+(.+?)",
        r"[;,.]\s*(\S+)\s+(?:is|are)\s+(?:no longer|not)\s+(?:used|needed|in use)",
        r"\bvon\s+(.+?)(?=\s+(?:nach|zu|auf)\b.*(?:umgezogen|gewechselt|umgestiegen|gezogen))",
        r"\b(?:mudó|mudou|pasó|cambió|passou|migró|migrou|trasferit[oa]|passat[oa]|passé|déménagé)\b.*?\b(?:de|da|do)\s+(.+?)",
        r"\b(?:nicht mehr|ya no|já não|non più|ne \S+ plus)\b(.+?)(?=,?\s+(?:sondern|sino|mas sim|ma|mais)\b)",
    )
)
_GIVEN_UP = (
    *_BEFORE_END,
    re.compile(
        r"^(.+?)\s+(?:(?:has|have|was|were|is|are)\s+)?(?:been\s+)?"
        r"(?:died|passed away|stolen|sold|cancell?ed|discontinued|shut down|closed down)\b",
        re.IGNORECASE,
    ),
)
_CLAUSE = re.compile(
    r"[,;.]\s+|,?\s+(?:and|but|because|after|so|und|aber|sondern|weil|that|dass|que|che|y|pero|sino|porque|et|mais|car|e|mas|ma)\s+"
)
_DOUBLY = re.compile(
    r"(?:\b(?:not|never|no|cannot|nicht|kein\w*|ne|não|non)|n't)\b.*\b(?:without|unless|until|except|only|nothing but|ohne|sans|sin|sem|senza)\b",
    re.IGNORECASE,
)
_CHANGE = keys(
    "plan schedule move change set increase decrease raise lower push postpone delay reschedule scale upgrade update "
    "become new old current switch bring forward back extend reduce cut drop rise grow"
)
_PARTICLES = words("up down back over off out forward")
DONE_MIN_SHARE = 0.9  # of a word that tells what is done
MAX_REST = 2  # words of the older statement that the newer one, which gives up its value, need not repeat
_OLD = keys("old previous former")


def given_up(pair: Pair) -> Finding | None:
    """Find what the new statement says was given up, and the old one says."""
    old, new = pair.old, pair.new
    if old.is_negative or old.is_past or old.intents != new.intents:
        return None
    left = [old.strong[i] for i in pair.aligned.old]
    if not pair.is_procedure and left and compare(old, new) is Subjects.DIFFERENT and not _is_of(old, new):
        return None
    if old.verb == "be" and any(_is_new(new, token.key) for token in subject(old)):
        return Finding("superseded", "says that there is a new one")
    for value in _values(new.text):
        named = {t.key for t in read(value).strong} - _OLD - {"i", "my"}
        if not named:
            continue
        if old.verb == "be" and named <= {t.key for t in subject(old)}:
            return Finding("superseded", f"says that {value} was given up")
        predicate = {t.key for t in old.strong} - {t.key for t in subject(old)}
        rest = [t for t in left if t.key not in named and t.key not in lexicon.VERBS]
        is_lost = len(rest) > (0 if old.has_clauses else MAX_REST)
        if named <= predicate and not is_lost and all(t.kind is Kind.WORD for t in rest):
            return Finding("superseded", f"says that {value} was given up")
    return None


def _is_new(new: Reading, key: str) -> bool:
    # "a new boss" where the memory says who the boss is
    is_there = any(one.key == "new" and other.key == key for one, other in pairwise(new.tokens))
    return is_there and key not in {"my", "i"} and new.verb in {"have", "be", "get", "buy"}


def _is_of(old: Reading, new: Reading) -> bool:
    # "User's phone" beside "User": something of the same person.
    firsts = [{t.key for t in subject(reading)[:1]} for reading in (old, new)]
    return firsts in ([{"my"}, {"i"}], [{"i"}, {"my"}])


def _values(text: str) -> Iterable[str]:
    for pattern in _GIVEN_UP:
        for found in pattern.finditer(text):
            yield found[1].strip()


def clauses(pair: Pair) -> tuple[Reading, ...]:
    """Give the clauses of the new statement, each with the subject that it leaves out."""
    parts = [part for part in _CLAUSE.split(pair.new.text) if part and part.strip(" .")]
    who = "I" if any(t.key == "i" for t in subject(pair.new)) else " ".join(t.text for t in subject(pair.new))
    found = []
    for part in parts:
        reading = read(part)
        found.append(reading if subject(reading) or not who else read(f"{who} {part}"))
    return tuple(found)


def is_over(old: Reading, clause: Reading) -> Finding | None:
    """Find that a clause says of what the old statement says that it is not, or no longer, so."""
    if is_double(clause) or is_double(old):
        return None
    if old.is_negative == clause.is_negative or compare(old, clause) is Subjects.DIFFERENT or old.intents:
        return None
    found = align(clause, old, is_procedure=False)
    said = [clause.strong[i] for i, _ in found.pairs]
    about = {t.key for t in subject(old)} | {"i", "my", "have", "be"}
    if found.old or (found.new and old.is_negative) or all(t.key in about for t in said):
        return None
    if found.new and (old.has_clauses or not clause.has_ended):
        return None
    said_now = "no longer so" if clause.has_ended else "one affirms what the other denies"
    return Finding("superseded", f"same statement, {said_now}")


def is_double(reading: Reading) -> bool:
    """Tell whether a statement denies with an exception ("not … without"), which affirms something."""
    return _DOUBLY.search(reading.text) is not None


def moved(pair: Pair) -> Finding | None:
    """Find that somebody moved out of where the old statement says they live, when neither place has a name."""
    old, new = pair.old, pair.new
    if old.verb != "live" or not any(t.key == "move" for t in new.tokens) or compare(old, new) is not Subjects.SAME:
        return None
    named = [t for r in (old, new) for t in r.tokens[r.head :] if t.kind is Kind.NAME]
    return None if named else Finding("superseded", "moved somewhere else")


def other_value(pair: Pair) -> Finding | None:
    """Find another value in the one place in which the two differ, wherever it stands."""
    old, new, found = pair.old, pair.new, pair.aligned
    is_change = announces(new)
    before, after = _left(old, found.old, is_change), _left(new, found.new, is_change)
    if is_change:
        after = _without_occasions(before, after, new, frozenset(j for _, j in found.pairs))
    before, after = _plain_dates(before), _plain_dates(after)
    if not before or not after or old.is_negative != new.is_negative or not _is_one_frame(pair, found):
        return None
    if _are_opposite(before, after, new) and not is_progressive(old) and not is_progressive(new):
        return Finding("superseded", f"{_shown(before)} became {_shown(after)}, its opposite")
    if _is_corrected(old, new, before, after) or (pair.is_procedure and _are_amounts(before, after)):
        return Finding("superseded", f"same template, {_shown(before)} became {_shown(after)}")
    kinds = slots.kind_of(before), slots.kind_of(after)
    if is_change and _is_new_value(before, after, kinds, old):
        return Finding("superseded", f"changed: {_shown(before)} became {_shown(after)}")
    if len(before) == len(after) == 1 and kinds[0] == kinds[1] == "text" and _is_exchanged(pair, before[0], after[0]):
        return Finding("superseded", f"changed: {_shown(before)} became {_shown(after)}")
    start = _plain_position(new, after[0])
    if kinds[0] != kinds[1] or ("text" in kinds and not _is_one_place(old, new, found, (before, after))):
        return None
    effect, reason = slots.effect_of(slots.Slot(before, after, start), old, new)
    return Finding("superseded", reason) if effect is slots.Effect.REPLACES else None


def _is_exchanged(pair: Pair, before: Token, after: Token) -> bool:
    # "is called master", "was renamed to main"
    old, new = pair.old, pair.new
    shared = {old.strong[i].key for i, _ in pair.aligned.pairs} - {"i", "my", "be", "have"}
    is_about = len(shared) > 1 or (bool(shared) and not is_person(old))
    is_value = old.tokens.index(before) >= old.head and old.verb not in lexicon.MULTI_VALUED | lexicon.EVENTS
    return is_about and is_value and before.kind is after.kind and not old.is_past and is_changed_to(new, after)


def excluded(pair: Pair) -> Finding | None:
    """Find that one says what the other's word denies ("eats meat", "is a vegetarian")."""
    for one, other in ((pair.old, pair.new), (pair.new, pair.old)):
        told = [t.word for t in one.tokens[one.head :] if t.kind is Kind.WORD]
        said = [t for t in other.tokens[other.head :] if t.kind is Kind.WORD and t.key not in CHANGE_VERBS]
        is_one = len(said) == 1 and other.verb in {"be", "becam", "becom", "turn", "go"}
        if not (is_one and told) or one.is_negative or other.is_negative or one.is_past or pair.old.intents:
            continue
        if compare(one, other) is Subjects.SAME and not pair.new.intents and senses.denies(said[0].word, told):
            return Finding("superseded", f"{said[0].text} excludes {' '.join(told)}")
    return None


def _plain_dates(value: tuple[Token, ...]) -> tuple[Token, ...]:
    # "next January"
    has_date = any(token.kind is Kind.DATE for token in value)
    return tuple(token for token in value if not (has_date and token.key in RELATIVE))


def _without_occasions(
    before: tuple[Token, ...], after: tuple[Token, ...], new: Reading, known: frozenset[int]
) -> tuple[Token, ...]:
    # "With the new hire", "since January", when the old value is no time itself.
    kinds = {token.kind for token in before}
    told = [new.strong[at] for at in occasions(new, known)]
    return tuple(token for token in after if not any(token is one for one in told) or token.kind in kinds - {Kind.WORD})


def _is_one_frame(pair: Pair, found: Alignment) -> bool:
    shared = [pair.old.strong[i].key for i, _ in found.pairs]
    is_told = pair.old.intents != pair.new.intents or links_opposed(pair.old, pair.new, found)
    return (
        bool(set(shared) - {"be", "have", "i"})
        and not is_told
        and (pair.is_procedure or compare(pair.old, pair.new) is not Subjects.DIFFERENT or _is_one_subject(pair, found))
    )


def _is_one_subject(pair: Pair, found: Alignment) -> bool:
    # "The library version" and "the library", "my salary" and "I earn": what one subject lacks is said elsewhere.
    about = [{"i" if t.key == "my" else t.key for t in subject(r)} - _CHANGE for r in (pair.old, pair.new)]
    lacking = [{r.strong[i].key for i in at} for r, at in ((pair.old, found.old), (pair.new, found.new))]
    return bool(about[0] & about[1]) and not about[0] & lacking[0] and not about[1] & lacking[1]


def _is_new_value(before: tuple[Token, ...], after: tuple[Token, ...], kinds: tuple[str, str], old: Reading) -> bool:
    if old.is_past or old.verb in lexicon.EVENTS or kinds[0] != kinds[1]:
        return False
    are_names = all(token.kind is Kind.NAME for token in (*before, *after))
    return kinds[0] != "text" or (are_names and slots.are_places_of_one_kind(before, after) and not is_person(old))


def _left(reading: Reading, positions: tuple[int, ...], is_change: bool) -> tuple[Token, ...]:
    left = tuple(reading.strong[i] for i in positions if reading.strong[i].key not in _CHANGE)
    if not is_change:
        return left
    idle = CHANGE_VERBS | _PARTICLES | lexicon.VERBS | {reading.verb}
    done = reading.tokens[reading.head : reading.head + 1] if reading.verb == "be" else ()  # "are retained"
    return tuple(
        t for t in left if t.key not in idle and not (t in done and senses.verb_share(t.word) >= DONE_MIN_SHARE)
    )


def _are_opposite(before: tuple[Token, ...], after: tuple[Token, ...], new: Reading) -> bool:
    # Being the opposite may come with detail ("single", "married to Ingrid"), also before it is said that it is so no more.
    is_corrected = new.is_marked and len(after) == 1 and all(token.kind is Kind.WORD for token in before)
    if len(before) != 1 and not is_corrected:
        return False
    if not any(exclude_each_other(token, after[0]) for token in before):
        return False
    return new.verb == "be" or is_corrected or (len(after) == 1 and new.verb not in lexicon.MULTI_VALUED)


def _is_corrected(old: Reading, new: Reading, before: tuple[Token, ...], after: tuple[Token, ...]) -> bool:
    # "now" beside one other word tells that the old one is out of date, but for what one can have several of.
    is_said = new.is_marked and len(before) == len(after) == 1 and before[0].kind is after[0].kind
    is_single = new.verb not in lexicon.MULTI_VALUED | lexicon.EVENTS and not is_progressive(new)
    is_about = all(
        r.strong.index(t) > 0 and r.tokens.index(t) >= r.head for r, t in ((old, before[0]), (new, after[0]))
    )
    return is_said and is_single and is_about and not old.is_past and not new.is_past


def _are_amounts(before: tuple[Token, ...], after: tuple[Token, ...]) -> bool:
    kinds = (Kind.NUMBER, Kind.DATE)
    are_values = all(token.kind in kinds for token in (*before, *after))
    return are_values and slots.kind_of(before[:1]) == slots.kind_of(after[:1])


def _is_one_place(
    old: Reading, new: Reading, found: Alignment, values: tuple[tuple[Token, ...], tuple[Token, ...]]
) -> bool:
    is_ordered = all(one[1] < other[1] for one, other in pairwise(found.pairs))
    spans = [
        _plain_position(reading, value[-1]) - _plain_position(reading, value[0]) + 1
        for reading, value in zip((old, new), values, strict=True)
    ]
    return is_ordered and old.verb == new.verb and spans == [len(value) for value in values]


def _plain_position(reading: Reading, token: Token) -> int:
    return [t for t in reading.tokens if t.key != ","].index(token)


def _shown(tokens: tuple[Token, ...]) -> str:
    return " ".join(token.text for token in tokens)
