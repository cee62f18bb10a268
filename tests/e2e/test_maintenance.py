"""Maintenance by the schedule, with nobody asking: who becomes due is maintained, and the report can be read."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from recollect.compaction import DEFAULT

from tests.e2e.conftest import Service
from tests.support.api_client import UserClient

PATIENCE_S = 240  # the schedule comes each minute


def eventually(found: Callable[[], Any]) -> Any:
    """Wait until something is there, and give it."""
    deadline = time.monotonic() + PATIENCE_S
    while not (value := found()):
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(1)
    return value


def with_long_tail(user: UserClient) -> None:
    for start in range(0, DEFAULT.fold_entries, 64):
        facts = [
            {"content": f"fact {number}", "tags": [f"matter {number}"], "on_similar": "create"}
            for number in range(start, start + 64)
        ]
        assert user.store_all(*facts).status in {200, 201, 207}


def reports(user: UserClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = user.call("GET", "/maintenance").body["reports"]
    return found


def test_a_user_with_a_long_tail_is_compacted_with_nobody_asking(service: Service, alice: UserClient) -> None:
    if service.cloud is None:
        pytest.skip("the schedule of a real stack comes each quarter of an hour")
    with_long_tail(alice)
    assert alice.stats().body["maintenance_due_at"] is not None
    memories = alice.every_memory()

    report = eventually(lambda: reports(alice))[0]

    steps = report["steps"]
    assert steps["compaction"]["counts"]["folded_entries"] == DEFAULT.fold_entries
    assert [name for name, step in steps.items() if step["failure"] is not None] == []
    assert alice.every_memory() == memories
    again = alice.call("POST", "/maintenance", {}).body
    assert {name: step["changed"] for name, step in again["steps"].items() if step["changed"]} == {}


def test_two_at_once_and_a_writer_are_in_nobody_s_way(alice: UserClient) -> None:
    with_long_tail(alice)

    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(alice.call, "POST", "/maintenance", {"force": True}) for _ in range(2)]
        stored = pool.submit(alice.store, "Alice drinks green tea")

    assert [run.result().status for run in runs] == [200, 200]
    assert stored.result().status == 201
    assert len(alice.every_memory()) == DEFAULT.fold_entries + 1
    assert len({report["report_id"] for report in reports(alice)}) == 2
