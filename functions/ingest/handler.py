"""The ingestion: takes batches of the queue, makes memories of the transcripts that they name, and tells which failed.

Rights: read and write items of the one table and objects of users; take and send messages of the one queue; with
Bedrock, invoke the models of the settings; nothing else.
"""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from recollect import settings, telemetry, wiring
from recollect.aws.queue import SqsIngestionQueue, read_message
from recollect.errors import RecollectError
from recollect.ingesting import Ingestion
from recollect.progress import retry_after_s
from recollect.settings import Settings
from recollect.telemetry import Measures
from recollect.transcript_store import Arrival, IngestionJob

NAMESPACE = "Recollect"
# So long before the function is ended no passage is begun any more: a model at its slowest is asked twice, each time
# with a retry, and waited for 60 s.
ENDING_MS = 250_000
Facts = dict[str, Any]


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
        self._logger = Logger(service=service)
        self._metrics = Metrics(namespace=NAMESPACE, service=service)
        self._processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
        self._is_cold = True
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
        self._metrics.add_dimension("operation", "ingest")
        self._metrics.flush_metrics()
        return answer

    def _record(self, record: SQSRecord) -> None:
        started = time.perf_counter()
        facts: Facts = {
            "operation": "ingest",
            "status": "nothing",
            "message_id": record.message_id,
            "receive_count": int(record.attributes.approximate_receive_count),
        }
        with telemetry.measured() as measures:
            try:
                self._work_on(record, facts)
            except Exception as error:
                facts |= {"status": "error", **_described(error)}
                self._give_again(record, error, facts["receive_count"])
                raise
            finally:
                facts["duration_ms"] = round((time.perf_counter() - started) * 1000.0, 2)
                self._tell(facts, measures)

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
            self._logger.warning("not given back", **_described(late))

    def _tell(self, facts: Mapping[str, Any], measures: Measures) -> None:
        level = self._logger.error if facts["status"] == "error" else self._logger.info
        stages_ms = {name: round(value, 2) for name, value in measures.stages_ms.items()}
        level("record", **facts, cold_start=self._is_cold, stages_ms=stages_ms, counts=dict(measures.counts))
        self._is_cold = False
        self._metrics.add_metric("Latency", MetricUnit.Milliseconds, facts["duration_ms"])
        self._metrics.add_metric(f"Ingest{facts['status'].capitalize()}", MetricUnit.Count, 1)
        for name, metric in _COUNTED.items():
            if measures.counts[name]:
                self._metrics.add_metric(metric, MetricUnit.Count, measures.counts[name])


_COUNTED = {
    "memories_created": "MemoriesCreated",
    "memories_refused": "MemoriesRefused",
    "ingestion_retries": "IngestionRetry",
    "model_input_tokens": "ModelInputTokens",
    "model_output_tokens": "ModelOutputTokens",
    "aws_retries": "AwsRetry",
}


def _described(error: Exception) -> Facts:
    """Tell what went wrong; of what is not an error of ours the kind and place only: its message may quote a text."""
    told = {"reason": error.message} if isinstance(error, RecollectError) else {}
    return {**told, **telemetry.described(error)}


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
