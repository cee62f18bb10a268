"""Stores, whole: a gateway's event into the API's handler, its answer out, AWS replaced by recorded answers.

Every memory is new, with others close to it, so that it is compared with ten of them by the rules. Own time is all but
what the account and the embedder take.
"""

import numpy as np

from tests.bench.generated import WORDS, sentence
from tests.bench.service import Service, memory_of, stored
from tests.bench.timing import said, stages

BATCH = 25
SIZE = 10_000


def figures(*, is_quick: bool = False) -> dict[str, float]:
    """Measure.

    Returns
    -------
    dict of str to float
        ``store.own_ms`` and ``store.batch25.own_ms_per_memory`` beside 10,000 memories, ``store.empty.…`` the same
        for a new user; ``store.log_bytes`` as DynamoDB counts them, ``store.write_units``, ``store.aws_calls``.
    """
    times = 10 if is_quick else 40
    return _of("store", SIZE, times) | _of("store.empty", 0, times)


def _of(name: str, size: int, times: int) -> dict[str, float]:
    rng = np.random.default_rng(size)
    service = Service(stored(size))
    service.store(sentence(WORDS, rng))
    single = [service.store(sentence(WORDS, rng)) for _ in range(times)]
    log_bytes = service.log_bytes()
    if not size:
        service = Service(stored(size))
    bodies = [{"memories": [memory_of(sentence(WORDS, rng)) for _ in range(BATCH)]} for _ in range(max(3, times // 5))]
    batches = [service.call("POST", "/memories", body) for body in bodies]
    per_memory = [call.own_ms / BATCH for call in batches]
    return {
        f"{name}.own_ms": said(f"{name}.own_ms", [call.own_ms for call in single]),
        **stages(name, single),
        f"{name}.batch25.own_ms_per_memory": said(f"{name}.batch25.own_ms_per_memory", per_memory),
        f"{name}.batch25.transactions": float(batches[-1].meter.requests["dynamodb.TransactWriteItems"]),
        f"{name}.log_bytes": float(log_bytes),
        f"{name}.read_units": float(single[-1].meter.read_units),
        f"{name}.write_units": float(single[-1].meter.write_units),
        f"{name}.batch25.write_units_per_memory": batches[-1].meter.write_units / BATCH,
        f"{name}.aws_calls": float(single[-1].meter.requests.total()),
    }
