"""Whether a text says what its sources say, and no more: by its words, names, numbers and denials.

A rule of thumb that errs on the side of no: a sentence that is refused costs one consolidation, one that was made up
would be remembered.
"""

import re
import unicodedata
from collections.abc import Sequence

from recollect.consolidating.coherence import LIGHT
from recollect.reconciling import lexicon
from recollect.reconciling.reading import read
from recollect.reconciling.sentences import sentences
from recollect.reconciling.tokens import Kind
from recollect.text import terms

KEPT_MIN_SHARE = 0.5  # of the words of a source that tell what it is about
_WORD = re.compile(r"\w+")
_SPECIFIC = frozenset({Kind.NAME, Kind.NUMBER, Kind.DATE})
_NEUTRAL = frozenset({"be", "have", "prefer", "like", "want"})  # one may stand for another
_FREE = (LIGHT - {*lexicon.VERBS, *map(str, lexicon.VERB_FORMS)}) | _NEUTRAL | frozenset({"and", "or", "both", "all"})


def invented(sentence: str, sources: Sequence[str]) -> bool:
    """Tell whether a sentence has a word, name or number that none of its sources has, or denies what they affirm."""
    said = _keys(sentence) - _FREE
    known = {key for source in sources for key in _keys(source)}
    specific = {key for source in sources for key in _specific(source)}
    return bool(said - known or _specific(sentence) - specific - known or _is_turned(sentence, sources))


def lost(source: str, told: str) -> bool:
    """Tell whether a text leaves out a name or a number of its source, or most of its words."""
    about, kept = _keys(source) - _FREE, _keys(told)
    if _specific(source) - _specific(told) - kept:
        return True
    return bool(about) and len(about & kept) < KEPT_MIN_SHARE * len(about)


def _is_turned(sentence: str, sources: Sequence[str]) -> bool:
    words = _keys(sentence) - _FREE
    shared = [
        (len(words & _keys(each)), _denies(each))
        for source in sources
        for each in sentences(source)
        if words & _keys(each)
    ]
    most = max((count for count, _ in shared), default=0)
    return bool(shared) and _denies(sentence) not in {is_no for count, is_no in shared if count == most}


def _denies(sentence: str) -> bool:
    reading = read(sentence)
    return reading.is_negative != (reading.verb == "dislike")  # as which "does not like" is read


def _keys(text: str) -> set[str]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return {key for word in words for key in _keys_of(word)}


def _keys_of(word: str) -> set[str]:
    known = lexicon.VERB_FORMS.get(word) or lexicon.NOUN_FORMS.get(word)
    return {known} if known else set(terms(word))


def _specific(text: str) -> set[str]:
    return {token.key for each in sentences(text) for token in read(each).tokens if token.kind in _SPECIFIC}
