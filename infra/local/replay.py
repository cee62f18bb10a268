"""Replays a user of the running local service: reads its table and bucket as the functions do, and changes nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import botocore.session
from botocore.exceptions import BotoCoreError, ClientError
from recollect import wiring
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.aws.objects import S3ObjectStore
from recollect.controller import MemoryController
from recollect.errors import NotFound, RecollectError
from recollect.replay import Replay
from recollect.schemas.trail import version_output
from recollect.settings import Settings

from infra.local.emulator import REGION, TEST_CREDENTIALS
from infra.local.errors import LocalCloudError


def replay(url: str, user: str, *, seq: int | None, at: str | None, verify: bool) -> Replay:
    """Read what a user's memories were.

    Parameters
    ----------
    url : str
        Of the emulator.
    seq : int or None
        After this entry of the log; the last one unless said.
    at : str or None
        At this time instead: ISO 8601 with a time zone.
    verify : bool
        Compare the present partition with what log and versions make of it.

    Raises
    ------
    LocalCloudError
        If the service does not answer, or there is no such entry.
    """
    try:
        of = _controller(url)
        return of.replay(user, seq, None if at is None else epoch_ms(at), verifies=verify)
    except NotFound as error:
        raise LocalCloudError(f"the log of {user} has no entry {seq}") from error
    except RecollectError as error:
        raise LocalCloudError(error.message) from error
    except (BotoCoreError, ClientError) as error:
        raise LocalCloudError("the service does not answer: start it with `make run`") from error


def lines(user: str, found: Replay) -> Iterator[str]:
    """Write each memory as a line of JSON, as the API writes a version of it."""
    return (version_output(user, version).model_dump_json() for version in found.memories)


def summary(user: str, found: Replay, *, verified: bool) -> str:
    """Say in words what was found."""
    when = "" if found.at_ms is None else f" ({datetime.fromtimestamp(found.at_ms / 1000, UTC).isoformat()})"
    told = f"{user}: {len(found.memories)} memories after entry {found.seq}{when}"
    if found.disagreements:
        return "\n".join([f"{told}; these do not agree:", *found.disagreements])
    return f"{told}; log{', versions and partition' if verified else ' and versions'} agree"


def epoch_ms(at: str) -> int:
    """Read a time.

    Raises
    ------
    LocalCloudError
        If it is not ISO 8601 with a time zone.
    """
    try:
        moment = datetime.fromisoformat(at)
    except ValueError as error:
        raise LocalCloudError("the time must be ISO 8601, such as 2026-11-30T09:00:00Z") from error
    if moment.tzinfo is None:
        raise LocalCloudError("the time must have a time zone, such as 2026-11-30T09:00:00Z")
    return int(moment.timestamp() * 1000)


def _controller(url: str) -> MemoryController:
    settings = Settings.from_env(_environment(_client(url, "lambda")))
    store = DynamoDBMemoryStore(_client(url, "dynamodb"), settings.table_name)
    s3 = _client(url, "s3")
    objects = S3ObjectStore(lambda: s3, settings.bucket_name)
    return MemoryController(store, objects, wiring.embedder(settings), wiring.surroundings(), settings.partitions_bytes)


def _environment(client: Any) -> dict[str, str]:
    """Give the environment of a deployed function, which names table and bucket."""
    for function in client.list_functions()["Functions"]:
        variables: dict[str, str] = function.get("Environment", {}).get("Variables", {})
        if "RECOLLECT_BUCKET_NAME" in variables:
            return variables
    raise LocalCloudError("nothing is deployed there: start the service with `make run`")


def _client(url: str, service: str) -> Any:
    return botocore.session.get_session().create_client(
        service,
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=TEST_CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=TEST_CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )
