"""A statement as the rules see it: tokens with keys, the main verb, polarity, tense and markers.

Pure. Articles, copulas, auxiliaries and markers of correction are taken out of the tokens; what they said is in the
fields of the reading. Two tokens with one key mean the same.
"""

import re
from dataclasses import dataclass, field

from recollect.reconciling import dates, lexicon, numbers, senses, spelling
from recollect.reconciling.negation import polarity
from recollect.reconciling.tokens import Kind, Reading, Token
from recollect.reconciling.wordlists import words
from recollect.text import stem

_IRREGULAR_PAST = words(
    "had went ran ate wrote took left bought met saw got made knew grew was were became flew "
    "drove began spoke chose sold sent won lost paid gave found told"
)
ENGLISH_MIN_WORDS = 5  # of a text without a verb
ENGLISH_MIN_SHARE = 0.7  # of the words of a text that are in the lexicon
_BEFORE_NOUNS = frozenset({"the", "a", "an", "der", "die", "das", "den"})
PARTICIPLE_MIN_SHARE = 0.9  # of "overcome" behind "has"
VERB_MIN_SHARE = 0.6
VERB_MIN_SHARE_BY_SUBJECT = 0.15  # right after "I" or "the user"
_UNKNOWN_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00aa-\u024f]")


def read(text: str) -> Reading:
    """Read a statement."""
    unified = spelling.unified(text)
    written = spelling.words_of(unified)
    said = [word.casefold() for word in written]
    polar = polarity(said)
    builder = _Builder([written[i] for i in polar.kept], [said[i] for i in polar.kept])
    builder.run()
    is_known = not _UNKNOWN_SCRIPT.search(unified) and (
        any(word in lexicon.KNOWN for word in (*said, *unified.casefold().split()))
        or _is_english(said, has_verb=bool(builder.verb))
    )
    return Reading(
        text=text,
        tokens=tuple(builder.tokens),
        head=builder.head if builder.verb else 0,
        verb=builder.verb,
        is_past=builder.is_past,
        is_negative=polar.is_negative,
        has_ended=polar.has_ended,
        is_marked=builder.is_marked,
        intents=frozenset(builder.intents),
        is_known=is_known,
    )


def _is_english(said: list[str], *, has_verb: bool) -> bool:
    spelled = [word for word in said if word.isalpha()]
    known = sum(bool(senses.look_up(word).words) for word in spelled)
    return (has_verb or len(spelled) >= ENGLISH_MIN_WORDS) and known > ENGLISH_MIN_SHARE * len(spelled)


