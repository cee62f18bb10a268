"""The API's handler on a store in memory, called with events and answering with parsed bodies."""

import base64
import json
from collections.abc import Callable
from functools import cached_property
from itertools import count
from typing import Any

from recollect.http.entrypoint import lambda_entrypoint
from recollect.ports import Embedder
from recollect.recording import Recorder

from functions.api import handler
from tests.support.builders import controller, event, surroundings
from tests.support.embedder import HashingEmbedder
from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore
from tests.support.inmemory_transcripts import InMemoryQueue, InMemoryTranscriptStore
from tests.support.transcribers import ingestion, transcriber

MEMORIES = "/v1/users/ana/memories"
TRANSCRIPTS = "/v1/users/ana/transcripts"
SEARCH = "/v1/users/ana/search"
SERVICE = {"sub": "backend", "scope": "recollect/any-user"}
NUMBERS = count()


class App:
    """The handler on a store in memory; answers are parsed."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.store = InMemoryMemoryStore()
        self.transcripts = InMemoryTranscriptStore(self.store)
        self.objects = InMemoryObjectStore()
        self.queue = InMemoryQueue()
        self.embedder = HashingEmbedder()
        self._embedder = embedder or self.embedder
        self.service = f"api-{next(NUMBERS)}"  # a logger of its own, on the stdout of this test

    @cached_property
    def _handle(self) -> Callable[[Any, Any], dict[str, Any]]:
        of = controller(self.store, self._embedder, objects=self.objects)
        transcripts = transcriber(of, self.store, self.objects, self.queue)
        return lambda_entrypoint(self.service, lambda report: handler.create_app(of, transcripts, report))

    def work(self) -> None:
        """Do what was queued, as the ingest function does."""
        around = surroundings(prefix="01HW")
        jobs = self.queue.take()
        if not jobs:
            return
        of = controller(self.store, self._embedder, objects=self.objects, around=around)
        for job in jobs:
            ingestion(of, self.store, self.objects, self.queue, around).run(job, around.now_ms() + 60_000)

    def arrive(self, key: str) -> None:
        """Take an upload, as the ingest function does when the bucket tells of one."""
        recorder = Recorder(self.store, self.transcripts, self.objects, surroundings(prefix="01HX"))
        job = recorder.take_upload(key)
        if job is not None:
            self.queue.send(job)
        self.work()

    def __call__(self, method: str, path: str, body: Any = None, **given: Any) -> tuple[int, Any, dict[str, str]]:
        answer = self._handle(event(method, path, body, **given), None)
        is_base64 = answer["isBase64Encoded"]
        text = base64.b64decode(answer["body"], validate=True) if is_base64 else answer["body"]
        headers = {name.lower(): value for name, value in answer["headers"].items()}
        return (
            int(answer["statusCode"]),
            json.loads(text) if "json" in headers["content-type"] and not is_base64 else text,
            headers,
        )


def stored(app: App, content: str, user_id: str = "ana", **values: Any) -> str:
    """Store a memory and give its id."""
    _, receipt, _ = app("POST", f"/v1/users/{user_id}/memories", {"content": content, **values}, claims=SERVICE)
    return str(receipt["memory_id"])
