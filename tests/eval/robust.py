"""The same conversations told otherwise: what is left of a ranking when names, dates or wording change.

Pure and repeatable. Questions stay as they are, except that they use the new names.
"""

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace

from tests.eval.locomo import Conversation

_MADE_UP = ("Zorvane", "Quillith", "Brenzomar", "Yxandra", "Thobrin", "Velquist", "Maruvek", "Ilsatrop")
_TYPO_EVERY = 8  # about one long word in so many
_LONG = 5
_CONTRACTIONS = {
    "I'm": "I am",
    "I've": "I have",
    "I'll": "I will",
    "I'd": "I would",
    "it's": "it is",
    "that's": "that is",
    "don't": "do not",
    "didn't": "did not",
    "can't": "cannot",
    "won't": "will not",
    "isn't": "is not",
    "wasn't": "was not",
    "you're": "you are",
    "we're": "we are",
    "they're": "they are",
    "we've": "we have",
    "let's": "let us",
    "gonna": "going to",
    "wanna": "want to",
}
_CONTRACTED = re.compile(rf"\b(?:{'|'.join(_CONTRACTIONS)})\b", re.IGNORECASE)
_FOLDED = {short.casefold(): long for short, long in _CONTRACTIONS.items()}
_WORD = re.compile(r"[^\W\d_]+")


def renamed(conversation: Conversation) -> Conversation:
    """Give the speakers made-up names, whoever uses them."""
    actors = sorted({turn.actor for turn in conversation.turns})
    new_of = dict(zip(actors, _MADE_UP, strict=False))
    names = re.compile(rf"\b(?:{'|'.join(map(re.escape, actors))})\b")

    def told(text: str) -> str:
        return names.sub(lambda found: new_of[found[0]], text)

    turns = [replace(turn, actor=new_of[turn.actor], content=told(turn.content)) for turn in conversation.turns]
    questions = [replace(question, text=told(question.text)) for question in conversation.questions]
    return replace(conversation, turns=tuple(turns), questions=tuple(questions))


def undated(conversation: Conversation) -> Conversation:
    """Leave out when each turn was said."""
    return replace(conversation, turns=tuple(replace(turn, occurred_at_ms=None) for turn in conversation.turns))


def paraphrased(conversation: Conversation) -> Conversation:
    """Write contractions out, swap two letters in some of the long words, and use small letters only."""
    turns = tuple(replace(turn, content=_otherwise(turn.content)) for turn in conversation.turns)
    return replace(conversation, turns=turns)


def set_apart(conversation: Conversation) -> Conversation:
    """Give sessions names that those of no other conversation have."""
    turns = [
        replace(turn, session_id=f"{conversation.conversation_id} {turn.session_id}") for turn in conversation.turns
    ]
    return replace(conversation, turns=tuple(turns))


VARIANTS: Mapping[str, Callable[[Conversation], Conversation]] = {
    "names_made_up": renamed,
    "without_dates": undated,
    "paraphrased": paraphrased,
}


def _otherwise(text: str) -> str:
    written_out = _CONTRACTED.sub(lambda found: _FOLDED[found[0].casefold()], text.replace("\u2019", "'"))
    return _WORD.sub(lambda found: _misspelt(found[0], found.start()), written_out.lower())


def _misspelt(word: str, place: int) -> str:
    if len(word) < _LONG or zlib.crc32(f"{word} {place}".encode()) % _TYPO_EVERY:
        return word
    middle = len(word) // 2
    return word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]
