"""What two statements that agree have in common, and one text that holds what both say.

Pure. A statement holds another when every content word of the other is in it, in a place where it only adds detail.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from recollect.reconciling import lexicon
from recollect.reconciling.tokens import Kind, Reading, Token
from recollect.reconciling.wordlists import words

_AGES = frozenset(["young", "younger", "old", "older", "elder", "eldest", "youngest", "little"])
_DETAILS = lexicon.RECURRING | words("named name my alone together")
_DETAIL_ENDINGS = ("ly", "ed", "ing", "mente", "ment")
_AND = frozenset({"and", "or", "und", "oder", "et", "ou", "y", "o", "e"})
_INTERCHANGEABLE = words("in at on for with by as to over than")
_DIRECTIONS = words("out off away up down back")
_OTHERS = words("another other else second additional second extra")
_RELATIONAL = frozenset({"front", "top", "back", "middl", "bottom", "outsid", "insid", "next"})
_AKIN_MIN_CHARS = 5
_AKIN_MIN_SHARE = 0.75


def are_akin(one: str, other: str) -> bool:
    """Tell whether two words are forms of one word: most of each is a common beginning.

    Examples
    --------
    >>> are_akin("intolerant", "intoleranc"), are_akin("morning", "mornings"), are_akin("peanut", "pean")
    (True, True, False)
    """
    common = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return common >= max(_AKIN_MIN_CHARS, _AKIN_MIN_SHARE * max(len(one), len(other)))


def is_same_content(one: Reading, other: Reading) -> bool:
    """Tell whether two statements have the same content words, forms of one word counting as one."""
    first, second = _without_light(one), _without_light(other)
    missing, extra = list((first - second).elements()), list((second - first).elements())
    if not missing and not extra:
        return True
    words = {t.key for t in (*one.strong, *other.strong) if t.kind is Kind.WORD}
    if len(missing) != len(extra) or not words.issuperset((*missing, *extra)):
        return False
    return all(are_akin(a, b) for a, b in zip(sorted(missing), sorted(extra), strict=True))


def links_disagree(one: Reading, other: Reading) -> bool:
    """Tell whether prepositions differ such that one may say another thing ("from Oslo", "to Oslo")."""
    first, second = _links(one), _links(other)
    missing, extra = first - second, second - first
    if missing and extra and (missing.keys() | extra.keys()) & lexicon.CONTRASTING_LINKS:
        return True
    before = {word: link for link, word in _linked(one)}
    after = {word: link for link, word in _linked(other)}
    return any(
        before[word] != after[word] and not {before[word], after[word]} <= _INTERCHANGEABLE
        for word in before.keys() & after.keys()
    )


def is_swapped(one: Reading, other: Reading) -> bool:
    """Tell whether two statements of the same content words give them other roles.

    Names, numbers and people must keep their order. They may move with the preposition before them, within a list
    joined by "and", and from one side of a copula to the other.
    """
    shared = _named(one) & _named(other)
    first = [entity for entity in _entities(one) if entity[1] in shared]
    second = [entity for entity in _entities(other) if entity[1] in shared]
    if [key for _, key in first] == [key for _, key in second]:
        return False
    if _is_reordered_list(one, other):
        return False
    free = [[key for link, key in found if not link] for found in (first, second)]
    if free[0] == free[1] and sorted(first) == sorted(second):
        return False
    return not _turns_around_copula(one, other)


def adds_only_detail(short: Reading, full: Reading) -> bool:
    """Tell whether `full` says all that `short` says and more, without being about something else.

    What is added before the main verb must be a name or an age; a noun added right behind the last word of `short`
    would make another thing of it ("coffee", "coffee ice cream").
    """
    if (
        short.bag - full.bag
        or short.bag == full.bag
        or links_disagree(short, full)
        or is_swapped(short, _only(full, short))
    ):
        return False
    matched = _matched(short.strong, full.tokens)
    if matched is None:
        return _moved_detail(short, full)
    is_led = bool(full.tokens) and full.tokens[0].kind is Kind.LINK
    for position, token in enumerate(full.tokens):
        if position in matched or token.kind in (Kind.LINK, Kind.DATE):
            continue
        if token.key == full.verb != short.verb != "":
            return False
        in_head = position < full.head and not is_led
        if in_head and not (token.kind is Kind.NAME or token.text.casefold() in _AGES):
            return False
        if makes_another(token):
            return False
        behind_all = position - 1 == max(matched, default=-1)
        if behind_all and token.kind is Kind.WORD and not is_manner(token):
            return False
    return True


def makes_another(token: Token) -> bool:
    """Tell whether a word makes another thing of what it stands by ("another", "top of", "out")."""
    return token.key in _RELATIONAL | _DIRECTIONS | _OTHERS


def joined(old: str, new: str) -> str:
    """Put two texts that agree into one, the older first."""
    start = old.rstrip()
    return f"{start} {new.lstrip()}" if start.endswith((".", "!", "?", "。", "\u2026")) else f"{start}. {new.lstrip()}"


def is_manner(token: Token) -> bool:
    """Tell whether a word says how, how often or by what name, and makes no compound with the word before it."""
    return token.text.casefold().endswith(_DETAIL_ENDINGS) or token.key in _DETAILS


def _matched(short: Sequence[Token], tokens: Sequence[Token]) -> set[int] | None:
    found: set[int] = set()
    position = 0
    for token in short:
        while position < len(tokens) and tokens[position].key != token.key:
            position += 1
        if position == len(tokens):
            return None
        found.add(position)
        position += 1
    return found


def _moved_detail(short: Reading, full: Reading) -> bool:
    # The words of the shorter are all there in another order: what is added must be bound by prepositions or times.
    extra = full.bag - short.bag
    tokens = full.tokens
    if extra.keys() & (_RELATIONAL | _DIRECTIONS | _OTHERS):
        return False
    return all(
        token.kind in (Kind.DATE, Kind.NUMBER) or (position > 0 and tokens[position - 1].kind is Kind.LINK)
        for position, token in enumerate(tokens)
        if token.kind is not Kind.LINK and extra[token.key]
    )


def _only(full: Reading, short: Reading) -> Reading:
    kept = tuple(t for t in full.tokens if t.kind is Kind.LINK or t.key in short.bag)
    return Reading(full.text, kept, full.head, full.verb, False, False, False, False, frozenset(), True)


def _is_reordered_list(one: Reading, other: Reading) -> bool:
    # The same subject and the same things joined by "and", each with its own number.
    has_list = all(any(token.key in _AND for token in reading.tokens) for reading in (one, other))
    heads = [[token.key for token in reading.tokens[: reading.head]] for reading in (one, other)]
    return has_list and heads[0] == heads[1] and one.verb == other.verb and _counted(one) == _counted(other)


def _counted(reading: Reading) -> Counter[str]:
    strong = reading.strong
    links = Counter(f"{link} {key}" for link, key in _linked(reading).elements())
    counts = (
        f"{token.key} {strong[i + 1].key if i + 1 < len(strong) else ''}"
        for i, token in enumerate(strong)
        if token.kind is Kind.NUMBER
    )
    return links + Counter(counts)


def _without_light(reading: Reading) -> Counter[str]:
    return Counter({key: count for key, count in reading.bag.items() if key not in lexicon.LIGHT} or reading.bag)


def _links(reading: Reading) -> Counter[str]:
    return Counter(t.key for t in reading.tokens if t.kind is Kind.LINK and t.key not in _AND and t.key not in ",;")


def _linked(reading: Reading) -> Counter[tuple[str, str]]:
    tokens = reading.tokens
    return Counter(
        (before.key, token.key)
        for before, token in pairwise(tokens)
        if before.kind is Kind.LINK and before.key not in _AND and before.key not in ",;"
    )


def _named(reading: Reading) -> set[str]:
    return {key for _, key in _entities(reading)}


def _entities(reading: Reading) -> list[tuple[str, str]]:
    tokens = list(reading.tokens)
    for i in range(1, len(tokens) - 1):
        before, after = tokens[i - 1], tokens[i + 1]
        if tokens[i].key in _AND and before.kind is after.kind and before.key > after.key:
            tokens[i - 1], tokens[i + 1] = after, before
    found: list[tuple[str, str]] = []
    for i, token in enumerate(tokens):
        if token.kind in (Kind.NAME, Kind.NUMBER) or token.key in lexicon.PEOPLE - {"i"}:
            link = tokens[i - 1].key if i and tokens[i - 1].kind is Kind.LINK and tokens[i - 1].key not in _AND else ""
            found.append((link, token.key))
    return found


def _turns_around_copula(one: Reading, other: Reading) -> bool:
    if one.verb != "be" or other.verb != "be":
        return False
    head, tail = one.tokens[: one.head], one.tokens[one.head :]
    return [t.key for t in (*tail, *head)] == [t.key for t in other.tokens]
