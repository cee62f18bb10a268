"""Turns failures of AWS calls into the kinds of ``recollect.errors``: the only place that knows AWS error codes.

What is neither a lost race nor weather (a missing permission, a wrong parameter) is a bug and propagates as it is.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's name
    HTTPClientError,
    IncompleteReadError,
)

from recollect.errors import Conflict, NotFound, Unavailable

LOST_RACES = frozenset(
    {
        "ConditionalCheckFailedException",
        "ConditionalCheckFailed",
        "TransactionConflict",
        "TransactionConflictException",
        "TransactionInProgressException",
        "PreconditionFailed",
        "ConditionalRequestConflict",
    }
)
WEATHER = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "ProvisionedThroughputExceeded",
        "ThrottlingException",
        "Throttling",
        "ThrottlingError",
        "ThrottledException",
        "TooManyRequestsException",
        "RequestLimitExceeded",
        "LimitExceededException",
        "SlowDown",
        "InternalServerError",
        "InternalServerException",
        "InternalError",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "ModelNotReadyException",
        "ModelTimeoutException",
        "ModelErrorException",
        "RequestTimeout",
        "RequestTimeoutException",
    }
)
MISSING = frozenset({"NoSuchKey", "NoSuchVersion", "404"})  # the answer to a HEAD has no body to name anything
FIRST_SERVER_ERROR = 500


@contextmanager
def translating(operation: str) -> Iterator[None]:
    """Translate what an AWS call inside the block raises.

    Parameters
    ----------
    operation : str
        What is being done, in words, for the message.

    Raises
    ------
    Conflict
        A condition failed, or another transaction touched the same item.
    Unavailable
        Throttling, a timeout, a connection error, a server error, an answer that broke off.
    NotFound
        The object is not there.
    """
    try:
        yield
    except ClientError as error:
        translated = _translate(operation, error)
        if translated is None:
            raise
        raise translated from error
    except (ConnectionError, HTTPClientError) as error:
        raise Unavailable(f"could not {operation}: no answer in time; retry later") from error
    except IncompleteReadError as error:
        raise Unavailable(f"could not {operation}: the answer broke off; retry later") from error


def _translate(operation: str, error: ClientError) -> Exception | None:
    codes = {error.response.get("Error", {}).get("Code", "")}
    codes |= {str(reason.get("Code")) for reason in error.response.get("CancellationReasons", ())}
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if codes & LOST_RACES:
        return Conflict(f"could not {operation}: somebody else came first; read again and retry")
    if codes & WEATHER or status >= FIRST_SERVER_ERROR:
        return Unavailable(f"could not {operation}: the service is busy; retry later")
    if codes & MISSING:
        return NotFound(f"could not {operation}: it is not there")
    return None
