"""Runs conversations through the memory controller: every turn one memory, every question one search in each mode.

Measures and decides nothing about quality. One user for each conversation, unless said; questions are asked after all
turns are stored.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from recollect.answers import SearchQuery
from recollect.commit import Request
from recollect.controller import MemoryController
from recollect.model import BATCH_MAX_COUNT, MemoryType, NewMemory
from recollect.nominating import ToStore
from recollect.ports import Embedder
from recollect.ranking import Mode
from recollect.scan import Vector, Vectors
from recollect.wiring import surroundings

from tests.eval.locomo import Conversation, Question, Turn
from tests.eval.metrics import RANKS, measures
from tests.support.builders import BUDGET_BYTES
from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore

MODES = (Mode.HYBRID, Mode.SEMANTIC, Mode.LEXICAL)


class Remembering:
    """An embedder that embeds a text once, however often it is asked."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._vectors: dict[str, Vector] = {}
        self.name = inner.name
        self.dimension = inner.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        self._vectors |= dict(zip(missing, self._inner.embed(missing), strict=True)) if missing else {}
        return np.stack([self._vectors[text] for text in texts])


def controller_of(embedder: Embedder) -> MemoryController:
    """Make a service that holds nothing yet."""
    return MemoryController(InMemoryMemoryStore(), InMemoryObjectStore(), embedder, surroundings(), BUDGET_BYTES)


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

    def answering(self, question: Question) -> set[str]:
        """Name the memories that answer a question."""
        return {self.memory_of[turn_id] for turn_id in question.evidence}


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


def ingest(controller: MemoryController, conversation: Conversation, user_id: str | None = None) -> Ingested:
    """Store every turn of a conversation, in batches, for a user of its own unless said."""
    request = Request(user_id=user_id or conversation.conversation_id, by="eval")
    memory_of: dict[str, str] = {}
    started = time.perf_counter()
    for first in range(0, len(conversation.turns), BATCH_MAX_COUNT):
        batch = conversation.turns[first : first + BATCH_MAX_COUNT]
        outcomes = controller.store(request, [_memory(turn) for turn in batch])
        memory_of |= {turn.turn_id: done.memory_id for turn, done in zip(batch, outcomes, strict=True)}
    return Ingested(memory_of, time.perf_counter() - started)


def ask(
    controller: MemoryController,
    conversation: Conversation,
    ingested: Ingested,
    modes: Sequence[Mode] = MODES,
    user_id: str | None = None,
    asked_at_ms: int | None = None,
) -> Iterator[Asked]:
    """Ask every question of a conversation in every mode; now, unless said."""
    for question in conversation.questions:
        relevant = ingested.answering(question)
        for mode in modes:
            started = time.perf_counter()
            query = SearchQuery(text=question.text, k=RANKS, mode=mode, now_ms=asked_at_ms, reinforces=False)
            found = controller.search(user_id or conversation.conversation_id, query)
            milliseconds = (time.perf_counter() - started) * 1000.0
            measured = measures([hit.memory.memory_id for hit in found.hits], relevant)
            yield Asked(conversation.conversation_id, question.category, mode.value, measured, milliseconds)


def evidence_in_context(
    controller: MemoryController,
    conversation: Conversation,
    ingested: Ingested,
    token_budget: int,
    diversity: float = 0.0,
) -> Iterator[bool]:
    """Tell for every question whether all turns that answer it are in the context under a token budget."""
    for question in conversation.questions:
        query = SearchQuery(text=question.text, diversity=diversity, reinforces=False)
        block = controller.context(conversation.conversation_id, query, token_budget)
        yield ingested.answering(question) <= {*block.stable.memory_ids, *block.volatile.memory_ids}


def _memory(turn: Turn) -> ToStore:
    memory = NewMemory(
        content=turn.content,
        type=MemoryType.EPISODIC,
        session_id=turn.session_id,
        actor=turn.actor,
        occurred_at_ms=turn.occurred_at_ms,
    )
    return ToStore(memory)
