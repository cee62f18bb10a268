"""What a model may answer when it is asked for memories, and what becomes of it.

An answer is only ever memories to store; each has words of a new message behind it, which are looked for.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, ValidationError, WithJsonSchema

from recollect.conversation import Passage, Role
from recollect.extracting.turns import actor_of
from recollect.model import Memory, MemoryType, NewMemory, Source
from recollect.prompting import tasks
from recollect.prompting.quotes import is_quoted, is_taken_from_another
from recollect.prompting.rendering import Window
from recollect.prompting.replies import InvalidReply, Problem, problems_of, seen
from recollect.reconcile import reconcile
from recollect.reconciling.pair import Candidate, Statement, scope
from recollect.reconciling.reading import read as read_statement
from recollect.reconciling.tokens import Kind
from recollect.schemas.fields import Closed, Importance, Label, Tag, instant

TOOL = "remember"
PROMPT = "extract-1"
MEMORY_MAX_COUNT = 50
CONTENT_MAX_CHARS = 1_000
QUOTE_MAX_CHARS = 2_000
TAG_MAX_COUNT = 8
USER = "user"
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SPECIFIC = frozenset({Kind.NAME, Kind.NUMBER, Kind.DATE})
_UNSUPPORTING_COSINE = 0.7  # close, and not so close that it supports what words only may mean


def _when(value: object) -> int:
    """Read a date, as its first instant in UTC, or an instant."""
    if not (isinstance(value, str) and _DATE.fullmatch(value)):
        return instant(value)
    return instant(f"{value}T00:00:00Z")


def _tags(values: list[str]) -> list[str]:
    return list(dict.fromkeys(value.strip().lower() for value in values))


class FoundMemory(Closed):
    """One memory, as a model gives it; what the fields mean is told in the prompt."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=CONTENT_MAX_CHARS), AfterValidator(seen)]
    type: MemoryType
    subject: Label
    tags: Annotated[list[Tag], Field(max_length=TAG_MAX_COUNT), AfterValidator(_tags)] = Field(default_factory=list)
    importance: Importance
    message: int
    quote: Annotated[str, StringConstraints(min_length=1, max_length=QUOTE_MAX_CHARS), AfterValidator(seen)]
    occurred_at: Annotated[int, BeforeValidator(_when), WithJsonSchema({"type": "string"})] | None = None
    same_as: int | None = None

    @property
    def is_of_user(self) -> bool:
        """Whether it is about the user."""
        return self.subject.strip().casefold() == USER


class FoundMemories(Closed):
    """The arguments of the tool."""

    memories: Annotated[list[FoundMemory], Field(max_length=MEMORY_MAX_COUNT)]


_FIELDS = frozenset({*FoundMemories.model_fields, *FoundMemory.model_fields})


def task() -> tasks.Task:
    """Give what a model is asked for."""
    return tasks.load(PROMPT, TOOL, FoundMemories)


def read(arguments: object, window: Window, stored: Sequence[Memory]) -> list[FoundMemory]:
    """Check the arguments of a model's call against what it was shown.

    Raises
    ------
    InvalidReply
        If anything is wrong with any of the memories.
    """
    try:
        found = FoundMemories.model_validate(arguments).memories
    except ValidationError as error:
        raise InvalidReply(problems_of(error, _FIELDS)) from None
    problems = [
        Problem(kind, f"memories.{number}: {told}")
        for number, each in enumerate(found)
        for kind, told in _mistakes(each, window, len(stored))
    ]
    if problems:
        raise InvalidReply(problems)
    return found


def _mistakes(found: FoundMemory, window: Window, stored_count: int) -> Iterator[tuple[str, str]]:
    excerpt = window.cited(found.message)
    if excerpt is None:
        yield "unknown_message", "message is not the number of a new message that may be cited"
    elif not is_quoted(found.quote, excerpt):
        yield "unknown_quote", "quote does not stand in that message; copy it letter for letter"
    elif excerpt.message.role is Role.ASSISTANT and found.is_of_user:
        yield "not_the_users_word", "an assistant's message is no evidence about the user"
    elif excerpt.message.role is Role.USER and is_taken_from_another(found.content, found.quote, excerpt):
        yield "about_somebody_else", "the quote is about somebody else than the content; say whom it is about"
    if found.same_as is not None and not 1 <= found.same_as <= stored_count:
        yield "unknown_memory", "same_as is not the number of a stored memory; leave it out"


def new_memory(found: FoundMemory, passage: Passage, window: Window) -> NewMemory:
    """Make the memory to store of one that was read with this window."""
    excerpt = window.cited(found.message)
    if excerpt is None:
        raise ValueError("the memory cites a message that is not in this window")
    return NewMemory(
        content=found.content.strip(),
        type=found.type,
        tags=tuple(found.tags),
        importance=found.importance,
        metadata_json="{}" if found.is_of_user else json.dumps({"subject": found.subject.strip()}, ensure_ascii=False),
        agent_id=passage.agent_id,
        session_id=passage.session_id,
        actor=actor_of(excerpt.message),
        occurred_at_ms=excerpt.at_ms if found.occurred_at is None else found.occurred_at,
        sources=(Source(passage.transcript_id, found.message, found.message),),
    )


def is_repeat(new: NewMemory, stored: Memory) -> bool:
    """Tell whether a memory may say what a stored one says, as the model holds: whether no rule speaks against it.

    It must be from the same speaker, of the same kind, and have no name, number or date that the stored one has not;
    and the rules of reconciling must not find that it contradicts it or adds to it. Where they are not sure, the
    model's word counts.
    """
    statement = Statement(new.content, new.type, new.actor, new.session_id, new.occurred_at_ms)
    candidate = Candidate.of(stored, cosine=_UNSUPPORTING_COSINE)
    if scope(statement, candidate) is not None or _specifics(new.content) - _specifics(stored.content):
        return False
    return reconcile(statement, [candidate]).outcome not in ("superseded", "merged")


def _specifics(text: str) -> set[str]:
    return {token.key for token in read_statement(text).tokens if token.kind in _SPECIFIC}


def said_again(stored: Memory, new: NewMemory) -> NewMemory:
    """Make the memory to store of one that says what a stored one says: the same statement, from another place."""
    same = NewMemory(**{field.name: getattr(stored, field.name) for field in fields(NewMemory)})
    return replace(same, sources=new.sources)
