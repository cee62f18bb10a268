"""The ingest function with the events that SQS gives it: which records failed, what is logged, what is never."""

import base64
import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, cast

import pytest
from recollect import keys
from recollect.aws.queue import SqsIngestionQueue
from recollect.conversation import Extract, Format, TranscriptStatus
from recollect.errors import ExtractionFailed, Unavailable
from recollect.formats.reading import Sent
from recollect.handover import Given, Whose, metadata_of
from recollect.ingesting import PATIENT_ATTEMPTS
from recollect.object_store import Upload
from recollect.transcript_store import IngestionJob

from functions.ingest.handler import ENDING_MS, Ingest, Work
from tests.support.builders import NOW_MS
from tests.support.desk import Desk, LiteralExtractor, message_of

SECRET = "My sister Lena lives in Porto"
BUSY = Unavailable("could not ask the model: the service is busy; retry later")
NUMBERS = count()
BAD_REPLY = ExtractionFailed("the model's reply was cut off at its limit of tokens")


class Queue:
    """What SQS does with messages that are given back."""

    def __init__(self) -> None:
        self.given_back: dict[str, int] = {}
        self.error: Exception | None = None

    def give_again(self, receipt_handle: str, after_s: int) -> None:
        if self.error is not None:
            raise self.error
        self.given_back[receipt_handle] = after_s


@dataclass
class Context:
    remaining_ms: int = 2 * ENDING_MS
    function_name: str = "ingest"

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


@dataclass
class Function:
    """The handler on a desk; answers with what SQS is told."""

    desk: Desk = field(default_factory=Desk)
    queue: Queue = field(default_factory=Queue)
    context: Context = field(default_factory=Context)

    made: int = 0

    @cached_property
    def handle(self) -> Ingest:
        return Ingest(f"ingest-{next(NUMBERS)}", self._work)  # a logger of its own, on the stdout of this test

    def _work(self) -> Work:
        self.made += 1
        take = self.desk.recorder().take_upload
        return Work(self.desk.worker(), take, cast("SqsIngestionQueue", self.queue), "objects", self.desk.clock)

    def __call__(self, *bodies: str, receive_count: int = 1) -> list[str]:
        records = [record(number, body, receive_count) for number, body in enumerate(bodies)]
        answer = self.handle({"Records": records}, self.context)
        assert answer.keys() == {"batchItemFailures"}
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def record(number: int, body: str, receive_count: int = 1) -> dict[str, Any]:
    return {
        "messageId": f"m-{number}",
        "receiptHandle": f"handle-{number}",
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": str(receive_count),
            "SentTimestamp": "1545082649183",
            "SenderId": "AIDAIENQZJOLO23YVJ4VO",
            "ApproximateFirstReceiveTimestamp": "1545082649185",
        },
        "messageAttributes": {},
        "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:jobs",
        "awsRegion": "us-east-1",
    }


def arrival(key: str, bucket_name: str = "objects") -> str:
    return json.dumps({"Records": [{"s3": {"bucket": {"name": bucket_name}, "object": {"key": key}}}]})


def uploaded(desk: Desk, data: bytes, form: Format = Format.JSONL) -> str:
    """Prepare an upload, and put its object as the caller does; gives its key."""
    whose = Whose(session_id="s-1", agent_id=None)
    recorded = desk.recorder().prepare("ana", whose, NOW_MS)
    given = Given(
        sent=Sent((), ()), data=b"", format=form, occurred_at_ms=NOW_MS, extract=Extract.BOTH, extractor="rules"
    )
    metadata = metadata_of("ana", given)
    key = keys.part_object("ana", recorded.epoch, recorded.transcript.transcript_id, "01HP", is_upload=True)
    sha256 = base64.b64encode(hashlib.sha256(data).digest()).decode()
    grant = desk.objects.grant_put(key, Upload(size=len(data), sha256=sha256, metadata=metadata), 60)
    desk.objects.put_granted(grant.url, data)
    return key


def lines_of(captured: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in captured.splitlines()]


@pytest.fixture
def function() -> Function:
    return Function()


def test_a_batch_becomes_memories_and_nothing_fails(function: Function) -> None:
    jobs = [function.desk.hand_over(SECRET, session_id=f"s-{number}") for number in range(3)]

    assert function(*map(message_of, jobs)) == []

    assert len(function.desk.contents()) == 4  # a turn of each, and one fact
    for number in range(3):
        transcript = function.desk.transcript(f"s-{number}")
        assert transcript is not None
        assert transcript.status is TranscriptStatus.DONE


def test_only_the_records_that_failed_are_named_and_the_others_are_done(function: Function) -> None:
    good, bad = (function.desk.hand_over(SECRET, session_id=name) for name in ("s-1", "s-2"))
    (part,) = function.desk.transcripts.parts("ana", bad.transcript_id)
    function.desk.objects.delete([keys.part_object("ana", bad.epoch, bad.transcript_id, part.part_id)])

    assert function(message_of(bad), "no JSON", message_of(good)) == ["m-0", "m-1"]

    states = [function.desk.transcript(name) for name in ("s-1", "s-2")]
    assert [state and state.status for state in states] == [TranscriptStatus.DONE, TranscriptStatus.FAILED]


def test_when_all_records_fail_they_are_named_and_the_function_does_not(function: Function) -> None:
    assert function("{}", "[]") == ["m-0", "m-1"]


