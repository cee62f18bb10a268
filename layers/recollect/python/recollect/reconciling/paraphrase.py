"""Whether two statements that share all their content words say the same, or give the words other roles.

Pure. Wording and order are free; who does what to whom, what belongs to what, and what is compared with what are not.
"""

from collections.abc import Iterable
from itertools import combinations, pairwise

from recollect.reconciling import lexicon, merging
from recollect.reconciling.actions import is_progressive
from recollect.reconciling.matching import Alignment
from recollect.reconciling.numbers import dimension_of
from recollect.reconciling.pair import Pair
from recollect.reconciling.subjects import Subjects, compare, subject
from recollect.reconciling.tokens import Kind, Reading
from recollect.reconciling.wordlists import keys, words

_BY = words("by von vom par por pela pelo da dal dalla durch")
_JOINING = words("and or but while und oder aber et ou mais y o pero e ed mas ma whereas , ;")
_COMPARING = words("than over als que di que")
_ALIKE = tuple(
    words(group)
    for group in (
        "in at on into onto within inside by for to during per",
        "for until",
        "for about on over around",
        "for because since",
        "with by through via using above",
        "with in",
        "with to",
        "when if while as during",
        "and or , ;",
        "than over as",
        "who which that whose where",
        "bei für in an auf zu",
        "à en dans chez pour depuis",
        "a en para con",
        "a em na no para",
        "a in su per",
    )
)
_TELLING = lexicon.CONTRASTING_LINKS | words("to into against than by nach zu à a al para verso contra gegen contre")
_TOGETHER = words("with mit avec con com")
_UNTOLD = words(
    "who which that whose die das dessen qui que che every each jede jeden jedem jeder jedes and or "
    "und oder et ou y o e , ;"
)
_MAX_DETAILS = 2
_EMPTY = keys("i my their it they them he she him have be this that these those both")
_MAX_MOVES = 3
_MAX_CHANGED_LINKS = 3
_MAX_CHANGED_LINKS_IN_CLAUSES = 1


def keeps_roles(pair: Pair, found: Alignment) -> bool:
    """Tell whether the words that correspond have the same roles in both statements."""
    old, new = pair.old, pair.new
    if _is_monotone(found.pairs):
        return not _has_other_agent(old, new, found) and not links_opposed(old, new, found)
    return not (
        (old.is_negative and (old.has_clauses or new.has_clauses))
        or _has_other_agent(old, new, found)
        or links_opposed(old, new, found)
        or _crosses_clauses(old, new, found)
        or _exchanges(old, new, found)
        or _turns_comparison(old, new, found)
        or _is_shuffled(old, new, found)
    )


def are_details(pair: Pair, found: Alignment) -> bool:
    """Tell whether what one statement has more is a detail of what both say: no other subject, verb or thing."""
    sides = (pair.old, found.old, found.light_old), (pair.new, found.new, found.light_new)
    (more, left, light), (other, _, rest) = sides if found.old else reversed(sides)
    added = [*left, *(at for at in light if more.strong[at].key not in _EMPTY)]
    is_all = all(other.strong[at].key in _EMPTY for at in rest)
    is_one = compare(pair.old, pair.new) is not Subjects.DIFFERENT and pair.old.is_marked == pair.new.is_marked
    return is_all and is_one and len(added) <= _MAX_DETAILS and all(_is_detail(more, at) for at in added)


def _is_detail(reading: Reading, at: int) -> bool:
    token = reading.strong[at]
    position = next(i for i, one in enumerate(reading.tokens) if one is token)
    is_verb = token.key == reading.verb or (position == reading.head and reading.verb == "be")
    is_bound = position > 0 and reading.tokens[position - 1].kind is not Kind.LINK
    makes_compound = is_bound and position + 1 == len(reading.tokens) and not merging.is_manner(token)
    return (
        token.kind is Kind.WORD
        and token not in subject(reading)
        and token.key not in lexicon.PEOPLE
        and not is_verb
        and not makes_compound
        and not merging.makes_another(token)
    )


