"""The API's handler on a store in memory, called with events and answering with parsed bodies."""

import json
from collections.abc import Callable
from functools import cached_property
from itertools import count
from typing import Any

from recollect.http.entrypoint import lambda_entrypoint

from functions.api import handler
from tests.support.builders import controller, event
from tests.support.embedder import HashingEmbedder
from tests.support.inmemory import InMemoryMemoryStore

MEMORIES = "/v1/users/ana/memories"
SEARCH = "/v1/users/ana/search"
SERVICE = {"sub": "backend", "scope": "recollect/any-user"}
NUMBERS = count()


class App:
    """The handler on a store in memory; answers are parsed."""

    def __init__(self) -> None:
        self.store = InMemoryMemoryStore()
        self.embedder = HashingEmbedder()
        self.service = f"api-{next(NUMBERS)}"  # a logger of its own, on the stdout of this test

    @cached_property
    def _handle(self) -> Callable[[Any, Any], dict[str, Any]]:
        of = controller(self.store, self.embedder)
        return lambda_entrypoint(self.service, lambda report: handler.create_app(of, report))

    def __call__(self, method: str, path: str, body: Any = None, **given: Any) -> tuple[int, Any, dict[str, str]]:
        answer = self._handle(event(method, path, body, **given), None)
        text = answer["body"]
        headers = {name.lower(): value for name, value in answer["headers"].items()}
        return int(answer["statusCode"]), json.loads(text) if "json" in headers["content-type"] else text, headers


def stored(app: App, content: str, user_id: str = "ana", **values: Any) -> str:
    """Store a memory and give its id."""
    _, receipt, _ = app("POST", f"/v1/users/{user_id}/memories", {"content": content, **values}, claims=SERVICE)
    return str(receipt["memory_id"])
