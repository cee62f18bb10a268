"""From a Lambda event to an answer: admit, route, then one JSON log line and the metrics of the request.

The one import-time effect of the house is here: inside Lambda the app is made while the module loads, so that
the work falls into the init phase.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from recollect import settings, telemetry
from recollect.errors import RecollectError
from recollect.http import body
from recollect.http.api import Api
from recollect.http.problems import CONTENT_TYPE, problem
from recollect.telemetry import Measures

NAMESPACE = "Recollect"

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
        self._logger = Logger(service=service)
        self._metrics = Metrics(namespace=NAMESPACE, service=service)
        self._is_cold = True

    def app(self) -> Api:
        """Give the app; make it on first use."""
        if self._app is None:
            self._app = self._make_app(self._report)
        return self._app

    def __call__(self, event: Event, context: Any) -> Answer:
        """Answer an event."""
        started = time.perf_counter()
        request_id = str(event["requestContext"]["requestId"])
        facts: dict[str, Any] = {"request_id": request_id}
        with telemetry.measured() as measures:
            try:
                answer = self._route(event, context, facts)
            except Exception as error:  # noqa: BLE001 - the edge: everything becomes a problem document
                answer = self._failed(error, request_id)
        facts["duration_ms"] = round((time.perf_counter() - started) * 1000.0, 2)
        facts["status"] = answer["statusCode"]
        self._log(facts, measures)
        self._measure(facts, measures)
        self._is_cold = False
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
        self._logger.error("failure", **telemetry.described(error))

    def _log(self, facts: Mapping[str, Any], measures: Measures) -> None:
        self._logger.info(
            "request",
            **facts,
            cold_start=self._is_cold,
            stages_ms={name: round(value, 2) for name, value in measures.stages_ms.items()},
            counts=dict(measures.counts),
        )

    def _measure(self, facts: Mapping[str, Any], measures: Measures) -> None:
        metrics = self._metrics
        metrics.add_dimension("operation", str(facts.get("operation", "unknown")))
        metrics.add_metric("Latency", MetricUnit.Milliseconds, facts["duration_ms"])
        metrics.add_metric("ServerErrors", MetricUnit.Count, int(facts["status"] >= 500))
        for name, metric in _COUNTED.items():
            if measures.counts[name]:
                metrics.add_metric(metric, MetricUnit.Count, measures.counts[name])
        if self._is_cold:
            metrics.add_metric("ColdStart", MetricUnit.Count, 1)
        metrics.flush_metrics()


_COUNTED = {"commit_conflicts": "CommitConflict", "degraded_searches": "DegradedSearch", "aws_retries": "AwsRetry"}
