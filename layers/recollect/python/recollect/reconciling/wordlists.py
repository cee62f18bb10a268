"""How lists of words are written in this package: as text, words apart by spaces.

Pure.
"""

from recollect.text import stem


def words(*texts: str) -> frozenset[str]:
    """Give the words of texts."""
    return frozenset(word for text in texts for word in text.split())


def keys(*texts: str) -> frozenset[str]:
    """Give the words of texts and their stems: keys of tokens are stems where no table has another form."""
    found = words(*texts)
    return found | {stem(word) for word in found}


def forms(*groups: str) -> dict[str, str]:
    """Map every form of "key:form form" to its key, the key itself included."""
    found: dict[str, str] = {}
    for group in groups:
        key, _, others = group.partition(":")
        found |= dict.fromkeys((key, *others.split()), key)
    return found
