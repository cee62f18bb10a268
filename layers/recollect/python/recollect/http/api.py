"""The router of a function: Powertools' resolver with our identity check, problem documents and rules of paths.

A route is given a user id that its caller may touch; it cannot forget to check. Everything that fails becomes a
problem document here, and nowhere else.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import parse_qs

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestValidationError,
    ResponseValidationError,
)
from aws_lambda_powertools.event_handler.openapi.models import OpenAPI
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from recollect.commit import Request
from recollect.errors import CorruptData, InvalidInput, NewerSchema, NotFound, RecollectError
from recollect.http import body, describing, operations, paths
from recollect.http.identity import Caller, caller_of
from recollect.http.operations import About, Operation, Verbatim
from recollect.http.problems import (
    CONTENT_TYPE,
    MethodNotAllowed,
    Unauthenticated,
    UnknownRoute,
    field_errors,
    problem,
)

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
    title, version : str
        Of the API, for its description.
    """

    def __init__(self, report: Callable[[Exception], None], title: str, version: str) -> None:
        super().__init__(
            enable_validation=True,
            response_validation_error_http_code=500,
            json_body_deserializer=body.loads,
            serializer=body.dumps,
        )
        self.rules: dict[tuple[str, str], str] = {}
        self._operations: dict[str, Operation] = {}
        self._title, self._version = title, version
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
            return register(function)

        return registering

    def described_route(self, method: str, rule: str, about: About) -> Callable[[Any], Any]:
        """Register a route that the API's description tells of, in the words of its function's docstring."""
        register = self.route(rule, method)

        def registering(function: Callable[..., Any]) -> Any:
            operation = operations.read(method, rule, function, about)
            self._operations[function.__name__] = operation
            if any(isinstance(answer, Verbatim) for answer in operation.answers.values()):
                del function.__annotations__["return"]  # or the resolver would make text of bytes
            return register(function)

        return registering

    def user_route(
        self,
        group: str,
        method: str,
        end: str,
        *,
        answers: Mapping[int, Any] | None = None,
        example: Mapping[str, Any] | None = None,
    ) -> Callable[[Any], Any]:
        """Register a route under /v1/users/<user_id>.

        Parameters
        ----------
        end : str
            The rest of the rule, such as ``/memories/<memory_id>``.
        group, answers, example
            See `Operation`.
        """
        about = About(group, answers, example)
        return self.described_route(method, f"{paths.USER_PREFIX}{paths.USER_PARAMETER}{end}", about)

    def open_route(self, group: str, method: str, rule: str) -> Callable[[Any], Any]:
        """Register a route that needs no caller; see `Operation`."""
        return self.described_route(method, rule, About(group, is_open=True))

    def admit(self, event: Mapping[str, Any]) -> tuple[dict[str, Any], Caller | None, str | None]:
        """Check who asks for whose memories.

        Returns
        -------
        event : dict
            For the router: as it came, but with the user id in the path quoted and the body as text of JSON.
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
            self._check_parameters(self.operation(admitted), event)
        admitted |= body.read(event)
        return admitted, caller, located.user_id if located else None

    def operation(self, event: Mapping[str, Any]) -> str:
        """Name the operation that an admitted event means."""
        return paths.operation_at(_method(event), event["rawPath"], self.rules)

    @property
    def subject(self) -> str:
        """Who asks, for the log."""
        subject: str = self.context["caller"].subject
        return subject

    def write_request(self, user_id: str, idempotency_key: str | None) -> Request:
        """Describe the current request for a write: who asks, and what a repeat of it would look like."""
        event = self.current_event.raw_event
        asked = "\n".join(
            (_method(event), event["rawPath"], event.get("rawQueryString") or "", event.get("body") or "")
        )
        digest = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()
        return Request(user_id, self.subject, idempotency_key, digest, self._request_id)

    def describe(self) -> None:
        """Publish the OpenAPI document at /openapi.json and a page to browse it at /docs."""
        self.enable_swagger(path="/docs")

        @self.get("/openapi.json")
        def openapi() -> Response[str]:
            return Response(200, "application/json", body.dumps(self._document))

    def get_openapi_schema(self, **_: Any) -> OpenAPI:
        """Give our own description of the API; the page at /docs asks for it."""
        return OpenAPI.model_validate(self._document)

    @cached_property
    def _document(self) -> dict[str, Any]:
        return describing.document(list(self._operations.values()), self._title, self._version)

    def _check_parameters(self, operation: str, event: Mapping[str, Any]) -> None:
        if operation not in self._operations:
            return
        known = operations.query_parameters(self._operations[operation])
        for name, values in _query_of(event, errors="strict").items():
            if name not in known:
                raise InvalidInput(f"unknown query parameter; this path takes {', '.join(sorted(known)) or 'none'}")
            if len(values) > 1 and not known[name]:
                raise InvalidInput("this query parameter must be given once", pointer=f"/{name}")

    def _to_proxy_event(self, event: dict[str, Any]) -> _Event:
        return _Event(event, body.loads)

    def _ends(self, method: str) -> list[str]:
        # A user alone is a path for the methods that take it only; for all others what looks like one is a mistake.
        ends = {(paths.end_of(rule), of) for of, rule in self.rules}
        return sorted({end for end, of in ends if end is not None and (end or of == method)})

    def _failed(self, error: Exception) -> Response[str]:
        status, headers, document = problem(error, self._request_id)
        if isinstance(error, CorruptData | NewerSchema) or not isinstance(error, RecollectError):
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


def answer_verbatim(status: int, media_type: str, data: bytes = b"", **headers: str) -> Response[bytes]:
    """Answer with bytes as they are."""
    return _Verbatim(status, media_type, data, headers)


class _Verbatim(Response[bytes]):
    def is_json(self) -> bool:
        """Tell that nothing is to be made of it, even if it happens to be JSON."""
        return False


def _in_document(place: Sequence[object]) -> list[object]:
    # Without "body" or "query" in front, without the name of the argument that takes the query parameters together,
    # and without the tags of a union of models ("<batch>").
    start = 2 if place[0] == "query" and len(place) > 2 else 1
    return [part for part in place[start:] if not str(part).startswith("<")]


def _query_of(event: Mapping[str, Any], errors: str = "replace") -> dict[str, list[str]]:
    try:
        return parse_qs(event.get("rawQueryString") or "", keep_blank_values=True, errors=errors)
    except UnicodeDecodeError as error:
        raise InvalidInput("the query string must be UTF-8, percent-encoded") from error


def _method(event: Mapping[str, Any]) -> str:
    return str(event["requestContext"]["http"]["method"]).upper()
