"""Runs conversations through the memory controller: every turn one memory, every question one search in each mode.

Measures and decides nothing about quality. One user for each conversation; questions are asked after all of its
turns are stored.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.answers import SearchQuery
from recollect.commit import Request
from recollect.controller import MemoryController
from recollect.model import BATCH_MAX_COUNT, MemoryType, NewMemory
from recollect.ranking import Mode
from recollect.storing import ToStore

from tests.eval.locomo import Conversation, Question, Turn
from tests.eval.metrics import RANKS, measures


@dataclass(frozen=True, slots=True)
class Ingested:
    """What storing one conversation gave.

    Parameters
    ----------
    memory_of : dict of str to str
        Turn ids to memory ids; the same statement said twice in a session is one memory.
    seconds : float
    """

    memory_of: dict[str, str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Asked:
    """One question asked in one mode.

    Parameters
    ----------
    measured : dict of str to float
        By name of measure, see ``metrics.measures``.
    milliseconds : float
        Of the whole search, embedding the query included.
    """

    conversation_id: str
    category: int
    mode: str
    measured: dict[str, float]
    milliseconds: float


def ingest(controller: MemoryController, conversation: Conversation) -> Ingested:
    """Store every turn of a conversation, in batches."""
    request = Request(user_id=conversation.conversation_id, by="eval")
    memory_of: dict[str, str] = {}
    started = time.perf_counter()
    for first in range(0, len(conversation.turns), BATCH_MAX_COUNT):
        batch = conversation.turns[first : first + BATCH_MAX_COUNT]
        outcomes = controller.store(request, [_memory(turn) for turn in batch])
        memory_of |= {turn.turn_id: done.memory_id for turn, done in zip(batch, outcomes, strict=True)}
    return Ingested(memory_of, time.perf_counter() - started)


def ask(controller: MemoryController, conversation: Conversation, ingested: Ingested) -> Iterator[Asked]:
    """Ask every question of a conversation in every mode."""
    for question in conversation.questions:
        relevant = {ingested.memory_of[turn_id] for turn_id in question.evidence}
        for mode in Mode:
            yield _ask_one(controller, conversation.conversation_id, question, relevant, mode)


def _ask_one(controller: MemoryController, user_id: str, question: Question, relevant: set[str], mode: Mode) -> Asked:
    started = time.perf_counter()
    found = controller.search(user_id, SearchQuery(text=question.text, k=RANKS, mode=mode, reinforces=False))
    milliseconds = (time.perf_counter() - started) * 1000.0
    ranking = [hit.memory.memory_id for hit in found.hits]
    return Asked(user_id, question.category, mode.value, measures(ranking, relevant), milliseconds)


def _memory(turn: Turn) -> ToStore:
    memory = NewMemory(
        content=turn.content,
        type=MemoryType.EPISODIC,
        session_id=turn.session_id,
        actor=turn.actor,
        occurred_at_ms=turn.occurred_at_ms,
    )
    return ToStore(memory)
