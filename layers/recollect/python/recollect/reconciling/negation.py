"""Whether a statement denies: how often it negates, and whether it says that something ended.

Pure. Works on case-folded words in order; the words that negate are taken out, so that what is left can be compared
with the statement that is denied.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.reconciling.wordlists import words

_PHRASES: tuple[tuple[str, ...], ...] = tuple(
    tuple(phrase.split())
    for phrase in (
        "no longer",
        "not any more",
        "gave up",
        "given up",
        "gives up",
        "has stopped",
        "nicht mehr",
        "ne plus",
        "ya no",
        "já não",
        "non più",
        "não mais",
    )
)
_ENDED = frozenset(
    ["quit", "quits", "stopped", "stops", "cancelled", "canceled", "aufgehört", "ceased", "resigned", "resigns"]
)
_ENDING_TAILS = frozenset({"anymore", "mehr", "plus", "più", "mais"})
_AVOIDING = words(
    "avoid avoids avoided avoiding forbidden prohibited banned disallowed refrain refrains vermeidet vermeiden vermeide "
    "verboten untersagt évite évitent évitez éviter interdit interdite evita evitan evitam evitano evitar evitare "
    "prohibido prohibida proibido proibida vietato vietata"
)
_NOT = frozenset(
    [
        "not",
        "no",
        "never",
        "none",
        "cannot",
        "without",
        "nicht",
        "kein",
        "keine",
        "keinen",
        "keinem",
        "keiner",
        "nie",
        "niemals",
        "ne",
        "n",
        "pas",
        "jamais",
        "aucun",
        "aucune",
        "nunca",
        "jamás",
        "não",
        "nem",
        "non",
        "mai",
        "nessun",
        "nessuna",
    ]
)


@dataclass(frozen=True, slots=True)
class Polarity:
    """What is left of a statement without its negations.

    Parameters
    ----------
    kept : tuple of int
        Positions of the words that do not negate, in order.
    is_negative : bool
    has_ended : bool
        Whether it says that something which was so is so no more.
    """

    kept: tuple[int, ...]
    is_negative: bool
    has_ended: bool


def polarity(said: Sequence[str]) -> Polarity:
    """Find the negations among case-folded words (contractions already taken apart).

    French ``ne … pas`` and doubled particles count once: two words of negation in one clause make one denial.
    """
    kept: list[int] = []
    has_ended = is_negative = False
    index = 0
    while index < len(said):
        phrase = next((p for p in _PHRASES if tuple(said[index : index + len(p)]) == p), None)
        if phrase is not None:
            has_ended = is_negative = True
            index += len(phrase)
            continue
        word = said[index]
        if word in _AVOIDING:
            is_negative = not is_negative
        elif word in _ENDED:
            has_ended = is_negative = True
        elif word in _NOT and not (word == "mai" and index and said[index - 1].isdecimal()):
            is_negative = True
        elif word in _ENDING_TAILS and (is_negative or word == "anymore"):
            has_ended = True
        else:
            kept.append(index)
        index += 1
    return Polarity(tuple(kept), is_negative, has_ended)
