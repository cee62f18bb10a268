"""The plan: started by the schedule, queues the users who are due for maintenance.

Rights: ask the index of the table who is due; send messages to the one queue and count those that wait; nothing else.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from recollect import settings, wiring
from recollect.journal import Facts, Journal
from recollect.planning import Planner
from recollect.settings import Settings

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
        self._journal = Journal(service, {})

    @cached_property
    def planner(self) -> Planner:
        """What plans; made when first needed."""
        return self._make_planner()

    def __call__(self, _event: Mapping[str, Any], context: Any) -> None:
        """Queue who is due; what fails is logged and raised, and the next start comes anyway."""
        facts: Facts = {"operation": "plan", "status": "error"}
        try:
            with self._journal.entry("plan", facts):
                self._plan(facts, context)
        finally:
            self._journal.count("MaintenanceQueued", facts.get("queued", 0))
            self._journal.flush("plan")

    def _plan(self, facts: Facts, context: Any) -> None:
        planned = self.planner.plan(self.planner.now_ms() + context.get_remaining_time_in_millis() - ENDING_MS)
        facts |= {"queued": planned.queued, "waiting": planned.waiting}
        facts["status"] = "done" if planned.is_done else "waiting" if planned.waiting else "partial"


lambda_handler = Plan("plan", lambda: wiring.planner(Settings.from_env()))
if settings.is_in_lambda():
    _ = lambda_handler.planner  # so that the work of making it falls into the init phase
