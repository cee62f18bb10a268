"""The router of a function: Powertools' resolver with our identity check, problem documents and rules of paths.

A route is given a user id that its caller may touch; it cannot forget to check. Everything that fails becomes a
problem document here, and nowhere else.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, get_type_hints
from urllib.parse import parse_qs

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestValidationError,
    ResponseValidationError,
)
from aws_lambda_powertools.event_handler.openapi.models import HTTPBearer, Server
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from recollect.commit import Request
from recollect.errors import CorruptData, InvalidInput, NotFound, RecollectError
from recollect.http import body, paths
from recollect.http.identity import Caller, caller_of
from recollect.http.problems import (
    CONTENT_TYPE,
    KINDS,
    MethodNotAllowed,
    Unauthenticated,
    UnknownRoute,
    field_errors,
    problem,
)
from recollect.schemas.outputs import Problem

_PROBLEMS: dict[int, Any] = {
    status: {"description": title, "content": {CONTENT_TYPE: {"model": Problem}}} for status, _, title in KINDS.values()
}
Answered = TypeVar("Answered")


class _Event(APIGatewayProxyEventV2):
    """An HTTP API event whose query parameters may hold commas and be empty."""

    @property
    def resolved_query_string_parameters(self) -> dict[str, list[str]]:
        return _query_of(self.raw_event)


class Api(APIGatewayHttpResolver):
    """Routes HTTP API events (payload format 2.0) to functions.

    Parameters
    ----------
    report : callable
        Told of every failure that is not the caller's, for the log.
    """

    def __init__(self, report: Callable[[Exception], None]) -> None:
        super().__init__(
            enable_validation=True,
            response_validation_error_http_code=500,
            json_body_deserializer=body.loads,
            serializer=body.dumps,
        )
        self.rules: dict[tuple[str, str], str] = {}
        self._parameters: dict[str, frozenset[str]] = {}
        self._report = report
        self.exception_handler(RecollectError)(self._failed)
        self.exception_handler(NotFoundError)(self._no_route)
        self.exception_handler(RequestValidationError)(self._invalid)
        self.exception_handler([ResponseValidationError, Exception])(self._failed)

    def route(self, rule: str, method: Any, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
        """Register a route, and remember its rule and its function's name (the operation)."""
        register = super().route(rule, method, *args, **kwargs)

        def registering(function: Callable[..., Any]) -> Any:
            for name in (method,) if isinstance(method, str) else method:
                self.rules[name.upper(), rule] = function.__name__
            self._parameters[function.__name__] = _query_names(function)
            return register(function)

        return registering

    def user_route(self, method: str, end: str, summary: str, *successes: int) -> Callable[[Any], Any]:
        """Register a route under /v1/users/<user_id>, documented with all problems that it may answer.

        Parameters
        ----------
        end : str
            The rest of the rule, such as ``/memories/<memory_id>``.
        successes : int
            Statuses other than 200 that it answers when all is well.
        """
        responses = {status: {"description": "Successful response"} for status in (200, *successes)} | _PROBLEMS
        return self.route(
            f"{paths.USER_PREFIX}{paths.USER_PARAMETER}{end}", method, summary=summary, responses=responses
        )

    def admit(self, event: Mapping[str, Any]) -> tuple[dict[str, Any], Caller | None, str | None]:
        """Check who asks for whose memories.

        Returns
        -------
        event : dict
            For the router: as it came, but with the user id in the path quoted.
        caller : Caller or None
        user_id : str or None
            ``None`` for a path that names no user.

        Raises
        ------
        RecollectError
            If nobody is named, or the caller may not act for that user, or the body is unusable.
        """
        admitted = dict(event)
        located = paths.locate(event["rawPath"], self._ends(_method(event)))
        caller = caller_of(event)
        if event["rawPath"].startswith(paths.USER_PREFIX) and caller is None:
            raise Unauthenticated("the gateway has not said who asks; send a token")
        if located is not None and caller is not None:
            if not caller.may_act_for(located.user_id):
                raise NotFound
            admitted["rawPath"] = located.path
            self._check_parameters(self.operation(admitted), _query_of(event))
        body.check(event.get("headers", {}).get("content-type", ""), event.get("body"))
        return admitted, caller, located.user_id if located else None

    def operation(self, event: Mapping[str, Any]) -> str:
        """Name the operation that an admitted event means."""
        return paths.operation_at(_method(event), event["rawPath"], self.rules)

    def write_request(self, user_id: str, idempotency_key: str | None) -> Request:
        """Describe the current request for a write: who asks, and what a repeat of it would look like."""
        event = self.current_event.raw_event
        asked = "\n".join(
            (_method(event), event["rawPath"], event.get("rawQueryString") or "", event.get("body") or "")
        )
        digest = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()
        return Request(user_id, self.context["caller"].subject, idempotency_key, digest, self._request_id)

    def describe(self, title: str, version: str) -> None:
        """Publish the OpenAPI document at /openapi.json and a page to browse it at /docs."""
        described: dict[str, Any] = {
            "title": title,
            "version": version,
            "servers": [Server(url="./")],  # beside the document itself, whatever is in front of it
            "security_schemes": {"bearer": HTTPBearer(bearerFormat="JWT")},
            "security": [{"bearer": []}],
        }
        self.enable_swagger(path="/docs", **described)

        @self.get("/openapi.json", include_in_schema=False)
        def openapi() -> Response[str]:
            return Response(200, "application/json", self.get_openapi_json_schema(**described))

    def _check_parameters(self, operation: str, names: Iterable[str]) -> None:
        known = self._parameters.get(operation)
        if known is not None and not known.issuperset(names):
            raise InvalidInput(f"unknown query parameter; this path takes {', '.join(sorted(known)) or 'none'}")

    def _to_proxy_event(self, event: dict[str, Any]) -> _Event:
        return _Event(event, body.loads)

    def _ends(self, method: str) -> list[str]:
        # A user alone is a path for the methods that take it only; for all others what looks like one is a mistake.
        ends = {(paths.end_of(rule), of) for of, rule in self.rules}
        return sorted({end for end, of in ends if end is not None and (end or of == method)})

    def _failed(self, error: Exception) -> Response[str]:
        status, headers, document = problem(error, self._request_id)
        if isinstance(error, CorruptData) or not isinstance(error, RecollectError):
            self._report(error)
        return Response(status, CONTENT_TYPE, body.dumps(document), headers)

    def _no_route(self, _: Exception) -> Response[str]:
        event = self.current_event.raw_event
        allowed = paths.methods_at(event["rawPath"], self.rules)
        if allowed:
            return self._failed(MethodNotAllowed(allowed))
        return self._failed(UnknownRoute("there is nothing at this path; see /openapi.json for what there is"))

    def _invalid(self, error: RequestValidationError) -> Response[str]:
        faults = field_errors([{**fault, "loc": _in_document(fault["loc"])} for fault in error.errors()])
        message = InvalidInput("the request is not valid; see `errors` for each field")
        _, headers, document = problem(message, self._request_id, faults)
        return Response(422, CONTENT_TYPE, body.dumps(document), headers)

    @property
    def _request_id(self) -> str:
        return str(self.current_event.request_context.request_id)


def answer(status: int, body: Answered) -> Response[Answered]:
    """Answer with another status than 200."""
    return Response(status, "application/json", body)


def _in_document(place: Sequence[object]) -> list[object]:
    # Without "body" or "query" in front, without the name of the argument that takes the query parameters together,
    # and without the tags of a union of models ("<batch>").
    start = 2 if place[0] == "query" and len(place) > 2 else 1
    return [part for part in place[start:] if not str(part).startswith("<")]


def _query_names(function: Callable[..., Any]) -> frozenset[str]:
    hints = get_type_hints(function, include_extras=True).values()
    models = [hint.__origin__ for hint in hints if any(isinstance(m, Query) for m in getattr(hint, "__metadata__", ()))]
    return frozenset(name for model in models for name in model.model_fields)


def _query_of(event: Mapping[str, Any]) -> dict[str, list[str]]:
    return parse_qs(event.get("rawQueryString") or "", keep_blank_values=True)


def _method(event: Mapping[str, Any]) -> str:
    return str(event["requestContext"]["http"]["method"]).upper()
