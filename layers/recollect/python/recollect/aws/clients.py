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
CONVERSE_READ_TIMEOUT_S = 60  # a long reply is written word by word, and comes at its end
CONVERSE_MAX_ATTEMPTS = 2
CONNECTIONS = 10  # botocore's own default
S3_CONNECTIONS = 8  # as many as threads that read objects


def dynamodb_client() -> Any:
    """Make the DynamoDB client."""
    return _client("dynamodb", READ_TIMEOUT_S, MAX_ATTEMPTS)


def s3_client() -> Any:
    """Make the S3 client; URLs that it signs are of signature version 4, which binds headers, and name the region."""
    signing = Config(signature_version="s3v4", s3={"addressing_style": "virtual"})
    return _client("s3", READ_TIMEOUT_S, MAX_ATTEMPTS, S3_CONNECTIONS, signing)


def sqs_client() -> Any:
    """Make the SQS client."""
    return _client("sqs", READ_TIMEOUT_S, MAX_ATTEMPTS)


def bedrock_client() -> Any:
    """Make the Bedrock runtime client."""
    return _client("bedrock-runtime", BEDROCK_READ_TIMEOUT_S, BEDROCK_MAX_ATTEMPTS)


def converse_client() -> Any:
    """Make the Bedrock runtime client for models that write; for workers, since it waits longer than requests may."""
    return _client("bedrock-runtime", CONVERSE_READ_TIMEOUT_S, CONVERSE_MAX_ATTEMPTS)


def _client(
    service: str, read_timeout_s: int, attempts: int, connections: int = CONNECTIONS, more: Config | None = None
) -> Any:
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=read_timeout_s,
        retries={"mode": "standard", "total_max_attempts": attempts},
        tcp_keepalive=True,
        max_pool_connections=connections,
    )
    client = botocore.session.get_session().create_client(
        service, config=config if more is None else config.merge(more)
    )
    client.meta.events.register("before-call", _count_call)
    client.meta.events.register("after-call", _count_answer)
    client.meta.events.register("response-received.dynamodb.TransactWriteItems", _name_throttling)
    return client


def _count_call(model: Any, **_: object) -> None:
    telemetry.count(f"{model.service_model.service_name}.{model.name}")


def _count_answer(model: Any, parsed: dict[str, Any], **_: object) -> None:
    retries = parsed.get("ResponseMetadata", {}).get("RetryAttempts", 0)
    if retries:
        telemetry.count("aws_retries", retries)
    consumed = parsed.get("ConsumedCapacity", [])
    unit = "write_units" if model.name in _WRITES else "read_units"
    for capacity in [consumed] if isinstance(consumed, dict) else consumed:
        telemetry.count(unit, capacity.get("CapacityUnits", 0.0))


def _name_throttling(parsed_response: dict[str, Any] | None, **_: object) -> None:
    """Call a transaction that throttling alone has cancelled throttled: as such botocore sends it again."""
    reasons = {reason.get("Code") for reason in (parsed_response or {}).get("CancellationReasons", ())} - {"None"}
    if parsed_response is not None and reasons and reasons <= _THROTTLING_REASONS:
        parsed_response["Error"]["Code"] = "ThrottlingException"


_THROTTLING_REASONS = frozenset({"ProvisionedThroughputExceeded", "ThrottlingError"})
_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"})
