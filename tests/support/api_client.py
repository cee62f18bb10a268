"""Thin verbs over the HTTP API, for the end-to-end suite; knows the paths and nothing of the service's code."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; `body` is parsed JSON, or text when it is not JSON."""

    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def is_problem(self) -> bool:
        """Whether it is a problem document (RFC 9457) that agrees with its status."""
        kind = self.headers.get("content-type", "").partition(";")[0]
        return kind == "application/problem+json" and bool(self.body["status"] == self.status)


class ApiClient:
    """Calls one deployment with one token.

    Parameters
    ----------
    base_url : str
        Without a slash at its end.
    token : str, optional
        Sent as a bearer token.
    """

    def __init__(self, base_url: str, token: str | None = None) -> None:
        self._base = urlsplit(base_url)
        self._token = token

    def request(self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None) -> Answer:
        """Send one request; `body` is sent as JSON unless it is bytes. `path` is sent as it is."""
        sent = {"Accept": "application/json", **(headers or {})}
        if self._token is not None:
            sent.setdefault("Authorization", f"Bearer {self._token}")
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = self._connection()
        try:
            connection.request(method, self._base.path + path, body, sent)
            response = connection.getresponse()
            text = response.read().decode()
            answered = {name.lower(): value for name, value in response.getheaders()}
        finally:
            connection.close()
        return Answer(response.status, answered, _parsed(text))

    def user(self, user_id: str) -> "UserClient":
        """Narrow to the memories of one user."""
        return UserClient(self, user_id)

    def _connection(self) -> http.client.HTTPConnection:
        is_tls = self._base.scheme == "https"
        make = http.client.HTTPSConnection if is_tls else http.client.HTTPConnection
        return make(self._base.hostname or "", self._base.port, timeout=_TIMEOUT_S)


class UserClient:
    """The routes under ``/v1/users/{user_id}``."""

    def __init__(self, api: ApiClient, user_id: str) -> None:
        self._api = api
        self.user_id = user_id
        self.path = f"/v1/users/{quote(user_id, safe='')}"

    def call(self, method: str, below: str, body: Any = None, **headers: str) -> Answer:
        """Send one request; ``idempotency_key="x"`` becomes the header ``Idempotency-Key: x``."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._api.request(method, self.path + below, body, headers=named)

    def store(self, content: str, **fields: Any) -> Answer:
        return self.call("POST", "/memories", {"content": content, **fields})

    def store_all(self, *memories: Mapping[str, Any]) -> Answer:
        return self.call("POST", "/memories", {"memories": list(memories)})

    def page(self, **parameters: Any) -> Answer:
        return self.call("GET", f"/memories?{urlencode(parameters, doseq=True)}" if parameters else "/memories")

    def get(self, memory_id: str) -> Answer:
        return self.call("GET", f"/memories/{memory_id}")

    def patch(self, memory_id: str, **fields: Any) -> Answer:
        return self.call("PATCH", f"/memories/{memory_id}", fields)

    def delete(self, memory_id: str) -> Answer:
        return self.call("DELETE", f"/memories/{memory_id}")

    def purge(self, memory_id: str) -> Answer:
        return self.call("DELETE", f"/memories/{memory_id}?purge=true")

    def erase(self) -> Answer:
        """Erase the user: call until it is done."""
        while (answer := self.call("DELETE", "")).status == 202:
            pass
        return answer

    def versions(self, memory_id: str) -> list[dict[str, Any]]:
        return list(self.call("GET", f"/memories/{memory_id}/versions?limit=200").body["versions"])

    def events(self, **parameters: Any) -> list[dict[str, Any]]:
        return list(self.call("GET", f"/events?{urlencode({'limit': 200, **parameters})}").body["events"])

    def search(self, query: str, **fields: Any) -> Answer:
        return self.call("POST", "/search", {"query": query, **fields})

    def context(self, query: str, **fields: Any) -> Answer:
        return self.call("POST", "/context", {"query": query, **fields})

    def stats(self) -> Answer:
        return self.call("GET", "/stats")

    def every_memory(self) -> list[dict[str, Any]]:
        """Follow the cursor to the end."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            answer = self.page(limit=200, **({"cursor": cursor} if cursor else {}))
            assert answer.status == 200, answer
            found += answer.body["memories"]
            cursor = answer.body["cursor"]
            if cursor is None:
                return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
