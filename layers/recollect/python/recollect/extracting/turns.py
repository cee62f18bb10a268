"""Makes a memory of every turn worth keeping: the words said, understandable alone.

Pure. The speaker's name is the memory's actor and stays out of the content, where it would spoil the embedding. A
short answer carries its question behind it, in brackets.
"""

from collections.abc import Iterator

from recollect.conversation import Message, Passage, Role
from recollect.extracting.chatter import is_chatter, needs_question, question_in
from recollect.extracting.recalled import without_recalled
from recollect.extracting.sentences import pieces
from recollect.model import SCOPE_MAX_CHARS, MemoryType, NewMemory, Source
from recollect.text import is_blank

DOCUMENT_TAG = "document"
_SPOKEN = (Role.USER, Role.ASSISTANT)
_IMPORTANCE = {Role.USER: 0.4, Role.ASSISTANT: 0.3, Role.DOCUMENT: 0.5}


def turns_of(passage: Passage) -> tuple[NewMemory, ...]:
    """Give the memories of a passage's new turns and document chunks, in their order."""
    before: Message | None = None
    found: list[NewMemory] = []
    for message in passage.messages:
        if message.index >= passage.first and message.role in _IMPORTANCE:
            found.extend(_memories(passage, message, before))
        if message.role in _SPOKEN and not is_blank(message.text):
            before = message
    return tuple(found)


def actor_of(message: Message) -> str:
    """Name who speaks: by name, or by role."""
    name = " ".join((message.name or "").split())[:SCOPE_MAX_CHARS]
    return message.role.value if is_blank(name) else name


def _memories(passage: Passage, message: Message, before: Message | None) -> Iterator[NewMemory]:
    text = without_recalled(message.text)
    is_document = message.role is Role.DOCUMENT
    first, ending = message.index, ""
    if not is_document:
        question = None if before is None else _question(message, before)
        if is_chatter(text, question):
            return
        if before is not None and question is not None and needs_question(text):
            first, ending = before.index, f" [in answer to: {question}]"
    for piece in pieces(text):
        if not is_blank(piece):
            yield NewMemory(
                content=piece + ending,
                type=MemoryType.SEMANTIC if is_document else MemoryType.EPISODIC,
                tags=(DOCUMENT_TAG,) if is_document else (),
                importance=_IMPORTANCE[message.role],
                agent_id=passage.agent_id,
                session_id=passage.session_id,
                actor=actor_of(message),
                occurred_at_ms=passage.time_of(message),
                sources=(Source(passage.transcript_id, first, message.index),),
            )


def _question(message: Message, before: Message) -> str | None:
    is_other = (before.role, before.name) != (message.role, message.name)
    return question_in(without_recalled(before.text)) if is_other else None
