"""One JSON log line and the metrics for each piece of work of a function: a request, a record of a queue, a plan."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from recollect import telemetry
from recollect.errors import RecollectError
from recollect.telemetry import Measures

NAMESPACE = "Recollect"
Facts = dict[str, Any]


class Journal:
    """Measures pieces of work and tells of them; `metrics` are written when they are flushed.

    Parameters
    ----------
    service : str
        The function's name.
    counted : mapping of str to str
        Names of metrics by those of the counts that they are made of; see ``telemetry.count``.
    """

    def __init__(self, service: str, counted: Mapping[str, str]) -> None:
        self.logger = Logger(service=service)
        self.metrics = Metrics(namespace=NAMESPACE, service=service)
        self.is_cold = True  # until the first piece of work is done
        self._counted = counted

    @contextmanager
    def entry(self, message: str, facts: Facts) -> Iterator[None]:
        """Write the line of the block when it ends, with what `facts` holds then; a failure is told and goes on."""
        started = time.perf_counter()
        with telemetry.measured() as measures:
            try:
                yield
            except Exception as error:
                facts |= {"status": "error", **described(error)}
                raise
            finally:
                facts["duration_ms"] = round((time.perf_counter() - started) * 1000.0, 2)
                self._write(message, facts, measures)

    def count(self, metric: str, amount: float) -> None:
        """Add to a metric that counts."""
        self.metrics.add_metric(metric, MetricUnit.Count, amount)

    def flush(self, operation: str) -> None:
        """Write the metrics, as those of an operation."""
        self.metrics.add_dimension("operation", operation)
        self.metrics.flush_metrics()

    def _write(self, message: str, facts: Facts, measures: Measures) -> None:
        level = self.logger.error if facts.get("status") == "error" else self.logger.info
        stages_ms = {name: round(value, 2) for name, value in measures.stages_ms.items()}
        level(message, **facts, cold_start=self.is_cold, stages_ms=stages_ms, counts=dict(measures.counts))
        self.is_cold = False
        self.metrics.add_metric("Latency", MetricUnit.Milliseconds, facts["duration_ms"])
        for name, metric in self._counted.items():
            if measures.counts[name]:
                self.count(metric, measures.counts[name])


def described(error: Exception) -> Facts:
    """Tell what went wrong; of what is not an error of ours the kind and place only: its message may quote a text."""
    told = {"reason": error.message} if isinstance(error, RecollectError) else {}
    return {**telemetry.described(error), **told}
