"""The plan: started by the schedule, queues the users who are due for maintenance.

Rights: ask the index of the table who is due; send messages to the one queue and count those that wait; nothing else.
"""

import time
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from recollect import settings, telemetry, wiring
from recollect.planning import Planner
from recollect.settings import Settings

NAMESPACE = "Recollect"
ENDING_MS = 10_000  # before the function is ended, nobody is queued any more


class Plan:
    """The handler.

    Parameters
    ----------
    service : str
        The function's name, for logs and metrics.
    make_planner : callable
        Called once per process.
    """

    def __init__(self, service: str, make_planner: Callable[[], Planner]) -> None:
        self._make_planner = make_planner
        self._logger = Logger(service=service)
        self._metrics = Metrics(namespace=NAMESPACE, service=service)
        self._is_cold = True

    @cached_property
    def planner(self) -> Planner:
        """What plans; made when first needed."""
        return self._make_planner()

    def __call__(self, _event: Mapping[str, Any], context: Any) -> None:
        """Queue who is due; what fails is logged and raised, and the next start comes anyway."""
        started = time.perf_counter()
        facts: dict[str, Any] = {"operation": "plan", "status": "error"}
        with telemetry.measured() as measures:
            try:
                self._plan(facts, context)
            except Exception as error:
                facts |= telemetry.described(error)
                raise
            finally:
                facts["duration_ms"] = round((time.perf_counter() - started) * 1000.0, 2)
                level = self._logger.error if facts["status"] == "error" else self._logger.info
                level("plan", **facts, cold_start=self._is_cold, counts=dict(measures.counts))
                self._is_cold = False
                self._metrics.add_dimension("operation", "plan")
                self._metrics.add_metric("Latency", MetricUnit.Milliseconds, facts["duration_ms"])
                self._metrics.add_metric("MaintenanceQueued", MetricUnit.Count, facts.get("queued", 0))
                self._metrics.flush_metrics()

    def _plan(self, facts: dict[str, Any], context: Any) -> None:
        planned = self.planner.plan(self.planner.now_ms() + context.get_remaining_time_in_millis() - ENDING_MS)
        facts |= {"queued": planned.queued, "waiting": planned.waiting}
        facts["status"] = "done" if planned.is_done else "waiting" if planned.waiting else "partial"


lambda_handler = Plan("plan", lambda: wiring.planner(Settings.from_env()))
if settings.is_in_lambda():
    _ = lambda_handler.planner  # so that the work of making it falls into the init phase
