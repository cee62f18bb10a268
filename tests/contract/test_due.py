"""The due time in the head, whoever writes it, and the index and the queue of who is due: in memory and in AWS."""

from dataclasses import replace
from typing import Any

import pytest
from recollect import due, telemetry
from recollect.aws import clients
from recollect.aws.queue import SqsMaintenanceQueue, read_user
from recollect.aws.reports import DynamoDBDueIndex
from recollect.errors import Conflict, CorruptData, Unavailable
from recollect.model import Head
from recollect.planning import Planned, Planner
from recollect.ports import MemoryStore
from recollect.report_store import DueIndex

from tests.support.builders import NOW_MS, Clock, controller
from tests.support.histories import stored
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.inmemory_reports import InMemoryDueIndex
from tests.support.table import TABLE_NAME

NOW_S = NOW_MS // 1000
SOON = NOW_S + due.PAUSE_S


@pytest.fixture
def index(store: MemoryStore) -> DueIndex:
    if isinstance(store, InMemoryMemoryStore):
        return InMemoryDueIndex(store)
    return DynamoDBDueIndex(clients.dynamodb_client(), TABLE_NAME)


def due_users(index: DueIndex, now_s: int) -> list[str]:
    return [one for number in range(due.SHARDS) for page in index.due(due.shard(number), now_s) for one in page]


def test_only_who_is_due_is_in_the_index(store: MemoryStore, index: DueIndex) -> None:
    of = controller(store)
    for user_id in ("ana", "ana/b#1", "LOG#ben"):
        stored(of, "tea", user_id)

    assert due_users(index, SOON - 1) == []
    assert sorted(due_users(index, SOON)) == ["LOG#ben", "ana", "ana/b#1"]
    store.schedule("ana", None, store.read_head("ana"))
    assert sorted(due_users(index, SOON)) == ["LOG#ben", "ana/b#1"]
    assert store.read_head("ana").due_at_s is None


def test_who_has_been_due_longest_comes_first(store: MemoryStore, index: DueIndex) -> None:
    of = controller(store)
    names = [name for name in (f"user-{number}" for number in range(99)) if due.shard_of(name) == "03"][:3]
    for name, due_at_s in zip(names, (30, 10, 20), strict=True):
        stored(of, "tea", name)
        store.schedule(name, due_at_s, store.read_head(name))

    assert [one for page in index.due("03", 30) for one in page] == [names[1], names[2], names[0]]
    assert [one for page in index.due("03", 19) for one in page] == [names[1]]


@pytest.mark.parametrize(
    "other", [{"seq": 2}, {"epoch": "01HZ"}, {"due_at_s": None}, {"due_at_s": 1}], ids=lambda other: next(iter(other))
)
def test_a_due_time_is_said_only_of_the_head_that_was_seen(store: MemoryStore, other: dict[str, Any]) -> None:
    stored(controller(store), "tea")
    seen = store.read_head("ana")

    with pytest.raises(Conflict):
        store.schedule("ana", 5, replace(seen, **other))
    assert store.read_head("ana").due_at_s == SOON
    store.schedule("ana", 5, seen)
    assert store.read_head("ana") == seen
    assert store.read_head("ana").due_at_s == 5


def test_nobody_is_due_who_has_nothing(store: MemoryStore) -> None:
    with pytest.raises(Conflict):
        store.schedule("ana", 5, Head())
    assert store.read_head("ana") == Head()


def test_a_commit_leaves_a_due_time_that_came_meanwhile(store: MemoryStore) -> None:
    clock = Clock()
    of = controller(store, clock=clock)
    stored(of, "tea")
    store.schedule("ana", None, store.read_head("ana"))
    seen = store.read_head("ana")
    store.schedule("ana", 7, seen)

    store.append("ana", replace(seen, seq=1, due_at_s=99), seen, (), "ana", None)
    assert store.read_head("ana").due_at_s == 7
    stored(of, "coffee")
    assert store.read_head("ana").due_at_s == 7


def test_a_compaction_leaves_the_due_time_and_it_leaves_the_revision(store: MemoryStore) -> None:
    stored(controller(store), "tea")
    seen = store.read_head("ana")
    store.schedule("ana", 7, seen)

    store.commit_manifest("ana", replace(seen, revision=1), seen)

    assert (store.read_head("ana").due_at_s, store.read_head("ana").revision) == (7, 1)
    store.schedule("ana", 8, store.read_head("ana"))
    assert (store.read_head("ana").due_at_s, store.read_head("ana").revision) == (8, 1)


def test_an_erasure_that_has_begun_makes_due_and_one_that_is_done_does_not(store: MemoryStore, index: DueIndex) -> None:
    of = controller(store)
    stored(of, "tea")
    seen = store.read_head("ana")
    begun = replace(seen, seq=0, epoch="01HZ", erasing_since_ms=NOW_MS, due_at_s=NOW_S + due.ERASURE_S)

    store.begin_erasure("ana", begun, seen)
    assert due_users(index, NOW_S + due.ERASURE_S) == ["ana"]
    store.schedule("ana", 7, store.read_head("ana"))
    store.erase_items("ana", (), replace(begun, erased={"memories": 1}), begun)
    assert store.read_head("ana").due_at_s == 7
    of.erase("ana")

    assert due_users(index, SOON) == []


@pytest.fixture
def queue(aws: None) -> SqsMaintenanceQueue:
    client = clients.sqs_client()
    return SqsMaintenanceQueue(client, client.create_queue(QueueName="due")["QueueUrl"])


def test_the_queue_counts_what_it_was_sent_and_messages_name_users(queue: SqsMaintenanceQueue) -> None:
    names = ["ana", 'b"en\u00e9', "ana/b#1"]

    assert queue.waiting() == 0
    assert queue.send(names) == 3
    assert queue.waiting() == 3

    taken = queue._client.receive_message(QueueUrl=queue._url, MaxNumberOfMessages=10)["Messages"]
    assert sorted(read_user(message["Body"]) for message in taken) == sorted(names)
    assert queue.waiting() == 0


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"user_id": 7}', '{"user_id": ""}'])
def test_a_message_of_another_form_is_refused(body: str) -> None:
    with pytest.raises(CorruptData):
        read_user(body)


def test_a_queue_that_is_not_there_is_no_weather(aws: None) -> None:
    gone = SqsMaintenanceQueue(clients.sqs_client(), "https://sqs.us-east-1.amazonaws.com/123456789012/none")

    with pytest.raises(Exception, match="exist") as raised:
        gone.waiting()
    assert not isinstance(raised.value, Unavailable)


def test_a_plan_asks_each_shard_once_and_sends_ten_users_at_a_time(queue: SqsMaintenanceQueue, make: Any) -> None:
    store = make.store("dynamodb")
    of = controller(store)
    for number in range(41):
        stored(of, "tea", f"user-{number}")
    planner = Planner(DynamoDBDueIndex(clients.dynamodb_client(), TABLE_NAME), queue, Clock(SOON * 1000))

    with telemetry.measured() as measures:
        planned = planner.plan(SOON * 1000 + 60_000)

    assert planned == Planned(41)
    calls = {name: count for name, count in measures.counts.items() if "." in name}
    assert calls == {"sqs.GetQueueAttributes": 1, "dynamodb.Query": due.SHARDS, "sqs.SendMessageBatch": 5}
