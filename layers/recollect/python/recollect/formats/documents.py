"""Cuts documents, plain or Markdown, into pieces that can be understood alone. Pure.

Cut is at headings, and then between paragraphs, lines, sentences, words, at the first of these that is enough. Every
piece begins with the headings that it is under. Nothing that can be read is lost.
"""

import re
from collections.abc import Iterator, Sequence

from recollect.text import is_blank

CHUNK_MAX_CHARS = 1_200
HEADING_MAX_CHARS = 100  # longer ones are paragraphs
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*?)[ \t#]*")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_CUTS = (
    re.compile(r"(?<=\n\n)(?!\n)"),
    re.compile(r"(?<=\n)"),
    re.compile(r"(?<=[.!?…])(?=\s)|(?<=[。！？])"),
    re.compile(r"(?<=\s)(?=\S)"),
)


def chunks(text: str) -> list[str]:
    """Cut a document into pieces of at most 1,200 characters; none of a document without anything to read."""
    found: list[str] = []
    for path, body in _sections(text):
        title = " > ".join(path)
        if not body.strip():
            found.append(title)
            continue
        room = CHUNK_MAX_CHARS - (len(title) + 2 if title else 0)
        pieces = [piece.strip() for piece in _cut(body, room)]
        found += ["\n\n".join(part for part in (title, piece) if part) for piece in pieces if piece]
    return [chunk for chunk in found if not is_blank(chunk)]


def _sections(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Give each section's headings, outermost first, and what is under the last of them.

    One without anything but deeper headings under it is left out: these name it.
    """
    path: dict[int, str] = {}
    lines: list[str] = []
    is_named = True
    fence = ""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        fence = _fence(line, fence)
        heading = None if fence else _HEADING.fullmatch(line)
        if heading is None or len(heading[2]) > HEADING_MAX_CHARS:
            lines.append(line)
            continue
        level = len(heading[1])
        body = "\n".join(lines)
        if body.strip() or not (is_named or level > max(path)):
            yield tuple(path.values()), body
        path = {of: title for of, title in path.items() if of < level} | {level: heading[2]}
        lines, is_named = [], False
    body = "\n".join(lines)
    if body.strip() or not is_named:
        yield tuple(path.values()), body


def _fence(line: str, fence: str) -> str:
    """Give the mark of the block of code that a line is in, or ends; empty outside of one."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark[1]
    return "" if mark[1] == fence else fence


def _cut(text: str, most: int, cuts: Sequence[re.Pattern[str]] = _CUTS) -> list[str]:
    if len(text) <= most:
        return [text]
    if not cuts:
        return [text[start : start + most] for start in range(0, len(text), most)]
    packed = [""]
    for piece in cuts[0].split(text):
        for part in _cut(piece, most, cuts[1:]):
            if len(packed[-1]) + len(part) > most:
                packed.append("")
            packed[-1] += part
    return packed
