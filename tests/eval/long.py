"""Long contents, found by the vector of their beginning, by the mean of all their parts, or by their best part.

Turns of a session are put together to passages, longer than the model's window; what answers a question are the
passages that hold its evidence. The ways differ in nothing but the vectors.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from recollect import ranking
from recollect.commit import Request
from recollect.controller import MemoryController
from recollect.embedding.windows import pieces
from recollect.model import NewMemory
from recollect.nominating import OnSimilar, ToStore
from recollect.partition import Partition
from recollect.ports import Embedder, MemoryStore
from recollect.ranking import Mode
from recollect.scan import Rows, Scores, Vector, Vectors

from tests.eval.locomo import Conversation, Question
from tests.eval.metrics import RANKS, mean, measures
from tests.eval.ranked import scored

PASSAGE_MIN_CHARS = 2_000
PART_MAX_BYTES = 900  # within the model's window, in English
USER = "everyone"
_BATCH = 12


@dataclass(frozen=True, slots=True)
class Passage:
    """Some turns of a session after each other; they are named by their conversation and their id."""

    text: str
    turns: frozenset[tuple[str, str]]
    occurred_at_ms: int | None


class Apart(Partition):
    """A partition whose memories have any number of vectors; the nearest one counts."""

    vectors: Mapping[str, Vectors]

    def cosines(self, query: Vector, rows: Rows) -> Scores:
        """Score some rows by their nearest vector."""
        nearest = [float((self.vectors[self.memory_id(int(row))] @ query).max()) for row in rows]
        return np.array(nearest, dtype=np.float32)


def passages(conversation: Conversation) -> Iterator[Passage]:
    """Put turns together until they are long enough; what is left at the end of a session is a shorter one."""
    for _, session in groupby(conversation.turns, key=lambda turn: turn.session_id):
        turns = list(session)
        begin, length = 0, 0
        for number, turn in enumerate(turns, start=1):
            length += len(turn.content)
            if length >= PASSAGE_MIN_CHARS or number == len(turns):
                part = turns[begin:number]
                text = "\n".join(f"{one.actor}: {one.content}" for one in part)
                names = frozenset((conversation.conversation_id, one.turn_id) for one in part)
                yield Passage(text, names, part[0].occurred_at_ms)
                begin, length = number, 0


def figures(
    conversations: Sequence[Conversation],
    controller: MemoryController,
    store: MemoryStore,
    embedder: Embedder,
    now_ms: int,
) -> dict[str, float]:
    """Measure, with the passages of all conversations in one memory.

    Returns
    -------
    dict of str to float
        ``long.<way>.<measure>`` of hybrid searches, ``long.<way>.semantic.<measure>``, ``long.passages`` and
        ``long.parts_per_passage``.
    """
    stored = _stored(conversations, controller)
    partition = Apart(embedder.name, embedder.dimension)
    partition.apply(*store.read_log(USER, 0))
    parts = {memory_id: embedder.embed(pieces(one.text, PART_MAX_BYTES)) for memory_id, one in stored.items()}
    ways: dict[str, Mapping[str, Vectors]] = {
        "beginning": {memory_id: vectors[:1] for memory_id, vectors in parts.items()},
        "mean": {memory_id: embedder.embed([one.text]) for memory_id, one in stored.items()},
        "best_part": parts,
    }
    found = {
        "long.passages": float(len(stored)),
        "long.parts_per_passage": sum(map(len, parts.values())) / len(parts),
    }
    for way, partition.vectors in ways.items():
        for mode, prefix in ((Mode.HYBRID, f"long.{way}"), (Mode.SEMANTIC, f"long.{way}.semantic")):
            measured = [
                measures(_found(partition, question, embedder, now_ms, mode), _answering(stored, one, question))
                for one in conversations
                for question in one.questions
            ]
            found |= {f"{prefix}.{name}": value for name, value in mean(measured).items()}
    return found


def _stored(conversations: Sequence[Conversation], controller: MemoryController) -> dict[str, Passage]:
    stored: dict[str, Passage] = {}
    told = [passage for conversation in conversations for passage in passages(conversation)]
    for first in range(0, len(told), _BATCH):
        batch = told[first : first + _BATCH]
        new = [NewMemory(content=one.text, occurred_at_ms=one.occurred_at_ms) for one in batch]
        outcomes = controller.store(Request(USER, by="eval"), [ToStore(one, OnSimilar.CREATE) for one in new])
        stored |= {done.memory_id: one for done, one in zip(outcomes, batch, strict=True)}
    return stored


def _answering(stored: Mapping[str, Passage], conversation: Conversation, question: Question) -> set[str]:
    wanted = {(conversation.conversation_id, turn_id) for turn_id in question.evidence}
    return {memory_id for memory_id, passage in stored.items() if wanted & passage.turns}


def _found(partition: Partition, question: Question, embedder: Embedder, now_ms: int, mode: Mode) -> list[str]:
    best = ranking.best(scored(partition, question.text, embedder, now_ms, mode), RANKS, 0.0)
    return [partition.memory_id(int(row)) for row in best.rows]
