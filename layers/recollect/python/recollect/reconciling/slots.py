"""The one place in which two statements of one shape differ, and whether its attribute can have one value only.

Pure. A slot is what stands between the longest common beginning and the longest common end. Whether another value
there replaces the old one is a matter of the attribute: one lives in one city and likes many things.
"""

from dataclasses import dataclass
from enum import StrEnum

from recollect.reconciling import dates, lexicon, numbers
from recollect.reconciling.actions import is_progressive
from recollect.reconciling.antonyms import exclude_each_other
from recollect.reconciling.subjects import is_person
from recollect.reconciling.tokens import Kind, Reading, Token
from recollect.reconciling.wordlists import keys, words

SLOT_MAX_TOKENS = 4
LASTING_TIMES = words("be due begin end open close expire leave arrive schedule wake get go sleep run")


_EVERY = frozenset({"every", "each", "alle", "cada", "ogni", "chaque"})
_AS = frozenset({"as", "als"})
_MEANS = _AS | {"with", "via", "mit", "avec", "con", "com"}
_DONE_WITH = keys(
    "format lint build compile run deploy test install start host manage track encrypt sign measure merge debug monitor"
)
_ASKING = frozenset({"ask", "call", "contact", "notifi", "page", "tell", "inform"})
_TOLD_MIN_TOKENS = 2
_ONE_MANNER = frozenset({"write", "answer", "store", "keep", "put", "format", "report"})
_HELD = frozenset({"go", "run", "send", "publish", "deploy", "arrive", "be", "due", "schedule", "meet", "begin", "end"})


class Effect(StrEnum):
    """What another value in the slot does to the old one."""

    REPLACES = "replaces"
    COEXISTS = "coexists"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Slot:
    """Where two statements of one shape differ.

    Parameters
    ----------
    start : int
        Position of the slot among the tokens of both statements.
    """

    old: tuple[Token, ...]
    new: tuple[Token, ...]
    start: int


def slot_of(old: Reading, new: Reading) -> Slot | None:
    """Find the one slot of two statements; ``None`` when they differ in more, or in an addition only."""
    a, b = _plain(old), _plain(new)
    start = 0
    while start < min(len(a), len(b)) and a[start].key == b[start].key:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end].key == b[-1 - end].key:
        end += 1
    before, after = a[start : len(a) - end], b[start : len(b) - end]
    if not before or not after or max(len(before), len(after)) > SLOT_MAX_TOKENS or start + end == 0:
        return None
    return Slot(before, after, start)


def kind_of(tokens: tuple[Token, ...]) -> str:
    """Name what a value is: a number with its dimension, a date, a weekday, a time, or text."""
    first = tokens[0]
    if all(token.kind is Kind.DATE for token in tokens):
        return dates.kind_of(first.key)
    if len(tokens) == 1 and first.kind is Kind.NUMBER:
        dimension = numbers.dimension_of(first.key)
        return f"number {'money' if dimension in numbers.MONEY else dimension}".rstrip()
    return "text"


def effect_of(slot: Slot, old: Reading, new: Reading) -> tuple[Effect, str]:
    """Decide what the new value does to the old one, and say why."""
    kind, other = kind_of(slot.old), kind_of(slot.new)
    shown = f"{_shown(slot.old)} became {_shown(slot.new)}"
    is_born = any(token.key == "born" for token in new.tokens)
    if (new.is_past or old.is_past or new.verb in lexicon.EVENTS) and not is_born:
        return Effect.COEXISTS, "both tell what happened, and both can have happened"
    if _is_label(slot, new):
        return Effect.REPLACES, f"same template, {shown}"
    if kind != other:
        return Effect.UNSURE, f"{_shown(slot.old)} and {_shown(slot.new)} are not of one kind"
    if kind.startswith("number"):
        return _number(slot, new, shown)
    if kind != "text":
        return _time(kind, new, shown)
    return _text(slot, old, new, shown)


