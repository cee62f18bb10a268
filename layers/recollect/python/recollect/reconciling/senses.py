"""What English words mean beside each other, by the lexicon that is made of WordNet (see ``layers/lexicon``).

The arrays are mapped into memory when the first word is looked up, which takes a few milliseconds; what is found of a
word is remembered. Words are looked up as they are written, whatever their ending.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollect.reconciling.endings import base_forms

PACKAGE = "recollect_lexicon"
SAME_MIN_SHARE = 0.1  # of meanings that two words share in the use of the one that has them less
TELLING_MIN_SHARE = 0.25  # of a meaning that counts for what a word says
SAID_MIN_SHARE = 0.4  # of a meaning whose definition counts
BROADER_MAX_STEPS = 2
SIBLING_MAX_STEPS = 4  # from one word up to what is common, and down to the other
_REMEMBERED = 4_096
Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Word:
    """A word with all that it may be a form of.

    Parameters
    ----------
    words : frozenset of int
        Numbers of the words that it may be.
    shares : dict of int to float
        Meanings, and how much of the word's use each has.
    """

    words: frozenset[int]
    shares: dict[int, float]


class _Lexicon:
    # The arrays of the lexicon, each opened when it is first needed.

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._arrays: dict[str, Array] = {}

    def array(self, name: str) -> Array:
        if name not in self._arrays:
            self._arrays[name] = np.asarray(np.load(self._folder / f"{name}.npy", mmap_mode="r"))
        return self._arrays[name]

    def row(self, name: str, number: int) -> list[int]:
        at = self.array(f"{name}_at")
        found: list[int] = self.array(name)[at[number] : at[number + 1]].tolist()
        return found

    def find(self, name: str, word: str) -> int:
        if not word.isascii():
            return -1
        words = self.array(name)
        key = np.bytes_(word.encode())
        at = int(np.searchsorted(words, key))
        return at if at < len(words) and words[at] == key else -1

    def shares(self, number: int) -> list[float]:
        at = self.array("senses_at")
        found: list[float] = (self.array("shares")[at[number] : at[number + 1]] / 255).tolist()
        return found


@cache
def _lexicon() -> _Lexicon:
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            f"no package {PACKAGE}: add the lexicon layer to the function, or build it with"
            " 'python layers/lexicon/build.py'",
            name=PACKAGE,
        )
    return _Lexicon(Path(spec.submodule_search_locations[0]))


@lru_cache(_REMEMBERED)
def look_up(word: str) -> Word:
    """Find a word as it is written, or what it is a form of."""
    lexicon = _lexicon()
    numbers = {lexicon.find("words", base) for spelled in {word, word.replace("-", "")} for base in base_forms(spelled)}
    verb, joint, particle = word.partition("_")
    irregular = lexicon.find("forms", verb)
    if irregular >= 0:
        base = int(lexicon.array("form_words")[irregular])
        numbers.add(lexicon.find("words", f"{lexicon.array('words')[base].decode()}_{particle}") if joint else base)
    numbers.discard(-1)
    shares: dict[int, float] = {}
    for number in numbers:
        for meaning, share in zip(lexicon.row("senses", number), lexicon.shares(number), strict=True):
            shares[meaning] = max(shares.get(meaning, 0.0), share)
    return Word(frozenset(numbers), shares)


@lru_cache(_REMEMBERED)
def bases(word: str) -> tuple[str, ...]:
    """Give the words that a word, as it is written, may be a form of."""
    words = _lexicon().array("words")
    return tuple(str(words[number].decode()) for number in sorted(look_up(word).words))


@lru_cache(_REMEMBERED)
def verb_share(word: str) -> float:
    """Give how much a word, as it is written, is used as a verb; 0 when it is not known."""
    return max((int(_lexicon().array("verbs")[number]) / 255 for number in look_up(word).words), default=0.0)


@lru_cache(_REMEMBERED)
def regular(word: str) -> str | None:
    """Give what a word is a form of that no ending tells ("grew": "grow"); ``None`` for another word."""
    lexicon = _lexicon()
    at = lexicon.find("forms", word)
    return None if at < 0 else str(lexicon.array("words")[lexicon.array("form_words")[at]].decode())


@lru_cache(_REMEMBERED)
def _related(word: str, name: str) -> frozenset[int]:
    return frozenset(other for number in look_up(word).words for other in _lexicon().row(name, number))


@lru_cache(_REMEMBERED)
def _beside(word: str, name: str) -> frozenset[int]:
    return frozenset(other for meaning in look_up(word).shares for other in _lexicon().row(name, meaning))


@lru_cache(_REMEMBERED)
def _defined(word: str, name: str) -> frozenset[int]:
    return frozenset(
        other
        for meaning, share in look_up(word).shares.items()
        if share >= SAID_MIN_SHARE
        for other in _lexicon().row(name, meaning)
    )


@lru_cache(_REMEMBERED)
def are_same(one: str, other: str) -> bool:
    """Tell whether two words are forms of one word, are made from each other, or share a meaning that both often have.

    Examples
    --------
    >>> are_same("bought", "purchases"), are_same("cellist", "cello"), are_same("red", "blue")
    (True, True, False)
    """
    first, second = look_up(one), look_up(other)
    if not first.words or not second.words:
        return False
    is_form = not first.words.isdisjoint(second.words) or not _related(one, "derived").isdisjoint(second.words)
    common = first.shares.keys() & second.shares.keys()
    is_same = is_form or sum(min(first.shares[at], second.shares[at]) for at in common) >= SAME_MIN_SHARE
    return is_same and not are_opposite(one, other)


@lru_cache(_REMEMBERED)
def are_opposite(one: str, other: str) -> bool:
    """Tell whether two words are antonyms, or one is like an antonym of the other.

    Examples
    --------
    >>> are_opposite("early", "late"), are_opposite("formal", "casual"), are_opposite("red", "blue")
    (True, True, False)
    """
    first, second = _unlike(one), _unlike(other)
    return (
        not first.words.isdisjoint(look_up(other).words)
        or not first.shares.keys().isdisjoint(_beside(other, "near"))
        or not second.shares.keys().isdisjoint(_beside(one, "near"))
    )


@lru_cache(_REMEMBERED)
def _unlike(word: str) -> Word:
    # The antonyms of a word, with what each means most.
    words = _related(word, "opposite")
    return Word(words, {meaning: 1.0 for number in words for meaning in _lexicon().row("senses", number)[:1]})


@lru_cache(_REMEMBERED)
def says(one: str, other: str) -> bool:
    """Tell whether a word says what the other says: it is a kind of that, or is explained with it.

    Examples
    --------
    >>> says("car", "vehicle"), says("wife", "married"), says("married", "wife"), says("nurse", "teacher")
    (True, True, False, False)
    """
    first, second = look_up(one), look_up(other)
    if not first.words or not second.words:
        return False
    steps = _broader(one)
    is_told = (
        any(share >= TELLING_MIN_SHARE and meaning in steps for meaning, share in second.shares.items())
        or not _beside(one, "near").isdisjoint(second.shares)
        or not _beside(other, "near").isdisjoint(first.shares)
        or (not _defined(one, "said").isdisjoint(second.words) and not are_siblings(one, other))
    )
    return is_told and not are_opposite(one, other)


def denies(one: str, others: Iterable[str]) -> bool:
    """Tell whether a word is explained by denying one of other words, and all of them are in its explanation.

    Examples
    --------
    >>> denies("vegetarian", ["eats", "meat"]), denies("vegetarian", ["eats", "rice"])
    (True, False)
    """
    said, denied = _defined(one, "said"), _defined(one, "denied")
    found = [look_up(other).words for other in others]
    return any(words & denied for words in found) and all(words & (said | denied) for words in found)


def are_akin(one: str, other: str) -> bool:
    """Tell whether two words mean the same, or one says what the other says."""
    return are_same(one, other) or says(one, other) or says(other, one)


@lru_cache(_REMEMBERED)
def are_siblings(one: str, other: str) -> bool:
    """Tell whether two words are different things of one kind ("red", "blue")."""
    first, second = _broader(one), _broader(other)
    if look_up(one).words & look_up(other).words:
        return False
    if not first.keys().isdisjoint(look_up(other).shares) or not second.keys().isdisjoint(look_up(one).shares):
        return False
    return any(step + second[meaning] <= SIBLING_MAX_STEPS for meaning, step in first.items() if meaning in second)


@lru_cache(_REMEMBERED)
def _broader(word: str) -> dict[int, int]:
    # What is broader than the telling meanings of a word, and by how many steps.
    lexicon = _lexicon()
    found: dict[int, int] = {}
    level = {meaning for meaning, share in look_up(word).shares.items() if share >= TELLING_MIN_SHARE}
    for step in range(1, BROADER_MAX_STEPS + 1):
        level = {other for meaning in level for other in lexicon.row("broader", meaning)} - found.keys()
        found |= dict.fromkeys(level, step)
    return found


@lru_cache(_REMEMBERED)
def is_kind_of(one: str, other: str) -> bool:
    """Tell whether a telling meaning of a word is a kind of what another word means most, however many steps up.

    Examples
    --------
    >>> is_kind_of("nurses", "person"), is_kind_of("bulldog", "animal"), is_kind_of("status", "person")
    (True, True, False)
    """
    wanted = look_up(other).shares
    kind = max(wanted, key=lambda meaning: (wanted[meaning], -meaning), default=-1)
    level = {meaning for meaning, share in look_up(one).shares.items() if share >= TELLING_MIN_SHARE}
    seen: set[int] = set()
    while level and kind not in level:
        seen |= level
        level = {broader for meaning in level for broader in _lexicon().row("broader", meaning)} - seen
    return bool(level)
