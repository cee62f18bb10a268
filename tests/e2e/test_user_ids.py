"""Any user id of 1..256 characters works through the URL, and no two of them are the same user."""

import uuid
from urllib.parse import quote

import pytest

from tests.e2e.conftest import Service

ODD_IDS = [
    "bo",
    "bob",
    "Bob",
    "bob/",
    "/bob",
    "bob//",
    "bob#1",
    "bob%23",
    "bob%2523",
    "bob%231",
    "bob%2F",
    "bob/memories",
    "bob/memories/search",
    "bob?x=1",
    "x?y",
    "a/b",
    "a%2fb",
    "a%2Fb",
    "a b",
    "a+b",
    "a%20b",
    " ",
    " bob",
    "bob ",
    ".",
    "..",
    "../bob",
    "bob/..",
    "./bob",
    "$default",
    "bob@example.org",
    "auth0|507f1f77bcf86cd799439020",
    "arn:aws:iam::1:user/bob",
    "bob&role=admin",
    "bob;v=1",
    "bob\\n",
    "100%",
    "%",
    "%%",
    "'\"<>`{}|^~",
    "😀🧠",
    "👩\u200d👧",
    "שלום\u200f",
    "مرحبا",
    "Zoë",
    "Zoe\u0308",
    "用户",
    "x" * 256,
    "😀" * 256,
]


def test_odd_user_ids_are_isolated_from_each_other(service: Service) -> None:  # case I3, case I5
    mark = uuid.uuid4().hex  # the local deployment may hold memories of an earlier run
    users = [service.user(user_id) for user_id in ODD_IDS]

    stored = {user.user_id: user.store(f"{mark} belongs to number {i}") for i, user in enumerate(users)}
    seen = {user.user_id: [m["content"] for m in user.every_memory() if mark in m["content"]] for user in users}

    assert {user_id: answer.status for user_id, answer in stored.items()} == dict.fromkeys(ODD_IDS, 201)
    assert seen == {user_id: [f"{mark} belongs to number {i}"] for i, user_id in enumerate(ODD_IDS)}


@pytest.mark.parametrize("user_id", ["bob#1", "a/b", "..", "100%", "😀🧠", "bob%2F"])
def test_every_route_works_for_an_odd_user_id(service: Service, user_id: str) -> None:
    user = service.user(user_id)
    memory_id = user.store(f"note {uuid.uuid4()}").body["memory_id"]

    answers = {
        "get": user.get(memory_id),
        "patch": user.patch(memory_id, importance=0.1),
        "search": user.search("note"),
        "context": user.context("note"),
        "stats": user.stats(),
        "delete": user.delete(memory_id),
    }

    assert {name: answer.status for name, answer in answers.items()} == dict.fromkeys(answers, 200)


def test_a_path_names_only_the_user_that_it_spells(service: Service) -> None:
    bob = service.user("bob")
    as_bob = service.client(service.cloud.issuer.token("bob") if service.cloud else service.any_user_token)
    assert bob.page().status == 200
    if service.cloud is None:
        pytest.skip("a token for any user may touch them all")

    for other in ("bo", "bob/", "bob%23", "bob#", "BOB", "bob ", "bob/..", "bob\u200b"):
        assert as_bob.request("GET", f"/v1/users/{quote(other, safe='')}/memories").status == 404, other


@pytest.mark.parametrize("user_id", ["x" * 257, "😀" * 257])
def test_a_user_id_that_is_too_long_is_refused(service: Service, user_id: str) -> None:
    answer = service.user(user_id).page()

    assert answer.status == 422
    assert answer.is_problem
