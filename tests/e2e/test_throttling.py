"""A database that throttles or fails: asked again after random waits, counted, and in the end 503; no write is lost.

E7 and R6: what is refused is never taken for "there is nothing".
"""

import json
import random
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import botocore.endpoint
import pytest
from recollect import telemetry
from recollect.answers import SearchQuery
from recollect.aws import clients, table
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.changes import Outcome, Patch
from recollect.commit import FIRST_WAIT_S, MAX_ATTEMPTS, MAX_WAIT_S, Surroundings
from recollect.controller import MemoryController
from recollect.errors import Unavailable
from recollect.filters import EVERYTHING
from recollect.http.entrypoint import lambda_entrypoint
from recollect.model import MemoryType
from recollect.nominating import OnSimilar

from functions.api import handler
from tests.e2e.conftest import Database
from tests.support.builders import asking, controller, event, surroundings, to_store
from tests.support.histories import with_history
from tests.support.maintained import maintainer_of
from tests.support.pictures import items_of
from tests.support.table import TABLE_NAME
from tests.support.transcribers import transcriber
from tests.support.weather import CANCELLATIONS, FOR_EVER, IN_THE_WAY, THROTTLED, THROTTLINGS, Refusal, Weather

REFUSALS = {**THROTTLINGS, **CANCELLATIONS}
TEA = to_store("tea at four")


@dataclass(slots=True)
class Scene:
    """An instance whose database can refuse; `waits` are those of the client, `commit_waits` those of the service."""

    client: Any
    weather: Weather
    user_id: str = field(default_factory=lambda: f"user-{uuid.uuid4()}")
    waits: list[float] = field(default_factory=list)
    commit_waits: list[float] = field(default_factory=list)

    @property
    def store(self) -> DynamoDBMemoryStore:
        return DynamoDBMemoryStore(self.client, TABLE_NAME)

    def instance(self, prefix: str = "01HFB") -> MemoryController:
        still = surroundings(prefix=prefix)
        waiting = Surroundings(still.now_ms, still.new_id, random.random, self.commit_waits.append)
        return controller(self.store, around=waiting)

    def put(self, prefix: str = "01HFB") -> Outcome:
        return self.instance(prefix).store(asking(self.user_id), [TEA])[0]


