"""Whether the words that a model cites were said, and whether they are about whom it says."""

import re
import unicodedata

from recollect.extracting.sentences import sentences
from recollect.prompting.rendering import Excerpt, harmless
from recollect.reconciling import lexicon
from recollect.reconciling.reading import read
from recollect.reconciling.subjects import subject
from recollect.reconciling.tokens import Kind, Token

SENTENCE_MAX_CHARS = 500
_BAR_OF_A_LINE = re.compile(r"(^|\n)\| ?")
_TYPOGRAPHY = str.maketrans("‘’‚‛“”„‟–—‐‑−", "''''\"\"\"\"-----")
_OTHERS = lexicon.PEOPLE | {"he", "she"}


def is_quoted(quote: str, excerpt: Excerpt) -> bool:
    """Tell whether words stand in a text; case, white space and the shape of quotes and dashes do not matter."""
    text = _comparable(excerpt.text)
    return any(
        wanted in text for wanted in (_comparable(quote), _comparable(_BAR_OF_A_LINE.sub(r"\1", quote))) if wanted
    )


def is_taken_from_another(content: str, quote: str, excerpt: Excerpt) -> bool:
    """Tell whether a statement about the speaker rests on words about somebody else, such as "my sister is diabetic".

    So it is when the sentence of the quote is about a relative or somebody named, does not say "I" or "me", and the
    statement is about the speaker and does not mention the other.
    """
    said = read(_sentence_of(quote, excerpt))
    speaker = {"i", *(excerpt.message.name or "").casefold().split()}
    other = _keys(subject(said)) - {"my"}
    if not other or other & speaker or "i" in _keys(said.tokens) or not _is_about_people(subject(said)):
        return False
    kept = read(content[:SENTENCE_MAX_CHARS])
    about = _keys(subject(kept))
    return bool(about) and about <= speaker and not other & _keys(kept.tokens)


def _is_about_people(about: tuple[Token, ...]) -> bool:
    return any(token.key in _OTHERS for token in about) or all(token.kind is Kind.NAME for token in about)


def _keys(tokens: tuple[Token, ...]) -> set[str]:
    return {token.key for token in tokens}


def _sentence_of(quote: str, excerpt: Excerpt) -> str:
    wanted = _comparable(quote)
    said = (sentence for line in excerpt.text.splitlines() for sentence in sentences(line))
    return next((each for each in said if wanted in _comparable(each)), quote)[:SENTENCE_MAX_CHARS]


def _comparable(text: str) -> str:
    unified = unicodedata.normalize("NFKC", harmless(text)).translate(_TYPOGRAPHY).casefold()
    return " ".join(unified.split())
