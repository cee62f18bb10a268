"""Which words of two statements correspond, whatever their order, and what is left without a counterpart.

Pure. Words correspond when their keys are equal, when they are synonyms, forms of one word, or one word written as
two. What is left over decides: nothing, and the two say the same.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise

from recollect.reconciling import lexicon, senses
from recollect.reconciling.antonyms import exclude_each_other
from recollect.reconciling.matching import Alignment, Matcher
from recollect.reconciling.numbers import MONEY
from recollect.reconciling.thesaurus import are_synonyms
from recollect.reconciling.tokens import Kind, Reading, Token
from recollect.reconciling.wordlists import keys, words

_FORM_ENDINGS = words(
    "s es ed d ing er ers or ion ation ment ly al e en t te ten et n ar ir iendo ando endo ado ido ó é em am an ez ons ent r nt ndo nte do to re "
    "are ere ire ato uto ito st i y ies ied ist ists"
)
_FORM_MIN_CHARS = 4
_SHORT_FORM_MIN_CHARS = 3  # where both have an ending
_HOLLOW = keys(  # add nothing to a statement that is otherwise equal
    "have be my i their it they them he she him this that these those both own name named get take receive do go thing "
    "way place region area city town colour color coloured colored music flag option branch type kind sort age "
    "always much well mucho mucha muchos très sehr viel muito molto perform carry work job suffer locate located "
    "personal format aged all edad idade âge alter età form both style either too even already yet soon recently simply basically completely fully totally entirely "
    "instance mood sich dich mich play practice practise drink cup cups glass commute up roughly circa ca findet finden statt some any someone somebody keep remain let done don se si sich que #1 prendre take "
    "there one etre être tun machen hacer fazer fare fa fait macht hace faz then"
)
_WITH_DATES = keys(
    "year month fixé fissato fijado marcado festgelegt angesetzt hold held schedule plan happen occur set fall day date"
)
_WITH_TIMES = keys("morning afternoon evening night o'clock")
_WITH_MONEY = keys("pay cost amount charge spend")
_COMMANDING = keys("run execute invoke type call exécuter ejecutar executar eseguire ausführen")
_ON = words("on auf sur sobre su")
_WITH = words("with by via mit avec con com")
_PLACING = lexicon.LINKS | words("off out away up down back apart together aside across along past beside top")
_IN_PROCEDURES = keys("use run execute always need should make sure exécuter ejecutar executar eseguire utiliser")


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
    matcher = Matcher(old.strong, new.strong)
    matcher.match(lambda a, b: a.key == b.key and not _is_namesake(a, b))
    literal = _literal(old, new, is_procedure=is_procedure)
    matcher.match(lambda a, b: _is_age(a.key, b.key) or _is_age(b.key, a.key))
    matcher.match(lambda a, b: _is_hour(a.key, b.key) or _is_hour(b.key, a.key))
    if is_procedure:
        matcher.match(lambda a, b: {a.key[:2], b.key[:2]} == {"@w", "@h"} and a.key[-1] == b.key[-1])
    matcher.match(lambda a, b: a.key[:2] == b.key[:2] and are_forms(a.key, b.key) and _are_words(a, b))
    matcher.match(lambda a, b: _are_same(a, b) and _are_words(a, b, literal))
    matcher.match_phrases(senses.are_same)
    matcher.match(lambda a, b: are_synonyms(a, b) and _are_words(a, b, literal))
    matcher.match_compounds(old, new)
    matcher.match_hyphens()
    matcher.drop(_light(old, new, is_procedure=is_procedure))
    return matcher.found()


def align_loosely(old: Reading, new: Reading, firm: Alignment, *, is_procedure: bool) -> Alignment:
    """Align further what one word says of the other, and leave out what a word of the other statement says.

    Not in the subjects: what holds for boys need not hold for men.
    """
    literal = _literal(old, new, is_procedure=is_procedure)
    about = {id(token) for reading in (old, new) for token in reading.tokens[: reading.head]}
    matcher = Matcher(old.strong, new.strong, firm)
    matcher.match_phrases(senses.are_akin)
    matcher.match(lambda a, b: not {id(a), id(b)} <= about and _say_one(a, b) and _are_words(a, b, literal))
    verbs = [next((i for i, token in enumerate(r.strong) if token.key == r.verb), -1) for r in (old, new)]
    matcher.match_verbs((verbs[0], verbs[1]), _say_one)
    matcher.drop_implied(lambda a, b: _says(a, b) and _are_words(a, b, literal))
    return matcher.found()


def narrower(old: Reading, new: Reading, firm: Alignment, found: Alignment) -> tuple[bool, bool]:
    """Tell whether the older, and whether the newer statement has a word that says more than its counterpart."""
    pairs = set(found.pairs) - set(firm.pairs)
    counts = Counter(i for i, _ in pairs), Counter(j for _, j in pairs)  # two for the words of a phrase
    loose = [(old.strong[i], new.strong[j]) for i, j in pairs if counts[0][i] == counts[1][j] == 1]
    ways = [(_says(one, other), _says(other, one)) for one, other in loose]
    return any(way == (True, False) for way in ways), any(way == (False, True) for way in ways)


def _literal(old: Reading, new: Reading, *, is_procedure: bool) -> frozenset[Token]:
    return frozenset((*_commands(old), *_commands(new))) if is_procedure else frozenset()


def _say_one(one: Token, other: Token) -> bool:
    return (_says(one, other) or _says(other, one)) and not exclude_each_other(one, other)


def _are_same(one: Token, other: Token) -> bool:
    return senses.are_same(one.word, other.word) and not exclude_each_other(one, other)


def _says(one: Token, other: Token) -> bool:
    is_told = Kind.WORD in (one.kind, other.kind) and not {one.word, other.word} & _PLACING
    return is_told and senses.says(one.word, other.word)


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
    are_words = all(token.kind in (Kind.WORD, Kind.NAME) and token not in literal for token in (one, other))
    return are_words and not _is_namesake(one, other)


def _is_namesake(one: Token, other: Token) -> bool:
    # A printer may be a Brother.
    return one.kind is not other.kind and bool({one.key, other.key} & lexicon.PEOPLE)


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
