"""The local cloud keeps its data over a restart, and says so when it was killed."""

import time

from infra.local.cloud import LocalCloud
from tests.e2e.conftest import Service
from tests.support.api_client import UserClient


def test_data_and_tokens_outlive_a_restart(cloud: LocalCloud, alice: UserClient) -> None:
    memory_id = alice.store("the spare key is with the neighbour").body["memory_id"]

    cloud.stop()
    cloud.start()

    assert not cloud.emulator.was_killed
    assert alice.get(memory_id).body["content"] == "the spare key is with the neighbour"
    assert alice.search("who has a key?").body["hits"][0]["memory"]["memory_id"] == memory_id
    assert alice.store("a memory after the restart").status == 201


def test_a_killed_emulator_loses_seconds_only_and_tells(cloud: LocalCloud, alice: UserClient) -> None:
    memory_id = alice.store("the boiler is serviced in October").body["memory_id"]
    stored_at = time.time()
    _wait_for_a_save(cloud, stored_at)

    cloud.emulator.kill()
    cloud.start()

    assert cloud.emulator.was_killed
    assert alice.get(memory_id).status == 200
    assert alice.store("a memory after the crash").status == 201


def test_a_restart_deploys_nothing_again(service: Service, cloud: LocalCloud) -> None:
    cloud.stop()

    del service.said[:]
    cloud.start()

    assert service.said == ["nothing changed since the last deploy"]
    assert service.client(None).request("GET", "/health").status == 200


def _wait_for_a_save(cloud: LocalCloud, after: float) -> None:
    # One that ends after the write may have begun before it; then another one follows.
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        saved_at = cloud.emulator.saved_at or 0
        if saved_at > after and time.time() - saved_at > 5:
            return
        time.sleep(0.2)
    raise AssertionError("no save within 60 s")
