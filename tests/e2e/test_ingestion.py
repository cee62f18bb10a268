"""Transcripts over HTTP, the bucket, the queue and the ingest function of the local cloud."""

import base64
import hashlib
import json
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import boto3
import pytest

from infra.local.cloud import STACK, LocalCloud
from infra.local.emulator import REGION, TEST_CREDENTIALS
from tests.e2e.conftest import Service
from tests.support.api_client import Answer, UserClient

WAIT_S = 90
PAUSE_S = 0.2
SENDERS, EACH = 8, 5
CANARY = "kumquat-marmalade"


@dataclass(frozen=True)
class Account:
    """The emulated account, as its operator sees it.

    Parameters
    ----------
    outputs : dict of str to str
        Of the stack.
    """

    endpoint: str
    outputs: dict[str, str]

    def client(self, name: str) -> Any:
        return boto3.client(
            name,
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=TEST_CREDENTIALS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=TEST_CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        )

    def waiting(self) -> int:
        """Count the messages of the queue: waiting, delayed or being worked on."""
        answer = self.client("sqs").get_queue_attributes(QueueUrl=self.outputs["QueueUrl"], AttributeNames=["All"])
        return sum(int(value) for name, value in answer["Attributes"].items() if name.startswith("ApproximateNumber"))

    def dead_letters(self) -> list[str]:
        """Read the bodies of all dead letters; they stay."""
        found: list[str] = []
        while (
            messages := self.client("sqs")
            .receive_message(QueueUrl=self.outputs["DeadLetterQueueUrl"], MaxNumberOfMessages=10, VisibilityTimeout=5)
            .get("Messages")
        ):
            found += [message["Body"] for message in messages]
        return found

    def let_ingest(self, is_on: bool) -> None:
        """Let the function take messages, or not."""
        functions = self.client("lambda")
        (mapping,) = functions.list_event_source_mappings(FunctionName=self.outputs["IngestFunctionName"])[
            "EventSourceMappings"
        ]
        functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=is_on)

    def items_of(self, user_id: str) -> list[Any]:
        """Read everything in the table that is kept of a user."""
        found: list[Any] = []
        for partition in (f"USER#{user_id}", f"LOG#{user_id}"):
            answer = self.client("dynamodb").query(
                TableName=self.outputs["TableName"],
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues={":pk": {"S": partition}},
            )
            found += answer["Items"]
        return found

    def objects_of(self, transcript_id: str) -> list[str]:
        """Name the objects of a transcript."""
        answer = self.client("s3").list_objects_v2(Bucket=self.outputs["BucketName"])
        return [one["Key"] for one in answer.get("Contents", ()) if f"/{transcript_id}/" in one["Key"]]


@pytest.fixture(scope="module")
def account(service: Service) -> Account:
    if service.cloud is None:
        pytest.skip("a real account is not looked into")
    url = service.cloud.emulator.url
    stacks = Account(url, {}).client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
    return Account(url, {each["OutputKey"]: each["OutputValue"] for each in stacks[0]["Outputs"]})


@pytest.fixture
def held_queue(account: Account) -> Iterator[Account]:
    """The account, in which the function takes no messages until it is let."""
    account.let_ingest(False)
    yield account
    account.let_ingest(True)


