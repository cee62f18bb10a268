"""What a model may answer when it is asked to put memories into one, and what becomes of it.

An answer names for each sentence the memories that say it; each memory is told or left out, and no sentence has a word,
name or number that is not in the memories that it names.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, ValidationError

from recollect.consolidating.summary import Summary
from recollect.consolidating.support import invented, lost
from recollect.model import DERIVED_MAX_COUNT, Memory
from recollect.prompting import tasks
from recollect.prompting.rendering import numbered
from recollect.prompting.replies import InvalidReply, Problem, problems_of, seen
from recollect.schemas.fields import Closed

TOOL = "tell"
PROMPT = "consolidate-1"
SENTENCE_MAX_CHARS = 500
SENTENCE_MAX_COUNT = 40
_Numbers = Annotated[list[int], Field(max_length=DERIVED_MAX_COUNT)]


class ToldSentence(Closed):
    """One sentence, and the numbers of the memories that say it."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=SENTENCE_MAX_CHARS), AfterValidator(seen)]
    memories: Annotated[list[int], Field(min_length=1, max_length=DERIVED_MAX_COUNT)]


class ToldTogether(Closed):
    """The arguments of the tool."""

    sentences: Annotated[list[ToldSentence], Field(max_length=SENTENCE_MAX_COUNT)]
    left_out: _Numbers = Field(default_factory=list)


_FIELDS = frozenset({*ToldTogether.model_fields, *ToldSentence.model_fields})


def task() -> tasks.Task:
    """Give what a model is asked for."""
    return tasks.load(PROMPT, TOOL, ToldTogether)


def render(memories: Sequence[Memory]) -> str:
    """Write memories down, numbered from 1."""
    lines = [numbered(number, memory) for number, memory in enumerate(memories, 1)]
    return "\n".join(("<recollect-memories>", *lines, "</recollect-memories>"))


def read(arguments: object, memories: Sequence[Memory]) -> Summary:
    """Check the arguments of a model's call against the memories that it was shown.

    Raises
    ------
    InvalidReply
        If anything is wrong with any of it.
    """
    try:
        answer = ToldTogether.model_validate(arguments)
    except ValidationError as error:
        raise InvalidReply(problems_of(error, _FIELDS)) from None
    problems = [Problem(kind, told) for kind, told in _mistakes(answer, [memory.content for memory in memories])]
    if problems:
        raise InvalidReply(problems)
    content = "\n".join(sentence.text.strip() for sentence in answer.sentences)
    return Summary(content, frozenset(memories[number - 1].memory_id for number in answer.left_out))


def _mistakes(answer: ToldTogether, contents: Sequence[str]) -> Iterator[tuple[str, str]]:
    numbers = range(1, len(contents) + 1)
    named = {number for sentence in answer.sentences for number in sentence.memories}
    if not {*named, *answer.left_out} <= {*numbers}:
        yield "unknown_memory", "memories and left_out are numbers of the memories that are given"
        return
    for number in sorted(named & {*answer.left_out}):
        yield "told_and_left_out", f"memory {number} is told and left out; it can only be one of the two"
    for number in sorted({*numbers} - named - {*answer.left_out}):
        yield "not_told", f"memory {number} is neither told nor left out"
    for place, sentence in enumerate(answer.sentences):
        if "\n" in sentence.text.strip() or invented(sentence.text, [contents[one - 1] for one in sentence.memories]):
            yield "invented", f"sentences.{place}: it says more or something else than its memories; use their words"
    for number in sorted(named):
        told = "\n".join(sentence.text for sentence in answer.sentences if number in sentence.memories)
        if lost(contents[number - 1], told):
            yield "lost", f"memory {number} is not told in full; tell all of it, or leave it out"
