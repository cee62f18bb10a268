"""Takes the arguments of a tool's call out of what a model said, also when it said them in text.

Tolerant in form only: what the arguments say is checked by those who asked for them.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from recollect.text import is_blank

_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)\n\s*```", re.DOTALL)
TOLD_MAX_COUNT = 20  # of what is wrong, so many are told


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with a reply.

    Parameters
    ----------
    kind : str
        Names it in fixed words, for logs and for the reason of a failure.
    told : str
        What the model is told; may repeat what it said.
    """

    kind: str
    told: str


class InvalidReply(Exception):
    """A reply cannot be used.

    Parameters
    ----------
    problems : sequence of Problem
        At least one.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(", ".join(sorted({problem.kind for problem in problems})))
        self.problems = tuple(problems)

    @property
    def correction(self) -> str:
        """What to add to the question when it is asked again."""
        told = [f"- {problem.told}" for problem in self.problems[:TOLD_MAX_COUNT]]
        return "\n".join(("Your first answer to this could not be used:", *told, "Answer again, in full."))


def arguments(blocks: Sequence[Mapping[str, Any]], tool: str) -> object:
    """Take the arguments out of the content of a reply.

    Parameters
    ----------
    blocks : sequence of mapping
        As the Converse API gives them: texts, uses of tools, and what else a model may say.

    Returns
    -------
    object
        What JSON can be; nothing is known of it.

    Raises
    ------
    InvalidReply
        If the tool is not called exactly once, nor is there JSON in the text instead.
    """
    calls = [block["toolUse"] for block in blocks if "toolUse" in block]
    if not calls:
        return _in_text("".join(block.get("text", "") for block in blocks), tool)
    if len(calls) > 1 or calls[0].get("name") != tool:
        raise InvalidReply([Problem("other_tool_calls", f"call the tool {tool} exactly once, and no other")])
    given = calls[0].get("input")
    return _in_text(given, tool) if isinstance(given, str) else given


def problems_of(error: ValidationError, fields: Collection[str]) -> list[Problem]:
    """Tell what a validation found, in our words: nothing that the model said but names of our fields."""
    found = []
    for each in error.errors(include_url=False, include_input=False):
        steps = (str(step) if isinstance(step, int) or step in fields else "(another field)" for step in each["loc"])
        found.append(Problem(each["type"], f"{'.'.join(steps) or 'the arguments'}: {each['msg']}"))
    return found


def seen(text: str) -> str:
    """Refuse a text in which there is nothing to read."""
    if is_blank(text):
        raise PydanticCustomError("blank", "must have something to read")
    return text


def _in_text(text: str, tool: str) -> object:
    for candidate in _json_texts(text):
        try:
            return json.JSONDecoder().raw_decode(candidate)[0]
        except (ValueError, RecursionError):
            continue
    raise InvalidReply(
        [Problem("no_tool_call", f"call the tool {tool}; there was no call, and no complete JSON object")]
    )


def _json_texts(text: str) -> Iterator[str]:
    for inside in (*_FENCED.findall(text), text):
        begin = inside.find("{")
        if begin >= 0:
            yield inside[begin:]
