"""Everything that the ingestion works on, in memory, and processes that work on it.

>>> desk = Desk()
>>> job = desk.hand_over("I like tea", "Noted.")
>>> desk.worker().run(job, desk.later())
>>> desk.contents()
["fact: I like tea", "I like tea", "Noted."]
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

from recollect import keys
from recollect.budget import TokenBudget
from recollect.commit import Surroundings
from recollect.controller import MemoryController
from recollect.conversation import Extract, Format, Passage, Transcript
from recollect.erasure import ErasureState
from recollect.extraction import Extraction, Recall
from recollect.finding import Finding
from recollect.formats.reading import read_list
from recollect.handover import Given, Whose
from recollect.ingesting import Ingestion
from recollect.model import Memory, MemoryType, NewMemory, Source
from recollect.recording import Recorder
from recollect.transcript_store import IngestionJob

from tests.support.builders import NOW_MS, Clock, controller
from tests.support.embedder import HashingEmbedder
from tests.support.faults import Dying
from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore
from tests.support.inmemory_transcripts import InMemoryQueue, InMemoryTokenCounts, InMemoryTranscriptStore

HOUR_MS = 3_600_000
DAILY_TOKENS = 1_000


class LiteralExtractor:
    """Makes a fact of every message of a user; fails first with what it is told to.

    Parameters
    ----------
    tokens : int
        That it takes each time, one in ten of them output; 0 for one that asks no model.
    """

    def __init__(self, name: str = "rules", tokens: int = 0) -> None:
        self.name = name
        self.tokens = tokens
        self.errors: list[Exception] = []
        self.passages: list[Passage] = []
        self.meanwhile: Callable[[], Any] = lambda: None

    @property
    def costs_tokens(self) -> bool:
        return self.tokens > 0

    def extract(self, passage: Passage, recall: Recall) -> Extraction:
        self.passages.append(passage)
        self.meanwhile()
        if self.errors:
            raise self.errors.pop(0)
        found = tuple(
            NewMemory(
                content=f"fact: {message.text}",
                type=MemoryType.PROCEDURAL,  # which the rules of reconciling leave apart, if they are not alike
                session_id=passage.session_id,
                occurred_at_ms=passage.time_of(message),
                sources=(Source(passage.transcript_id, message.index, message.index),),
            )
            for message in passage.new
            if message.role == "user"
        )
        spent = {"input": self.tokens - self.tokens // 10, "output": self.tokens // 10} if self.tokens else {}
        return Extraction(found, spent)


class _All:
    """All ports behind one name; no method of two of them has the same."""

    def __init__(self, *ports: Any) -> None:
        self._ports = ports

    def __getattr__(self, name: str) -> Any:
        return next(getattr(port, name) for port in self._ports if hasattr(port, name))


class Desk:
    """What all processes share."""

    def __init__(self, *extractors: LiteralExtractor) -> None:
        self.memories = InMemoryMemoryStore()
        self.transcripts = InMemoryTranscriptStore(self.memories)
        self.objects = InMemoryObjectStore()
        self.queue = InMemoryQueue()
        self.counts = InMemoryTokenCounts(self.memories)
        self.extractors = extractors or (LiteralExtractor(),)
        self.clock = Clock(NOW_MS)
        self.waits_s: list[float] = []
        self.ports = Dying(_All(self.transcripts, self.memories, self.objects, self.queue, self.counts))
        self._ids = iter(range(1, 10**6))

    @property
    def around(self) -> Surroundings:
        def sleep(seconds: float) -> None:
            self.waits_s.append(seconds)
            self.clock.now_ms += round(seconds * 1000)

        return Surroundings(self.clock, lambda: f"01HF{next(self._ids):022d}", lambda: 0.5, sleep)

    def later(self, milliseconds: int = HOUR_MS) -> int:
        """Give a time to come."""
        return self.clock.now_ms + milliseconds

    def controller(self) -> MemoryController:
        """Make an instance of the service, which does not die."""
        return controller(self.memories, HashingEmbedder(), objects=self.objects, around=self.around)

    def recorder(self) -> Recorder:
        """Make what keeps messages."""
        return Recorder(self.memories, self.transcripts, self.objects, self.around)

    def worker(self) -> Ingestion:
        """Make a process of the ingestion, which dies where `ports` say so."""
        ports: Any = self.ports
        of = controller(ports, HashingEmbedder(), objects=ports, around=self.around)
        budget = TokenBudget(ports, DAILY_TOKENS, self.clock)
        finding = Finding({each.name: each for each in self.extractors}, budget, of)
        return Ingestion(ports, ports, ports, of, finding, self.around)

    def hand_over(
        self,
        *texts: str,
        session_id: str = "s-1",
        extract: Extract = Extract.BOTH,
        extractor: str = "",
        user_id: str = "ana",
    ) -> IngestionJob:
        """Add messages to a session, the user's and the assistant's in turn."""
        seen = self.transcript(session_id, user_id)
        begin = 0 if seen is None else seen.message_count
        values = [
            {"role": ("user", "assistant")[(begin + place) % 2], "content": text, "at": (NOW_MS + begin + place) / 1000}
            for place, text in enumerate(texts)
        ]
        given = Given(
            sent=read_list(values),
            data=b"",
            format=Format.JSONL,
            occurred_at_ms=NOW_MS,
            extract=extract,
            extractor=extractor or self.extractors[0].name,
        )
        recorded = self.recorder().record(user_id, Whose(session_id=session_id, agent_id="robot"), given)
        return IngestionJob(user_id, recorded.epoch, recorded.transcript.transcript_id)

    def transcript(self, session_id: str = "s-1", user_id: str = "ana") -> Transcript | None:
        """Read what is known of a session."""
        found = self.transcripts.transcript_claiming(user_id, f"session {session_id}")
        return None if found is None else self.transcripts.transcript(user_id, found)

    def stored(self, user_id: str = "ana") -> list[Memory]:
        """Read all memories as they are now, in the order of what they cite."""
        found = [version.memory for version in self.memories.every_version(user_id) if version.ended_seq == 0]
        return sorted(found, key=lambda one: ([(of.first, of.last) for of in one.sources], one.content))

    def contents(self, user_id: str = "ana") -> list[str]:
        """Read what the memories say."""
        return [memory.content for memory in self.stored(user_id)]

    def erase(self, user_id: str = "ana") -> None:
        """Erase a user to the end."""
        of = self.controller()
        while of.erase(user_id).state is not ErasureState.ERASED:
            self.clock.now_ms += 1_000

    def kept(self, user_id: str = "ana") -> list[Any]:
        """Name everything that is kept of a user."""
        return [*self.memories.items(user_id, 1_000), *self.objects.list_objects(keys.objects_of(user_id))]

    def spent(self, user_id: str = "ana") -> int:
        """Read how many tokens were counted, on whichever day."""
        counted = [of for (owner, key), of in self.memories.others.items() if owner == user_id and key[:4] == "TOK#"]
        return sum(sum(cast("Counter[str]", of).values()) for of in counted)


def message_of(job: IngestionJob) -> str:
    """Write a job as a message of the queue."""
    return json.dumps({"user_id": job.user_id, "epoch": job.epoch, "transcript_id": job.transcript_id})


def picture(desk: Desk, user_id: str = "ana") -> tuple[Sequence[Any], Transcript | None]:
    """Tell what there is, but for ids and times of its making."""
    memories = [
        (one.content, one.type, one.actor, one.session_id, one.occurred_at_ms, one.version, one.sources)
        for one in desk.stored(user_id)
    ]
    return memories, desk.transcript(user_id=user_id)
