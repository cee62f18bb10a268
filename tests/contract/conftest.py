import time
from collections.abc import Callable, Iterator

import pytest
from moto import mock_aws
from recollect.aws import clients
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.aws.objects import S3ObjectStore
from recollect.aws.transcripts import DynamoDBTranscriptStore
from recollect.object_store import ObjectStore
from recollect.ports import MemoryStore
from recollect.transcript_store import TranscriptStore

from tests.support.bucket import BUCKET_NAME, create_bucket
from tests.support.faults import DyingStores
from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore
from tests.support.inmemory_transcripts import InMemoryTranscriptStore
from tests.support.table import TABLE_NAME, create_table
from tests.support.worlds import World

PART_BYTES = 1_000


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let clients that are made from now on talk to an emulated account, which is empty."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    with mock_aws():
        yield


class Make:
    """Makes stores that are empty.

    Parameters
    ----------
    aws : callable
        Lets clients that are made from now on talk to an emulated account.
    """

    def __init__(self, aws: Callable[[], object]) -> None:
        self._aws = aws

    def store(self, kind: str) -> MemoryStore:
        if kind == "inmemory":
            return InMemoryMemoryStore()
        self._aws()
        client = clients.dynamodb_client()
        create_table(client)
        return DynamoDBMemoryStore(client, TABLE_NAME)

    def both(self, kind: str) -> tuple[MemoryStore, TranscriptStore]:
        """Make a memory store, and a transcript store beside it."""
        memories = self.store(kind)
        if isinstance(memories, InMemoryMemoryStore):
            return memories, InMemoryTranscriptStore(memories)
        return memories, DynamoDBTranscriptStore(clients.dynamodb_client(), TABLE_NAME)

    def objects(self, kind: str) -> ObjectStore:
        if kind == "inmemory":
            return InMemoryObjectStore()
        self._aws()
        client = clients.s3_client()
        create_bucket(client, versioned=kind == "versioned s3")
        return S3ObjectStore(lambda: client, BUCKET_NAME, PART_BYTES)


@pytest.fixture
def make(request: pytest.FixtureRequest) -> Make:
    return Make(lambda: request.getfixturevalue("aws"))


@pytest.fixture(params=["inmemory", "dynamodb"])
def store(request: pytest.FixtureRequest, make: Make) -> MemoryStore:
    """Every memory store there is, empty."""
    return make.store(request.param)


@pytest.fixture(params=["inmemory", "s3", "versioned s3"])
def objects(request: pytest.FixtureRequest, make: Make) -> ObjectStore:
    """Every object store there is, empty."""
    return make.objects(request.param)


@pytest.fixture(params=["inmemory", "aws"])
def kept(request: pytest.FixtureRequest, make: Make) -> DyingStores:
    """Both stores, empty, in memory and as they are in AWS."""
    in_memory = request.param == "inmemory"
    return DyingStores(
        make.store("inmemory" if in_memory else "dynamodb"), make.objects("inmemory" if in_memory else "s3")
    )


@pytest.fixture
def world(kept: DyingStores) -> World:
    """Instances on both stores, in the time of the object store."""
    made = World(kept.store, kept.objects)
    made.clock.now_ms = time.time_ns() // 1_000_000
    return made
