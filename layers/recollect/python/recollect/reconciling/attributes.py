"""Attributes with one value that statements of different shapes name: where somebody lives, works, what something is.

Pure. "User lives in Berlin" and "User moved to Hamburg last month" have no common template, and one attribute.
"""

from dataclasses import dataclass

from recollect.reconciling.slots import kind_of
from recollect.reconciling.subjects import is_person, subject
from recollect.reconciling.tokens import Kind, Reading, Token

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


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a subject, with one value."""

    name: str
    value: tuple[Token, ...]


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
