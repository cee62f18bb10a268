"""The queue of the ingestion, on SQS: jobs are sent as JSON; jobs and S3's messages about uploads are read.

Which of both a message is, is told by its form: S3 writes ``Records``.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from typing import Any
from urllib.parse import unquote_plus

from recollect.aws.errors import translating
from recollect.errors import CorruptData
from recollect.transcript_store import Arrival, IngestionJob


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
