"""What AWS asks for, and what the benchmark assumes about it: the one table of prices.

On demand, list prices without the free tier. DynamoDB since its cut by half in November 2024; Lambda's and the HTTP
API's first tier. Storage, logs, traces, backups and traffic out of AWS are not in it.
"""

from dataclasses import dataclass

AS_OF = "2025-11"
REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars for a million of each.

    Parameters
    ----------
    write_units, read_units : float
        DynamoDB request units.
    s3_puts, s3_gets : float
        The first also for listings; deletes are free.
    lambda_requests, lambda_gb_seconds : float
        The latter on arm64.
    api_requests : float
        Of an HTTP API, each up to 512 KB.
    """

    write_units: float = 0.625
    read_units: float = 0.125
    s3_puts: float = 5.0
    s3_gets: float = 0.4
    lambda_requests: float = 0.2
    lambda_gb_seconds: float = 13.3334
    api_requests: float = 1.0


@dataclass(frozen=True, slots=True)
class Waits:
    """How long a function waits for AWS, in milliseconds: assumed, since only a deployment can measure it.

    Parameters
    ----------
    dynamodb_ms, transaction_ms : float
        For each request.
    s3_ms : float
        For each request; those of one load run side by side and count once.
    s3_megabytes_per_s : float
        Of a whole load.
    memory_mb : float
        Of the function; the stack's default, which is one vCPU.
    """

    dynamodb_ms: float = 4.0
    transaction_ms: float = 10.0
    s3_ms: float = 30.0
    s3_megabytes_per_s: float = 75.0
    memory_mb: float = 1_769.0


PRICES = Prices()
WAITS = Waits()