def _is_monotone(pairs: Iterable[tuple[int, int]]) -> bool:
    return all(before[1] < after[1] for before, after in pairwise(pairs))


def _is_shuffled(old: Reading, new: Reading, found: Alignment) -> bool:
    first, second = _links(old), _links(new)
    order = sorted(j for _, j in found.pairs)
    ranks = [order.index(j) for _, j in found.pairs]
    moves = sum(before + 1 != after for before, after in pairwise(ranks))
    changed = sum(first[i] != second[j] for i, j in found.pairs)
    joins = old.has_clauses and new.has_clauses
    return moves > _MAX_MOVES or changed > (_MAX_CHANGED_LINKS_IN_CLAUSES if joins else _MAX_CHANGED_LINKS)


def _agent(reading: Reading) -> frozenset[int]:
    # Positions, among the strong tokens, of who acts; none where nobody does.
    at, after_by = -1, False
    by: set[int] = set()
    subject: set[int] = set()
    is_led = bool(reading.tokens) and reading.tokens[0].kind is Kind.LINK  # "On Mondays, Ana swims"
    for position, token in enumerate(reading.tokens):
        if token.kind is Kind.LINK:
            is_led = is_led and token.key != ","
            after_by = token.key in _BY and position > reading.head
            continue
        at += 1
        if after_by:
            by.add(at)
        if position < reading.head and token.kind is not Kind.DATE and (not is_led or token.key == "i"):
            subject.add(at)
    if reading.verb == "be" and not is_progressive(reading):
        return frozenset(by if _is_passive(reading) else ())
    if reading.verb in {"", "have", "need"}:
        return frozenset()
    is_passive = is_progressive(reading) and reading.tokens[reading.head].text.casefold() == "being"
    return frozenset(by if is_passive else subject)


def _is_passive(reading: Reading) -> bool:
    following = reading.tokens[reading.head : reading.head + 1]
    return bool(following) and (
        following[0].key in lexicon.VERBS or following[0].text.casefold().endswith(("ed", "en", "wn"))
    )


def _has_other_agent(old: Reading, new: Reading, found: Alignment) -> bool:
    first, second = _agent(old), _agent(new)
    if not first or not second:
        return False
    mine = [{reading.strong[i].key for i in agent} & {"i", "my"} for reading, agent in ((old, first), (new, second))]
    if all(mine):
        return False
    return not any((i in first) and (j in second) for i, j in found.pairs)


def _links(reading: Reading) -> list[str]:
    # The preposition right before every strong token.
    found: list[str] = []
    before = ""
    for token in reading.tokens:
        if token.kind is Kind.LINK:
            before = before if token.key in _UNTOLD else token.key
        else:
            found.append(before)
            before = ""
    return found


def links_opposed(old: Reading, new: Reading, found: Alignment) -> bool:
    """Tell whether a word stands behind prepositions that say different things ("to Oslo", "from Oslo")."""
    first, second = _links(old), _links(new)
    changed = {(first[i], second[j]) for i, j in found.pairs if first[i] != second[j] and first[i] and second[j]}
    return any(are_opposed(one, other) for one, other in changed)


def are_opposed(one: str, other: str) -> bool:
    """Tell whether two prepositions say different things ("to", "from")."""
    return one != other and bool({one, other} & _TELLING) and not any({one, other} <= alike for alike in _ALIKE)


def _clauses(reading: Reading) -> list[int]:
    # The number of the clause, or of the part of a list, of every strong token.
    found: list[int] = []
    clause = 0
    for token in reading.tokens:
        if token.kind is not Kind.LINK:
            found.append(clause)
        elif token.key in _JOINING:
            clause += 1
    return found


def _crosses_clauses(old: Reading, new: Reading, found: Alignment) -> bool:
    first, second = _clauses(old), _clauses(new)
    spread: dict[int, set[int]] = {}
    for i, j in found.pairs:
        spread.setdefault(first[i], set()).add(second[j])
    return any(len(one & other) > 1 for one, other in combinations(spread.values(), 2))


