"""What English words may be forms of, by their endings.

Pure. All that may be is given; what is a word, the lexicon knows. Its builder uses the same endings.
"""

from collections.abc import Iterator

from recollect.reconciling.wordlists import words

_ENDINGS = tuple(  # what goes, and what comes for it, of nouns, verbs and adjectives together
    tuple(pair.split("-"))
    for pair in sorted(
        words(
            "s- ses-s xes-x zes-z ches-ch shes-sh ies-y men-man es-e es- ed-e ed- ied-y ing-e ing- er- er-e est- est-e"
        )
    )
)
_DOUBLING = words("ed ing er est")
_MIN_CHARS = 3


def base_forms(word: str) -> Iterator[str]:
    """Give what a word may be a form of, itself included; of a phrase, what its first word may be a form of.

    Examples
    --------
    >>> sorted(base_forms("running")), sorted(base_forms("put_aside"))
    (['run', 'runn', 'runne', 'running'], ['put_aside'])
    """
    first, joint, rest = word.partition("_")
    yield word
    for ending, by in _ENDINGS:
        base = first.removesuffix(ending)
        if base == first or len(base + by) < _MIN_CHARS:
            continue
        yield base + by + joint + rest
        if ending in _DOUBLING and not by and base[-2:-1] == base[-1:]:
            yield base[:-1] + joint + rest