def are_places_of_one_kind(old: tuple[Token, ...], new: tuple[Token, ...]) -> bool:
    """Tell whether two values are names of places such that one excludes the other: not a city and a country."""
    named = [[t for t in value if t.kind is Kind.NAME] for value in (old, new)]
    is_country = [any(t.key in lexicon.COUNTRIES for t in names) for names in named]
    return all(named) and is_country[0] == is_country[1]


def _has_inner_link(value: tuple[Token, ...]) -> bool:
    # A preposition that stood before a time is not among the tokens.
    kinds = [token.kind is Kind.LINK for token in value]
    are_times = {(t.kind is Kind.DATE, t.key in lexicon.RECURRING) for t in value if t.kind is not Kind.LINK}
    return (any(kinds[1:-1]) and not kinds[0]) or len(are_times) > 1


def _are_names(slot: Slot) -> bool:
    return all(token.kind is Kind.NAME for token in (*slot.old, *slot.new))


def _is_label(slot: Slot, new: Reading) -> bool:
    # A gate, a room, a floor: what stands behind the word tells where it is.
    before = _plain(new)[slot.start - 1].key if slot.start > new.head else ""
    are_labels = len(slot.old) == len(slot.new) == 1 and all(
        t.kind in (Kind.NAME, Kind.NUMBER) for t in (*slot.old, *slot.new)
    )
    is_thing = not is_person(new) and new.head > 0 and new.verb not in lexicon.MULTI_VALUED | lexicon.EVENTS
    return are_labels and before in lexicon.LABELS and (is_thing or new.verb in lexicon.SINGLE_VALUED | {"be"})


def _number(slot: Slot, new: Reading, shown: str) -> tuple[Effect, str]:
    reason = f"same template, number {shown}"
    before = _plain(new)[slot.start - 1] if slot.start else None
    is_bare = not numbers.dimension_of(slot.new[0].key)
    after = _plain(new)[slot.start + 1] if slot.start + 1 < len(_plain(new)) else None
    is_label = is_bare and before is not None and before.kind is Kind.WORD and slot.start > new.head + 1
    is_version = is_bare and before is not None and before.kind is Kind.NAME
    if is_label and after is None:
        return Effect.UNSURE, f"{shown}, which may be a label"
    verb = new.verb
    is_interval = slot.start > 0 and _plain(new)[slot.start - 1].key in _EVERY
    is_thing = is_interval or (
        not is_person(new) and new.head > 0 and verb not in lexicon.MULTI_VALUED and not (is_bare and after is None)
    )
    if (
        is_thing
        or numbers.dimension_of(slot.new[0].key) == "times"
        or verb in lexicon.STATES
        or verb in lexicon.SINGLE_VALUED
        or (_is_instruction(new) and not is_version)
    ):
        return Effect.REPLACES, reason
    return Effect.UNSURE, f"{reason}, of an attribute that may have several"


def _time(kind: str, new: Reading, shown: str) -> tuple[Effect, str]:
    if kind == "habit" and new.verb in _HELD and not is_person(new):
        return Effect.REPLACES, f"same template, every week on {shown}"
    if kind in {"date", "weekday", "time"} and new.verb in LASTING_TIMES | lexicon.SINGLE_VALUED:
        return Effect.REPLACES, f"same template, {kind} {shown}"
    if kind in {"date", "weekday"} and new.verb in lexicon.MULTI_VALUED - {"have"}:
        return Effect.COEXISTS, f"the {kind} {shown}, of something that can happen at both"
    return Effect.UNSURE, f"the {kind} {shown}, of something that may happen at both"


