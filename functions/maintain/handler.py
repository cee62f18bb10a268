"""The maintenance: takes users who are due from the queue, one a message, and maintains them.

Rights: read and write items of the one table and objects of users; take messages of the one queue; with Bedrock, invoke
the models of the settings; nothing else.
"""

import time
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from recollect import settings, telemetry, wiring
from recollect.aws.queue import read_user
from recollect.errors import RecollectError
from recollect.maintaining import Maintainer, Tell
from recollect.maintenance import Report, StepName
from recollect.settings import Settings
from recollect.telemetry import Measures

NAMESPACE = "Recollect"
ENDING_MS = 60_000  # before the function is ended, no step is begun any more
Facts = dict[str, Any]


class Maintain:
    """The handler.

    Parameters
    ----------
    service : str
        The function's name, for logs and metrics.
    make_maintainer : callable
        Called once per process, with what gets the errors of steps.
    """

    def __init__(self, service: str, make_maintainer: Callable[[Tell], Maintainer]) -> None:
        self._make_maintainer = make_maintainer
        self._logger = Logger(service=service)
        self._metrics = Metrics(namespace=NAMESPACE, service=service)
        self._processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
        self._is_cold = True
        self._end_ms = 0

    @cached_property
    def maintainer(self) -> Maintainer:
        """What maintains; made when first needed."""
        return self._make_maintainer(self._failed)

    def __call__(self, event: Mapping[str, Any], context: Any) -> Mapping[str, Any]:
        """Work on a batch, record by record, and name those that failed."""
        self._end_ms = self.maintainer.now_ms() + context.get_remaining_time_in_millis() - ENDING_MS
        answer = process_partial_response(dict(event), self._record, self._processor, context)
        self._metrics.add_dimension("operation", "maintain")
        self._metrics.flush_metrics()
        return answer

    def _record(self, record: SQSRecord) -> None:
        started = time.perf_counter()
        facts: Facts = {"operation": "maintain", "status": "error", "message_id": record.message_id}
        report: Report | None = None
        with telemetry.measured() as measures:
            try:
                facts["user_id"] = read_user(record.body)
                report = self.maintainer.run_if_due(facts["user_id"], self._end_ms)
                facts |= {"status": "not due"} if report is None else _told(report)
            except Exception as error:
                facts |= _described(error)
                raise
            finally:
                facts["duration_ms"] = round((time.perf_counter() - started) * 1000.0, 2)
                self._tell(facts, report, measures)

    def _tell(self, facts: Facts, report: Report | None, measures: Measures) -> None:
        level = self._logger.error if facts["status"] == "error" else self._logger.info
        stages_ms = {name: round(value, 2) for name, value in measures.stages_ms.items()}
        level("record", **facts, cold_start=self._is_cold, stages_ms=stages_ms, counts=dict(measures.counts))
        self._is_cold = False
        steps = [] if report is None else [*report.steps.values()]
        self._metrics.add_metric("Latency", MetricUnit.Milliseconds, facts["duration_ms"])
        self._metrics.add_metric("MaintenanceErrors", MetricUnit.Count, int(facts["status"] == "error"))
        self._metrics.add_metric("MaintenanceRuns", MetricUnit.Count, int(report is not None))
        self._metrics.add_metric("MaintenanceChanged", MetricUnit.Count, sum(step.changed for step in steps))
        failed = sum(step.failure is not None for step in steps)
        self._metrics.add_metric("MaintenanceFailedSteps", MetricUnit.Count, failed)
        for name, metric in _COUNTED.items():
            if measures.counts[name]:
                self._metrics.add_metric(metric, MetricUnit.Count, measures.counts[name])

    def _failed(self, name: StepName, error: Exception) -> None:
        self._logger.error("step failed", step=name.value, **_described(error))


_COUNTED = {
    "model_input_tokens": "ModelInputTokens",
    "model_output_tokens": "ModelOutputTokens",
    "aws_retries": "AwsRetry",
}


def _told(report: Report) -> Facts:
    """Tell numbers and names of what was done; of an erasure that is done, this is the receipt in the log."""
    steps = {
        name.value: {"looked_at": step.looked_at, "changed": step.changed, "counts": dict(step.counts)}
        for name, step in report.steps.items()
        if step.changed
    }
    failed = [name.value for name, step in report.steps.items() if step.failure is not None]
    is_done = all(step.is_done for step in report.steps.values())
    return {"status": "failed" if failed else "done" if is_done else "partial", "steps": steps, "failed": failed}


def _described(error: Exception) -> Facts:
    """Tell what went wrong; of what is not an error of ours the kind and place only: its message may quote a text."""
    told = {"reason": error.message} if isinstance(error, RecollectError) else {}
    return {**telemetry.described(error), **told}


def _make_maintainer(tell: Tell) -> Maintainer:
    of = Settings.from_env()
    return wiring.maintainer(of, wiring.memory_controller(of), tell)


lambda_handler = Maintain("maintain", _make_maintainer)
if settings.is_in_lambda():
    _ = lambda_handler.maintainer  # so that the work of making it falls into the init phase
