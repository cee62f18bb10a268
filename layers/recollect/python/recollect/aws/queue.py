"""The queues, on SQS: of the ingestion, and of maintenance.

Jobs of the ingestion are sent as JSON. What is read of that queue are jobs, and S3's messages about uploads; which of
both a message is, is told by its form: S3 writes ``Records``. A message of maintenance names a user.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any
from urllib.parse import unquote_plus

from recollect.aws.errors import translating
from recollect.errors import CorruptData
from recollect.transcript_store import Arrival, IngestionJob

_WAITING = "ApproximateNumberOfMessages"


class SqsIngestionQueue:
    """The queue of one deployment.

    Parameters
    ----------
    make_client : callable
        Makes the SQS client; called when first needed, because most requests do not.
    url : str
    """

    def __init__(self, make_client: Callable[[], Any], url: str) -> None:
        self._make_client = make_client
        self._url = url

    def send(self, job: IngestionJob, delay_s: int = 0) -> None:
        """Send one message; see ``IngestionQueue.send``."""
        with translating("queue a job"):
            self._client.send_message(QueueUrl=self._url, MessageBody=json.dumps(asdict(job)), DelaySeconds=delay_s)

    def give_again(self, receipt_handle: str, after_s: int) -> None:
        """Let a message that was taken, and not deleted, be taken again after so many seconds.

        Raises
        ------
        Unavailable
            If the queue does not answer; then it will be when its visibility timeout is over.
        """
        with translating("give a job back"):
            self._client.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt_handle, VisibilityTimeout=after_s
            )

    @cached_property
    def _client(self) -> Any:
        return self._make_client()


class SqsMaintenanceQueue:
    """The queue of users who are due.

    Parameters
    ----------
    client : SQS client
    url : str
    """

    def __init__(self, client: Any, url: str) -> None:
        self._client = client
        self._url = url

    def waiting(self) -> int:
        """Ask with one GetQueueAttributes; see ``MaintenanceQueue.waiting``."""
        with translating("count waiting users"):
            answer = self._client.get_queue_attributes(QueueUrl=self._url, AttributeNames=[_WAITING])
        return int(answer["Attributes"][_WAITING])

    def send(self, user_ids: Sequence[str]) -> int:
        """Send with one SendMessageBatch; see ``MaintenanceQueue.send``."""
        entries = [
            {"Id": str(number), "MessageBody": json.dumps({"user_id": user_id})}
            for number, user_id in enumerate(user_ids)
        ]
        with translating("queue users"):
            answer = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
        return len(answer.get("Successful", ()))


def read_user(body: str) -> str:
    """Read the body of a message about a user who is due.

    Raises
    ------
    CorruptData
        If it has another form.
    """
    try:
        return _text(json.loads(body)["user_id"])
    except (ValueError, TypeError, KeyError) as error:
        raise CorruptData("a message of the queue has another form") from error


def read_message(body: str) -> list[IngestionJob | Arrival]:
    """Read the body of a message; there is nothing in S3's test message.

    Raises
    ------
    CorruptData
        If it has none of the forms.
    """
    try:
        value = json.loads(body)
        if "Records" in value:
            return [_arrival(record) for record in value["Records"]]
        if value.get("Event") == "s3:TestEvent":
            return []
        return [IngestionJob(**{name: _text(value[name]) for name in ("user_id", "epoch", "transcript_id")})]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise CorruptData("a message of the queue has another form") from error


def _arrival(record: dict[str, Any]) -> Arrival:
    of = record["s3"]
    return Arrival(_text(of["bucket"]["name"]), unquote_plus(_text(of["object"]["key"])))


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError
    return value
