import pytest

from functions.api import handler
from tests.support.app import MEMORIES, SERVICE, App, stored
from tests.support.builders import controller


@pytest.mark.parametrize("path", ["memories", "memories/01HX", "search", "context", "stats"])
def test_another_user_is_not_found_in_the_same_words_as_an_unknown_memory(app: App, path: str) -> None:
    memory_id = stored(app, "secret of bob", user_id="bob")
    unknown = app("GET", f"{MEMORIES}/01HF0000000000000000000099")
    method = "POST" if path in ("search", "context") else "GET"

    foreign = app(
        method, f"/v1/users/bob/{path.replace('01HX', memory_id)}", {"query": "secret"} if method == "POST" else None
    )

    assert foreign == unknown
    assert unknown[0] == 404


@pytest.mark.parametrize(
    "user_id", ["a/b", "a%b", "a?b#c", "..", "bob/", "memories", "bob/memories", "用户-7", "x" * 256, " "]
)
def test_any_user_id_works_and_is_decoded_once(app: App, user_id: str) -> None:
    path = f"/v1/users/{user_id.replace('%', '%25')}/memories"

    assert app("POST", path, {"content": f"of {user_id}"}, claims={"sub": user_id})[0] == 201
    memory = app("GET", path, claims=SERVICE)[1]["memories"][0]

    assert (memory["user_id"], memory["content"]) == (user_id, f"of {user_id}")
    assert app("GET", f"{path}/{memory['memory_id']}", claims={"sub": user_id})[0] == 200


def test_a_user_id_of_more_than_256_characters_is_invalid(app: App) -> None:
    status, problem, _ = app("GET", f"/v1/users/{'x' * 257}/stats", claims=SERVICE)

    assert (status, problem["errors"][0]["pointer"]) == (422, "/user_id")


@pytest.mark.parametrize("path", ["/v1/users/ana/stats", "/v1/users/ana/nothing", "/v1/users/"])
def test_without_claims_nothing_of_a_user_is_answered(app: App, path: str) -> None:
    status, problem, headers = app("GET", path, claims={})

    assert (status, problem["type"]) == (401, "/problems/unauthenticated")
    assert headers["content-type"] == "application/problem+json"


def test_every_route_of_a_user_checks_the_user() -> None:
    app = App()
    of = handler.create_app(controller(app.store), lambda _: None)
    rules = [(method, rule) for method, rule in of.rules if "<user_id>" in rule]

    assert len(rules) >= 8
    for method, rule in rules:
        path = rule.replace("<user_id>", "bob").replace("<memory_id>", "A")
        assert app(method, path, {} if method in ("POST", "PATCH") else None)[0] == 404
