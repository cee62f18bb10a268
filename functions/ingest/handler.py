"""The ingestion: takes batches of the queue, makes memories of the transcripts that they name, and tells which failed.

Rights: read and write items of the one table and objects of users; take and send messages of the one queue; with
Bedrock, invoke the models of the settings; nothing else.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from recollect import settings, wiring
from recollect.aws.queue import SqsIngestionQueue, read_message
from recollect.errors import RecollectError
from recollect.ingesting import Ingestion
from recollect.journal import Facts, Journal, described
from recollect.progress import retry_after_s
from recollect.settings import Settings
from recollect.transcript_store import Arrival, IngestionJob

# So long before the function is ended no passage is begun any more: a model at its slowest is asked twice, each time
# with a retry, and waited for 60 s.
ENDING_MS = 250_000


@dataclass(frozen=True, slots=True)
class Work:
    """What the function works with.

    Parameters
    ----------
    take_upload : callable
        Adds an object that a caller has put to its transcript, and gives the job that comes of it.
    bucket_name : str
        Uploads to other buckets are none of ours.
    now_ms : callable
        Gives epoch milliseconds.
    """

    ingestion: Ingestion
    take_upload: Callable[[str], IngestionJob | None]
    queue: SqsIngestionQueue
    bucket_name: str
    now_ms: Callable[[], int]


class Ingest:
    """The handler.

    Parameters
    ----------
    service : str
        The function's name, for logs and metrics.
    make_work : callable
        Called once per process.
    """

    def __init__(self, service: str, make_work: Callable[[], Work]) -> None:
        self._make_work = make_work
        self._journal = Journal(service, _COUNTED)
        self._processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
        self._end_ms = 0
        self._waiting = 0  # records of the batch that are not worked on yet

    @cached_property
    def work(self) -> Work:
        """What is worked with; made when first needed."""
        return self._make_work()

    def __call__(self, event: Mapping[str, Any], context: Any) -> Mapping[str, Any]:
        """Work on a batch, record by record, and name those that failed."""
        self._end_ms = self.work.now_ms() + context.get_remaining_time_in_millis() - ENDING_MS
        self._waiting = len(event["Records"])
        answer = process_partial_response(dict(event), self._record, self._processor, context)
        self._journal.flush("ingest")
        return answer

    def _record(self, record: SQSRecord) -> None:
        facts: Facts = {
            "operation": "ingest",
            "status": "nothing",
            "message_id": record.message_id,
            "receive_count": int(record.attributes.approximate_receive_count),
        }
        try:
            with self._journal.entry("record", facts):
                try:
                    self._work_on(record, facts)
                except Exception as error:
                    self._give_again(record, error, facts["receive_count"])
                    raise
        finally:
            self._journal.count(f"Ingest{facts['status'].capitalize()}", 1)

    def _work_on(self, record: SQSRecord, facts: Facts) -> None:
        """Do what a record asks for, within its share of the time."""
        share_ms = max(0, self._end_ms - self.work.now_ms()) // self._waiting
        self._waiting -= 1
        deadline_ms = self.work.now_ms() + share_ms
        for message in read_message(record.body):
            job = self._taken(message) if isinstance(message, Arrival) else message
            if job is None:
                continue
            facts |= {"user_id": job.user_id, "transcript_id": job.transcript_id}
            left = self.work.ingestion.run(job, deadline_ms, facts["receive_count"])
            facts["status"] = "gone" if left is None else left.status.value
            if left is not None:
                facts["messages"] = {"all": left.message_count, "turns": left.turns_to, "facts": left.facts_to}

    def _taken(self, arrival: Arrival) -> IngestionJob | None:
        is_ours = arrival.bucket_name == self.work.bucket_name
        return self.work.take_upload(arrival.key) if is_ours else None

    def _give_again(self, record: SQSRecord, error: Exception, receive_count: int) -> None:
        after_s = retry_after_s(error, receive_count, random.random())  # noqa: S311 - only jitter
        try:
            self.work.queue.give_again(record.receipt_handle, after_s)
        except RecollectError as late:  # then it comes when its visibility timeout is over
            self._journal.logger.warning("not given back", **described(late))


_COUNTED = {
    "memories_created": "MemoriesCreated",
    "memories_refused": "MemoriesRefused",
    "ingestion_retries": "IngestionRetry",
    "model_input_tokens": "ModelInputTokens",
    "model_output_tokens": "ModelOutputTokens",
    "aws_retries": "AwsRetry",
}


def _make_work() -> Work:
    of = Settings.from_env()
    controller = wiring.memory_controller(of)
    return Work(
        ingestion=wiring.ingestion(of, controller),
        take_upload=wiring.recorder(of).take_upload,
        queue=wiring.queue(of),
        bucket_name=of.bucket_name,
        now_ms=wiring.surroundings().now_ms,
    )


lambda_handler = Ingest("ingest", _make_work)
if settings.is_in_lambda():
    _ = lambda_handler.work  # so that the work of making it falls into the init phase
