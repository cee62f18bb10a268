"""Takes texts apart: into sentences, and into pieces that fit into a memory.

Pure and linear: by words, without patterns that could go back.
"""

from collections.abc import Iterator

from recollect.model import CONTENT_MAX_CHARS
from recollect.reconciling.wordlists import words

SENTENCE_MAX_CHARS = 300  # rules do not read longer ones

_ABBREVIATIONS = words(
    "dr. mr. mrs. ms. st. prof. e.g. i.e. vs. approx. a.m. p.m. no. inc. ltd. jr. sr. u.s. z.b. ca. sra. sr. etc."
)
_INNER = frozenset(["-", "–", "—", "&", "+", "=", "→", "\ufffc"])
_CLOSING = "\"'”’)]*_»"
_ENDS = (".", "!", "?", "…", "。", "！", "？")


def sentences(line: str) -> Iterator[str]:
    """Yield the sentences of a line, with their marks, white space reduced to single spaces."""
    said: list[str] = []
    is_open = True  # whether the sentence may go on: an emoji ends it if a capital follows
    for word in line.split():
        if said and not is_open and word[0].isupper():
            yield " ".join(said)
            said = []
        is_open = word in _INNER or any(character.isalnum() for character in word)
        if is_open or word[0] in "?!":
            said.append(word)
        if word.rstrip(_CLOSING).endswith(_ENDS) and said and not _is_abbreviation(word, said):
            yield " ".join(said)
            said = []
    if said:
        yield " ".join(said)


def pieces(text: str, limit: int = CONTENT_MAX_CHARS) -> Iterator[str]:
    """Cut a text into pieces of at most `limit` characters: at a paragraph, a line, a sentence or a space if it can."""
    position = 0
    while len(text) - position > limit:
        end = _cut(text, position, position + limit)
        yield text[position:end].strip()
        position = end
    yield text[position:].strip()


def shortened(text: str, limit: int) -> str:
    """Cut a text at a space, with an ellipsis, so that it has at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + "…"


def _cut(text: str, start: int, end: int) -> int:
    half = start + (end - start) // 2
    for mark in ("\n\n", "\n", ". ", " "):
        found = text.rfind(mark, half, end)
        if found >= 0:
            return found + len(mark)
    return end


def _is_abbreviation(word: str, said: list[str]) -> bool:
    plain = word.lstrip("(\"'“").casefold()
    return (
        plain in _ABBREVIATIONS
        or (len(said) == 1 and plain[:-1].isdecimal())
        or (len(plain) == 2 and plain[0].isalpha() and plain[0] != "i" and plain[1] == ".")
    )
