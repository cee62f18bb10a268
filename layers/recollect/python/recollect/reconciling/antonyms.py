"""Words that exclude each other as values of one attribute.

Pure. Keys are those of a reading (``lexicon`` forms, else stems). Pairs of the first table leave nothing between
them: "not open" is "closed". The others may: "not early" need not be "late".
"""

from recollect.reconciling import senses
from recollect.reconciling.tokens import Kind, Token
from recollect.reconciling.wordlists import keys
from recollect.text import stem

_COMPLEMENTS = (
    "open closed, like dislike, open close, on off, enabled disabled, enable disable, "
    "active inactive, alive dead, true false, employed unemployed, work unemployed, marry unmarried, "
    "public private, present absent, paid unpaid, pay unpaid, valid invalid, online offline, "
    "possible impossible, allowed forbidden, complete incomplete, available unavailable, with without, always never, "
    "locked unlocked, "
)
_OPPOSITES = (
    "hell "
    "dunkel, hellen dunklen, clair sombre, claro oscuro, claro escuro, chiaro scuro, warm cold, quick slow, morning "
    "evening, before after, vor nach, avant après, antes después, antes depois, prima dopo, single marry, marry "
    "divorced, single divorced, marry separated, marry widowed, single engaged, vegetarian vegan, alone together, "
    "great terrible, easy hard, quiet loud, permanent temporary, fresh frozen, single-player multiplayer, british "
    "american, imperial metric, confident nervous, public confidential, happy sad, healthy ill, strict lenient, "
    "manually automatically, remote onsite, remotely onsite, approve reject, summer winter, weekly daily, weekly "
    "monthly, daily monthly, monthly yearly, tabs spaces, in-person online, never sometimes, never often, always "
    "sometimes "
)


_DENYING = frozenset(["un", "in", "im", "dis", "non", "ir", "il"])
_DENIED_MIN_CHARS = 4


_FREQUENCIES = keys("hourly daily nightly weekly monthly quarterly yearly")


def _pairs(table: str) -> frozenset[frozenset[str]]:
    plain = [pair.split() for pair in table.split(",") if pair.strip()]
    return frozenset(frozenset({one, other}) for a, b in plain for one in (a, stem(a)) for other in (b, stem(b)))


_COMPLEMENT_PAIRS = _pairs(_COMPLEMENTS)
_OPPOSITE_PAIRS = _COMPLEMENT_PAIRS | _pairs(_OPPOSITES)


def are_opposite(one: str, other: str) -> bool:
    """Tell whether two keys exclude each other: pairs of the tables, and a word with a prefix that denies it.

    Examples
    --------
    >>> are_opposite("like", "dislike"), are_opposite("uncomfortabl", "comfortabl"), are_opposite("late", "plate")
    (True, True, False)
    """
    are_frequencies = one != other and {one, other} <= _FREQUENCIES
    return are_frequencies or _is_denied(one, other) or frozenset({one, other}) in _OPPOSITE_PAIRS


def _is_denied(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= _DENIED_MIN_CHARS and long.endswith(short) and long.removesuffix(short) in _DENYING


def exclude_each_other(one: Token, other: Token) -> bool:
    """Tell whether two words exclude each other, by the tables or by the lexicon."""
    are_words = one.kind is other.kind is Kind.WORD
    return are_opposite(one.key, other.key) or (are_words and senses.are_opposite(one.word, other.word))


def are_complements(one: str, other: str) -> bool:
    """Tell whether two keys exclude each other and leave nothing between them."""
    return _is_denied(one, other) or frozenset({one, other}) in _COMPLEMENT_PAIRS
