"""Attributes with one value that statements of different shapes name: where somebody lives, works, what something is.

Pure. "User lives in Berlin" and "User moved to Hamburg last month" have no common template, and one attribute.
"""

from dataclasses import dataclass

from recollect.reconciling import merging
from recollect.reconciling.pair import Finding, Pair
from recollect.reconciling.slots import are_places_of_one_kind, kind_of
from recollect.reconciling.subjects import Subjects, compare, is_person, subject
from recollect.reconciling.tokens import Kind, Reading, Token
from recollect.reconciling.wordlists import words

_IN = frozenset(["in", "at", "to", "into", "nach", "à", "en", "em", "a", "para", "for", "bei", "chez", "na", "no"])
_CHANGES = frozenset(
    [
        "move",
        "chang",
        "reschedul",
        "postpon",
        "set",
        "switch",
        "push",
        "shift",
        "renam",
        "increas",
        "decreas",
        "rais",
        "lower",
    ]
)


_CLAUSES = words("and but because und aber weil et mais y pero e mas ma , ;")


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a subject, with one value."""

    name: str
    value: tuple[Token, ...]


def one_attribute(pair: Pair) -> Finding | None:
    """Find different shapes that give one attribute of one subject."""
    old, new = attribute_of(pair.old), attribute_of(pair.new)
    if old is None or new is None or old.name != new.name or compare(pair.old, pair.new) is not Subjects.SAME:
        return None
    before, after = [t.key for t in old.value], [t.key for t in new.value]
    if before == after:
        if old.name in {"residence", "employer"} and not pair.has_other_tense and not _differ_in_values(pair):
            merged = merging.joined(pair.old.text, pair.new.text)
            return Finding("merged", f"the same {old.name}, with other details", merged)
        return pair.unsure(f"the same {old.name}, with other details")
    if _may_be_one(before, after):
        return pair.unsure(f"{old.name}: {_shown(old.value)} and {_shown(new.value)} may be one")
    if old.name == "residence" and not are_places_of_one_kind(old.value, new.value):
        return pair.unsure(f"{_shown(old.value)} may lie in {_shown(new.value)}")
    if _says_more(pair, set(before)):
        return pair.unsure("the memory also says something else")
    is_told = old.name in {"residence", "employer"} or not (pair.old.is_past and not pair.new.is_marked)
    if is_told:
        return Finding("superseded", f"one {old.name}: {_shown(old.value)} became {_shown(new.value)}")
    return pair.unsure(f"{old.name}: {_shown(old.value)} and {_shown(new.value)}")


def _differ_in_values(pair: Pair) -> bool:
    # "to Rome with Ana" and "to Rome with Ben": not details of one thing.
    values = [{t.key for t in r.strong if t.kind is not Kind.WORD} for r in (pair.old, pair.new)]
    return bool(values[0] - values[1]) and bool(values[1] - values[0])


def _says_more(pair: Pair, replaced: set[str]) -> bool:
    # A second clause that the new statement does not repeat would be lost with the memory.
    has_clauses = any(token.key in _CLAUSES for token in pair.old.tokens)
    return has_clauses and bool(set(pair.old.bag) - set(pair.new.bag) - replaced - {pair.old.verb})


def _may_be_one(before: list[str], after: list[str]) -> bool:
    if before[0].startswith("@"):  # parts of a date: the same part with another value makes another date
        parts = {key[:2]: key for key in before}
        return all(parts.get(key[:2], key) == key for key in after)
    return bool(set(before) & set(after))


def attribute_of(reading: Reading) -> Attribute | None:
    """Find the single-valued attribute that a statement gives, or ``None``."""
    if reading.intents or reading.is_negative:
        return None
    tokens = reading.tokens
    for position, token in enumerate(tokens):
        following = tokens[position + 1 : position + 2]
        is_in = bool(following) and following[0].key in _IN
        if token.key == "move" and following and following[0].kind is Kind.NAME:  # "se mudó a Granada": "a" is gone
            return Attribute("residence", _chunk(tokens[position + 1 :]))
        if token.key in {"live", "move"} and is_in and not (reading.is_past and token.key == "live"):
            value = _chunk(tokens[position + 2 :])
            if value and value[0].kind is Kind.NAME:
                return Attribute("residence", value)
        if token.key in {"live", "move"} and position > 2 and tokens[position - 1].kind is Kind.NAME:
            value = _chunk_before(tokens[:position])  # "nach Dresden gezogen"
            if value:
                return Attribute("residence", value)
        if token.key == "work" and not (reading.is_past and reading.verb == "work"):
            return _employer(tokens[position + 1 :])
    return _copula(reading)


def _employer(tokens: tuple[Token, ...]) -> Attribute | None:
    for position, token in enumerate(tokens):
        if token.key in {"at", "for", "bei", "chez", "en", "na"}:
            value = _chunk(tokens[position + 1 :])
            return Attribute("employer", value) if value and value[0].kind is Kind.NAME else None
    return None


def _copula(reading: Reading) -> Attribute | None:
    if reading.verb != "be" or not subject(reading) or is_person(reading):
        return None
    tail = list(reading.tokens[reading.head :])
    while tail and (tail[0].kind is Kind.LINK or tail[0].key in _CHANGES):
        tail.pop(0)
    value = _chunk(tuple(tail))
    if not value or kind_of(value) in {"text", "relative", "habit"}:
        return None
    return Attribute(kind_of(value), value)


def _chunk(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    end = next((i for i, t in enumerate(tokens) if t.kind is Kind.LINK or t.kind is not tokens[0].kind), len(tokens))
    return tokens[:end]


def _chunk_before(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    start = next((i for i in reversed(range(len(tokens))) if tokens[i].kind is not Kind.NAME), -1)
    return tokens[start + 1 :] if start >= 0 and tokens[start].key in _IN else ()


def _shown(tokens: tuple[Token, ...]) -> str:
    return " ".join(token.text for token in tokens)
