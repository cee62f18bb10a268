"""What a statement announces: that something changed, and which of its words only tell when or on what occasion.

Pure.
"""

from itertools import pairwise

from recollect.reconciling.numbers import dimension_of
from recollect.reconciling.tokens import Kind, Reading, Token
from recollect.reconciling.wordlists import keys, words

CHANGE_VERBS = keys(
    "move change set increase decrease raise lower push postpone delay reschedule scale upgrade update become switch "
    "extend reduce shorten cut drop rise rose fall fell grow grew grown shrink shrank rewrite rewritten rename migrate downgrade "
    "shift bump turn convert transfer relocate replace adopt bring brought swap revert slip "
    "verschoben geändert erhöht gesenkt umbenannt gewechselt umgestiegen gestiegen gesunken "
    "aplazado movida aplazó cambió subió bajó pasó reporté déplacé passé changé augmenté baissé "
    "adiado adiada mudou subiu passou spostato spostata rinviato passato cambiato aumentato sceso salito"
)
_OCCASIONS = words("with after since following because due thanks as from in on at")
_WHEN = keys(
    "last next this ago month week year day quarter recently just finally officially again already late early start "
    "end begin since spring summer autumn fall winter new only still even meanwhile effective"
)
_NEW = frozenset({"new"})
_WAYS = words("up down back")  # "went up to", "is down to"
_SINCE = words("since from as seit ab depuis desde dal da")
_TO = words("to into auf zu nach à en a al para su in")
RELATIVE = keys("next last this coming")
_TIMES = frozenset({"seconds", "months"})


def announces(new: Reading) -> bool:
    """Tell whether a statement says that something is other than before."""
    is_told = new.is_marked or any(token.key in CHANGE_VERBS | _NEW for token in new.tokens)
    is_told = is_told or any(one.word in _WAYS and other.key == "to" for one, other in pairwise(new.tokens))
    first = new.tokens[:2]
    is_dated = len(first) == 2 and first[0].key in _SINCE and first[1].kind is Kind.DATE
    return not new.intents and (is_told or is_dated)


def is_changed_to(new: Reading, value: Token) -> bool:
    """Tell whether a value is what something was changed to ("renamed to main", "switched from vi to nano")."""
    at = next(i for i, token in enumerate(new.tokens) if token is value)
    is_led = at > 0 and new.tokens[at - 1].kind is Kind.LINK and new.tokens[at - 1].key in _TO
    return is_led and any(token.key in CHANGE_VERBS for token in new.tokens[:at])


def occasions(reading: Reading, known: frozenset[int]) -> frozenset[int]:
    """Find the words that tell when or on what occasion, by their positions among the strong tokens.

    Parameters
    ----------
    known : frozenset of int
        Positions of the words that the other statement has too; what leads to the first of them is an occasion.
    """
    strong = reading.strong
    found = {at for at, token in enumerate(strong) if token.key in _WHEN or _is_ago(strong, at)}
    if reading.tokens and reading.tokens[0].kind is Kind.LINK and reading.tokens[0].key in _OCCASIONS:
        found.update(range(min(known, default=0)))
    return frozenset(found | {at for at, token in enumerate(strong) if token.kind is Kind.DATE})


def _is_ago(strong: tuple[Token, ...], at: int) -> bool:
    is_time = strong[at].kind is Kind.NUMBER and dimension_of(strong[at].key) in _TIMES
    return is_time and at + 1 < len(strong) and strong[at + 1].key == "ago"
