"""A database that refuses requests for a while, in its own words: what DynamoDB answers when it throttles or fails."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from botocore.awsrequest import AWSResponse

FOR_EVER = 1_000_000


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is none.

    Parameters
    ----------
    reasons : tuple of str
        Of a cancelled transaction, one for each of its actions.
    """

    kind: str
    status: int = 400
    reasons: tuple[str, ...] = ()

    @property
    def content(self) -> bytes:
        body: dict[str, Any] = {"__type": self.kind, "message": "a canary message"}
        if self.reasons:
            body["CancellationReasons"] = [{"Code": code, "Message": "a canary message"} for code in self.reasons]
        return json.dumps(body).encode()


def cancelled(*reasons: str) -> Refusal:
    """Refuse a transaction for the sake of some of its actions."""
    return Refusal("com.amazonaws.dynamodb.v20120810#TransactionCanceledException", reasons=reasons)


THROTTLED = Refusal("com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException")
THROTTLINGS = {
    "too much for the table": THROTTLED,
    "too many requests": Refusal("com.amazon.coral.availability#ThrottlingException"),
    "too much for the account": Refusal("com.amazonaws.dynamodb.v20120810#RequestLimitExceeded"),
    "failing": Refusal("com.amazonaws.dynamodb.v20120810#InternalServerError", 500),
    "not there": Refusal("com.amazon.coral.availability#ServiceUnavailableException", 503),
}
CANCELLATIONS = {
    "an item throttled": cancelled("None", "ThrottlingError", "None"),
    "two items throttled": cancelled("ThrottlingError", "ProvisionedThroughputExceeded", "None"),
}
IN_THE_WAY = cancelled("TransactionConflict", "None", "None")


class Weather:
    """Refuses the requests of one client when told; they do not reach the database then.

    Parameters
    ----------
    client : botocore client or None
        ``None`` if the database itself asks for `answer`, as an emulator in this process has to.
    """

    def __init__(self, client: Any = None) -> None:
        self._refusal = THROTTLED
        self._operations: frozenset[str] = frozenset()
        self._left = 0
        self._after = 0
        self.seen = 0
        self.refused = 0
        if client is not None:
            client.meta.events.register("before-send.dynamodb", self.answer)

    def refuse(self, refusal: Refusal, times: int, *operations: str, after: int = 0) -> None:
        """Refuse that many requests after those that still pass; only some operations' if they are named."""
        self._refusal, self._left, self._after, self._operations = refusal, times, after, frozenset(operations)
        self.seen = self.refused = 0

    def clear(self) -> None:
        """Refuse nothing any more."""
        self._left = 0

    def answer(self, request: Any, event_name: str, **_: object) -> AWSResponse | None:
        """Give the refusal of a request, if it is refused."""
        if self._operations and event_name.rpartition(".")[2] not in self._operations:
            return None
        self.seen += 1
        if self.seen <= self._after or not self._left:
            return None
        self._left -= 1
        self.refused += 1
        headers = {"Content-Type": "application/x-amz-json-1.0"}
        return AWSResponse(request.url, self._refusal.status, headers, _Content(self._refusal.content))


class _Content(BytesIO):
    def stream(self, **_: object) -> Iterator[bytes]:
        """Give all of it, as the HTTP client's own body does piece by piece."""
        yield self.read()
