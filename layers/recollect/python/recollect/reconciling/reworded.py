"""Whether a statement gives another value of what an older one says, though it is worded otherwise.

Pure. One amount, date or name on each side differs ("the shoe size is 42", "wears size 43 shoes"). All that is said of
it must correspond, and nobody may have changed places with somebody; or the newer statement announces a change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

from recollect.reconciling import dates, lexicon, senses
from recollect.reconciling.actions import is_progressive
from recollect.reconciling.announcing import announces
from recollect.reconciling.matching import Alignment
from recollect.reconciling.numbers import dimension_of
from recollect.reconciling.pair import SAYING_LITTLE, Pair
from recollect.reconciling.paraphrase import are_listed, are_opposed, links_opposed
from recollect.reconciling.slots import LASTING_TIMES
from recollect.reconciling.tokens import Kind, Reading, Token

MIN_COSINE = 0.6
MIN_SAID = 2  # words that correspond and say what it is about; one where a change is announced
MAX_LEFT_OF_OLD = 2  # words beside the value that the other statement does not have
MAX_LEFT_OF_NEW = 3
MAX_NAMES = 2  # words of a name
_COMPARING = frozenset({"than", "over", "als", "que", "di"})
_SPEAKER = frozenset({"i", "my"})
_LIVING = ("person", "animal", "people")

Words = Sequence[Token]


def other_value(pair: Pair) -> tuple[str, str] | None:
    """Give the value that the older statement has and the one in its place, where the two differ in nothing else."""
    old, new = pair.old, pair.new
    if pair.cosine < MIN_COSINE or old.is_negative or new.is_negative or old.intents != new.intents:
        return None
    if is_progressive(old) or is_progressive(new):
        return None
    told = _Told(pair)
    before, after = told.values
    if not _is_one_value(before, after) or not told.is_idle or not told.keeps_places:
        return None
    if not (told.is_change if announces(new) else told.is_one_attribute):
        return None
    return _shown(before), _shown(after)


@dataclass(frozen=True)
class _Told:
    """Two statements with what corresponds loosely, and what is left of each: a value, and words about it."""

    pair: Pair

    @property
    def found(self) -> Alignment:
        return self.pair.loosely_aligned

    @cached_property
    def values(self) -> tuple[Words, Words]:
        old, new = ([token for token in side if token.kind is not Kind.WORD] for side in self._left)
        return old, new

    @cached_property
    def rest(self) -> tuple[Words, Words]:
        old, new = ([token for token in side if token.kind is Kind.WORD] for side in self._left)
        return old, new

    @property
    def is_idle(self) -> bool:
        """Whether what is left beside the values only words it otherwise."""
        old, new = self.rest
        is_short = len(old) <= MAX_LEFT_OF_OLD and len(new) <= MAX_LEFT_OF_NEW
        return is_short and not any(_is_alive(token) for token in (*old, *new))

    @property
    def keeps_places(self) -> bool:
        """Whether no preposition says otherwise, no clause is cut up, and no two of one group have changed places."""
        readings = self.pair.old, self.pair.new
        if links_opposed(*readings, self.found):
            return False
        if all(before[1] < after[1] for before, after in pairwise(self.found.pairs)):
            return True
        if any(one.has_clauses or any(token.key in _COMPARING for token in one.tokens) for one in readings):
            return False
        groups: dict[str, list[tuple[int, int]]] = {}
        for i, j in self.found.pairs:
            groups.setdefault(_group(readings[0].strong[i]), []).append((i, j))
        groups.pop("", None)
        return all(
            one[1] < other[1] or are_listed(one, other, readings)
            for group in groups.values()
            for one, other in combinations(group, 2)
        )

    @property
    def is_change(self) -> bool:
        """Whether a change that is announced can be one of this amount or date."""
        is_plain = self.values[0][0].kind is not Kind.NAME and not _without_verb(self.pair.old, self.rest[0])
        return is_plain and self._is_of_one_matter(1)

    @property
    def is_one_attribute(self) -> bool:
        """Whether the values are of an attribute that has one at a time, and no word but a verb is left on one side."""
        old, new = self.pair.old, self.pair.new
        (before, *_), (after, *_) = self.values
        are_worded = all(_without_verb(of, side) for of, side in zip((old, new), self.rest, strict=True))
        return self._is_of_one_matter(MIN_SAID) and not (
            old.is_past
            or new.is_past
            or are_worded
            or not _has_one(old.verb, before)
            or any(map(_is_alive, self.values[0]))
            or _are_related(*self.rest)
            or are_opposed(_link_before(old, before), _link_before(new, after))
        )

    @cached_property
    def _left(self) -> tuple[Words, Words]:
        old, new = self.pair.old.strong, self.pair.new.strong
        return [old[i] for i in self.found.old], [new[j] for j in self.found.new]

    def _is_of_one_matter(self, least: int) -> bool:
        # Enough words say the same of both, and are not only akin, as a router and a modem are.
        old, new = self.pair.old.strong, self.pair.new.strong
        said = [i for i, _ in self.found.pairs if old[i].key not in SAYING_LITTLE]
        loosely = {*self.found.pairs} - {*self.pair.aligned.pairs}
        return len(said) >= least and all(_say_one_thing(old[i], new[j]) for i, j in loosely)


def _has_one(verb: str, value: Token) -> bool:
    # Whether what a verb tells of has one such value at a time: not where somebody was, nor when one works.
    if value.kind is Kind.DATE:
        return dates.kind_of(value.key) != "habit" and verb in LASTING_TIMES | lexicon.SINGLE_VALUED
    return verb not in lexicon.EVENTS | (lexicon.MULTI_VALUED if value.kind is Kind.NAME else frozenset())


def _is_one_value(old: Words, new: Words) -> bool:
    # One number, one date, or one name of one or two words, on both sides.
    kinds = _kinds(old)
    if not kinds or kinds != _kinds(new):
        return False
    if kinds == {Kind.NAME.value}:
        return max(len(old), len(new)) <= MAX_NAMES and {*map(_is_alive, old)} == {*map(_is_alive, new)}
    return len(old) == len(new) == len(kinds) and Kind.NAME.value not in kinds


def _kinds(value: Words) -> set[str]:
    return {token.kind.value if token.kind is Kind.NAME else _group(token) for token in value}


def _say_one_thing(one: Token, other: Token) -> bool:
    return (one.key in lexicon.VERBS and other.key in lexicon.VERBS) or senses.are_same(one.word, other.word)


def _are_related(old: Words, new: Words) -> bool:
    return any(senses.are_opposite(a.word, b.word) or senses.are_siblings(a.word, b.word) for a in old for b in new)


def _group(token: Token) -> str:
    # What can change places with another of its group.
    if token.kind is Kind.NUMBER:
        return f"number {dimension_of(token.key)}"
    if token.kind is Kind.DATE:
        return token.key[:2]
    return "somebody" if token.kind is Kind.NAME or token.key in _SPEAKER or _is_alive(token) else ""


def _is_alive(token: Token) -> bool:
    if token.kind is Kind.NAME:
        return not senses.look_up(token.word).words
    return token.key in lexicon.PEOPLE or any(senses.is_kind_of(token.word, kind) for kind in _LIVING)


def _without_verb(reading: Reading, rest: Words) -> Words:
    verb = reading.tokens[reading.head] if reading.verb else None
    return [token for token in rest if token is not verb]


def _link_before(reading: Reading, token: Token) -> str:
    at = next(i for i, one in enumerate(reading.tokens) if one is token)
    return reading.tokens[at - 1].key if at and reading.tokens[at - 1].kind is Kind.LINK else ""


def _shown(value: Words) -> str:
    return " ".join(token.text for token in value)