def _text(slot: Slot, old: Reading, new: Reading, shown: str) -> tuple[Effect, str]:
    verb = new.verb
    if any(_has_inner_link(value) for value in (slot.old, slot.new)):
        return Effect.UNSURE, f"{shown}, more than one value"
    in_verb = slot.start <= new.head and verb != "be" and not _is_instruction(new)
    is_opposite = _opposite(slot)
    goes_on = is_progressive(old) or is_progressive(new)
    if is_opposite and not goes_on and (in_verb or verb not in lexicon.MULTI_VALUED):
        return Effect.REPLACES, f"same template, {shown}, its opposite"
    if in_verb and slot.start == new.head and old.verb != verb:
        return Effect.UNSURE, f"{shown}: another verb"
    follows = slot.start <= new.head + 1 or all(t.kind is Kind.LINK for t in _plain(new)[new.head + 1 : slot.start])
    if verb == "be":
        return _copula(slot, old, new, shown)
    if _is_instruction(new):
        return _instruction(slot, new, follows, shown)
    return _verb_value(slot, new, follows, shown)


def _verb_value(slot: Slot, new: Reading, follows: bool, shown: str) -> tuple[Effect, str]:
    verb = new.verb
    as_role = slot.start and _plain(new)[slot.start - 1].key in {"as", "als", "como", "comme", "come"}
    if verb in {"live", "work"} and not are_places_of_one_kind(slot.old, slot.new):
        return Effect.UNSURE, f"same subject, {shown}, which may both be so"
    if verb == "name" and new.head > 1:
        return Effect.UNSURE, f"{shown}, perhaps another one"
    if verb in {"want", "like", "prefer"} and _are_names(slot) and _plain(new)[slot.start - 1].key == "name":
        return Effect.REPLACES, f"one name to be called by, {shown}"
    if (
        verb in {"want", "prefer"}
        and _are_names(slot)
        and slot.start > new.head + 2
        and _plain(new)[slot.start - 1].key == "in"
    ):
        return Effect.REPLACES, f"same wish, {shown}"
    if verb in lexicon.SINGLE_VALUED and follows and not as_role:
        return Effect.REPLACES, f"same subject, one value for '{verb}', {shown}"
    if verb in lexicon.MULTI_VALUED:
        return Effect.COEXISTS, f"'{verb}' can have several values: {_shown(slot.old)} and {_shown(slot.new)}"
    if new.is_marked and follows and len(slot.new) == 1:
        return Effect.REPLACES, f"same template, corrected: {shown}"
    return Effect.UNSURE, f"same template, {shown}, of an attribute that may have several values"


def _instruction(slot: Slot, new: Reading, follows: bool, shown: str) -> tuple[Effect, str]:
    is_rest = slot.start + len(slot.new) < len(_plain(new))
    is_language = new.verb in {"answer", "write"} and _are_names(slot)
    before = _plain(new)[slot.start - 1].key if slot.start else ""
    is_single = (_are_names(slot) or len(slot.old) == len(slot.new) == 1) and len(new.strong) > _TOLD_MIN_TOKENS
    if is_single and (
        (before in _MEANS and not is_rest and (before in _AS or _plain(new)[0].key in _DONE_WITH))
        or (before in _ASKING and _are_names(slot))
    ):
        return Effect.REPLACES, f"same instruction, {shown}"
    is_manner = new.verb in _ONE_MANNER and not is_rest and _plain(new)[slot.start - 1].key == "in"
    if is_manner and slot.start > 2:
        return Effect.REPLACES, f"same instruction, {shown}"
    if (
        follows
        and slot.start > 0
        and (is_language or (new.verb == "use" and is_rest and len(slot.old) == len(slot.new) == 1))
    ):
        return Effect.REPLACES, f"same instruction, {shown}"
    return Effect.UNSURE, f"instruction: {shown}"


