"""Reads the files of a WordNet database into words, senses and what relates them.

Pure but for the texts that the caller reads; see wndb(5WN) and morphy(7WN) for the formats.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from recollect.reconciling.endings import base_forms
from recollect.reconciling.wordlists import words

MIN_SHARE_OF_PART = 0.05  # of a word as noun, verb and so on in all its use

Synset = tuple[str, int]  # part of speech (n, v, a, r), offset in its file

_NAMED_FILES = frozenset({1, 10, 15})  # what belongs to somewhere, languages, locations: the names that are kept
_WORD = re.compile(r"[a-z][a-z'-]*(?:_[a-z][a-z'-]*)?")
_NAME = re.compile(r"[A-Z][a-z]+(?:_[A-Z][a-z]+)?")
_SHORT_NAME = re.compile(r"[A-Z][A-Za-z]?[A-Z][A-Z]?|[A-Z][a-z][A-Z]")  # abbreviations: CPU, PhD
_MAX_CHARS = 24
_BROADER = ("@", "@i", "*")
_NEAR = ("&", "$")
_DERIVED = ("+", "\\", "<")
_OPPOSITE = "!"
_DENYING = words("not no without lacking never opposite rather other except instead nor free than unlike")
_SAYING_NOTHING = words(
    "a an the of or and in to for that is are be by with as on at from which who whom whose it its used use using "
    "having has have being something someone somebody one anything etc esp especially usually often sometimes not very "
    "more most other than such any all some into out up about this these those their his her your you they he she we "
    "us can may made make do does done set part kind form type act state way where when how there but so if also only "
    "between person people thing place time quality condition process group"
)


@dataclass(slots=True)
class Meaning:
    """A set of synonyms with what relates it to others."""

    file: int
    broader: list[Synset] = field(default_factory=list)
    near: list[Synset] = field(default_factory=list)
    definition: str = ""


@dataclass(slots=True)
class Database:
    """What is taken from a WordNet database.

    Parameters
    ----------
    senses : dict
        Of every kept word, its meanings with how often texts were found to use them.
    derived, opposite : set of (str, str)
        Words that are made from each other, and words that exclude each other; both ways.
    """

    meanings: dict[Synset, Meaning] = field(default_factory=dict)
    senses: dict[str, dict[Synset, float]] = field(default_factory=dict)
    derived: set[tuple[str, str]] = field(default_factory=set)
    opposite: set[tuple[str, str]] = field(default_factory=set)


def read(files: Mapping[str, str]) -> Database:
    """Read a database.

    Parameters
    ----------
    files : mapping of str to str
        ``data.noun`` and its like, and ``index.sense``, by name.
    """
    found = Database()
    lemmas: dict[Synset, list[str]] = {}
    pointers: list[tuple[str, Synset, Synset, str]] = []
    for name, letter in (("data.noun", "n"), ("data.verb", "v"), ("data.adj", "a"), ("data.adv", "r")):
        for line in files[name].splitlines():
            if not line.startswith("  "):
                _read_meaning(line, letter, found, lemmas, pointers)
    for symbol, source, target, between in pointers:
        _relate(found, lemmas, symbol, (source, target, between))
    _count(files["index.sense"], found, lemmas)
    return found


def kept(lemma: str, file: int) -> str | None:
    """Give the form in which a word is kept; ``None`` when it is left out."""
    plain = lemma.partition("(")[0]
    if len(plain) > _MAX_CHARS or len(plain) < 2:
        return None
    is_named = file in _NAMED_FILES and _NAME.fullmatch(plain)
    is_short = len(plain) > 2 and _SHORT_NAME.fullmatch(plain) and plain.lower() not in _SAYING_NOTHING
    return plain.lower() if is_named or is_short or _WORD.fullmatch(plain) else None


def said_by(
    definition: str, known: Mapping[str, int], irregular: Mapping[str, str], *, is_denied: bool = False
) -> Iterator[int]:
    """Give the numbers of the words that a definition says its own with, or of those that it denies.

    What follows a word that denies is denied, up to the next semicolon: "someone who eats no meat".
    """
    for part in definition.partition('; "')[0].lower().split(";"):
        denies = False
        for word in re.findall(r"[a-z][a-z'-]*", part):
            denies = denies or word in _DENYING
            if denies is is_denied and word not in _SAYING_NOTHING | _DENYING:
                bases = (*base_forms(word), irregular.get(word, word))
                yield from (known[base] for base in bases if base in known)


def _read_meaning(
    line: str,
    letter: str,
    found: Database,
    lemmas: dict[Synset, list[str]],
    pointers: list[tuple[str, Synset, Synset, str]],
) -> None:
    facts, _, gloss = line.partition("|")
    fields = facts.split()
    synset = (letter, int(fields[0]))
    count = int(fields[3], 16)
    lemmas[synset] = fields[4 : 4 + 2 * count : 2]
    found.meanings[synset] = Meaning(int(fields[1]), definition=gloss.strip())
    start = 5 + 2 * count
    for at in range(start, start + 4 * int(fields[start - 1]), 4):
        symbol, offset, other, between = fields[at : at + 4]
        pointers.append((symbol, synset, (other, int(offset)), between))


def _relate(found: Database, lemmas: dict[Synset, list[str]], symbol: str, ends: tuple[Synset, Synset, str]) -> None:
    source, target, between = ends
    if symbol in _BROADER:
        found.meanings[source].broader.append(target)
    elif symbol in _NEAR:
        found.meanings[source].near.append(target)
    elif (symbol in _DERIVED or symbol == _OPPOSITE) and between != "0000":
        named = [
            kept(lemmas[synset][int(number, 16) - 1], found.meanings[synset].file)
            for synset, number in ((source, between[:2]), (target, between[2:]))
        ]
        one, other = named
        if one and other and one != other:
            (found.opposite if symbol == _OPPOSITE else found.derived).update({(one, other), (other, one)})


def _count(index: str, found: Database, lemmas: dict[Synset, list[str]]) -> None:
    letters = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
    spelled = {(s, lemma.partition("(")[0].lower()): lemma for s, names in lemmas.items() for lemma in names}
    for line in index.splitlines():
        key, offset, rank, tagged = line.split()
        lemma, _, rest = key.partition("%")
        synset = (letters[rest[0]], int(offset))
        word = kept(spelled[synset, lemma], found.meanings[synset].file)
        if word is not None:
            counts = found.senses.setdefault(word, {})
            counts[synset] = counts.get(synset, 0.0) + int(tagged) + 1 / int(rank)


def shares(counts: Mapping[Synset, float]) -> list[tuple[Synset, float]]:
    """Give the share that every meaning of a word has in its use as noun, verb and so on, the most used first.

    What a word is only seldom, as "father" is a verb, is left out.
    """
    totals: dict[str, float] = {}
    for (letter, _), count in counts.items():
        totals[letter] = totals.get(letter, 0.0) + count
    least = MIN_SHARE_OF_PART * sum(totals.values())
    found = [(synset, count / totals[synset[0]]) for synset, count in counts.items() if totals[synset[0]] >= least]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def verb_share(counts: Mapping[Synset, float]) -> float:
    """Give how much of a word's use is as a verb."""
    return sum(count for (letter, _), count in counts.items() if letter == "v") / sum(counts.values())


def read_irregular(lists: Iterable[str]) -> dict[str, str]:
    """Read lists of irregular forms, each with what it is a form of."""
    found: dict[str, str] = {}
    for text in lists:
        for line in text.splitlines():
            form, base, *_ = line.split()
            found.setdefault(form, base)
    return found