@pytest.fixture
def scene(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    client = database.client()
    made = Scene(client, Weather(client))
    monkeypatch.setattr(botocore.endpoint, "time", SimpleNamespace(sleep=made.waits.append))
    yield made
    client.close()


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
def test_a_commit_that_is_refused_for_a_while_is_sent_again_after_random_waits(scene: Scene, refusal: Refusal) -> None:
    retries = clients.MAX_ATTEMPTS - 1
    scene.weather.refuse(refusal, retries, "TransactWriteItems")

    with telemetry.measured() as measures:
        outcome = scene.put()

    assert (outcome.outcome, scene.weather.refused) == ("created", retries)
    assert measures.counts["aws_retries"] == retries
    assert len(set(scene.waits)) == retries
    assert all(0 < wait < 2**number for number, wait in enumerate(scene.waits))
    assert controller(scene.store).stats(scene.user_id).seq == 1


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
def test_a_commit_that_is_refused_for_ever_is_unavailable_and_changes_nothing(scene: Scene, refusal: Refusal) -> None:
    scene.weather.refuse(refusal, FOR_EVER, "TransactWriteItems")

    with pytest.raises(Unavailable) as caught:
        scene.put()

    assert scene.weather.refused == clients.MAX_ATTEMPTS
    assert caught.value.retry_after_s >= 1
    assert "canary" not in caught.value.message
    assert items_of(scene.client, scene.user_id) == []
    scene.weather.clear()
    assert scene.put("01HFC").outcome == "created"
    assert controller(scene.store).stats(scene.user_id).seq == 1


def test_a_transaction_in_the_way_is_met_by_deciding_again_after_random_waits(scene: Scene) -> None:
    scene.weather.refuse(IN_THE_WAY, 7, "TransactWriteItems")

    with telemetry.measured() as measures:
        outcome = scene.put()

    assert (outcome.outcome, measures.counts["commit_conflicts"]) == ("created", 7)
    assert (len(set(scene.commit_waits)), scene.waits) == (7, [])
    ceilings = [min(FIRST_WAIT_S * 2**number, MAX_WAIT_S) for number in range(7)]
    assert all(0 < wait < ceiling for wait, ceiling in zip(scene.commit_waits, ceilings, strict=True))
    assert controller(scene.store).stats(scene.user_id).seq == 1


def test_a_transaction_that_is_always_in_the_way_makes_a_commit_unavailable(scene: Scene) -> None:
    scene.weather.refuse(IN_THE_WAY, FOR_EVER, "TransactWriteItems")

    with pytest.raises(Unavailable) as caught:
        scene.put()

    assert scene.weather.refused == MAX_ATTEMPTS
    assert caught.value.retry_after_s >= 1
    assert items_of(scene.client, scene.user_id) == []


CALLS: dict[str, Callable[[MemoryController, str, str], object]] = {
    "get": lambda of, user_id, memory_id: of.get(user_id, memory_id),
    "list": lambda of, user_id, _: of.list_memories(user_id, EVERYTHING, 9),
    "search": lambda of, user_id, _: of.search(user_id, SearchQuery(text="tea", reinforces=False)),
    "context": lambda of, user_id, _: of.context(user_id, SearchQuery(text="tea", reinforces=False), 100),
    "stats": lambda of, user_id, _: of.stats(user_id),
    "versions": lambda of, user_id, memory_id: of.versions(user_id, memory_id, 9),
    "events": lambda of, user_id, _: of.events(user_id, 9),
    "store": lambda of, user_id, _: of.store(asking(user_id, "k"), [TEA]),
    "update": lambda of, user_id, memory_id: of.update(asking(user_id, "k"), memory_id, Patch({"content": "tea"})),
    "delete": lambda of, user_id, memory_id: of.delete(asking(user_id, "k"), memory_id),
    "restore": lambda of, user_id, memory_id: of.restore(asking(user_id, "k"), memory_id, 1),
    "purge": lambda of, user_id, memory_id: of.purge(asking(user_id, "k"), memory_id),
    "count": lambda of, user_id, _: of.count_erasable(user_id),
    "erase": lambda of, user_id, _: of.erase(user_id),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_whichever_request_is_refused_the_caller_is_told_and_may_repeat(
    scene: Scene, call: Callable[[MemoryController, str, str], object]
) -> None:
    def make(name: str) -> tuple[str, str]:
        user_id = f"{scene.user_id}-{name}"
        return user_id, with_history(controller(scene.store), user_id, changes=1)

    made = make("whole")
    scene.weather.refuse(THROTTLED, 0)
    call(scene.instance(), *made)
    requests = scene.weather.seen
    assert requests >= 1
    for number in range(requests):
        made = make(str(number))
        scene.weather.refuse(THROTTLED, FOR_EVER, after=number)
        with pytest.raises(Unavailable):
            call(scene.instance(), *made)
        scene.weather.clear()
        call(scene.instance("01HFC"), *made)


def test_over_http_it_is_503_with_retry_after_and_no_empty_answer(scene: Scene) -> None:
    of = scene.instance()
    handle = lambda_entrypoint(
        scene.user_id, lambda report: handler.create_app(of, transcriber(of), maintainer_of(of), report)
    )
    memories = f"/v1/users/{scene.user_id}/memories"
    asked = [
        ("GET", memories, None),
        ("POST", memories, {"content": "tea at four"}),
        ("POST", f"/v1/users/{scene.user_id}/search", {"query": "tea"}),
        ("POST", f"/v1/users/{scene.user_id}/context", {"query": "tea"}),
        ("GET", f"/v1/users/{scene.user_id}/stats", None),
        ("DELETE", f"/v1/users/{scene.user_id}", None),
    ]
    scene.weather.refuse(THROTTLED, FOR_EVER)
    for method, path, body in asked:
        answer = handle(event(method, path, body, claims={"sub": scene.user_id}), None)

        assert (answer["statusCode"], answer["headers"]["Retry-After"]) == (503, "1"), (method, path)
        assert json.loads(answer["body"])["type"] == "/problems/unavailable"
    scene.weather.clear()
    assert handle(event("GET", memories, claims={"sub": scene.user_id}), None)["statusCode"] == 200


def test_forty_messages_in_a_burst_are_all_kept_in_order_while_the_database_throttles(scene: Scene) -> None:
    of = scene.instance()
    messages = [f"message {number}" for number in range(40)]
    for number, message in enumerate(messages):
        scene.weather.refuse(THROTTLED, number % 3)
        of.store(asking(scene.user_id), [to_store(message, type=MemoryType.EPISODIC, session_id="s")])

    log = controller(scene.store).events(scene.user_id, 99, is_descending=False).entries
    assert [entry.seq for entry in log] == list(range(1, 41))
    assert [of.get(scene.user_id, entry.memory_id).content for entry in log] == messages
    assert len(scene.waits) == sum(number % 3 for number in range(40))


class Sparing:
    """Answers a batch of reads with the first of them, and leaves the others for later."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def batch_get_item(self, RequestItems: dict[str, Any], **more: Any) -> Any:  # noqa: N803 - their name
        keys = RequestItems[TABLE_NAME]["Keys"]
        asked = {TABLE_NAME: {**RequestItems[TABLE_NAME], "Keys": keys[:1]}}
        answer = self._client.batch_get_item(RequestItems=asked, **more)
        return {**answer, "UnprocessedKeys": {TABLE_NAME: {"Keys": keys[1:]}} if keys[1:] else {}}


@pytest.mark.parametrize(("count", "is_available"), [(4, True), (6, False)])
def test_reads_that_were_left_for_later_are_asked_for_again_after_random_waits(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, count: int, is_available: bool
) -> None:
    monkeypatch.setattr(table, "time", SimpleNamespace(sleep=scene.waits.append))
    facts = [to_store(f"fact {number}", on_similar=OnSimilar.CREATE) for number in range(count)]
    stored = [outcome.memory_id for outcome in scene.instance().store(asking(scene.user_id), facts)]
    sparing = DynamoDBMemoryStore(Sparing(scene.client), TABLE_NAME)

    with telemetry.measured() as measures:
        if is_available:
            assert set(sparing.fetch(scene.user_id, stored)) == set(stored)
        else:
            with pytest.raises(Unavailable):
                sparing.fetch(scene.user_id, stored)

    assert measures.counts["aws_retries"] == len(set(scene.waits)) == min(count - 1, 4)
    assert all(0 < wait < 0.05 * 2**number for number, wait in enumerate(scene.waits))