def test_what_is_hopeless_comes_again_at_once_and_what_is_busy_after_a_while(function: Function) -> None:
    desk = function.desk
    jobs = [desk.hand_over(SECRET, session_id=name) for name in ("s-1", "s-2")]
    desk.extractors[0].errors = [BAD_REPLY, *[BUSY for _ in range(PATIENT_ATTEMPTS)]]

    assert function(*map(message_of, jobs)) == ["m-0", "m-1"]

    assert function.queue.given_back["handle-0"] == 0
    assert 5 <= function.queue.given_back["handle-1"] <= 15


def test_a_message_that_cannot_be_given_back_is_failed_all_the_same(function: Function) -> None:
    function.queue.error = Unavailable("could not give a job back: no answer in time; retry later")

    assert function("{}") == ["m-0"]


def test_on_the_third_time_the_reason_is_on_the_transcript(function: Function) -> None:
    job = function.desk.hand_over(SECRET)
    function.desk.extractors[0].errors = [BUSY for _ in range(PATIENT_ATTEMPTS)]

    assert function(message_of(job), receive_count=3) == ["m-0"]

    transcript = function.desk.transcript()
    assert transcript is not None
    assert (transcript.status, transcript.failure) == (TranscriptStatus.FAILED, BUSY.message)


def test_an_upload_that_arrived_becomes_messages_and_memories(function: Function) -> None:
    data = b'{"role": "user", "content": "My sister Lena lives in Porto"}\n'
    key = uploaded(function.desk, data)

    assert function(arrival(key)) == []
    assert function(arrival(key)) == []  # S3 says it at least once

    assert function.desk.contents() == [SECRET, f"fact: {SECRET}"]
    assert function.desk.objects.get(key) == data


def test_an_upload_that_cannot_be_read_says_so_and_the_others_go_on(function: Function) -> None:
    key = uploaded(function.desk, b"\xff\xfe")
    good = function.desk.hand_over(SECRET, session_id="s-2")

    function(arrival(key), message_of(good))

    transcript = function.desk.transcript()
    assert transcript is not None
    assert transcript.status is TranscriptStatus.FAILED
    assert "an upload cannot be read" in (transcript.failure or "")
    assert len(function.desk.contents()) == 2


@pytest.mark.parametrize(
    "body",
    [
        arrival("users/ab/E/transcripts/T/P.upload"),
        arrival("users/ab/E/transcripts/T/P.upload", bucket_name="another"),
        json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent"}),
        message_of(IngestionJob("ana", "01HE", "01HF")),
    ],
)
def test_what_is_none_of_ours_or_not_there_any_more_is_done(function: Function, body: str) -> None:
    assert function(body) == []
    assert function.desk.kept() == []


def test_records_share_the_time_that_the_function_has(function: Function) -> None:
    function.context = Context(remaining_ms=ENDING_MS)  # nothing but the end of it
    jobs = [function.desk.hand_over(SECRET, session_id=f"s-{number}") for number in range(3)]

    assert function(*map(message_of, jobs)) == []

    assert function.desk.contents() == []
    assert function.desk.queue.take() == jobs


def test_one_line_is_logged_for_each_record_with_what_was_done(
    function: Function, capsys: pytest.CaptureFixture[str]
) -> None:
    job = function.desk.hand_over(SECRET)

    function(message_of(job), "{}")

    done, failed, metrics = lines_of(capsys.readouterr().out)
    assert (done["operation"], done["status"], done["user_id"]) == ("ingest", "done", "ana")
    assert done["transcript_id"] == job.transcript_id
    assert done["messages"] == {"all": 1, "turns": 1, "facts": 1}
    assert done["counts"]["memories_created"] == 2
    assert done["receive_count"] == 1
    assert {"find", "commit"} <= done["stages_ms"].keys()
    assert (failed["status"], failed["error"], failed["level"]) == ("error", "CorruptData", "ERROR")
    assert failed["reason"] == "a message of the queue has another form"
    assert metrics["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Recollect"
    assert metrics["IngestDone"] == [1.0]
    assert metrics["IngestError"] == [1.0]
    assert metrics["MemoriesCreated"] == [2.0]


def test_no_text_of_a_transcript_is_logged_whatever_happens(
    function: Function, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = function.desk
    jobs = [desk.hand_over(SECRET, session_id=f"s-{number}") for number in range(3)]
    desk.extractors[0].errors = [KeyError(SECRET), ExtractionFailed("the model's reply was cut off")]

    assert function(*map(message_of, jobs), f'{{"said": "{SECRET}"', arrival(uploaded(desk, SECRET.encode()))) != []

    said = capsys.readouterr()
    assert "KeyError" in said.out
    assert "Lena" not in said.out + said.err


def test_the_work_is_made_once_and_only_the_first_record_is_cold(
    function: Function, capsys: pytest.CaptureFixture[str]
) -> None:
    job = function.desk.hand_over(SECRET)

    function(message_of(job), message_of(job))
    function(message_of(job))

    assert function.made == 1
    colds = [line["cold_start"] for line in lines_of(capsys.readouterr().out) if "cold_start" in line]
    assert colds == [True, False, False]


def test_transcripts_that_wait_for_their_budget_are_no_failures() -> None:
    function = Function(Desk(LiteralExtractor("bedrock", tokens=1_000)))
    jobs = [function.desk.hand_over(SECRET, session_id=name) for name in ("s-1", "s-2")]

    assert function(*map(message_of, jobs)) == []

    transcript = function.desk.transcript("s-2")
    assert transcript is not None
    assert transcript.status is TranscriptStatus.DEFERRED
