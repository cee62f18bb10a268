from unicodedata import normalize

import pytest
from recollect.http.api import Api

from functions.api import handler
from tests.support.app import MEMORIES, SERVICE, App, stored
from tests.support.builders import controller
from tests.support.transcribers import transcriber


@pytest.mark.parametrize("path", ["memories", "memories/01HX", "search", "context", "stats"])
def test_another_user_is_not_found_in_the_same_words_as_an_unknown_memory(app: App, path: str) -> None:  # case I2
    memory_id = stored(app, "secret of bob", user_id="bob")
    unknown = app("GET", f"{MEMORIES}/01HF0000000000000000000099")
    method = "POST" if path in ("search", "context") else "GET"

    foreign = app(
        method, f"/v1/users/bob/{path.replace('01HX', memory_id)}", {"query": "secret"} if method == "POST" else None
    )

    assert foreign == unknown
    assert unknown[0] == 404


@pytest.mark.parametrize(
    "user_id",
    [
        *("a/b", "a%b", "a?b#c", "..", "bob/", "memories", "bob/memories", "mia+test@example.invalid", "用户-7", " "),
        *("x" * 256, "😀" * 256),
    ],
)
def test_any_user_id_works_and_is_decoded_once(app: App, user_id: str) -> None:  # case I5
    path = f"/v1/users/{user_id.replace('%', '%25')}/memories"

    assert app("POST", path, {"content": f"of {user_id}"}, claims={"sub": user_id})[0] == 201
    memory = app("GET", path, claims=SERVICE)[1]["memories"][0]

    assert (memory["user_id"], memory["content"]) == (user_id, f"of {user_id}")
    assert app("GET", f"{path}/{memory['memory_id']}", claims={"sub": user_id})[0] == 200


def test_two_forms_of_one_name_are_two_users_and_the_description_says_so(app: App) -> None:  # case I5
    composed, decomposed = (normalize(form, "Zoë") for form in ("NFC", "NFD"))
    assert composed != decomposed

    stored(app, "of the composed", composed)

    assert len(app("GET", f"/v1/users/{composed}/memories", claims={"sub": composed})[1]["memories"]) == 1
    assert app("GET", f"/v1/users/{decomposed}/memories", claims={"sub": decomposed})[1]["memories"] == []
    assert app("GET", f"/v1/users/{composed}/memories", claims={"sub": decomposed})[0] == 404
    parameters = app("GET", "/openapi.json")[1]["paths"]["/v1/users/{user_id}/stats"]["get"]["parameters"]
    (parameter,) = [one for one in parameters if one["name"] == "user_id"]
    assert "composed and decomposed" in parameter["description"]


def api() -> Api:
    of = controller()
    return handler.create_app(of, transcriber(of), lambda _: None)


def test_nothing_erases_more_than_one_user(app: App) -> None:  # case D1
    stored(app, "of ana")
    stored(app, "of bob", "bob")
    of = api()
    assert {rule for method, rule in of.rules if method == "DELETE"} == {
        "/v1/users/<user_id>",
        "/v1/users/<user_id>/memories/<memory_id>",
        "/v1/users/<user_id>/transcripts/<transcript_id>",
    }

    for path in ("/", "/v1", "/v1/users", "/v1/users/", "/v1/memories", "/v1/users/*", "/v1/users/%"):
        for query in ("", "all=true", "user_id=*"):
            app("DELETE", path, query=query, claims=SERVICE)

    for user_id in ("ana", "bob"):
        _, found, _ = app("POST", f"/v1/users/{user_id}/search", {"query": "of"}, claims=SERVICE)
        assert len(found["hits"]) == 1
        assert len(app("GET", f"/v1/users/{user_id}/memories", claims=SERVICE)[1]["memories"]) == 1


def test_a_user_id_of_more_than_256_characters_is_invalid(app: App) -> None:  # case I5
    status, problem, _ = app("GET", f"/v1/users/{'x' * 257}/stats", claims=SERVICE)

    assert (status, problem["errors"][0]["pointer"]) == (422, "/user_id")


@pytest.mark.parametrize("path", ["/v1/users/ana/stats", "/v1/users/ana/nothing", "/v1/users/"])
def test_without_claims_nothing_of_a_user_is_answered(app: App, path: str) -> None:
    status, problem, headers = app("GET", path, claims={})

    assert (status, problem["type"]) == (401, "/problems/unauthenticated")
    assert headers["content-type"] == "application/problem+json"


def test_every_route_of_a_user_checks_the_user() -> None:  # case I2
    app = App()
    of = api()
    rules = [(method, rule) for method, rule in of.rules if "<user_id>" in rule]

    assert len(rules) >= 8
    for method, rule in rules:
        path = rule.replace("<user_id>", "bob").replace("<memory_id>", "A").replace("<transcript_id>", "A")
        assert app(method, path, {} if method in ("POST", "PATCH") else None)[0] == 404
