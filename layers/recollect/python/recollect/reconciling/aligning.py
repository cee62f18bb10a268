"""Which words of two statements correspond, whatever their order, and what is left without a counterpart.

Pure. Words correspond when their keys are equal, when they are synonyms, forms of one word, or one word written as
two. What is left over decides: nothing, and the two say the same.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from recollect.reconciling import lexicon, senses
from recollect.reconciling.antonyms import are_opposite
from recollect.reconciling.numbers import MONEY
from recollect.reconciling.thesaurus import are_synonyms
from recollect.reconciling.tokens import Kind, Reading, Token
from recollect.reconciling.wordlists import keys, words
from recollect.text import stem

_FORM_ENDINGS = words(
    "s es ed d ing er ers or ion ation ment ly al e en t te ten et n ar ir iendo ando endo ado ido ó é em am an ez ons ent r nt ndo nte do to re "
    "are ere ire ato uto ito st i y ies ied ist ists"
)
_FORM_MIN_CHARS = 4
PARTICLE_MAX_STEPS = 4  # "put some money aside"
_SHORT_FORM_MIN_CHARS = 3  # where both have an ending
_HOLLOW = keys(  # add nothing to a statement that is otherwise equal
    "have be my i their it they them he she him this that these those both own name named get take receive do go thing "
    "way place region area city town colour color coloured colored music flag option branch type kind sort age "
    "always much well mucho mucha muchos très sehr viel muito molto perform carry work job suffer locate located "
    "personal format aged all edad idade âge alter età form both style either too even already yet soon recently simply basically completely fully totally entirely "
    "instance mood sich dich mich play practice practise drink cup cups glass commute up roughly circa ca findet finden statt some any someone somebody keep remain let done don se si sich que #1 prendre take "
    "there one etre être tun machen hacer fazer fare then"
)
_WITH_DATES = keys(
    "year month fixé fissato fijado marcado festgelegt angesetzt hold held schedule plan happen occur set fall day date"
)
_WITH_TIMES = keys("morning afternoon evening night o'clock")
_WITH_MONEY = keys("pay cost amount charge spend")
_COMMANDING = keys("run execute invoke type call exécuter ejecutar executar eseguire ausführen")
_ON = words("on auf sur sobre su")
_WITH = words("with by via mit avec con com")
_IN_PROCEDURES = keys("use run execute always need should make sure exécuter ejecutar executar eseguire utiliser")


@dataclass(frozen=True, slots=True)
class Alignment:
    """Corresponding words of two statements.

    Parameters
    ----------
    pairs : tuple of (int, int)
        Positions among the strong tokens of the older and of the newer statement, in the order of the older.
    old, new : tuple of int
        Positions that have no counterpart and say something.
    loose : int
        How many of the pairs only correspond because one word says what the other says.
    """

    pairs: tuple[tuple[int, int], ...]
    old: tuple[int, ...]
    new: tuple[int, ...]
    loose: int = 0


def are_forms(one: str, other: str) -> bool:
    """Tell whether two words differ in a grammatical ending only; people are never forms of each other.

    Examples
    --------
    >>> are_forms("nadar", "nadando"), are_forms("voyag", "voyager"), are_forms("hijo", "hija"), are_forms("nut", "nuts")
    (True, True, False, False)
    """
    shortest = min(len(one), len(other))
    common = next((i for i in range(shortest) if one[i] != other[i]), shortest)
    first, second = one[common:], other[common:]
    least = _SHORT_FORM_MIN_CHARS if first and second else _FORM_MIN_CHARS
    if common < least or {one, other} & lexicon.PEOPLE:
        return False
    doubled = one[common - 1]
    first, second = (r[1:] if r[:1] == doubled and r[1:] in ("er", "ers") else r for r in (first, second))
    return all(not rest or rest in _FORM_ENDINGS for rest in (first, second)) and {first, second} != {"o", "a"}


def align(old: Reading, new: Reading, *, is_procedure: bool) -> Alignment:
    """Align the strong tokens of two statements."""
    builder = _Aligner(old.strong, new.strong)
    builder.match(lambda a, b: a.key == b.key)
    literal = frozenset((*_commands(old), *_commands(new))) if is_procedure else frozenset()
    builder.match(lambda a, b: _is_age(a.key, b.key) or _is_age(b.key, a.key))
    builder.match(lambda a, b: _is_hour(a.key, b.key) or _is_hour(b.key, a.key))
    if is_procedure:
        builder.match(lambda a, b: {a.key[:2], b.key[:2]} == {"@w", "@h"} and a.key[-1] == b.key[-1])
    builder.match(lambda a, b: a.key[:2] == b.key[:2] and are_forms(a.key, b.key) and _are_words(a, b))
    builder.match(lambda a, b: _are_same(a, b) and _are_words(a, b, literal))
    builder.match(lambda a, b: are_synonyms(a.key, b.key) and _are_words(a, b, literal))
    builder.match_compounds(old, new)
    builder.match_hyphens()
    builder.drop(_light(old, new, is_procedure=is_procedure))
    return builder.found()


def align_loosely(old: Reading, new: Reading, firm: Alignment, *, is_procedure: bool) -> Alignment:
    """Align further what one word says of the other, and leave out what is said by a word of the other statement."""
    literal = frozenset((*_commands(old), *_commands(new))) if is_procedure else frozenset()
    builder = _Aligner(old.strong, new.strong, firm)
    builder.match_phrases()
    about = {id(token) for reading in (old, new) for token in reading.tokens[: reading.head]}
    builder.match(
        lambda a, b: not {id(a), id(b)} <= about and _say_one(a, b) and _are_words(a, b, literal)  # boys are not men
    )
    builder.match_verbs(old, new)
    loose = len(builder.pairs) - len(firm.pairs)
    if not builder.old or not builder.new:  # what differs is explained by nothing
        builder.drop_implied(literal)
    return replace(builder.found(), loose=loose)


def _word(token: Token) -> str:
    return token.text.casefold()


def _say_one(one: Token, other: Token) -> bool:
    return not are_opposite(one.key, other.key) and (_says(one, other) or _says(other, one))


def _are_same(one: Token, other: Token) -> bool:
    return not are_opposite(one.key, other.key) and senses.are_same(_word(one), _word(other))


def _says(one: Token, other: Token) -> bool:
    return senses.says(_word(one), _word(other))


class _Aligner:
    def __init__(self, first: tuple[Token, ...], second: tuple[Token, ...], firm: Alignment | None = None) -> None:
        self.first, self.second = first, second
        self.old = dict.fromkeys(range(len(first)) if firm is None else firm.old)
        self.new = dict.fromkeys(range(len(second)) if firm is None else firm.new)
        self.pairs: list[tuple[int, int]] = [] if firm is None else list(firm.pairs)

    def found(self) -> Alignment:
        return Alignment(tuple(sorted(self.pairs)), tuple(sorted(self.old)), tuple(sorted(self.new)))

    def match(self, corresponds: Callable[[Token, Token], bool]) -> None:
        if not self.new:
            return
        for i in tuple(self.old):
            j = next((j for j in self.new if corresponds(self.first[i], self.second[j])), None)
            if j is not None:
                self._pair(i, j)

    def drop(self, light: frozenset[str]) -> None:
        counts = [
            any(t[at].kind is Kind.NUMBER and t[at].key not in light for at in free)
            for t, free in ((self.first, self.old), (self.second, self.new))
        ]
        self.old = {
            i: None
            for i in self.old
            if self.first[i].key not in light or (counts[1] and self.first[i].kind is Kind.NUMBER)
        }
        self.new = {
            j: None
            for j in self.new
            if self.second[j].key not in light or (counts[0] and self.second[j].kind is Kind.NUMBER)
        }

    def match_phrases(self) -> None:
        # "pass away" and "die", "put aside" and "save"
        for is_old, tokens, mine, others, free in (
            (True, self.first, self.old, self.second, self.new),
            (False, self.second, self.new, self.first, self.old),
        ):
            for at in tuple(mine):
                particle = next((i for i in range(at + 1, at + PARTICLE_MAX_STEPS) if i in mine), None)
                if at not in mine or particle is None:
                    continue
                phrase = f"{_word(tokens[at])}_{_word(tokens[particle])}"
                k = next(
                    (k for k in free if others[k].kind is Kind.WORD and senses.are_akin(phrase, _word(others[k]))), -1
                )
                if k >= 0:
                    for part in (at, particle):
                        self._pair(*((part, k) if is_old else (k, part)))

    def match_verbs(self, old: Reading, new: Reading) -> None:
        # A light verb beside another that says it: "has", "holds".
        verbs = [next((i for i, t in enumerate(r.strong) if t.key == r.verb), -1) for r in (old, new)]
        free = verbs[0] in self.old or verbs[1] in self.new
        taken = {i for i, _ in self.pairs}, {j for _, j in self.pairs}
        if -1 not in verbs and free and verbs[0] not in taken[0] and verbs[1] not in taken[1]:
            if _say_one(self.first[verbs[0]], self.second[verbs[1]]):
                self._pair(*verbs)

    def drop_implied(self, literal: frozenset[Token]) -> None:
        # "a married woman" beside "wife", which has its counterpart
        firsts, seconds = zip(*self.pairs, strict=True) if self.pairs else ((), ())
        first, second = {self.first[i] for i in firsts}, {self.second[j] for j in seconds}
        for tokens, mine, others in ((self.first, self.old, second), (self.second, self.new, first)):
            for at in tuple(mine):
                if any(_are_words(tokens[at], t, literal) and _says(t, tokens[at]) for t in others):
                    del mine[at]

    def match_compounds(self, old: Reading, new: Reading) -> None:
        if not self.old and not self.new:
            return
        parts = _joined(new), _joined(old)
        for i in tuple(self.old):
            self._match_compound(i, parts[0], self.first, self.new, is_old=True)
        for j in tuple(self.new):
            self._match_compound(j, parts[1], self.second, self.old, is_old=False)

    def match_hyphens(self) -> None:
        # "hand-washed" and "wash by hand"
        for is_old, tokens, mine, others, free in (
            (True, self.first, self.old, self.second, self.new),
            (False, self.second, self.new, self.first, self.old),
        ):
            for at in tuple(mine):
                if "-" not in tokens[at].text:
                    continue
                parts = [stem(part) for part in tokens[at].text.casefold().split("-")]
                found = [next((k for k in free if others[k].key == part), -1) for part in parts]
                if -1 not in found and len(set(found)) == len(found):
                    for k in found:
                        self._pair(*((at, k) if is_old else (k, at)))

    def _match_compound(
        self,
        at: int,
        other: dict[str, tuple[int, ...]],
        tokens: tuple[Token, ...],
        free: Iterable[int],
        *,
        is_old: bool,
    ) -> None:
        parts = other.get(tokens[at].key)
        if parts is None or not set(parts) <= set(free):
            return
        for part in parts:
            self._pair(*((at, part) if is_old else (part, at)))

    def _pair(self, i: int, j: int) -> None:
        self.old.pop(i, None)
        self.new.pop(j, None)
        self.pairs.append((i, j))


def _joined(reading: Reading) -> dict[str, tuple[int, ...]]:
    # "on stage" as "onstage", "stand up" as "standup", "build again" as "rebuild"
    found: dict[str, tuple[int, ...]] = {}
    at = -1
    before: Token | None = None
    for token in reading.tokens:
        at += token.kind is not Kind.LINK
        if before is not None and token.kind is not Kind.LINK:
            whole = before.key + token.key
            found[whole] = (at,) if before.kind is Kind.LINK else (at - 1, at)
        if reading.is_marked and token.kind is not Kind.LINK:
            found[f"re{token.key}"] = (at,)
        before = token
    return found


def _is_age(bare: str, amount: str) -> bool:
    # Somebody who is 5 is five years old.
    return bare[1:].isdecimal() and amount == f"#{int(bare[1:]) * 12} months"


def _is_hour(bare: str, time: str) -> bool:
    return bare[1:].isdecimal() and len(bare) < 4 and time == f"@t{int(bare[1:]):02}00"


def _commands(reading: Reading) -> Iterable[Token]:
    # What is typed to a machine has no synonyms ("make deploy", "make release").
    is_command = False
    for token in reading.tokens:
        if is_command and token.kind is not Kind.LINK:
            yield token
        is_command = token.key in _COMMANDING or (is_command and token.kind is not Kind.LINK)


def _are_words(one: Token, other: Token, literal: frozenset[Token] = frozenset()) -> bool:
    return all(token.kind in (Kind.WORD, Kind.NAME) and token not in literal for token in (one, other))


def _light(old: Reading, new: Reading, *, is_procedure: bool) -> frozenset[str]:
    found = _HOLLOW | (_IN_PROCEDURES if is_procedure else frozenset())
    for is_there, light in _LIGHT_WITH:
        if all(any(is_there(token) for token in reading.tokens) for reading in (old, new)):
            found |= light
    for links, light in _LIGHT_BESIDE:
        if any(token.key in links for reading in (old, new) for token in reading.tokens):
            found |= light
    if any(_is_our_team(one) and "i" in other.bag for one, other in ((old, new), (new, old))):
        found |= {"team"}
    return found


def _is_our_team(reading: Reading) -> bool:
    return any(before.key == "my" and token.key == "team" for before, token in pairwise(reading.tokens))


_LIGHT_WITH: tuple[tuple[Callable[[Token], bool], frozenset[str]], ...] = (  # when both have such a word
    (lambda token: token.kind is Kind.DATE, _WITH_DATES),
    (lambda token: token.key.startswith("@t"), _WITH_TIMES),
    (lambda token: token.key.endswith(tuple(MONEY)), _WITH_MONEY),
    (lambda token: token.key.endswith(" th"), frozenset({"day"})),
    (lambda token: token.key == "email", frozenset({"send", "sent"})),
    (lambda token: token.kind is Kind.NUMBER, frozenset({"long"})),
    (lambda token: token.key == "fluent", frozenset({"speak"})),
    (lambda token: token.key == "weekdai", frozenset({"daily"})),
)
_LIGHT_BESIDE = (  # when one has such a preposition
    (_ON, frozenset({"run", "host", "base", "keep"})),
    (_WITH, frozenset({"use"})),
)
