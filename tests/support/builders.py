"""Makes what tests need: a controller on a store, memories, requests, gateway events."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from recollect.commit import Request, Surroundings
from recollect.controller import MemoryController
from recollect.model import Entry, Memory, MemoryType, NewMemory
from recollect.nominating import OnSimilar, ToStore
from recollect.object_store import ObjectStore
from recollect.ports import Embedder, MemoryStore

from tests.support.embedder import HashingEmbedder
from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore

NOW_MS = 1_700_000_000_000
BUDGET_BYTES = 2**28
TRANSCRIPTS = tuple(f"01TR{number:022d}" for number in range(3))
MEMORY = Memory(
    memory_id="01HF0000000000000000000000",
    content="the office closes at six",
    type=MemoryType.SEMANTIC,
    created_at_ms=NOW_MS,
    updated_at_ms=NOW_MS,
)


class Clock:
    """A time that tests set."""

    def __init__(self, now_ms: int = NOW_MS) -> None:
        self.now_ms = now_ms

    def __call__(self) -> int:
        return self.now_ms


def surroundings(clock: Callable[[], int] | None = None, prefix: str = "01HF") -> Surroundings:
    """Time that stands still, ids that count, no waiting."""
    numbers = iter(range(1, 1_000_000))
    return Surroundings(
        now_ms=clock or Clock(),
        new_id=lambda: f"{prefix}{next(numbers):0{26 - len(prefix)}d}",
        random=lambda: 0.5,
        sleep=lambda _: None,
    )


def controller(
    store: MemoryStore | None = None,
    embedder: Embedder | None = None,
    clock: Callable[[], int] | None = None,
    prefix: str = "01HF",
    objects: ObjectStore | None = None,
    around: Surroundings | None = None,
) -> MemoryController:
    """Make a controller; each one is an instance of its own, as a Lambda process is."""
    return MemoryController(
        InMemoryMemoryStore() if store is None else store,
        InMemoryObjectStore() if objects is None else objects,
        embedder or HashingEmbedder(),
        around or surroundings(clock, prefix),
        BUDGET_BYTES,
    )


def asking(user_id: str = "ana", key: str | None = None, digest: str = "d") -> Request:
    """Make a write request of a user."""
    return Request(user_id, by=user_id, idempotency_key=key, digest=digest, request_id="r-1")


def to_store(
    content: str, *, on_similar: OnSimilar = OnSimilar.RECONCILE, supersedes: str | None = None, **values: Any
) -> ToStore:
    """Make what a caller wants to be stored."""
    return ToStore(NewMemory(content=content, **values), on_similar, supersedes)


def entries_of(store: MemoryStore, user_id: str = "ana", after_seq: int = 0) -> list[Entry]:
    """Read a user's log without the touches in it."""
    records, _ = store.read_log(user_id, after_seq)
    return [record for record in records if isinstance(record, Entry)]


def memory(content: str, **values: Any) -> Memory:
    """Make a memory with this content."""
    return replace(MEMORY, content=content, **values)


def event(
    method: str,
    path: str,
    body: Any = None,
    *,
    query: str = "",
    claims: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    is_base64: bool = False,
) -> dict[str, Any]:
    """Make an HTTP API event; `claims` are the authorizer's, by default those of the user ``ana``."""
    context: dict[str, Any] = {
        "stage": "$default",
        "requestId": "r-1",
        "http": {"method": method, "path": path},
        "authorizer": {"jwt": {"claims": {"sub": "ana"} if claims is None else dict(claims)}},
    }
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "queryStringParameters": dict(parse_qsl(query)) if query else None,
        "headers": {"content-type": "application/json", **(headers or {})},
        "requestContext": context,
        "body": body if body is None or isinstance(body, str) else json.dumps(body),
        "isBase64Encoded": is_base64,
    }
