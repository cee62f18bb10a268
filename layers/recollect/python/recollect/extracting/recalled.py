"""Takes out of a message what is not the speaker's own words: our context block, code, quotations, material.

Pure and linear: by lines and by searches for fixed strings.
"""

import re
from collections.abc import Iterator

from recollect.context import MEMORIES, PROFILE
from recollect.reconciling.wordlists import words

QUOTED = "\ufffc"  # stands for words of others; a sentence that has it states nothing

_FENCES = (PROFILE, MEMORIES)
_MEMORY_LINE = re.compile(r"- \[[0-9A-HJKMNP-TV-Z]{26}\] \((?:episodic|semantic|procedural)\b")
_LABEL = re.compile(  # of pasted dialogue
    r"(?:\[[^\]\n]{1,40}\] ?)?(?:[A-Z][\w.'’-]{0,30}(?: [A-Z][\w.'’-]{0,30}){0,2}|user|assistant|me|customer|agent|support|human|ai|bot)"
    r"(?: \([^)\n]{1,40}\))?:(?= |$)"
)
_OWN_LABELS = words(
    "note notes edit update ps p.s fyi btw reminder context correction important background diet allergies preferences"
    " preference work job home family hobbies languages fact also remember caveat warning constraint constraints"
)
_TASK = re.compile(
    r"\b(?:translate|proofread|rephrase|rewrite|reword|summari[sz]e|paraphrase|fix|correct|edit|improve|polish|review"
    r"|analy[sz]e|classify|continue|complete|answer|reply to|respond to)\b[^:]{0,120}:$",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|my|we|our|ich|meine?|je|j'|mon|ma|yo|mi|vivo|soy|eu|minha|io)\b", re.IGNORECASE)
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "»": "«"}
_QUOTE = re.compile('["“”„«»]')
_QUOTE_MAX_CHARS = 1_000


def without_recalled(text: str) -> str:
    """Leave out context blocks of ours, whole or in single lines, and white space around what is left."""
    for fence in _FENCES:
        text = _without_blocks(text, fence.opening, fence.closing)
    markup = {one for fence in _FENCES for one in (fence.opening, fence.closing, fence.preamble)}
    if not any(one in text for one in markup) and "- [" not in text:
        return text.strip()
    lines = (line for line in text.split("\n") if line.strip() not in markup and not _MEMORY_LINE.match(line.strip()))
    return "\n".join(lines).strip()


def own_lines(text: str) -> list[str]:
    """Give the lines in which a speaker speaks: without code, quoted lines, pasted dialogue and texts to work on."""
    lines = []
    for line in _outside_code(_without_quotations(text)):
        label = _LABEL.match(line)
        is_pasted = label is not None and label[0].rstrip(":").casefold() not in _OWN_LABELS
        if _TASK.search(line[-200:]):
            break
        if line and not line.startswith((">", "|")) and not (is_pasted and _FIRST_PERSON.search(line)):
            lines.append(line)
    return lines


def _without_blocks(text: str, opening: str, closing: str) -> str:
    kept, position = [], 0
    while (start := text.find(opening, position)) >= 0 and (end := text.find(closing, start)) >= 0:
        kept.append(text[position:start])
        position = end + len(closing)
    return "".join((*kept, text[position:]))


def _outside_code(text: str) -> Iterator[str]:
    is_code = False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and not line.startswith(("    ", "\t")):
            yield line.strip()


def _without_quotations(text: str) -> str:
    """Put `QUOTED` in the place of each quotation in which somebody speaks of himself."""
    kept, position = [], 0
    while found := _QUOTE.search(text, position):
        start = found.start()
        end = text.find(_QUOTES.get(found[0], found[0]), start + 1, start + _QUOTE_MAX_CHARS)
        if end < 0:
            kept.append(text[position : start + 1])
            position = start + 1
            continue
        is_speech = _FIRST_PERSON.search(text, start, end)
        kept.append(text[position:start] + QUOTED if is_speech else text[position : end + 1])
        position = end + 1
    return "".join((*kept, text[position:]))