def _copula(slot: Slot, old: Reading, new: Reading, shown: str) -> tuple[Effect, str]:
    tokens = _plain(new)
    head = {token.key for token in tokens[: new.head]}
    value = tokens[new.head : slot.start]
    if is_progressive(new) or is_progressive(old):
        return Effect.UNSURE, f"what is going on: {shown}"
    is_passive = bool(value) and value[0].key in lexicon.PASSIVE_SINGLE | {"born", "name", "marry"}
    is_place = slot.start > new.head and all(t.kind is Kind.LINK for t in value)
    of_several = bool(head & (lexicon.PEOPLE - lexicon.SINGLE_ROLES - {"i"}))
    if of_several and ("name" in head or (value and value[0].key in {"name", "named"})):
        return Effect.UNSURE, f"{shown}, perhaps another one"
    if is_passive and all(t.kind is Kind.LINK for t in value[1:]):
        return Effect.REPLACES, f"same subject, one value for '{value[0].key}', {shown}"
    if is_place or slot.new[0].kind is Kind.LINK is slot.old[0].kind:
        place = tokens[slot.start - 1].key if is_place else slot.new[0].key
        if place in {"in", "at", "on", "à", "en", "em", "a", "from"} and are_places_of_one_kind(slot.old, slot.new):
            return Effect.REPLACES, f"same subject in one place, {shown}"
        return Effect.UNSURE, f"same subject, {shown}"
    if head & lexicon.NAMING:
        return Effect.REPLACES, f"one value for '{' '.join(t.text for t in tokens[: new.head])}', {shown}"
    return _copula_value(slot, new, value, shown)


def _copula_value(slot: Slot, new: Reading, value: tuple[Token, ...], shown: str) -> tuple[Effect, str]:
    tokens = _plain(new)
    head = {token.key for token in tokens[: new.head]}
    is_named = _are_names(slot)
    roles = lexicon.PEOPLE | lexicon.SINGLE_ROLES
    is_my = [t.key for t in value] == ["my"]
    if is_my and all(t.key in roles for t in (*slot.old, *slot.new)):
        return Effect.COEXISTS, f"a person can be both: {_shown(slot.old)} and {_shown(slot.new)}"
    if value or not head:
        return Effect.UNSURE, f"same template, {shown}"
    if is_person(new) and not (is_named and head & lexicon.SINGLE_ROLES):
        are_roles = all(t.key in roles or t.kind is Kind.NAME for t in (*slot.old, *slot.new))
        both = f"a person can be both: {_shown(slot.old)} and {_shown(slot.new)}"
        return (Effect.COEXISTS if are_roles else Effect.UNSURE), both
    are_colours = all(t.key in lexicon.COLOURS for t in (*slot.old, *slot.new))
    if is_named or are_colours or "#" in slot.new[0].key:
        return Effect.REPLACES, f"one value for '{' '.join(t.text for t in tokens[: new.head])}', {shown}"
    return Effect.UNSURE, f"same subject, {shown}, which may both be so"


def role_change(slot: Slot, old: Reading, new: Reading) -> bool:
    """Tell whether two names are given for one role that one person fills ("Karen is my manager", "Tim is …")."""
    named = all(token.kind is Kind.NAME for token in (*slot.old, *slot.new))
    if not named or slot.start or old.verb != "be" or new.verb != "be" or len(slot.new) != new.head:
        return False
    tail = _plain(new)[new.head :]
    keys = [t.key for t in tail]
    at = next((i for i, key in enumerate(keys) if key in lexicon.SINGLE_ROLES), None)
    return at is not None and (at == 0 or keys[:at] == ["my"]) and (keys[0] == "my" or len(keys) > 1)


def _opposite(slot: Slot) -> bool:
    old = [t for t in slot.old if t.kind is not Kind.LINK] or slot.old
    new = [t for t in slot.new if t.kind is not Kind.LINK] or slot.new
    return len(old) == len(new) == 1 and exclude_each_other(old[0], new[0])


def _is_instruction(reading: Reading) -> bool:
    return bool(reading.verb) and reading.head == 0 and reading.verb != "be"


def _plain(reading: Reading) -> tuple[Token, ...]:
    return tuple(token for token in reading.tokens if token.key != ",")


def _shown(tokens: tuple[Token, ...]) -> str:
    return " ".join(token.text for token in tokens)
