"""Memories of several sentences: what can be said of them without taking them apart.

Pure. Replacing a memory of several sentences would lose those that still hold, so that no rule does.
"""

import re
from itertools import pairwise

from recollect.reconciling.tokens import plain

_END = re.compile(
    r"(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)(?<!\bProf)(?<!\b\d)(?<!\b\d\d)[.!?;]\s+(?=\S)|\n+(?=\s*\S)|[。！？](?=\S)"
)


def sentences(text: str) -> tuple[str, ...]:
    """Take a text apart into its sentences and lines.

    Examples
    --------
    >>> sentences("Ana sees Dr. Weber. She likes him!")
    ('Ana sees Dr. Weber', 'She likes him!')
    """
    return tuple(part.strip() for part in _END.split(text.strip()) if part.strip())


def with_ends(text: str) -> tuple[str, ...]:
    """Take a text apart as `sentences` does, with the marks at the ends.

    Examples
    --------
    >>> with_ends("Ana sees Dr. Weber. She likes him!")
    ('Ana sees Dr. Weber.', 'She likes him!')
    """
    whole = text.strip()
    cuts = [0, *(match.end() for match in _END.finditer(whole)), len(whole)]
    return tuple(part for start, stop in pairwise(cuts) if (part := whole[start:stop].strip()))


def holds(full: str, part: str) -> bool:
    """Tell whether every sentence of `part` is one of `full`, but for case, spacing and punctuation."""
    parts = {plain(one) for one in sentences(part)}
    return bool(parts) and parts <= {plain(one) for one in sentences(full)}
