from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.ports import MemoryStore

from tests.support.inmemory import InMemoryMemoryStore
from tests.support.table import TABLE_NAME, create_table


@pytest.fixture(params=["inmemory", "dynamodb"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryStore]:
    """Every memory store there is, empty."""
    if request.param == "inmemory":
        yield InMemoryMemoryStore()
        return
    for name, value in {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_table(client)
        yield DynamoDBMemoryStore(client, TABLE_NAME)
