"""The maintenance: takes users who are due from the queue, one a message, and maintains them.

Rights: read and write items of the one table and objects of users; take messages of the one queue; with Bedrock, invoke
the models of the settings; nothing else.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from recollect import settings, wiring
from recollect.aws.queue import read_user
from recollect.journal import Facts, Journal, described
from recollect.maintaining import Maintainer, Tell
from recollect.maintenance import Report, StepName
from recollect.settings import Settings

ENDING_MS = 60_000  # before the function is ended, no step is begun any more


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
        self._journal = Journal(service, _COUNTED)
        self._processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
        self._end_ms = 0

    @cached_property
    def maintainer(self) -> Maintainer:
        """What maintains; made when first needed."""
        return self._make_maintainer(self._failed)

    def __call__(self, event: Mapping[str, Any], context: Any) -> Mapping[str, Any]:
        """Work on a batch, record by record, and name those that failed."""
        self._end_ms = self.maintainer.now_ms() + context.get_remaining_time_in_millis() - ENDING_MS
        answer = process_partial_response(dict(event), self._record, self._processor, context)
        self._journal.flush("maintain")
        return answer

    def _record(self, record: SQSRecord) -> None:
        facts: Facts = {"operation": "maintain", "status": "error", "message_id": record.message_id}
        report: Report | None = None
        try:
            with self._journal.entry("record", facts):
                facts["user_id"] = read_user(record.body)
                report = self.maintainer.run_if_due(facts["user_id"], self._end_ms)
                facts |= {"status": "not due"} if report is None else _told(report)
        finally:
            self._count(facts, report)

    def _count(self, facts: Facts, report: Report | None) -> None:
        steps = [] if report is None else [*report.steps.values()]
        self._journal.count("MaintenanceErrors", int(facts["status"] == "error"))
        self._journal.count("MaintenanceRuns", int(report is not None))
        self._journal.count("MaintenanceChanged", sum(step.changed for step in steps))
        self._journal.count("MaintenanceFailedSteps", sum(step.failure is not None for step in steps))

    def _failed(self, name: StepName, error: Exception) -> None:
        self._journal.logger.error("step failed", step=name.value, **described(error))


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


def _make_maintainer(tell: Tell) -> Maintainer:
    of = Settings.from_env()
    return wiring.maintainer(of, wiring.memory_controller(of), tell)


lambda_handler = Maintain("maintain", _make_maintainer)
if settings.is_in_lambda():
    _ = lambda_handler.maintainer  # so that the work of making it falls into the init phase
