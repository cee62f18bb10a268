"""The pure parts of the HTTP edge: identity, paths, bodies, problems, cursors."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.cursors import read_cursor, read_mark, write_cursor, write_mark
from recollect.errors import CorruptData, InvalidInput, NotFound, Unavailable
from recollect.filters import ACTIVE, EVERYTHING, Filter
from recollect.http import body, paths
from recollect.http.identity import Caller, caller_of
from recollect.http.problems import (
    BodyTooLarge,
    MalformedBody,
    MethodNotAllowed,
    UnsupportedMediaType,
    field_errors,
    problem,
)
from recollect.ordering import NEWEST_FIRST, Order, OrderBy

ENDS = ["/memories", "/memories/[^/]+", "/search", "/context", "/stats"]


def sent(text: str, media_type: str = "application/json") -> dict[str, Any]:
    return {"headers": {"content-type": media_type}, "body": text}


def encoded(sent: bytes) -> dict[str, Any]:
    return {"headers": {}, "body": base64.b64encode(sent).decode(), "isBase64Encoded": True}


def jwt(**claims: Any) -> dict[str, Any]:
    return {"requestContext": {"authorizer": {"jwt": {"claims": claims}}}}


def test_a_user_may_act_for_themselves_only() -> None:
    caller = caller_of(jwt(sub="bob", scope="openid"))

    assert caller == Caller("bob", is_service=False)
    assert caller.may_act_for("bob")
    assert not any(caller.may_act_for(other) for other in ("bo", "bobby", "bob/", "bob%23", "BOB", ""))


@pytest.mark.parametrize("scope", ["recollect/any-user", "openid recollect/any-user email"])
def test_a_service_may_act_for_any_user(scope: str) -> None:
    caller = caller_of(jwt(sub="backend", scope=scope))

    assert caller is not None
    assert caller.may_act_for("whoever")


@pytest.mark.parametrize(
    "scope", ["recollect/any-user-x", "xrecollect/any-user", "recollect/any", "", None, ["recollect/any-user"]]
)
def test_another_scope_makes_no_service(scope: object) -> None:
    caller = caller_of(jwt(sub="bob", scope=scope))

    assert caller is not None
    assert not caller.is_service


def test_an_iam_principal_is_a_service() -> None:
    event = {"requestContext": {"authorizer": {"iam": {"userArn": "arn:aws:iam::1:role/r"}}}}

    assert caller_of(event) == Caller("arn:aws:iam::1:role/r", is_service=True)


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"requestContext": {}},
        {"requestContext": {"authorizer": None}},
        jwt(),
        jwt(sub=""),
        jwt(sub=7),
        {"requestContext": {"authorizer": {"jwt": None, "iam": {}}}},
        {"headers": {"authorization": "Bearer x", "x-user": "bob"}, "body": '{"user_id": "bob"}'},
    ],
)
def test_without_an_authorizer_nobody_asks(event: dict[str, Any]) -> None:
    assert caller_of(event) is None


@given(st.text(min_size=1, max_size=40), st.sampled_from(["/memories", "/memories/01HX", "/search", "/stats"]))
def test_any_user_id_comes_out_of_a_path_as_it_went_in(user_id: str, end: str) -> None:
    as_the_gateway_gives_it = "/v1/users/" + user_id.replace("%", "%25") + end

    located = paths.locate(as_the_gateway_gives_it, ENDS)

    assert located is not None
    assert located.user_id == user_id
    assert located.path.count("/") == 3 + end.count("/")


@pytest.mark.parametrize(
    "path", ["/v1/users/", "/v1/users/bob", "/v1/users//memories/", "/v1/users/bob/other", "/health"]
)
def test_a_path_without_user_or_known_end_names_nobody(path: str) -> None:
    assert paths.locate(path, ENDS) is None


@pytest.mark.parametrize(
    ("path", "user_id"),
    [
        ("/v1/users/bob", "bob"),
        ("/v1/users/team/bob", "team/bob"),
        ("/v1/users/a/memories/01HX", "a"),
        ("/v1/users/a/memories/01HX/memories/01HY", "a/memories/01HX"),
        ("/v1/users/a/stats", "a"),
        ("/v1/users/stats", "stats"),
        ("/v1/users//stats", "/stats"),
        ("/v1/users/", None),
    ],
)
def test_a_user_alone_is_named_only_where_no_known_end_is(path: str, user_id: str | None) -> None:
    located = paths.locate(path, ["", *ENDS])

    assert (located and located.user_id) == user_id


def test_a_rule_gives_its_end() -> None:
    assert paths.end_of("/v1/users/<user_id>") == ""
    assert paths.end_of("/v1/users/<user_id>/memories/<memory_id>") == "/memories/[^/]+"
    assert paths.end_of("/health") is None


@pytest.mark.parametrize("text", ["", "{", "nope", "{'a': 1}", '{"a": 1,}', "\x00"])
def test_what_is_not_json_is_malformed(text: str) -> None:
    with pytest.raises(MalformedBody):
        body.loads(text)


@pytest.mark.parametrize(
    "text", ['{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}', "[]", "1", "null", '"x"', "[" * 100_000]
)
def test_json_that_no_route_takes_is_invalid(text: str) -> None:
    with pytest.raises(InvalidInput):
        body.loads(text)


def test_numbers_and_scripts_are_kept_exactly() -> None:
    text = '{"t":0.1,"n":100000000000000000000,"deep":{"x":[1.5,null,true,""]},"s":"我😀"}'

    assert body.dumps(body.loads(text)) == text


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_a_body_that_is_said_not_to_be_json_is_refused(media_type: str) -> None:
    with pytest.raises(UnsupportedMediaType):
        body.read(sent("{}", media_type))


@pytest.mark.parametrize("media_type", ["", "application/json", "Application/JSON; charset=utf-8"])
def test_a_json_body_is_taken_up_to_the_limit(media_type: str) -> None:
    text = "x" * body.BODY_MAX_BYTES

    assert body.read(sent(text, media_type)) == {**sent(text, "application/json"), "isBase64Encoded": False}
    with pytest.raises(BodyTooLarge):
        body.read(sent("é" * (body.BODY_MAX_BYTES // 2 + 1), media_type))


def test_a_body_in_base64_is_taken_up_to_the_same_limit() -> None:
    text = "é" * (body.BODY_MAX_BYTES // 2)

    assert body.read(encoded(text.encode()))["body"] == text
    with pytest.raises(BodyTooLarge):
        body.read(encoded(text.encode() + b"x"))


@pytest.mark.parametrize("event", [encoded(b"\xff"), {**encoded(b""), "body": "e"}, {**encoded(b""), "body": "{}"}])
def test_a_body_that_is_no_text_is_malformed(event: dict[str, Any]) -> None:
    with pytest.raises(MalformedBody):
        body.read(event)


def test_a_problem_says_what_to_do_and_carries_the_request_id() -> None:
    status, headers, document = problem(Unavailable("busy; retry later", retry_after_s=3), "r-9")

    assert (status, headers) == (503, {"Retry-After": "3"})
    assert document == {
        "type": "/problems/unavailable",
        "title": "Not available now",
        "status": 503,
        "detail": "busy; retry later",
        "instance": "urn:request:r-9",
    }


@pytest.mark.parametrize("error", [ValueError("secret text"), CorruptData("a secret shape"), KeyError("secret")])
def test_an_internal_error_tells_nothing_of_its_message(error: Exception) -> None:
    status, _, document = problem(error, "r-9")

    assert status == 500
    assert document["type"] == "/problems/internal"
    assert "secret" not in json.dumps(document)


def test_another_users_memory_and_an_unknown_one_look_the_same() -> None:
    assert problem(NotFound(), "r") == problem(NotFound(), "r")
    assert problem(MethodNotAllowed(["GET"]), "r")[1] == {"Allow": "GET"}


def test_faults_become_json_pointers_without_the_value() -> None:
    faults = field_errors([{"loc": ("metadata", "a/b~c", 0), "msg": "must be so", "input": "secret"}], "/memories/1")

    assert faults == [{"pointer": "/memories/1/metadata/a~1b~0c/0", "detail": "must be so"}]


@given(st.booleans(), st.integers() | st.floats(0, 1), st.text(max_size=26))
def test_a_cursor_comes_back(is_there: bool, value: float, memory_id: str) -> None:
    token = write_cursor((is_there, value, memory_id), "ana", ACTIVE, NEWEST_FIRST)

    assert read_cursor(token, "ana", ACTIVE, NEWEST_FIRST) == (is_there, value, memory_id)


POSITION = (True, 5, "A")
TOKEN = write_cursor(POSITION, "ana", ACTIVE, NEWEST_FIRST)
FORGED = base64.urlsafe_b64encode(json.dumps([True, 6, "A", json.loads(base64.urlsafe_b64decode(TOKEN))[3]]).encode())


@pytest.mark.parametrize(
    ("token", "user_id", "wanted", "order"),
    [
        (TOKEN, "bob", ACTIVE, NEWEST_FIRST),
        (TOKEN, "ana", EVERYTHING, NEWEST_FIRST),
        (TOKEN, "ana", ACTIVE, Order(OrderBy.IMPORTANCE)),
        (FORGED.decode(), "ana", ACTIVE, NEWEST_FIRST),
        (TOKEN[:-4], "ana", ACTIVE, NEWEST_FIRST),
        ("!" + TOKEN, "ana", ACTIVE, NEWEST_FIRST),
        (base64.urlsafe_b64encode(b"[" * 100_000).decode(), "ana", ACTIVE, NEWEST_FIRST),
        ("", "ana", ACTIVE, NEWEST_FIRST),
        ("é", "ana", ACTIVE, NEWEST_FIRST),
        (base64.urlsafe_b64encode(b"[1]").decode(), "ana", ACTIVE, NEWEST_FIRST),
        (base64.urlsafe_b64encode(b'{"a": 1}').decode(), "ana", ACTIVE, NEWEST_FIRST),
        (base64.urlsafe_b64encode(b"7").decode(), "ana", ACTIVE, NEWEST_FIRST),
    ],
)
def test_a_cursor_of_another_listing_is_refused(token: str, user_id: str, wanted: Filter, order: Order) -> None:
    with pytest.raises(InvalidInput):
        read_cursor(token, user_id, wanted, order)


@pytest.mark.parametrize("number", [0, -1, 10**4_000])
def test_a_mark_of_a_number_that_no_listing_has_is_refused(number: int) -> None:
    assert read_mark(write_mark(7, "versions", "ana"), "versions", "ana") == 7

    with pytest.raises(InvalidInput):
        read_mark(write_mark(number, "versions", "ana"), "versions", "ana")
