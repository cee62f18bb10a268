"""What searches and stores cost on AWS: counted requests and units by the prices of `prices`.

``data`` is DynamoDB and S3: counted, the same on every machine. ``function`` is Lambda and the HTTP API: this
machine's own time and embedding, and assumed waits for AWS. A cold search is one whose instance has not got the
user's partition yet; the start of an instance is not in it. A store's share of compaction is counted over the folds
that lead to a merge, and that merge.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from statistics import median

import numpy as np
from recollect.compaction import DEFAULT
from recollect.embedding.onnx import OnnxEmbedder

from tests.bench.account import Meter
from tests.bench.generated import WORDS, sentence
from tests.bench.prices import AS_OF, PRICES, REGION, WAITS, Prices, Waits
from tests.bench.service import USER_ID, Call, Service, stored

SIZES = (1_000, 10_000, 100_000)
STORES_BESIDE = 10_000
QUERY_WORDS = 8


@dataclass(frozen=True, slots=True)
class Usage:
    """What one request uses, on average.

    Parameters
    ----------
    read_units, write_units : float
    s3_gets, s3_puts : float
        The latter with listings.
    dynamodb_calls, transactions : float
        The former without the latter.
    s3_megabytes : float
        That are read.
    own_ms : float
        Of this machine.
    """

    read_units: float = 0.0
    write_units: float = 0.0
    s3_gets: float = 0.0
    s3_puts: float = 0.0
    dynamodb_calls: float = 0.0
    transactions: float = 0.0
    s3_megabytes: float = 0.0
    own_ms: float = 0.0


def usage_of(meter: Meter, own_ms: float = 0.0) -> Usage:
    """Read a meter."""
    requests = meter.requests
    transactions = requests["dynamodb.TransactWriteItems"]
    calls = sum(count for name, count in requests.items() if name.startswith("dynamodb."))
    return Usage(
        read_units=meter.read_units,
        write_units=meter.write_units,
        s3_gets=requests["s3.GetObject"],
        s3_puts=sum(requests[f"s3.{name}"] for name in ("PutObject", "ListObjectsV2", "ListObjectVersions")),
        dynamodb_calls=calls - transactions,
        transactions=transactions,
        s3_megabytes=meter.s3_bytes / 1e6,
        own_ms=own_ms,
    )


def mean(used: Sequence[Usage], count: int = 0) -> Usage:
    """Give the mean use; of more requests than there are meters if `count` says so."""
    return Usage(*(sum(values) / (count or len(used)) for values in zip(*map(astuple, used), strict=True)))


def data_dollars(used: Usage, prices: Prices = PRICES) -> float:
    """Give the dollars that DynamoDB and S3 ask for a million requests."""
    units = used.read_units * prices.read_units + used.write_units * prices.write_units
    return units + used.s3_gets * prices.s3_gets + used.s3_puts * prices.s3_puts


def duration_ms(used: Usage, embed_ms: float = 0.0, waits: Waits = WAITS) -> int:
    """Tell how long a function runs for a request, as it is billed."""
    s3_ms = used.s3_puts * waits.s3_ms + used.s3_megabytes / waits.s3_megabytes_per_s * 1000.0
    waited = used.dynamodb_calls * waits.dynamodb_ms + used.transactions * waits.transaction_ms + s3_ms
    return math.ceil(used.own_ms + embed_ms + waited + (waits.s3_ms if used.s3_gets else 0.0))


def function_dollars(milliseconds: float, *, is_api: bool = True, prices: Prices = PRICES) -> float:
    """Give the dollars that Lambda, and the HTTP API before it, ask for a million requests."""
    gigabyte_seconds = WAITS.memory_mb / 1024.0 * milliseconds / 1000.0
    compute = gigabyte_seconds * prices.lambda_gb_seconds + prices.lambda_requests
    return compute + (prices.api_requests if is_api else 0.0)


def figures(*, is_quick: bool = False) -> dict[str, float]:
    """Count and price.

    Returns
    -------
    dict of str to float
        For ``cost.search.warm.<n>``, ``cost.search.cold.<n>`` and ``cost.store``: units, requests,
        ``.data_dollars_per_million``, ``.function_dollars_per_million`` and their sum ``.dollars_per_million``; for
        ``cost.store.compaction`` its share of that; ``embed.query_ms`` and ``embed.memory_ms``.
    """
    print(f"  prices of {AS_OF}, {REGION}; dollars for a million", flush=True)
    embed = _embed_ms(5 if is_quick else 30)
    found = {f"embed.{name}_ms": taken for name, taken in embed.items()}
    for size in SIZES:
        warm = Service(stored(size))
        calls = [warm.search(sentence(QUERY_WORDS, np.random.default_rng(number))) for number in range(8)][3:]
        found |= _priced(f"cost.search.warm.{size}", _mean(calls), embed["query"])
        cold = [Service(stored(size)).search(sentence(QUERY_WORDS, np.random.default_rng(n))) for n in range(3)]
        found |= _priced(f"cost.search.cold.{size}", _mean(cold), embed["query"])
    return found | _stores(embed["memory"])


def _stores(embed_ms: float) -> dict[str, float]:
    service = Service(stored(STORES_BESIDE))
    rng = np.random.default_rng(1)
    calls = [service.store(sentence(WORDS, rng)) for _ in range(8)][3:]
    found = _priced("cost.store", _mean(calls), embed_ms)
    compactions = _compactions(Service(stored(STORES_BESIDE)))
    share = mean(compactions, DEFAULT.fan * DEFAULT.fold_entries)
    function = function_dollars(duration_ms(mean(compactions)), is_api=False) / DEFAULT.fold_entries
    kinds = {"data": data_dollars(share), "function": function}
    for kind, dollars in kinds.items():
        found[f"cost.store.compaction.{kind}_dollars_per_million"] = dollars
        found[f"cost.store.{kind}_dollars_per_million"] += dollars
        found["cost.store.dollars_per_million"] += dollars
    units = {name: getattr(share, name) for name in ("read_units", "write_units", "s3_gets", "s3_puts")}
    return found | {f"cost.store.compaction.{name}": value for name, value in units.items()}


def _compactions(service: Service) -> list[Usage]:
    """Compact whenever enough is in the tail, until small segments have become a larger one."""
    used: list[Usage] = []
    service.append(DEFAULT.fold_entries - sum(1 for _ in stored(STORES_BESIDE).tail))
    for turn in range(DEFAULT.fan):
        if turn:
            service.append(DEFAULT.fold_entries)
        service.account.reset()
        started = time.perf_counter()
        service.controller.workings.compactor.compact(USER_ID)
        taken = time.perf_counter() - started
        meter = service.account.reset()
        used.append(usage_of(meter, (taken - meter.seconds.total()) * 1000.0))
    return used


def _mean(calls: Sequence[Call]) -> Usage:
    return mean([usage_of(call.meter, call.own_ms) for call in calls])


def _priced(name: str, used: Usage, embed_ms: float) -> dict[str, float]:
    data, function = data_dollars(used), function_dollars(duration_ms(used, embed_ms))
    print(f"  {name:26} {data:8.2f} data {function:8.2f} function {data + function:8.2f} in all", flush=True)
    return {
        f"{name}.read_units": used.read_units,
        f"{name}.write_units": used.write_units,
        f"{name}.s3_gets": used.s3_gets,
        f"{name}.data_dollars_per_million": data,
        f"{name}.function_dollars_per_million": function,
        f"{name}.dollars_per_million": data + function,
    }


def _embed_ms(times: int) -> dict[str, float]:
    embedder = OnnxEmbedder()
    rng = np.random.default_rng(1)
    embedder.embed([sentence(WORDS, rng)])
    taken: dict[str, list[float]] = {"query": [], "memory": []}
    for _ in range(times):
        for name, words in {"query": QUERY_WORDS, "memory": WORDS}.items():
            text = sentence(words, rng)
            started = time.perf_counter()
            embedder.embed([text])
            taken[name].append((time.perf_counter() - started) * 1000.0)
    return {name: median(values) for name, values in taken.items()}
