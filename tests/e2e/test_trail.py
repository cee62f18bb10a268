"""What is kept of a change, and how it goes: events, versions, purge and erasure, with IAM enforced."""

from tests.support.api_client import UserClient


def test_a_purged_memory_leaves_its_trail_and_no_text(alice: UserClient) -> None:
    memory_id = alice.store("the canary sings").body["memory_id"]
    alice.patch(memory_id, content="the canary sings loudly")

    assert alice.call("DELETE", f"/memories/{memory_id}?purge=true").status == 200

    versions = alice.call("GET", f"/memories/{memory_id}/versions")
    events = alice.call("GET", "/events")
    assert alice.get(memory_id).status == 404
    assert [one["operation"] for one in events.body["events"]] == ["purge", "update", "create"]
    assert "canary" not in str(versions.body) + str(events.body)


def test_an_erased_user_is_gone_and_the_other_stays(alice: UserClient, bob: UserClient) -> None:
    for user in (alice, bob):
        user.store("the canary sings")
        user.store("the office closes at six")

    erased = alice.call("DELETE", "")

    assert (erased.status, erased.body["status"]) == (200, "erased")
    assert alice.every_memory() == []
    assert alice.search("canary").body["hits"] == []
    assert alice.stats().body["log_entries"] == 0
    assert len(bob.every_memory()) == 2
    assert alice.store("a new life").status == 201
    assert len(alice.every_memory()) == 1
