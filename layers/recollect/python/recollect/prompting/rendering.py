"""Writes a passage of a conversation down for a model, in windows, so that it cannot be taken for anything else.

Every line of a text begins with a bar, and what looks like one of our delimiters is made harmless, so that no text can
leave its place. What our own context block says is left out: a memory must not be made from a memory.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from recollect.conversation import EXTRACTION_CONTEXT_COUNT, Message, Passage, Role
from recollect.extracting.recalled import without_recalled
from recollect.extracting.sentences import pieces, shortened
from recollect.model import Memory
from recollect.text import is_blank

WINDOW_MAX_CHARS = 12_000
MESSAGE_CHARS = 60  # what stands around a text
CONTEXT_MAX_CHARS = 600  # of a message that is only there to understand others
NAME_MAX_CHARS = 64
CANDIDATE_MAX_COUNT = 20
CANDIDATE_MAX_CHARS = 1_000  # longer memories are not shown: what is not seen in full is not compared
CITABLE = frozenset({Role.USER, Role.ASSISTANT, Role.DOCUMENT})
_BAR = "| "
_DELIMITER = re.compile(r"[<＜﹤‹〈⟨](?=[\W_]{0,8}recollect)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message, or a piece of it, as a model sees it.

    Parameters
    ----------
    text : str
        Without context that was recalled; not yet made harmless.
    at_ms : int
        When it was said.
    """

    message: Message
    text: str
    at_ms: int

    @property
    def is_citable(self) -> bool:
        """Whether memories may be made from it."""
        return self.message.role in CITABLE


@dataclass(frozen=True, slots=True)
class Window:
    """What one question to a model is about.

    Parameters
    ----------
    earlier : tuple of Excerpt
        Only there to understand the others.
    new : tuple of Excerpt
        Those that memories are made from; at least one can be cited.
    """

    earlier: tuple[Excerpt, ...]
    new: tuple[Excerpt, ...]

    def cited(self, index: int) -> Excerpt | None:
        """Give the new excerpt of the message with this number, if it may be cited."""
        return next((each for each in self.new if each.message.index == index and each.is_citable), None)


def windows(passage: Passage) -> Iterator[Window]:
    """Cut a passage into windows of some 12,000 characters; none without anything to cite.

    A message longer than that is cut into pieces, each in a window of its own.
    """
    excerpts = list(_excerpts(passage))
    earlier = [_clipped(each) for each in excerpts if each.message.index < passage.first]
    new: list[Excerpt] = []
    size = 0
    for excerpt in (piece for each in excerpts if each.message.index >= passage.first for piece in _cut(each)):
        size += len(excerpt.text) + MESSAGE_CHARS
        if new and (size > WINDOW_MAX_CHARS or new[-1].message is excerpt.message):
            yield from _window(earlier, new)
            earlier, new = [*earlier, *map(_clipped, new)][-EXTRACTION_CONTEXT_COUNT:], []
            size = len(excerpt.text) + MESSAGE_CHARS
        new.append(excerpt)
    yield from _window(earlier, new)


def _window(earlier: Sequence[Excerpt], new: Sequence[Excerpt]) -> Iterator[Window]:
    if any(excerpt.is_citable for excerpt in new):
        yield Window(tuple(earlier[-EXTRACTION_CONTEXT_COUNT:]), tuple(new))


def _excerpts(passage: Passage) -> Iterator[Excerpt]:
    for message in passage.messages:
        text = without_recalled(message.text)
        if not is_blank(text):
            yield Excerpt(message, text, passage.time_of(message))


def _cut(excerpt: Excerpt) -> Iterator[Excerpt]:
    if not excerpt.is_citable:
        yield _clipped(excerpt)
        return
    for piece in pieces(excerpt.text, WINDOW_MAX_CHARS):
        if not is_blank(piece):
            yield replace(excerpt, text=piece)


def _clipped(excerpt: Excerpt) -> Excerpt:
    return replace(excerpt, text=shortened(excerpt.text, CONTEXT_MAX_CHARS))


def candidates(ranked: Iterable[Sequence[Memory]]) -> tuple[Memory, ...]:
    """Choose among recalled memories those that a model sees: the best of each ranking first, each once.

    Those that are flagged or long are left out.
    """
    rankings = list(ranked)
    by_rank = (
        ranking[rank]
        for rank in range(max(map(len, rankings), default=0))
        for ranking in rankings
        if rank < len(ranking)
    )
    seen = {each.memory_id: each for each in by_rank if not each.flags and len(each.content) <= CANDIDATE_MAX_CHARS}
    return tuple(seen.values())[:CANDIDATE_MAX_COUNT]


def render(window: Window, stored: Sequence[Memory]) -> str:
    """Write a window down, with the memories that are stored already, numbered from 1."""
    parts = (
        ("recollect-stored", [numbered(number, memory) for number, memory in enumerate(stored, 1)]),
        ("recollect-earlier", [_said(excerpt) for excerpt in window.earlier]),
        ("recollect-new", [_said(excerpt) for excerpt in window.new]),
    )
    return "\n".join("\n".join((f"<{name}>", *lines, f"</{name}>")) for name, lines in parts if lines)


def numbered(number: int, memory: Memory) -> str:
    """Write a memory down, under a number."""
    when = "" if memory.occurred_at_ms is None else f" {_time(memory.occurred_at_ms)}"
    return f"{number} {memory.type.value}{_name(memory.actor)}{when}\n{_barred(memory.content)}"


def _said(excerpt: Excerpt) -> str:
    message = excerpt.message
    return f"{message.index} {message.role.value}{_name(message.name)} {_time(excerpt.at_ms)}\n{_barred(excerpt.text)}"


def _name(name: str | None) -> str:
    if not name:
        return ""
    short = " ".join(name.split())[:NAME_MAX_CHARS]
    return " " + json.dumps(_printable(harmless(short)), ensure_ascii=False)


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%a %Y-%m-%dT%H:%M:%SZ")


def _barred(text: str) -> str:
    return "\n".join(_BAR + _printable(line) for line in harmless(text).splitlines())


def _printable(line: str) -> str:
    """Put spaces in place of control characters, and question marks in place of lone surrogates."""
    spaced = "".join(" " if character < " " or "\x7f" <= character <= "\x9f" else character for character in line)
    return spaced.encode("utf-8", "replace").decode("utf-8")


def harmless(text: str) -> str:
    """Take from whatever looks like one of our delimiters what makes it look so."""
    return _DELIMITER.sub("&lt;", text)
