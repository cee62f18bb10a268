"""Who or what a statement is about, and whether two statements are about the same.

Pure. The subject is what stands before the main verb; "the user" and "I" are one, "my sister" is somebody else.
"""

from enum import StrEnum

from recollect.reconciling import lexicon
from recollect.reconciling.tokens import Kind, Reading, Token

_AGES = frozenset(
    ["young", "younger", "old", "older", "elder", "eldest", "youngest", "little", "jünger", "jüngere", "ältere"]
)


class Subjects(StrEnum):
    """How the subjects of two statements compare."""

    SAME = "same"
    UNSURE = "unsure"
    DIFFERENT = "different"


def subject(reading: Reading) -> tuple[Token, ...]:
    """Give the tokens that a statement is about; none when it does not say."""
    head = reading.tokens[: reading.head]
    if any(token.key == "i" for token in head):
        return tuple(token for token in head if token.key == "i")[:1]
    if head and head[0].kind is Kind.LINK:
        return ()
    return tuple(token for token in head if token.kind not in (Kind.LINK, Kind.DATE))


def compare(one: Reading, other: Reading) -> Subjects:
    """Compare the subjects of two statements; a name or an age added to the same noun leaves it the same."""
    first, second = subject(one), subject(other)
    keys, more = {token.key for token in first}, {token.key for token in second}
    if keys == more or keys - {"my"} == more - {"my"} != frozenset():  # "the team", "my team"
        return Subjects.SAME if keys else Subjects.UNSURE
    if not keys or not more:
        return Subjects.UNSURE
    extra = [token for token in (*first, *second) if token.key in keys ^ more]
    if (keys < more or more < keys) and all(t.kind is Kind.NAME or t.text.casefold() in _AGES for t in extra):
        return Subjects.SAME
    return Subjects.DIFFERENT


def is_person(reading: Reading) -> bool:
    """Tell whether a statement is about the user, a relative or somebody named."""
    about = subject(reading)
    return bool(about) and (about[-1].key in lexicon.PEOPLE or all(token.kind is Kind.NAME for token in about))
