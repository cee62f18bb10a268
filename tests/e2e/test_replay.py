"""The command that replays a user of the running local service."""

import json
import os
import subprocess
import sys

import pytest

from tests.e2e.conftest import Service
from tests.support.api_client import UserClient


def run(service: Service, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert service.cloud is not None
    port = service.api_url.split(":")[2].split("/")[0]
    command = [sys.executable, "-m", "infra.local", "replay", "--port", port]
    command += ["--data-dir", str(service.cloud.data_dir), *arguments]
    return subprocess.run(command, env=os.environ, capture_output=True, text=True)


def test_the_command_prints_what_was_there_and_verifies_what_is(service: Service, alice: UserClient) -> None:
    if service.cloud is None:
        pytest.skip("a command for the local service")
    tea = alice.store("Alice drinks tea").body["memory_id"]
    alice.patch(tea, content="Alice drinks green tea")
    alice.call("POST", "/maintenance", {"steps": ["compaction"], "force": True})
    alice.delete(tea)
    cat = alice.store("Alice has a cat").body["memory_id"]

    now = run(service, "--user", alice.user_id, "--verify")
    before = run(service, "--user", alice.user_id, "--seq", "2")
    at = run(service, "--user", alice.user_id, "--at", "2020-01-01T00:00:00Z")

    assert (now.returncode, before.returncode, at.returncode) == (0, 0, 0), now.stderr
    [present] = map(json.loads, now.stdout.splitlines())
    assert (present["memory_id"], present["content"]) == (cat, "Alice has a cat")
    [earlier] = map(json.loads, before.stdout.splitlines())
    assert (earlier["memory_id"], earlier["version"], earlier["content"]) == (tea, 2, "Alice drinks green tea")
    assert at.stdout == ""
    assert now.stderr.startswith(f"{alice.user_id}: 1 memories after entry 4")
    assert now.stderr.endswith("log, versions and partition agree\n")
    assert run(service, "--user", alice.user_id, "--seq", "5").returncode == 1
