"""Purging memories and erasing users, over HTTP."""

import boto3
from recollect import keys

from infra.local.cloud import LocalCloud
from infra.local.emulator import REGION, TEST_CREDENTIALS
from tests.e2e.conftest import Service
from tests.support.api_client import UserClient


def test_a_purged_memory_is_gone_but_for_its_trail(alice: UserClient) -> None:
    memory_id = alice.store("Alice is allergic to peanuts").body["memory_id"]
    alice.patch(memory_id, content="Alice is allergic to walnuts")
    kept = alice.store("the office closes at six").body["memory_id"]

    first, again = alice.purge(memory_id), alice.purge(memory_id)

    assert first.status == again.status == 200
    assert first.body == again.body
    assert (first.body["outcome"], first.body["version"]) == ("purged", 3)
    assert alice.get(memory_id).status == 404
    assert [memory["memory_id"] for memory in alice.every_memory()] == [kept]
    assert [(one["version"], one["content"], one["redacted"]) for one in alice.versions(memory_id)] == [
        (2, None, True),
        (1, None, True),
    ]
    assert [one["operation"] for one in alice.events(memory_id=memory_id)] == ["purge", "update", "create"]
    assert alice.call("POST", f"/memories/{memory_id}/restore", {"version": 1}).status == 404


def test_an_erased_user_starts_anew_and_others_stay(alice: UserClient, bob: UserClient) -> None:  # case D1
    alice.store_all(*({"content": f"memory number {number}"} for number in range(60)))
    memory_id = alice.store("Alice lives in Lisbon", on_similar="create").body["memory_id"]
    alice.call("PATCH", f"/memories/{memory_id}", {"content": "Alice lives in Porto"}, idempotency_key="k")
    bob.store("Bob lives in Turin")
    counted = alice.call("DELETE", "?dry_run=true")
    assert alice.stats().body["total"] > 0

    erased = alice.erase()

    assert erased.status == 200
    assert erased.body["receipt"]["deleted"] == counted.body["found"]
    assert sum(counted.body["found"]["dynamodb"].values()) == counted.body["left"] > 60
    assert alice.every_memory() == alice.events() == []
    assert alice.get(memory_id).status == 404
    assert alice.call("DELETE", "?dry_run=true").body["left"] == 0
    assert [memory["content"] for memory in bob.every_memory()] == ["Bob lives in Turin"]
    alice.store("Alice lives in Braga")
    assert [(one["seq"], one["operation"]) for one in alice.events()] == [(1, "create")]


def test_the_objects_of_an_erased_user_go_and_those_of_others_stay(
    cloud: LocalCloud, alice: UserClient, bob: UserClient
) -> None:
    s3 = boto3.client(
        "s3",
        endpoint_url=cloud.emulator.url,
        region_name=REGION,
        aws_access_key_id=TEST_CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=TEST_CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )
    (bucket,) = (one["Name"] for one in s3.list_buckets()["Buckets"] if "storagebucket" in one["Name"])
    own, others = (keys.segment(user.user_id, "01HE", "01HF") for user in (alice, bob))
    for key in (own, others):
        s3.put_object(Bucket=bucket, Key=key, Body=b"canary")

    counted = alice.call("DELETE", "?dry_run=true")
    erased = alice.erase()

    assert counted.body["found"]["s3"] == erased.body["receipt"]["deleted"]["s3"] == {"objects": 1}
    assert "Versions" not in s3.list_object_versions(Bucket=bucket, Prefix=keys.objects_of(alice.user_id))
    assert s3.get_object(Bucket=bucket, Key=others)["Body"].read() == b"canary"


def test_nobody_else_may_erase_a_user(service: Service, cloud: LocalCloud, alice: UserClient, bob: UserClient) -> None:
    alice.store("the office closes at six")

    refused = service.client(cloud.issuer.token(bob.user_id)).request("DELETE", alice.path)

    assert refused.status == 404
    assert refused.is_problem
    assert len(alice.every_memory()) == 1
