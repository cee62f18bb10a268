"""Makes controllers of transcripts on stores in memory."""

from collections.abc import Mapping
from typing import Any

from recollect.budget import TokenBudget
from recollect.commit import Surroundings
from recollect.controller import MemoryController
from recollect.extracting.rules import RulesExtractor
from recollect.finding import Finding
from recollect.ingesting import Ingestion
from recollect.object_store import ObjectStore
from recollect.recording import Recorder
from recollect.transcribing import TranscriptController

from tests.support.builders import surroundings
from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore
from tests.support.inmemory_transcripts import InMemoryQueue, InMemoryTokenCounts, InMemoryTranscriptStore

DAILY_TOKENS = 1_000


def ingestion(
    of: MemoryController,
    memories: InMemoryMemoryStore,
    objects: ObjectStore,
    queue: InMemoryQueue,
    around: Surroundings,
    extractors: Mapping[str, Any] | None = None,
) -> Ingestion:
    """Make a process of the ingestion."""
    budget = TokenBudget(InMemoryTokenCounts(memories), DAILY_TOKENS, around.now_ms)
    finding = Finding(extractors or {"rules": RulesExtractor()}, budget, of)
    return Ingestion(InMemoryTranscriptStore(memories), objects, queue, of, finding, around)


def transcriber(
    of: MemoryController,
    memories: InMemoryMemoryStore | None = None,
    objects: ObjectStore | None = None,
    queue: InMemoryQueue | None = None,
    around: Surroundings | None = None,
    extractors: Mapping[str, Any] | None = None,
) -> TranscriptController:
    """Make a controller of transcripts beside one of memories; each call makes an instance of its own."""
    memories = InMemoryMemoryStore() if memories is None else memories
    objects = InMemoryObjectStore() if objects is None else objects
    queue = InMemoryQueue() if queue is None else queue
    around = around or surroundings(prefix="01HT")
    store = InMemoryTranscriptStore(memories)
    recorder = Recorder(memories, store, objects, around)
    working = ingestion(of, memories, objects, queue, around, extractors)
    names = tuple(extractors or ("rules",))
    return TranscriptController(of, recorder, store, objects, queue, working, around, names)
