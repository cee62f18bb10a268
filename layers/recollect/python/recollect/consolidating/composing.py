"""One text out of several, without a model: every sentence of each, once, the older text first."""

from collections.abc import Iterable, Sequence

from recollect.model import Memory
from recollect.reconciling.sentences import with_ends

_ENDS = (".", "!", "?", ";", ":", ",", "…", "。", "！", "？")


def in_order(memories: Iterable[Memory]) -> list[Memory]:
    """Sort memories by when they happened, as far as that is known, else by when they were stored."""
    return sorted(memories, key=lambda one: (one.occurred_at_ms or one.created_at_ms, one.memory_id))


def compose(contents: Sequence[str]) -> str:
    r"""Put texts into one, a sentence a line; a sentence that was there before is left out.

    Examples
    --------
    >>> compose(["Uses black. Likes tabs", "Likes tabs.", "Wants type hints"])
    'Uses black.\nLikes tabs.\nWants type hints.'
    """
    lines: dict[str, str] = {}
    for content in contents:
        is_prose = "\n" not in content.strip()
        for sentence in with_ends(content):
            lines.setdefault(_said(sentence), _ended(sentence) if is_prose else sentence)
    return "\n".join(lines.values())


def _said(sentence: str) -> str:
    """Give what makes two sentences one: their letters, but for spacing and the full stop."""
    return " ".join(sentence.split()).rstrip(".;") or sentence


def _ended(sentence: str) -> str:
    return sentence if sentence.rstrip("\"')]»”’").endswith(_ENDS) else f"{sentence}."
