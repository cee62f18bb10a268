"""Compaction over HTTP: nothing that a read shows changes, and what is erased is erased from segments too."""

import os
import subprocess
import sys
from typing import Any

import pytest

from tests.e2e.conftest import Service
from tests.support.api_client import UserClient


def shown(user: UserClient) -> dict[str, Any]:
    searched = user.search("what does she drink?", k=20).body
    return {
        "memories": [{**memory, "last_accessed_at": None, "access_count": None} for memory in user.every_memory()],
        "hits": [hit["memory"]["memory_id"] for hit in searched["hits"]],
        "events": user.events(),
        "stats": {**user.stats().body, "maintenance_due_at": None},
    }


def counts(report: dict[str, Any]) -> dict[str, int]:
    found: dict[str, int] = report["steps"]["compaction"]["counts"]
    return found


def test_a_compaction_changes_nothing_that_is_read(alice: UserClient) -> None:
    ids = [
        alice.store(f"Alice drinks tea number {number}", on_similar="create").body["memory_id"] for number in range(9)
    ]
    alice.patch(ids[0], importance=0.9)
    alice.delete(ids[1])
    before = shown(alice)

    planned = alice.call("POST", "/maintenance", {"steps": ["compaction"], "dry_run": True, "force": True}).body
    done = alice.call("POST", "/maintenance", {"steps": ["compaction"], "force": True}).body

    assert counts(planned)["folded_entries"] == counts(done)["folded_entries"] == 11
    assert (counts(done)["segments"], counts(done)["archived_entries"]) == (1, 11)
    assert shown(alice) == before
    alice.store("Alice drinks coffee too")
    assert alice.call("POST", f"/memories/{ids[1]}/restore", {"version": 1}).status == 200
    alice.call("POST", "/maintenance", {"steps": ["compaction"], "force": True})
    assert {memory["memory_id"] for memory in alice.every_memory()} > set(ids)
    assert alice.purge(ids[2]).status == 200
    assert ids[2] not in {memory["memory_id"] for memory in alice.every_memory()}
    receipt = alice.erase().body
    assert "erased" in str(receipt)
    assert alice.every_memory() == alice.events() == []


def test_the_command_maintains_a_user_of_the_running_service(service: Service, alice: UserClient) -> None:
    if service.cloud is None:
        pytest.skip("a command for the local service")
    alice.store("Alice drinks tea")
    port = service.api_url.split(":")[2].split("/")[0]
    command = [
        sys.executable,
        "-m",
        "infra.local",
        "maintain",
        "--port",
        port,
        "--data-dir",
        str(service.cloud.data_dir),
    ]

    run = subprocess.run(
        [*command, "--user", alice.user_id, "--force"],
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout.startswith(f"{alice.user_id}: done\n")
    assert "1 folded entries" in run.stdout
    wrong = subprocess.run([*command, "--user", "alice", "--port", "9"], env=os.environ, capture_output=True, text=True)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
    assert "make run" in wrong.stderr
