"""The published description of the API, as the author of a client reads it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from recollect.http.describing import FAILURES
from recollect.http.problems import KINDS

from functions.api import handler
from tests.support.app import MEMORIES, App
from tests.support.builders import controller
from tests.support.transcribers import transcriber

MEMORY = "/v1/users/{user_id}/memories/{memory_id}"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    body: dict[str, Any] = App()("GET", "/openapi.json", claims={})[1]
    return body


def operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in document["paths"].values() for operation in path.values()]


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (one for key, one in value.items() if key == "$ref")
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from references(one)


def parameters(operation: dict[str, Any]) -> dict[str, Any]:
    return {parameter["name"]: parameter.get("schema") for parameter in operation["parameters"]}


def test_the_description_is_valid_openapi(document: dict[str, Any]) -> None:
    schemathesis.openapi.from_dict(document).validate()

    with pytest.raises(jsonschema_rs.ValidationError):
        schemathesis.openapi.from_dict({**document, "info": {}}).validate()


def test_every_route_but_the_pages_is_described(document: dict[str, Any]) -> None:
    of = controller()
    api = handler.create_app(of, transcriber(of), lambda _: None)
    routes = {(method.lower(), re.sub(r"<(\w+)>", r"{\1}", rule)) for method, rule in api.rules}

    described = {(method, path) for path, of in document["paths"].items() for method in of}

    assert routes - described == {("get", "/docs"), ("get", "/openapi.json")}
    assert described < routes


def test_operations_have_names_of_their_own_and_words_for_readers(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for operation in operations(document)]

    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z_]+", name) for name in names)
    assert all(operation["summary"] and not operation["summary"].endswith(".") for operation in operations(document))
    assert {tag for operation in operations(document) for tag in operation["tags"]} == {
        tag["name"] for tag in document["tags"]
    }


def test_every_reference_leads_somewhere_and_nothing_is_left_over(document: dict[str, Any]) -> None:
    used = set(references(document))
    there = {
        f"#/components/{kind}/{name}" for kind in ("schemas", "responses") for name in document["components"][kind]
    }

    assert used == there


def test_only_what_is_open_needs_no_token(document: dict[str, Any]) -> None:
    assert document["security"] == [{"bearer": []}]
    assert [one["operationId"] for one in operations(document) if "security" in one] == ["health"]
    assert document["paths"]["/health"]["get"]["security"] == []


def test_query_parameters_have_their_types_bounds_and_choices(document: dict[str, Any]) -> None:
    listing = parameters(document["paths"]["/v1/users/{user_id}/memories"]["get"])

    assert listing["limit"] == {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}
    assert listing["type"] == {"type": "array", "items": {"$ref": "#/components/schemas/MemoryType"}}
    assert listing["direction"]["enum"] == ["asc", "desc"]
    assert listing["as_of"]["format"] == "date-time"
    assert listing["tag"]["items"]["maxLength"] == 64
    assert '"null"' not in json.dumps(listing)


def test_a_filter_in_the_query_string_is_json_of_the_same_schema(document: dict[str, Any]) -> None:
    listing = document["paths"]["/v1/users/{user_id}/memories"]["get"]["parameters"]

    (parameter,) = [one for one in listing if one["name"] == "filter"]

    assert parameter["content"] == {"application/json": {"schema": {"$ref": "#/components/schemas/FilterInput"}}}


def test_paths_and_headers_say_their_forms(document: dict[str, Any]) -> None:
    patch = document["paths"][MEMORY]["patch"]

    taken = parameters(patch)

    assert all(one["required"] is (one["in"] == "path") for one in patch["parameters"])
    assert re.fullmatch(taken["memory_id"]["pattern"], taken["memory_id"]["examples"][0])
    assert taken["user_id"]["maxLength"] == 256
    assert re.fullmatch(taken["If-Match"]["pattern"], '"12"')
    assert taken["Idempotency-Key"]["maxLength"] == 128


def test_every_operation_tells_the_failures_that_it_can_have(document: dict[str, Any]) -> None:
    read, patch = document["paths"][MEMORY]["get"], document["paths"][MEMORY]["patch"]
    always = {"429", "500", "503"}

    assert set(document["paths"]["/health"]["get"]["responses"]) == {"200"} | always
    assert set(read["responses"]) == {"200", "401", "403", "404", "422"} | always
    assert set(patch["responses"]) == set(read["responses"]) | {"400", "409", "412", "413", "415"}


def test_the_statuses_of_all_kinds_of_failure_are_described(document: dict[str, Any]) -> None:
    of_methods = {405}  # not of an operation: of a path, and said in the introduction

    assert {status for status, _, _ in KINDS.values()} - set(FAILURES) == of_methods
    assert "405" in document["info"]["description"]


def test_failures_are_problem_documents_and_of_the_gateway_messages(document: dict[str, Any]) -> None:
    responses = document["components"]["responses"]
    problem, message = "application/problem+json", "application/json"

    assert set(responses["InvalidInput"]["content"]) == {problem}
    assert set(responses["Unauthenticated"]["content"]) == {problem, message}
    assert set(responses["TooManyRequests"]["content"]) == {message}
    assert "`/problems/not-found`" in responses["NotFound"]["description"]
    assert set(responses["Unavailable"]["headers"]) == {"Retry-After"}


def test_each_success_has_its_own_answer(document: dict[str, Any]) -> None:
    responses = document["paths"]["/v1/users/{user_id}/memories"]["post"]["responses"]

    answers = {status: responses[status]["content"]["application/json"]["schema"]["$ref"] for status in ("201", "207")}

    assert answers == {"201": "#/components/schemas/Receipt", "207": "#/components/schemas/BatchOutput"}


def test_what_is_no_json_of_ours_is_described_by_its_media_types_and_headers(document: dict[str, Any]) -> None:
    responses = document["paths"]["/v1/users/{user_id}/transcripts/{transcript_id}/content"]["get"]["responses"]

    assert set(responses["200"]["content"]) == {"application/x-ndjson", "text/plain", "application/json"}
    assert set(responses["307"]) == {"description", "headers"}
    assert set(responses["307"]["headers"]) == {"Location"}


def test_what_may_not_be_null_or_sent_by_default_is_not_said_to_be(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]

    assert schemas["MemoryPatch"]["properties"]["content"]["type"] == "string"
    assert {"type": "null"} in schemas["MemoryPatch"]["properties"]["actor"]["anyOf"]
    assert "default" not in schemas["MemoryPatch"]["properties"]["actor"]
    assert "default" not in schemas["SearchInput"]["properties"]["order"]


def test_the_examples_work(document: dict[str, Any]) -> None:
    app = App()
    path = f"{MEMORIES}/{app('POST', MEMORIES, {'content': 'tea'})[1]['memory_id']}"

    statuses = {}
    for template, method in [(MEMORY, "patch"), *((path, "post") for path in document["paths"])]:
        body = document["paths"][template].get(method, {}).get("requestBody", {"content": {}})
        example = body["content"].get("application/json", {}).get("example")
        if example is not None:
            at = template.replace(MEMORY, path).replace("{user_id}", "ana")
            statuses[template.rpartition("/")[2]] = app(method.upper(), at, example)[0]

    assert statuses == {
        "{memory_id}": 200,
        "memories": 201,
        "search": 200,
        "context": 200,
        "maintenance": 200,
        "transcripts": 202,
        "uploads": 201,
    }


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # of Powertools' Swagger page
def test_the_page_shows_this_description(document: dict[str, Any]) -> None:
    page = App()("GET", "/docs", claims={})[1]

    assert document["paths"][MEMORY]["get"]["summary"] in page
    assert document["components"]["responses"]["StaleVersion"]["description"] in page
