"""The queue on SQS: what is sent is what is read; what S3 says is read; what is neither is refused."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recollect.aws import clients
from recollect.aws.queue import SqsIngestionQueue, read_message
from recollect.errors import CorruptData, Unavailable
from recollect.transcript_store import Arrival, IngestionJob

JOB = IngestionJob("ana/b#1 \u05d0 \U0001f600", "01HE0000000000000000000001", "01HF0000000000000000000001")


@pytest.fixture
def client(aws: None) -> Any:
    return clients.sqs_client()


@pytest.fixture
def url(client: Any) -> str:
    return str(client.create_queue(QueueName="jobs", Attributes={"VisibilityTimeout": "1800"})["QueueUrl"])


def received(client: Any, url: str) -> list[Any]:
    messages: list[Any] = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
    return messages


def test_a_job_that_is_sent_is_the_job_that_is_read(client: Any, url: str) -> None:
    SqsIngestionQueue(lambda: client, url).send(JOB)

    (message,) = received(client, url)

    assert read_message(message["Body"]) == [JOB]


def test_a_delayed_job_cannot_be_taken_yet(client: Any, url: str) -> None:
    SqsIngestionQueue(lambda: client, url).send(JOB, delay_s=900)

    assert received(client, url) == []
    attributes = client.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessagesDelayed"])
    assert attributes["Attributes"] == {"ApproximateNumberOfMessagesDelayed": "1"}


def test_a_job_that_is_given_back_can_be_taken_again(client: Any, url: str) -> None:
    queue = SqsIngestionQueue(lambda: client, url)
    queue.send(JOB)
    (message,) = received(client, url)
    assert received(client, url) == []

    queue.give_again(message["ReceiptHandle"], 0)

    (again,) = received(client, url)
    assert again["MessageId"] == message["MessageId"]


def test_no_client_is_made_before_it_is_needed() -> None:
    def fail() -> Any:
        raise AssertionError("nothing was sent yet")

    SqsIngestionQueue(fail, "https://sqs.example.org/1/jobs")


def test_a_queue_that_does_not_answer_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "NO_PROXY": "*",
    }.items():
        monkeypatch.setenv(name, value)
    queue = SqsIngestionQueue(clients.sqs_client, "http://127.0.0.1:9/1/jobs")

    with pytest.raises(Unavailable, match="could not queue a job"):
        queue.send(JOB)


@given(st.text(min_size=1), st.text(min_size=1), st.text(min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_user_is_called_the_body_is_plain_text(user_id: str, epoch: str, transcript_id: str) -> None:
    sent: list[str] = []

    class Client:
        def send_message(self, MessageBody: str, **_: Any) -> None:  # noqa: N803 - botocore's name
            sent.append(MessageBody)

    job = IngestionJob(user_id, epoch, transcript_id)
    SqsIngestionQueue(Client, "url").send(job)

    assert sent[0].isascii()
    assert sent[0].isprintable()
    assert read_message(sent[0]) == [job]


def s3_event(*keys: str) -> str:
    records = [
        {
            "eventVersion": "2.1",
            "eventSource": "aws:s3",
            "awsRegion": "us-east-1",
            "eventTime": "2026-05-01T09:30:00.000Z",
            "eventName": "ObjectCreated:Put",
            "s3": {
                "s3SchemaVersion": "1.0",
                "bucket": {"name": "objects", "arn": "arn:aws:s3:::objects"},
                "object": {"key": key, "size": 3, "eTag": "e", "sequencer": "0"},
            },
        }
        for key in keys
    ]
    return json.dumps({"Records": records})


def test_what_s3_says_is_read_with_the_real_names_of_the_keys() -> None:
    body = s3_event("users/ab/E/transcripts/T/P.upload", "users/%C3%A4+b%2B.upload")

    assert read_message(body) == [
        Arrival("objects", "users/ab/E/transcripts/T/P.upload"),
        Arrival("objects", "users/ä b+.upload"),
    ]


def test_s3_trying_the_queue_means_nothing() -> None:
    body = {"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "objects", "RequestId": "r", "HostId": "h"}

    assert read_message(json.dumps(body)) == []


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "7",
        "[]",
        "null",
        "{}",
        '{"user_id": "a", "epoch": "b"}',
        '{"user_id": "a", "epoch": "", "transcript_id": "c"}',
        '{"user_id": "a", "epoch": 7, "transcript_id": "c"}',
        '{"Records": 7}',
        '{"Records": [{}]}',
        '{"Records": [{"s3": {"bucket": {"name": "b"}, "object": {"key": null}}}]}',
    ],
)
def test_a_message_of_another_form_is_refused(body: str) -> None:
    with pytest.raises(CorruptData):
        read_message(body)