def _exchanges(old: Reading, new: Reading, found: Alignment) -> bool:
    # Names, people, amounts or times of one kind that stand in another order, and not beside the same words.
    groups: dict[str, list[tuple[int, int]]] = {}
    for i, j in found.pairs:
        token = old.strong[i]
        if {token.key, new.strong[j].key} == {"i", "my"}:
            continue
        if token.kind is Kind.NAME or token.key in lexicon.PEOPLE:
            groups.setdefault("name", []).append((i, j))
        elif token.kind is Kind.NUMBER:
            groups.setdefault(f"number {dimension_of(token.key)}", []).append((i, j))
        elif token.kind is Kind.DATE:
            groups.setdefault(token.key[:2], []).append((i, j))
    links = _links(old), _links(new)
    free = set(found.pairs)
    if _turns_around(old, new, found):
        return False
    return any(
        one[1] > other[1]
        and not (_is_bound(one, free, links) and _is_bound(other, free, links))
        and not _keep_links(one, other, links)
        and not are_listed(one, other, (old, new))
        and not _are_together(one, other, (old, new), links)
        for group in groups.values()
        for one, other in combinations(group, 2)
    )


def _is_bound(at: tuple[int, int], pairs: set[tuple[int, int]], links: tuple[list[str], list[str]]) -> bool:
    i, j = at
    link = links[0][i]
    return (link != "" and link == links[1][j]) or (i - 1, j - 1) in pairs or (i + 1, j + 1) in pairs


def _keep_links(one: tuple[int, int], other: tuple[int, int], links: tuple[list[str], list[str]]) -> bool:
    kept = [links[0][i] for i, j in (one, other) if links[0][i] == links[1][j]]
    return len(kept) == 2 and kept[0] != kept[1]


def are_listed(one: tuple[int, int], other: tuple[int, int], readings: tuple[Reading, Reading]) -> bool:
    """Tell whether two words are neighbours joined by "and" in both statements, so that their order says nothing."""
    return all(
        abs(one[side] - other[side]) == 1 and clauses[one[side]] != clauses[other[side]]
        for side, clauses in enumerate(map(_clauses, readings))
    )


def _are_together(
    one: tuple[int, int], other: tuple[int, int], readings: tuple[Reading, Reading], links: tuple[list[str], list[str]]
) -> bool:
    # "Ana and Ben share a flat", "Ben shares a flat with Ana"
    clauses = [_clauses(reading) for reading in readings]
    listed = [
        abs(one[side] - other[side]) == 1 and clauses[side][one[side]] != clauses[side][other[side]] for side in (0, 1)
    ]
    with_other = [bool({links[side][one[side]], links[side][other[side]]} & _TOGETHER) for side in (0, 1)]
    return (listed[0] and with_other[1]) or (listed[1] and with_other[0])


def _turns_around(old: Reading, new: Reading, found: Alignment) -> bool:
    # "Sam is the chief", "the chief is Sam": everything moves to the other side of the copula.
    heads = [sum(token.kind is not Kind.LINK for token in r.tokens[: r.head]) for r in (old, new)]
    are_copulas = old.verb == new.verb == "be"
    return are_copulas and all((i < heads[0]) != (j < heads[1]) for i, j in found.pairs)


def _turns_comparison(old: Reading, new: Reading, found: Alignment) -> bool:
    sides = _compared(old), _compared(new)
    if not all(sides):
        return False
    crossing = [(sides[0][i], sides[1][j]) for i, j in found.pairs if i in sides[0] and j in sides[1]]
    return any(one != other for one, other in crossing)


def _compared(reading: Reading) -> dict[int, bool]:
    # Of the words next to "than" and its like, whether they come after it.
    at = -1
    found: dict[int, bool] = {}
    is_after = False
    for position, token in enumerate(reading.tokens):
        if token.kind is not Kind.LINK:
            at += 1
            if is_after:
                found[at] = True
            is_after = False
            continue
        is_after = token.key in _COMPARING and position > reading.head
        if is_after and at >= 0:
            found[at] = False
    return found
