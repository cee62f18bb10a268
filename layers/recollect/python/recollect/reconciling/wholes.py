"""What can be said of two texts as wholes, whatever their words mean.

Pure.
"""

from collections import Counter

from recollect.reconciling import scripts
from recollect.reconciling.pair import CLOSE_MIN_SHARE, Finding, Pair
from recollect.reconciling.sentences import holds, sentences
from recollect.reconciling.tokens import Kind, plain
from recollect.text import terms


def same_letters(pair: Pair) -> Finding | None:
    """Find texts equal but for case, spacing and punctuation."""
    old, new = plain(pair.old.text), plain(pair.new.text)
    digits = [[t.key for t in r.tokens if t.kind in (Kind.NUMBER, Kind.DATE)] for r in (pair.old, pair.new)]
    if old and old == new and digits[0] == digits[1] and pair.old.is_negative == pair.new.is_negative:
        return Finding("unchanged", "the same words but for case, spacing and punctuation")
    return None


def known_sentences(pair: Pair) -> Finding | None:
    """Find that one has all sentences of the other."""
    old, new = pair.old.text, pair.new.text
    if has_several(pair) and holds(old, new):
        return Finding("unchanged", "one of the sentences that are known")
    if has_several(pair) and holds(new, old):
        return Finding("merged", "says the same and more sentences", new)
    return None


def unknown_language(pair: Pair) -> Finding | None:
    """Merge and supersede nothing in a language without rules."""
    if pair.old.is_known and pair.new.is_known:
        return None
    if scripts.are_same(pair.old.text, pair.new.text):
        return Finding("unchanged", "the same in another way of writing")
    is_like = not pair.new.text.isascii() and _share_words(pair.old.text, pair.new.text)
    is_like = is_like or pair.is_close
    return Finding("conflict" if is_like else "created", "not in a language that the rules know")


def _share_words(one: str, other: str) -> bool:
    """Tell whether two texts have half of the words of the shorter one in common, or of its pairs of characters.

    Letters alone would not do: any two sentences in Russian share most of them.
    """
    old, new = (Counter(term for term in terms(text) if len(term) > 1) for text in (one, other))
    return (old & new).total() >= CLOSE_MIN_SHARE * max(min(old.total(), new.total()), 1)


def several_sentences(pair: Pair) -> Finding | None:
    """Compare memories of several sentences as wholes; see ``sentences``."""
    return pair.unsure("the memory has several sentences") if has_several(pair) else None


def has_several(pair: Pair) -> bool:
    """Tell whether one of the two has several sentences."""
    return max(len(sentences(reading.text)) for reading in (pair.old, pair.new)) > 1