@dataclass(slots=True)
class _Builder:
    written: list[str]
    words: list[str]
    tokens: list[Token] = field(default_factory=list)
    head: int = 0
    verb: str = ""
    is_past: bool = False
    is_marked: bool = False
    intents: set[str] = field(default_factory=set)
    _is_owned: bool = False

    def run(self) -> None:
        index = 0
        if self.words and self.words[0] in lexicon.IMPLIED_SELF:
            self._add(self.written[0], "i", Kind.WORD)
        while index < len(self.words):
            index += self._time(index) or self._amount(index) or self._weak(index) or self._word(index)
        self._order_dates()

    def _at(self, index: int) -> str:
        return self.words[index] if 0 <= index < len(self.words) else ""

    def _add(self, text: str, key: str, kind: Kind) -> None:
        if kind is Kind.DATE:
            while self.tokens and self.tokens[-1].kind is Kind.LINK and self.tokens[-1].key in lexicon.BEFORE_TIME:
                self.tokens.pop()
        self.tokens.append(Token(text, key, kind))

    def _set_verb(self, key: str) -> None:
        if not self.verb:
            self.verb, self.head = key, len(self.tokens)

    def _time(self, index: int) -> int:
        word, written = self.words[index], self.written[index]
        half = self._at(index + 1) if self._at(index + 1) in {"am", "pm", "a.m", "p.m"} else None
        if half and not word.isdecimal():
            word = numbers.number_of(word) or word
        clock = dates.clock_of(word, half)
        if clock is None and word.isdecimal() and self._at(index + 1) == "uhr":
            clock = dates.clock_of(f"{word}:00", None)
        if clock is not None:
            self._add(written, clock, Kind.DATE)
            return 2 if half or self._at(index + 1) == "uhr" else 1
        parts = dates.iso_parts(word)
        single = dates.month_of(word, written) or dates.weekday_of(word)
        for part in parts or ([single] if single else []):
            self._add(written, part, Kind.DATE)
        return 1 if parts or single else self._day_or_year(index)

    def _day_or_year(self, index: int) -> int:
        word = self.words[index]
        digits = numbers.ordinal_of(word) or (word if word.isdecimal() else None)
        if digits is None:
            return 0
        is_by_month = self._is_month(index + 1) or (self._at(index + 1) in {"de", "of"} and self._is_month(index + 2))
        follows_month = bool(self.tokens) and self.tokens[-1].key.startswith("@m")
        if len(digits) <= 2 and 1 <= int(digits) <= 31 and (is_by_month or follows_month):
            self._add(self.written[index], f"@d{int(digits)}", Kind.DATE)
            return 1
        if (
            len(word) == 4
            and "1900" <= word <= "2100"
            and not self._is_unit(index + 1)
            and self._at(index - 1) not in "€$£"
        ):
            self._add(self.written[index], f"@y{word}", Kind.DATE)
            return 1
        return 0

    def _is_month(self, index: int) -> bool:
        return bool(self._at(index)) and dates.month_of(self.words[index], self.written[index]) is not None

    def _is_unit(self, index: int) -> bool:
        return numbers.is_unit(self._at(index))

    def _amount(self, index: int) -> int:
        word, written = self.words[index], self.written[index]
        if word in numbers.CURRENCIES:
            digits = numbers.number_of(self._at(index + 1))
            if digits is None:
                return 1
            self._add(written + self.written[index + 1], numbers.amount(digits, word), Kind.NUMBER)
            return 2
        ordinal = numbers.ordinal_of(word)
        if ordinal is not None:
            self._add(written, f"#{ordinal} th", Kind.NUMBER)
            return 1
        if re.fullmatch(r"\d+(-\d+)+", word):
            self._add(written, word, Kind.NAME)
            return 1
        digits = numbers.number_of(word)
        if digits is None:
            return 0
        unit = self._at(index + 1) if self._is_unit(index + 1) else None
        self._add(
            f"{written} {self.written[index + 1]}" if unit else written, numbers.amount(digits, unit), Kind.NUMBER
        )
        return 2 if unit else 1

    def _weak(self, index: int) -> int:
        word = self.words[index]
        by_self = bool(self.tokens) and self.tokens[-1].key == "i"
        if word in {":", "been"}:
            self._set_verb("be")
        elif word in lexicon.COPULAS or (word in {"bin", "war"} and by_self):
            self.is_past = self.is_past or (
                not self.verb and word in {"was", "were", "war", "était", "fue", "era", "foi"}
            )
            self._set_verb("be")
        elif word in lexicon.MARKERS:
            self.is_marked = True
        elif word in lexicon.PERFECT and self._is_participle(index + 1):
            pass
        elif word == "'s":  # "the user's wedding is in May", "the user's learning Greek"
            is_going_on = self._at(index + 1).endswith("ing") and not lexicon.COPULAS & set(self.words[index:])
            if is_going_on:
                self._set_verb("be")
            elif by_self and self.tokens[-1].text.casefold() in {"user", "i"}:
                self.tokens[-1] = Token(self.tokens[-1].text, "my", Kind.WORD)
        elif self._is_letter(index) or (
            word not in lexicon.ARTICLES and word not in lexicon.AUXILIARIES and word not in lexicon.FILLERS
        ):
            return 0
        return 1

    def _is_letter(self, index: int) -> bool:
        # "vitamin D", "plan A"; or the "a" of "prefere café a chá", which is no article
        word, written = self.words[index], self.written[index]
        is_over = word == "a" and bool(lexicon.PREFERS & set(self.words[:index])) and len(self.tokens) > self.head + 1
        return is_over or (len(word) == 1 and index > 0 and written.isupper() and word != "i")

    def _is_participle(self, index: int) -> bool:
        word = self._at(index)
        if word in lexicon.MARKERS:
            return self._is_participle(index + 1)
        is_regular = len(word) > 4 and word.endswith("ed")
        return is_regular or (word.isascii() and senses.verb_share(word) >= PARTICIPLE_MIN_SHARE)

    def _word(self, index: int) -> int:
        word, written = self.words[index], self.written[index]
        if word in lexicon.MY or word in lexicon.THEIR:
            key = "i" if word == "mi" and self._at(index + 1) in {"piace", "piacciono"} else "my"
            if word in lexicon.THEIR and not (self.tokens and self.tokens[0].key in {"i", "my"}):
                key = "their"
            self._add(written, key, Kind.WORD)
        elif word in lexicon.SELF and not (word == "user" and self._at(index - 1) in {"new", "each", "every", "any"}):
            self._is_owned = self._is_owner(index)
            self._add(written, "my" if self._is_owned else "i", Kind.WORD)
        elif written in {",", ";", "a"} or (self._is_link(index, word) and (index == 0 or written == word)):
            over = (
                word in {"to", "à", "a", "al", "ao", "alla"}
                and self.verb == "prefer"
                and len(self.tokens) > self.head + 1
            )
            self._add(written, "over" if over else word, Kind.LINK)
        else:
            self._content(index, word, written)
        return 1

    def _is_owner(self, index: int) -> bool:
        # "The mother of the user", before the verb: it is about her.
        before = index - 1
        if self._at(before) not in lexicon.GENITIVES and self._at(before) in lexicon.ARTICLES:
            before -= 1
        return before > 0 and not self.verb and self._at(before) in lexicon.GENITIVES

    def _is_link(self, index: int, word: str) -> bool:
        # A particle is no preposition: it stands at the end or before one ("is on", "log in with").
        following = self._at(index + 1)
        is_particle = word in {"on", "in", "up", "down", "over", "under", "by"} and (
            not following
            or following in {",", ";", "at", "in", "for", "with", "and", "or", "from", "during", "since", "until"}
        )
        return word in lexicon.LINKS and not (is_particle and index > 0)

    def _content(self, index: int, word: str, written: str) -> None:
        is_named = written[:1].isupper() and (
            index > 0 or not (word in lexicon.KNOWN or self._at(index + 1) in lexicon.ARTICLES)
        )
        is_code = any(c.isdecimal() or c in "@_+#" for c in word)
        key = lexicon.NOUN_FORMS.get(word)
        if key is None and not (is_named and index > 0):
            key = lexicon.VERB_FORMS.get(word)
        if key is None:
            base = None if is_named and index > 0 else senses.regular(word)
            key = word if is_code else stem(base or word.rstrip(".").replace("-", ""))
        if word in lexicon.INTENTS:
            self.intents.add(word)
        if not (is_named and index > 0) and self._is_verb(index, word, key):
            if not self.verb:
                self.is_past = word in _IRREGULAR_PAST or (word.endswith("ed") and word != "need")
            self._set_verb(key)
        self._add(written, key, Kind.NAME if is_named or is_code else Kind.WORD)

    def _is_verb(self, index: int, word: str, key: str) -> bool:
        if self.verb or word in lexicon.NOUN_FORMS or word.endswith("ings"):
            return False
        if key not in lexicon.VERBS and word not in lexicon.VERBS and stem(word) not in lexicon.VERBS:
            return self._is_other_verb(index, word)
        if self._at(index - 1) in {"the", "'s"} or self._follows_owner():
            return False
        if word not in lexicon.BASE_FORMS:  # an inflected form
            return not (word.endswith("ing") and index > 0)
        before = self.tokens[-1] if self.tokens else None
        return (
            before is None
            or before.key == "i"
            or before.kind is Kind.LINK
            or self._at(index - 1) in lexicon.AUXILIARIES
            or before.text.endswith("s")
            or before.key == "child"
        ) and self._at(index - 1) not in lexicon.ARTICLES

    def _follows_owner(self) -> bool:
        # "My walks", not "the mother of the user walks".
        return bool(self.tokens) and self.tokens[-1].key in {"my", "their"} and not self._is_owned

    def _is_other_verb(self, index: int, word: str) -> bool:
        before = self.tokens[-1] if self.tokens else None
        is_inflected = word.endswith(("s", "ed")) or senses.regular(word) is not None
        if before is None or before.kind is Kind.LINK or self._follows_owner() or not word.isascii():
            return False
        follows = before.key == "i" or self._at(index - 1) in lexicon.AUXILIARIES
        if not follows and (self._at(index - 1) in _BEFORE_NOUNS or lexicon.COPULAS & set(self.words[index:])):
            return False
        least = VERB_MIN_SHARE_BY_SUBJECT if follows else VERB_MIN_SHARE
        return (is_inflected or follows) and senses.verb_share(word) >= least

    def _order_dates(self) -> None:
        order = {"@m": 0, "@d": 1, "@y": 2}
        start = 0
        while start < len(self.tokens):
            end = start
            while end < len(self.tokens) and self.tokens[end].key[:2] in order and self.tokens[end].kind is Kind.DATE:
                end += 1
            self.tokens[start:end] = sorted(self.tokens[start:end], key=lambda token: order[token.key[:2]])
            start = max(end, start + 1)
