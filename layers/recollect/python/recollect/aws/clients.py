"""Makes AWS clients: once per process, with explicit timeouts and retries, counting what they cost.

From botocore itself: boto3 would add its resources and S3 transfer code to every cold start.
"""

from typing import Any

import botocore.session
from botocore.config import Config

from recollect import telemetry

CONNECT_TIMEOUT_S = 2
READ_TIMEOUT_S = 5
MAX_ATTEMPTS = 3
BEDROCK_READ_TIMEOUT_S = 8  # twice, it stays below the 29 s that a request may take
BEDROCK_MAX_ATTEMPTS = 2


def dynamodb_client() -> Any:
    """Make the DynamoDB client."""
    return _client("dynamodb", READ_TIMEOUT_S, MAX_ATTEMPTS)


def bedrock_client() -> Any:
    """Make the Bedrock runtime client."""
    return _client("bedrock-runtime", BEDROCK_READ_TIMEOUT_S, BEDROCK_MAX_ATTEMPTS)


def _client(service: str, read_timeout_s: int, attempts: int) -> Any:
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=read_timeout_s,
        retries={"mode": "standard", "total_max_attempts": attempts},
        tcp_keepalive=True,
    )
    client = botocore.session.get_session().create_client(service, config=config)
    client.meta.events.register("before-call", _count_call)
    client.meta.events.register("after-call", _count_units)
    return client


def _count_call(model: Any, **_: object) -> None:
    telemetry.count(f"{model.service_model.service_name}.{model.name}")


def _count_units(model: Any, parsed: dict[str, Any], **_: object) -> None:
    consumed = parsed.get("ConsumedCapacity", [])
    unit = "write_units" if model.name in _WRITES else "read_units"
    for capacity in [consumed] if isinstance(consumed, dict) else consumed:
        telemetry.count(unit, capacity.get("CapacityUnits", 0.0))


_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"})
