"""Who may touch whose memories: what the gateway refuses, and what the service hides."""

import json
import time
import uuid

import jwt
import pytest

from infra.local import tokens
from infra.local.cloud import LocalCloud
from tests.e2e.conftest import Service
from tests.support.api_client import ApiClient, UserClient

HOUR_S = 3600


@pytest.mark.parametrize("below", ["/memories", "/stats"])
def test_another_users_partition_is_not_there(
    cloud: LocalCloud, service: Service, alice: UserClient, bob: UserClient, below: str
) -> None:
    alice.store("alice keeps a secret")

    as_bob = service.client(cloud.issuer.token(bob.user_id))
    stranger = as_bob.request("GET", alice.path + below)
    nobody = as_bob.request("GET", f"/v1/users/{uuid.uuid4()}{below}")

    assert (stranger.status, nobody.status) == (404, 404)
    assert stranger.is_problem
    assert {**stranger.body, "instance": ""} == {**nobody.body, "instance": ""}


def test_another_users_memory_can_be_neither_read_nor_changed(
    cloud: LocalCloud, service: Service, alice: UserClient, bob: UserClient
) -> None:  # case I2
    memory_id = alice.store("alice keeps a secret").body["memory_id"]
    as_bob = service.client(cloud.issuer.token(bob.user_id))
    with_alices_path = as_bob.user(alice.user_id)

    answers = [
        bob.get(memory_id),
        bob.patch(memory_id, content="bob was here"),
        bob.delete(memory_id),
        with_alices_path.get(memory_id),
        with_alices_path.patch(memory_id, content="bob was here"),
        with_alices_path.delete(memory_id),
        with_alices_path.store("bob was here"),
        with_alices_path.search("secret"),
        with_alices_path.context("secret"),
    ]

    assert [answer.status for answer in answers] == [404] * len(answers)
    assert all("secret" not in json.dumps(answer.body) for answer in answers)
    assert [memory["content"] for memory in alice.every_memory()] == ["alice keeps a secret"]
    assert bob.every_memory() == []


def test_identity_never_comes_from_a_body_or_a_header(bob: UserClient, alice: UserClient) -> None:  # case I1
    headers = {"x_user_id": alice.user_id, "x_amzn_oidc_identity": alice.user_id}

    stored = bob.call("POST", "/memories", {"content": "mine", "user_id": alice.user_id}, **headers)
    listed = bob.call("GET", "/memories", **headers)

    assert stored.status == 422
    assert listed.body["memories"] == []


def test_a_service_token_may_act_for_any_user(service: Service, alice: UserClient) -> None:
    backend = service.client(service.any_user_token).user(alice.user_id)

    assert backend.store("the back end remembers").status == 201

    assert [memory["content"] for memory in alice.every_memory()] == ["the back end remembers"]


def _refused_tokens(cloud: LocalCloud, user: str) -> dict[str, str | None]:
    issuer, now = cloud.issuer, int(time.time())
    good = tokens.claims_for(user, issuer.url, now=now)
    stranger = tokens.new_key()
    header, _, signature = issuer.token("somebody-else").split(".")
    payload = issuer.token(user).split(".")[1]
    return {
        "missing": None,
        "empty": "",
        "not a token": "abc",
        "three parts of nothing": "a.b.c",
        "signed by a stranger": tokens.issue_token(stranger, good),
        "signed by a stranger with our key's id": tokens.issue_token(
            stranger, good, key_id=tokens.key_id_of(issuer.key)
        ),
        "other claims under an old signature": f"{header}.{payload}.{signature}",
        "expired": tokens.issue_token(issuer.key, {**good, "iat": now - 2 * HOUR_S, "exp": now - HOUR_S}),
        "not valid yet": tokens.issue_token(issuer.key, {**good, "nbf": now + HOUR_S}),
        "another issuer": tokens.issue_token(issuer.key, {**good, "iss": "https://issuer.example"}),
        "another audience": tokens.issue_token(issuer.key, {**good, "aud": "another-service"}),
        "HS256": jwt.encode(
            good, "a secret of sufficient length, 32 bytes", "HS256", {"kid": tokens.key_id_of(issuer.key)}
        ),
        "no algorithm": jwt.encode(good, None, "none", {"kid": tokens.key_id_of(issuer.key)}),  # type: ignore[arg-type]
    }


def test_a_token_that_is_not_good_is_refused_at_the_gateway(
    cloud: LocalCloud, service: Service, alice: UserClient
) -> None:
    refused = _refused_tokens(cloud, alice.user_id)

    answers = {
        name: ApiClient(service.api_url, token).request("GET", alice.path + "/memories")
        for name, token in refused.items()
    }

    assert {name: answer.status for name, answer in answers.items()} == dict.fromkeys(refused, 401)


def test_a_token_stays_good_while_its_time_runs(cloud: LocalCloud, service: Service, alice: UserClient) -> None:
    token = cloud.issuer.token(alice.user_id, hours=0.01)

    assert service.client(token).user(alice.user_id).page().status == 200


def test_open_routes_need_no_token_and_reject_none(service: Service) -> None:
    for path in ("/health", "/openapi.json"):
        assert service.client(None).request("GET", path).status == 200
        assert service.client("nonsense").request("GET", path).status == 200


def test_what_users_say_is_never_logged(service: Service, cloud: LocalCloud, alice: UserClient) -> None:
    canary = f"canary{uuid.uuid4().hex}"
    memory_id = alice.store(f"the {canary} sings", metadata={"note": canary}, tags=[canary]).body["memory_id"]

    alice.search(canary)
    alice.context(canary)
    alice.patch(memory_id, content=f"the {canary} is silent")
    alice.store("", metadata={"note": canary})
    alice.page(tag=canary)

    assert cloud.emulator.is_running()
    assert any(alice.user_id in line for line in service.log_lines)
    assert [line for line in service.log_lines if canary in line] == []