def until(is_so: Callable[[], Any], what: str) -> Any:
    """Wait for a condition."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        if found := is_so():
            return found
        time.sleep(PAUSE_S)
    raise AssertionError(f"not within {WAIT_S} s: {what}")


def post(user: UserClient, *messages: Any, **fields: Any) -> Answer:
    return user.call("POST", "/transcripts", {"messages": [*messages], **fields})


def said(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **fields}


def settled(user: UserClient, transcript_id: str) -> Any:
    """Wait until a transcript is not on its way any more."""

    def look() -> Any:
        found = user.call("GET", f"/transcripts/{transcript_id}").body
        return found if found["status"] not in ("queued", "awaiting_upload") else None

    return until(look, f"{transcript_id} is settled")


def texts_of(user: UserClient, transcript_id: str) -> list[str]:
    content = user.call("GET", f"/transcripts/{transcript_id}/content").body
    lines = content if isinstance(content, str) else json.dumps(content)
    return [json.loads(line)["content"] for line in lines.splitlines()]


def test_a_conversation_becomes_memories_that_can_be_found(alice: UserClient) -> None:
    answer = post(
        alice,
        said("I moved to Lisbon last week, the flat is on the fourth floor."),
        {"role": "assistant", "content": "Congratulations! Does the house have a lift?"},
        said("No, and my knees already hate the stairs."),
        session_id="s-1",
    )
    assert answer.status == 202, answer
    turns = alice.search("where is the flat?").body["hits"]  # at once
    assert "the flat is on the fourth floor" in turns[0]["memory"]["content"]

    found = settled(alice, answer.body["transcript_id"])

    assert (found["status"], found["failure"]) == ("done", None)
    assert found["done"] == {"turns": 3, "facts": 3}
    for memory in alice.every_memory():
        assert memory["sources"][0]["transcript_id"] == answer.body["transcript_id"]


def persistently(call: Callable[[], Answer]) -> Answer:
    """Send a request again, as clients do, while the service is starting or busy."""
    deadline = time.monotonic() + 3 * WAIT_S
    while True:
        with suppress(TimeoutError, ConnectionError):
            answer = call()
            if answer.status < 500 or time.monotonic() > deadline:
                return answer
        assert time.monotonic() < deadline


def test_a_burst_of_messages_to_one_session_arrives_whole_and_in_each_senders_order(alice: UserClient) -> None:
    def send(sender: int) -> list[str]:
        ids = []
        for number in range(EACH):
            text = f"Sender {sender} has seen {number + 1} herons at the pond."
            message = said(text, name=f"Sender{sender}", id=f"{sender}-{number}")
            answer = persistently(partial(post, alice, message, session_id="burst"))
            assert answer.status in (200, 202), answer
            ids.append(answer.body["transcript_id"])
        return ids

    with ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(lambda _: persistently(alice.stats), range(SENDERS)))  # so that as many instances have started
        ids = {one for sent in pool.map(send, range(SENDERS)) for one in sent}

    (transcript_id,) = ids
    found = settled(alice, transcript_id)
    assert (found["status"], found["message_count"]) == ("done", SENDERS * EACH)
    texts = texts_of(alice, transcript_id)
    for sender in range(SENDERS):
        mine = [text for text in texts if text.startswith(f"Sender {sender} ")]
        assert mine == [f"Sender {sender} has seen {number + 1} herons at the pond." for number in range(EACH)]
    turns = [memory["content"] for memory in alice.every_memory() if memory["type"] == "episodic"]
    assert sorted(turns) == sorted(texts)


def test_what_cannot_be_worked_on_is_told_and_the_others_go_on_and_it_can_be_redriven(
    account: Account, alice: UserClient, bob: UserClient
) -> None:
    transcript_id = post(alice, said("I was born in Trieste."), session_id="s-1", extract="none").body["transcript_id"]
    s3, bucket = account.client("s3"), account.outputs["BucketName"]
    (key,) = account.objects_of(transcript_id)
    kept = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    s3.delete_object(Bucket=bucket, Key=key)

    assert post(alice, said("I live in Udine now."), session_id="s-1", extract="facts").status == 202
    other = post(bob, said("I live in Gorizia now."), session_id="s-2").body["transcript_id"]

    assert settled(bob, other)["status"] == "done"
    failed = settled(alice, transcript_id)
    assert (failed["status"], failed["failure"]) == ("failed", "the messages of a part are not there")
    until(lambda: any(transcript_id in body for body in account.dead_letters()), "it is a dead letter")

    s3.put_object(Bucket=bucket, Key=key, Body=kept)
    assert alice.call("POST", f"/transcripts/{transcript_id}/redrive").status == 202
    assert settled(alice, transcript_id)["status"] == "done"


def test_a_message_that_nobody_understands_is_a_dead_letter(account: Account) -> None:
    body = f"no JSON {uuid.uuid4()}"
    account.client("sqs").send_message(QueueUrl=account.outputs["QueueUrl"], MessageBody=body)

    until(lambda: body in account.dead_letters(), "it is a dead letter")


def test_an_erased_user_has_nothing_of_what_was_queued(held_queue: Account, alice: UserClient) -> None:
    receipt = post(alice, said("I collect fountain pens from the thirties."), session_id="s-1").body
    assert receipt["status"] == "queued"
    assert held_queue.waiting() >= 2
    assert alice.erase().status == 200
    memory_id = alice.store("I am new here").body["memory_id"]

    held_queue.let_ingest(True)
    until(lambda: held_queue.waiting() == 0, "the queue is empty")

    assert [memory["memory_id"] for memory in alice.every_memory()] == [memory_id]
    assert alice.call("GET", "/transcripts").body["transcripts"] == []
    assert alice.call("GET", f"/transcripts/{receipt['transcript_id']}").status == 404
    assert held_queue.objects_of(receipt["transcript_id"]) == []
    assert alice.erase().status == 200
    assert held_queue.items_of(alice.user_id) == []


def uploaded(user: UserClient, data: bytes, form: str, **fields: Any) -> tuple[str, int]:
    """Ask for a place, put bytes there, and give the transcript and the status of the put."""
    sha256 = base64.b64encode(hashlib.sha256(data).digest()).decode()
    asked = {"size": len(data), "sha256": sha256, "format": form, **fields}
    granted = user.call("POST", "/transcripts/uploads", asked)
    assert granted.status == 201, granted
    request = urllib.request.Request(granted.body["url"], data, granted.body["headers"], method="PUT")
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as response:
        return granted.body["transcript_id"], response.status


def test_a_large_upload_is_ingested_when_it_arrives_and_kept_byte_by_byte(account: Account, alice: UserClient) -> None:
    tool = {"role": "tool", "content": "0123456789abcdef" * 500_000, "tool_call_id": "c-1"}
    lines = [said("I keep bees on the roof."), tool, said("My best hive is called Aurora.")]
    data = b"".join(json.dumps(line).encode() + b" \n" for line in lines)

    transcript_id, status = uploaded(alice, data, "jsonl", session_id="s-1")

    assert status == 200
    found = settled(alice, transcript_id)
    assert (found["status"], found["message_count"], found["bytes"]) == ("done", 3, len(data))
    (key,) = account.objects_of(transcript_id)
    kept = account.client("s3").get_object(Bucket=account.outputs["BucketName"], Key=key)["Body"].read()
    assert kept == data
    assert {"I keep bees on the roof.", "My best hive is called Aurora."} <= {
        memory["content"] for memory in alice.every_memory()
    }


def test_an_upload_that_cannot_be_read_says_so(alice: UserClient) -> None:
    transcript_id, _ = uploaded(alice, b'{"role": "user", "content": ', "jsonl")

    found = settled(alice, transcript_id)

    assert found["status"] == "failed"
    assert "line 1 is not valid JSON" in found["failure"]


def test_each_record_has_a_line_and_none_has_text_of_a_transcript(
    service: Service, cloud: LocalCloud, alice: UserClient
) -> None:
    answer = post(alice, said(f"My favourite breakfast is {CANARY} on toast."), session_id="s-1")
    assert settled(alice, answer.body["transcript_id"])["status"] == "done"

    def line() -> bool:
        return any(
            '"operation":"ingest"' in each and answer.body["transcript_id"] in each for each in service.log_lines
        )

    until(line, "the function has logged the record")
    assert not [each for each in service.log_lines if CANARY in each]
    assert CANARY not in cloud.emulator.log_file.read_text()
