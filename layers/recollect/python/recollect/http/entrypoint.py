"""From a Lambda event to an answer: admit, route, then one JSON log line and the metrics of the request.

The one import-time effect of the house is here: inside Lambda the app is made while the module loads, so that
the work falls into the init phase.
"""

from collections.abc import Callable, Mapping
from typing import Any

from recollect import settings, telemetry
from recollect.errors import RecollectError
from recollect.http import body
from recollect.http.api import Api
from recollect.http.problems import CONTENT_TYPE, problem
from recollect.journal import Journal

Event = Mapping[str, Any]
Answer = dict[str, Any]
MakeApp = Callable[[Callable[[Exception], None]], Api]


def lambda_entrypoint(service: str, make_app: MakeApp) -> Callable[[Event, Any], Answer]:
    """Make a function's handler.

    Parameters
    ----------
    service : str
        The function's name, for logs and metrics.
    make_app : callable
        Makes the app, once per process, given what reports failures to the log.

    Returns
    -------
    callable
        ``handler(event, context) -> answer``.
    """
    entrypoint = _Entrypoint(service, make_app)
    if settings.is_in_lambda():
        entrypoint.app()
    return entrypoint


class _Entrypoint:
    def __init__(self, service: str, make_app: MakeApp) -> None:
        self._make_app = make_app
        self._app: Api | None = None
        self._journal = Journal(service, _COUNTED)

    def app(self) -> Api:
        """Give the app; make it on first use."""
        if self._app is None:
            self._app = self._make_app(self._report)
        return self._app

    def __call__(self, event: Event, context: Any) -> Answer:
        """Answer an event."""
        request_id = str(event["requestContext"]["requestId"])
        facts: dict[str, Any] = {"request_id": request_id}
        if self._journal.is_cold:
            self._journal.count("ColdStart", 1)
        with self._journal.entry("request", facts):
            try:
                answer = self._route(event, context, facts)
            except Exception as error:  # noqa: BLE001 - the edge: everything becomes a problem document
                answer = self._failed(error, request_id)
            facts["status"] = answer["statusCode"]
        self._journal.count("ServerErrors", int(facts["status"] >= 500))
        self._journal.flush(str(facts.get("operation", "unknown")))
        return answer

    def _route(self, event: Event, context: Any, facts: dict[str, Any]) -> Answer:
        app = self.app()
        facts["operation"] = "refused"
        admitted, caller, facts["user_id"] = app.admit(event)
        facts["operation"] = app.operation(admitted)
        app.context["caller"] = caller
        with telemetry.stage("route"):
            return app.resolve(admitted, context)

    def _failed(self, error: Exception, request_id: str) -> Answer:
        if not isinstance(error, RecollectError):
            self._report(error)
        status, headers, document = problem(error, request_id)
        return {
            "statusCode": status,
            "headers": {"Content-Type": CONTENT_TYPE, **headers},
            "body": body.dumps(document),
            "isBase64Encoded": False,
        }

    def _report(self, error: Exception) -> None:
        self._journal.logger.error("failure", **telemetry.described(error))


_COUNTED = {"commit_conflicts": "CommitConflict", "degraded_searches": "DegradedSearch", "aws_retries": "AwsRetry"}
