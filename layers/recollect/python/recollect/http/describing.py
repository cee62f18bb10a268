"""The OpenAPI document, made of the operations, the schemas and the kinds of failure; nothing is described twice.

Powertools would make one too, without the bounds, choices and lists of query parameters, and with answers that it
gives itself elsewhere.
"""

from collections.abc import Iterable, Mapping, Sequence
from inspect import getdoc
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from recollect.http.operations import Operation, Taken, Verbatim
from recollect.http.paths import template_of
from recollect.http.problems import CONTENT_TYPE, KINDS
from recollect.schemas.outputs import Problem

_JSON = "application/json"
_REF = "#/components/schemas/{model}"
_DESCRIPTION = """\
Long-term memory for AI agents. Paths under `/v1/users/{user_id}` are those of one user: an end user's token reaches
`user_id` = `sub` only, a token with the scope `recollect/any-user` reaches any user, and another user's memories are
not found.

Failures are problem documents (RFC 9457) with a `type` to tell them apart. Times are RFC 3339 with an offset, and come
back in UTC. A method that a path does not take is answered with 405 and `Allow`.
"""
_LICENSE = {"name": "Apache License 2.0", "identifier": "Apache-2.0"}
_BEARER = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "JWT",
    "description": "a token of the stack's issuer; where the stack checks IAM, sign with SigV4 instead",
}
_GATEWAY_MESSAGE = {
    "type": "object",
    "title": "GatewayMessage",
    "description": "What the gateway answers by itself.",
    "properties": {"message": {"type": "string"}},
    "required": ["message"],
}
FAILURES: Mapping[int, tuple[str, str]] = {
    400: ("MalformedBody", "The body is not JSON."),
    401: ("Unauthenticated", "Nobody is known to ask: send a token."),
    403: ("Forbidden", "The gateway does not let this caller in."),
    404: ("NotFound", "There is no such thing for this caller; the same is said of what belongs to another user."),
    409: ("Conflict", "What is stored does not allow it, or somebody else came first: read again, then decide."),
    412: ("StaleVersion", "The memory is at another version than `If-Match` says: read it again, then decide."),
    413: ("BodyTooLarge", "The body is larger than 5 MB."),
    415: ("UnsupportedMediaType", "The body is said to be something other than JSON."),
    422: ("InvalidInput", "The request is wrong as it stands: `errors` tells what to mend. Nothing was changed."),
    429: ("TooManyRequests", "More requests than the gateway lets through: wait, then retry."),
    500: ("InternalError", "It is not the caller's fault: tell the operators the request id in `instance`."),
    503: (
        "Unavailable",
        "A part that is needed does not answer now, or others came first too often: wait, then retry.",
    ),
}
_BY_GATEWAY = frozenset({401, 403, 413, 429, 500, 503})
_BY_GATEWAY_ONLY = frozenset({403, 429})
_ALWAYS = frozenset({429, 500, 503})
_OF_USERS = frozenset({401, 403, 404, 422})
_WITH_BODY = frozenset({400, 413, 415})
_HEADERS: Mapping[int, Mapping[str, Any]] = {
    503: {"Retry-After": {"description": "seconds to wait", "schema": {"type": "integer", "minimum": 0}}}
}
_Schemas = Mapping[str, Any]  # by what they are for: "update path memory_id", "update body", "update 200"


def document(operations: Sequence[Operation], title: str, version: str) -> dict[str, Any]:
    """Describe an API.

    Parameters
    ----------
    operations : sequence of Operation
        In the order in which readers see them.

    Returns
    -------
    dict
        An OpenAPI 3.1 document as JSON values.
    """
    schemas, definitions = _schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(template_of(operation.rule), {})[operation.method.lower()] = _described(operation, schemas)
    statuses = sorted({status for operation in operations for status in _failures(operation)})
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "description": _DESCRIPTION, "license": _LICENSE},
        "servers": [{"url": "./"}],  # beside the document itself, whatever is in front of it
        "security": [{"bearer": []}],
        "tags": [{"name": name} for name in dict.fromkeys(operation.group for operation in operations)],
        "paths": paths,
        "components": {
            "schemas": {**definitions, "GatewayMessage": _GATEWAY_MESSAGE},
            "responses": {FAILURES[status][0]: _response(status) for status in statuses},
            "securitySchemes": {"bearer": _BEARER},
        },
    }


