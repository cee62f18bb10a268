"""The maintain and plan functions with the events that they get: who is maintained, what is logged, what is never."""

import json
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from recollect import due
from recollect.compaction import DEFAULT
from recollect.errors import Unavailable
from recollect.maintaining import Maintainer, Tell
from recollect.maintenance import StepName, StepReport
from recollect.model import MemoryType
from recollect.planning import Planner

from functions.maintain.handler import ENDING_MS, Maintain
from functions.plan.handler import Plan
from tests.support.faults import DyingStore
from tests.support.histories import stored
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.inmemory_reports import InMemoryDueIndex, InMemoryMaintenanceQueue
from tests.support.maintained import Maintained, Scripted

NUMBERS = count()
SECRET = "Lena lives in Porto"


@dataclass
class Context:
    remaining_ms: int = 300_000
    function_name: str = "maintain"

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


class Service:
    """Both functions on one world, with the queue between them."""

    def __init__(self) -> None:
        self.memories = InMemoryMemoryStore()
        self.world = Maintained(self.memories, policy=DEFAULT)
        self.queue = InMemoryMaintenanceQueue()
        self.steps: dict[StepName, Any] = {}
        number = next(NUMBERS)  # loggers of their own, on the stdout of this test
        planner = Planner(InMemoryDueIndex(self.memories), self.queue, self.world.clock)
        self.plan = Plan(f"plan-{number}", lambda: planner)
        self.maintain = Maintain(f"maintain-{number}", self._maintainer)

    def _maintainer(self, tell: Tell) -> Maintainer:
        return self.world.maintainer(steps=self.steps, tell=tell)

    def work(self) -> list[str]:
        """Take what is queued; give what failed."""
        failed = []
        for user_id in self.queue.take():
            answer = self.maintain({"Records": [record(json.dumps({"user_id": user_id}))]}, Context())
            failed += [user_id for _ in answer["batchItemFailures"]]
        return failed


def record(body: str) -> dict[str, Any]:
    return {
        "messageId": "m-1",
        "receiptHandle": "handle-1",
        "body": body,
        "attributes": {"ApproximateReceiveCount": "1"},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:due",
        "awsRegion": "us-east-1",
    }


def lines_of(captured: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in captured.splitlines()]


def test_a_long_tail_makes_a_user_due_who_is_planned_maintained_and_then_due_no_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    service = Service()
    of = service.world.instance()
    for number in range(DEFAULT.fold_entries):
        stored(of, f"event {number}", type=MemoryType.EPISODIC)

    service.plan({}, Context())
    assert service.work() == []

    (report,) = service.world.reports.reports("ana", None, 9)
    assert report.steps[StepName.COMPACTION].counts["folded_entries"] == DEFAULT.fold_entries
    service.plan({}, Context())
    assert service.queue.batches == []
    lines = lines_of(capsys.readouterr().out)
    told = [(line["operation"], line["status"]) for line in lines if "_aws" not in line]
    assert told == [("plan", "done"), ("maintain", "done"), ("plan", "done")]
    metrics = [line for line in lines if "_aws" in line]
    assert [line["MaintenanceQueued"] for line in metrics if "MaintenanceQueued" in line] == [[1.0], [0.0]]
    (run,) = [line for line in metrics if "MaintenanceRuns" in line]
    assert (run["MaintenanceRuns"], run["MaintenanceFailedSteps"]) == ([1.0], [0.0])
    assert run["MaintenanceChanged"][0] >= DEFAULT.fold_entries


def test_who_is_not_due_any_more_is_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    service = Service()
    stored(service.world.instance(), SECRET)
    service.queue.send(["ana", "nobody"])

    assert service.work() == []

    told = [line["status"] for line in lines_of(capsys.readouterr().out) if "_aws" not in line]
    assert told == ["not due", "not due"]
    assert service.world.reports.reports("ana", None, 9) == []


def test_a_failed_step_is_logged_without_a_text_and_the_message_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    service = Service()
    service.steps = {StepName.EXPIRY: Scripted(ValueError(SECRET)), StepName.DECAY: Scripted(Unavailable("busy"))}
    stored(service.world.instance(), SECRET)
    service.world.clock.now_ms += due.PAUSE_S * 1000
    service.queue.send(["ana"])

    assert service.work() == []

    out = capsys.readouterr().out
    assert SECRET not in out
    lines = lines_of(out)
    failures = [(line["step"], line["error"]) for line in lines if line.get("message") == "step failed"]
    assert failures == [("expiry", "ValueError"), ("decay", "Unavailable")]
    (told,) = [line for line in lines if line.get("operation") == "maintain" and "_aws" not in line]
    assert (told["status"], told["failed"]) == ("failed", ["expiry", "decay"])


def test_a_user_whose_store_does_not_answer_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    service = Service()
    stored(service.world.instance(), SECRET)
    dying = DyingStore(service.memories)
    dying.interrupt("read_head", "before", _busy)
    service.world.store = dying.port
    service.queue.send(["ana"])

    assert service.work() == ["ana"]

    (told,) = [line for line in lines_of(capsys.readouterr().out) if line.get("message") == "record"]
    assert (told["status"], told["error"], told["reason"]) == ("error", "Unavailable", "busy")


def _busy() -> None:
    raise Unavailable("busy")


def test_no_step_is_begun_when_the_function_is_about_to_be_ended() -> None:
    service = Service()
    step = Scripted(StepReport())
    service.steps = {StepName.EXPIRY: step}
    stored(service.world.instance(), SECRET)
    service.world.clock.now_ms += due.PAUSE_S * 1000

    service.maintain({"Records": [record('{"user_id": "ana"}')]}, Context(ENDING_MS))

    assert step.calls == []
    assert service.world.head().due_at_s == service.world.clock.now_ms // 1000


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"user_id": 7}', '{"user_id": ""}'])
def test_a_message_of_another_form_fails(body: str) -> None:
    answer = Service().maintain({"Records": [record(body)]}, Context())

    assert answer["batchItemFailures"] == [{"itemIdentifier": "m-1"}]


def test_a_plan_that_fails_is_logged_and_raised(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(InMemoryMaintenanceQueue):
        def waiting(self) -> int:
            raise Unavailable("busy")

    planner = Planner(InMemoryDueIndex(InMemoryMemoryStore()), Broken(), lambda: 0)
    with pytest.raises(Unavailable):
        Plan(f"plan-{next(NUMBERS)}", lambda: planner)({}, Context())

    assert lines_of(capsys.readouterr().out)[0]["status"] == "error"
