from collections.abc import Iterator
from typing import Any

import pytest
from recollect.aws.converse import BedrockExtractor

from tests.support.bedrock_server import BedrockServer, calling, serving
from tests.support.extracting import CLAUDE


@pytest.fixture(scope="module")
def running() -> Iterator[BedrockServer]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def client(running: BedrockServer) -> Iterator[Any]:
    with calling(running.endpoint_url) as client:
        yield client


@pytest.fixture
def server(running: BedrockServer) -> BedrockServer:
    running.replies.clear()
    running.requests.clear()
    return running


@pytest.fixture
def extractor(client: Any) -> BedrockExtractor:
    return BedrockExtractor(client, CLAUDE)
