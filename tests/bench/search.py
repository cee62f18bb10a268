"""Warm searches, whole: a gateway's event into the API's handler, its answer out, AWS replaced by recorded answers.

Own time is all but what the account and the embedder take: routing, refresh, filters, hybrid ranking, reading the
items that were fetched, JSON, log line and metrics. Half of the queries' words are common ones, as in questions.
"""

import numpy as np

from tests.bench.generated import sentence
from tests.bench.service import Call, Service, stored
from tests.bench.timing import said, stages

SIZES = (10_000, 100_000)
FILTER = {"all": [{"field": "tags", "contains": "tag-003"}, {"field": "importance", "gte": 0.3}]}


def figures(*, is_quick: bool = False) -> dict[str, float]:
    """Measure.

    Returns
    -------
    dict of str to float
        For 10,000 and 100,000 memories ``search.<n>.own_ms``, its parts by stage, ``search.<n>.filtered.own_ms``,
        and ``search.warm.aws_calls``.
    """
    found: dict[str, float] = {}
    for size in SIZES:
        found |= _of(size, 15 if is_quick else 60)
    return found


def _of(size: int, times: int) -> dict[str, float]:
    service = Service(stored(size))
    rng = np.random.default_rng(size)
    for _ in range(3):
        service.search(sentence(8, rng))
    plain = [service.search(sentence(8, rng)) for _ in range(times)]
    filtered = [service.search(sentence(8, rng), filter=FILTER) for _ in range(times)]
    return {
        f"search.{size}.own_ms": said(f"search.{size}.own_ms", _own_ms(plain)),
        f"search.{size}.filtered.own_ms": said(f"search.{size}.filtered.own_ms", _own_ms(filtered)),
        **stages(f"search.{size}", plain),
        "search.warm.aws_calls": max(call.meter.requests.total() for call in plain),
    }


def _own_ms(calls: list[Call]) -> list[float]:
    return [call.own_ms for call in calls]