class _Generator(GenerateJsonSchema):
    """Without titles that only repeat the names of fields, and without null as what a client might send by itself."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        if made.get("default", "") is None:
            del made["default"]
        return made


def _schemas(operations: Iterable[Operation]) -> tuple[_Schemas, dict[str, Any]]:
    """Make the schemas of all types together, by key; and the definitions that they refer to."""
    wanted: list[tuple[str, Any, TypeAdapter[Any]]] = [("problem", "validation", TypeAdapter(Problem))]
    for one in operations:
        for place, taken in [*_of("path", one.path), *_of("header", one.headers)]:
            wanted.append((f"{one.name} {place}", "validation", TypeAdapter(taken.type)))
        for place, model in (("query", one.query), ("body", one.body)):
            if model is not None:
                wanted.append((f"{one.name} {place}", "validation", TypeAdapter(model)))
        for status, answer in one.answers.items():
            if isinstance(answer, Verbatim):
                continue
            wanted.append((f"{one.name} {status}", "serialization", TypeAdapter(answer)))
    made, rest = TypeAdapter.json_schemas(wanted, ref_template=_REF, schema_generator=_Generator)
    definitions: dict[str, Any] = rest["$defs"]
    schemas = {key: schema for (key, _), schema in made.items()}
    for one in operations:  # what holds query parameters is no thing of its own to a reader
        if one.query is not None:
            schemas[f"{one.name} query"] = definitions.pop(one.query.__name__)
    return schemas, definitions


def _of(place: str, taken: Mapping[str, Taken]) -> list[tuple[str, Taken]]:
    return [(f"{place} {name}", one) for name, one in taken.items()]


def _described(operation: Operation, schemas: _Schemas) -> dict[str, Any]:
    described: dict[str, Any] = {
        "tags": [operation.group],
        "summary": operation.summary,
        "operationId": operation.name,
    }
    if operation.description:
        described["description"] = operation.description
    if operation.is_open:
        described["security"] = []
    parameters = _parameters(operation, schemas)
    if parameters:
        described["parameters"] = parameters
    if operation.body is not None:
        content: dict[str, Any] = {"schema": schemas[f"{operation.name} body"]}
        if operation.example is not None:
            content["example"] = operation.example
        described["requestBody"] = {"required": True, "content": {_JSON: content}}
    described["responses"] = _responses(operation, schemas)
    return described


def _parameters(operation: Operation, schemas: _Schemas) -> list[dict[str, Any]]:
    parameters = [
        _parameter(name, "path", schemas[f"{operation.name} path {name}"], is_required=True) for name in operation.path
    ]
    if operation.query is not None:
        query = schemas[f"{operation.name} query"]
        required = query.get("required", ())
        parameters += [
            _parameter(name, "query", schema, is_required=name in required)
            for name, schema in query["properties"].items()
        ]
    for name, taken in operation.headers.items():
        header = {"description": taken.description, **schemas[f"{operation.name} header {name}"]}
        parameters.append(_parameter(name, "header", header, is_required=False))
    return parameters


def _parameter(name: str, place: str, schema: JsonSchemaValue, *, is_required: bool) -> dict[str, Any]:
    """Describe a parameter; one that is not sent is left out, so null is no value of it."""
    schema = dict(schema)
    choices = [choice for choice in schema.pop("anyOf", ()) if choice != {"type": "null"}]
    for choice in choices:  # of which there is one: what is there if it is not null
        schema = {**choice, **schema}
    parameter: dict[str, Any] = {"name": name, "in": place, "required": is_required}
    if "description" in schema:
        parameter["description"] = schema.pop("description")
    if "contentMediaType" in schema:
        parameter["content"] = {schema["contentMediaType"]: {"schema": schema["contentSchema"]}}
    else:
        parameter["schema"] = schema
    return parameter


def _responses(operation: Operation, schemas: _Schemas) -> dict[str, Any]:
    answers = {
        str(status): _verbatim(answer)
        if isinstance(answer, Verbatim)
        else {
            "description": (getdoc(answer) or "Done.").partition("\n")[0] if isinstance(answer, type) else "Done.",
            "content": {_JSON: {"schema": schemas[f"{operation.name} {status}"]}},
        }
        for status, answer in operation.answers.items()
    }
    failures = {
        str(status): {"$ref": f"#/components/responses/{FAILURES[status][0]}"}
        for status in sorted(_failures(operation))
    }
    return answers | failures


def _verbatim(answer: Verbatim) -> dict[str, Any]:
    described: dict[str, Any] = {"description": answer.description}
    if answer.media_types:
        described["content"] = {media_type: {} for media_type in answer.media_types}
    if answer.headers:
        described["headers"] = {name: {"schema": {"type": "string"}} for name in answer.headers}
    return described


def _failures(operation: Operation) -> set[int]:
    statuses = set(_ALWAYS | operation.failures)
    if not operation.is_open:
        statuses |= _OF_USERS
    if operation.body is not None:
        statuses |= _WITH_BODY
    if "Idempotency-Key" in operation.headers:
        statuses.add(409)
    if "If-Match" in operation.headers:
        statuses.add(412)
    return statuses


def _response(status: int) -> dict[str, Any]:
    types = sorted({f"`/problems/{slug}`" for of, slug, _ in KINDS.values() if of == status})
    description = FAILURES[status][1]
    content = {}
    if status not in _BY_GATEWAY_ONLY:
        description += f" Type: {', '.join(types)}."
        content[CONTENT_TYPE] = {"schema": {"$ref": _REF.format(model=Problem.__name__)}}
    if status in _BY_GATEWAY:
        content[_JSON] = {"schema": {"$ref": _REF.format(model="GatewayMessage")}}
    response: dict[str, Any] = {"description": description, "content": content}
    if status in _HEADERS:
        response["headers"] = _HEADERS[status]
    return response
