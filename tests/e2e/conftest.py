"""One deployment for the whole suite: the local cloud with signatures and IAM policies enforced, or a real stack.

With ``RECOLLECT_API_URL`` and ``RECOLLECT_TOKEN`` (a token with the scope that may act for any user) the tests
drive that stack, and those that need to issue tokens or to restart the service are skipped.
"""

import os
import shutil
import socket
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from recollect.aws import clients

from infra.local.cloud import LocalCloud
from infra.local.emulator import REGION, TEST_CREDENTIALS, Emulator
from tests.support.api_client import ApiClient, UserClient
from tests.support.table import create_table


@dataclass
class Service:
    """What the tests drive.

    Parameters
    ----------
    api_url : str
    any_user_token : str
        May act for any user.
    cloud : LocalCloud or None
        None for a real stack.
    log_lines : list of str
        What the functions of the local cloud logged so far.
    said : list of str
        Which steps the local cloud took so far.
    """

    api_url: str
    any_user_token: str
    cloud: LocalCloud | None = None
    log_lines: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def client(self, token: str | None) -> ApiClient:
        return ApiClient(self.api_url, token)

    def user(self, user_id: str) -> UserClient:
        """A client for one user, with that user's own token where tokens can be issued."""
        return self.client(self.user_token(user_id)).user(user_id)

    def user_token(self, user_id: str) -> str:
        return self.cloud.issuer.token(user_id) if self.cloud else self.any_user_token


@dataclass(frozen=True, slots=True)
class Database:
    """An emulated DynamoDB with the table, for tests that drive the core over its HTTP.

    Parameters
    ----------
    url : str
    """

    url: str

    def client(self) -> Any:
        """Make a client as a function does when it starts."""
        surroundings = {**TEST_CREDENTIALS, "AWS_DEFAULT_REGION": REGION, "AWS_ENDPOINT_URL": self.url, "NO_PROXY": "*"}
        with pytest.MonkeyPatch.context() as patch:
            for name, value in surroundings.items():
                patch.setenv(name, value)
            return clients.dynamodb_client()


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A database of its own: a whole cloud takes a minute to deploy, and these tests need nothing else of it."""
    data_dir = tmp_path_factory.mktemp("database")
    emulator = Emulator(data_dir, _free_port())
    emulator.start()
    try:
        made = Database(emulator.url)
        create_table(made.client())
        yield made
    finally:
        emulator.stop()
        shutil.rmtree(data_dir / "state", ignore_errors=True)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    url = os.environ.get("RECOLLECT_API_URL")
    if url:
        yield Service(url.rstrip("/"), os.environ["RECOLLECT_TOKEN"])
        return
    lines: list[str] = []
    said: list[str] = []
    cloud = LocalCloud(
        tmp_path_factory.mktemp("cloud"), _free_port(), enforce_auth=True, say=said.append, on_log=lines.append
    )
    cloud.start()
    try:
        yield Service(cloud.api_url, cloud.issuer.token("backend", service=True), cloud, lines, said)
    finally:
        cloud.stop()
        for large in ("cdk.out", "s3", "state"):  # the logs stay for whoever looks for a failure
            shutil.rmtree(cloud.data_dir / large, ignore_errors=True)


@pytest.fixture
def cloud(service: Service) -> LocalCloud:
    """The local cloud; a test that asks for it is skipped on a real stack."""
    if service.cloud is None:
        pytest.skip("a real stack cannot be restarted, and its issuer is not ours")
    return service.cloud


@pytest.fixture
def alice(service: Service) -> UserClient:
    """A user nobody else has."""
    return service.user(f"alice-{uuid.uuid4()}")


@pytest.fixture
def bob(service: Service) -> UserClient:
    """Another one."""
    return service.user(f"bob-{uuid.uuid4()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
