"""What a read statement consists of: tokens with keys, and what was taken out of them.

Pure values.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

_MINUS = re.compile(r"(?<![\w])[-\u2212](?=\d)")
_JOINING = frozenset(
    [
        "and",
        "or",
        "but",
        "while",
        "because",
        "und",
        "oder",
        "aber",
        "weil",
        "et",
        "ou",
        "mais",
        "car",
        "y",
        "o",
        "pero",
        "porque",
        "e",
        "ed",
        "mas",
        "ma",
    ]
)
_SIGNS = frozenset("#%&@")


class Kind(StrEnum):
    """What a token is."""

    WORD = "word"
    NAME = "name"
    NUMBER = "number"
    DATE = "date"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Token:
    """One word or amount: as it is written, and the key that equal meanings share."""

    text: str
    key: str
    kind: Kind

    @property
    def word(self) -> str:
        """The text whatever its case, as the lexicon has it."""
        return self.text.casefold()


@dataclass(frozen=True, slots=True)
class Reading:
    """What the rules know of a statement.

    Parameters
    ----------
    head : int
        Number of tokens before the main verb; 0 for an instruction or when no verb is found.
    verb : str
        Key of the main verb, ``be`` for a copula; empty when none is found.
    is_past, is_negative, has_ended, is_marked : bool
        Told in the past tense; denied; said to be so no more; corrects something ("now", "actually", …).
    intents : frozenset of str
        Words that make it a wish, a guess or something former.
    is_known : bool
        Whether it is in a language that the rules know.
    """

    text: str
    tokens: tuple[Token, ...]
    head: int
    verb: str
    is_past: bool
    is_negative: bool
    has_ended: bool
    is_marked: bool
    intents: frozenset[str]
    is_known: bool

    @property
    def strong(self) -> tuple[Token, ...]:
        """The tokens that carry content: all but prepositions, conjunctions and commas."""
        return tuple(token for token in self.tokens if token.kind is not Kind.LINK)

    @property
    def has_clauses(self) -> bool:
        """Whether it may say several things, joined by "and" and the like."""
        return any(token.key in _JOINING for token in self.tokens)

    @property
    def bag(self) -> Counter[str]:
        """How often each key of the strong tokens occurs."""
        return Counter(token.key for token in self.strong)


def plain(text: str) -> str:
    """Take case, spacing, punctuation and compatibility forms out of a text; signs that carry meaning stay.

    Examples
    --------
    >>> plain("Wi-Fi costs €5!"), plain("C++") == plain("C"), plain("-5 °C") == plain("5 °C")
    ('wificosts€5', False, False)
    """
    signed = _MINUS.sub("\u2212", unicodedata.normalize("NFKC", text).casefold())
    return "".join(c for c in signed if c in _SIGNS or unicodedata.category(c)[0] not in "PZC")
