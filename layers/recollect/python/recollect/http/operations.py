"""What a route takes and answers: read from the signature of its function, so that nothing is said twice. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import getdoc
from typing import Any, get_args, get_origin, get_type_hints

from aws_lambda_powertools.event_handler.openapi.params import Header, Query
from pydantic import BaseModel

from recollect.http.paths import parameters_of


@dataclass(frozen=True, slots=True)
class Taken:
    """A value that comes in the path or in a header.

    Parameters
    ----------
    type : Any
        As annotated, without what says where it comes from.
    description : str or None
    """

    type: Any
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Verbatim:
    """An answer that is no JSON of ours: bytes of some media type, or nothing but headers.

    Parameters
    ----------
    description : str
    media_types : tuple of str
    headers : tuple of str
        Names of headers that tell something.
    """

    description: str
    media_types: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """A method at a path, and what it means.

    Parameters
    ----------
    name : str
        The function's name; logs, metrics and the API's description call it so.
    group : str
        What it belongs to, for readers.
    summary, description : str
        The first line of the function's docstring, and the rest.
    path, headers : mapping of str to Taken
        By name, as it is in the rule or on the wire.
    query, body : type or None
        A model, whose fields are the query parameters.
    answers : mapping of int to Any
        What it answers when all is well, by status: a type, or `Verbatim`.
    failures : frozenset of int
        Statuses of failures that are not those of every operation like it.
    example : mapping or None
        A body to begin with.
    is_open : bool
        Whether it needs no caller.
    """

    method: str
    rule: str
    name: str
    group: str
    summary: str
    description: str
    path: Mapping[str, Taken]
    headers: Mapping[str, Taken]
    query: type[BaseModel] | None
    body: type[BaseModel] | None
    answers: Mapping[int, Any]
    failures: frozenset[int]
    example: Mapping[str, Any] | None
    is_open: bool


@dataclass(frozen=True, slots=True)
class About:
    """What a signature cannot say of an operation; see `Operation`."""

    group: str
    answers: Mapping[int, Any] | None = None
    example: Mapping[str, Any] | None = None
    is_open: bool = False


def read(method: str, rule: str, function: Callable[..., Any], about: About) -> Operation:
    """Read an operation off its function.

    Parameters
    ----------
    about : About
        Without `answers`, it answers 200 and what it returns; a kind of error among them is a failure.
    """
    summary, _, description = (getdoc(function) or "").partition("\n")
    hints = get_type_hints(function, include_extras=True)
    answers = about.answers or {200: hints.pop("return")}
    hints.pop("return", None)
    failures = frozenset(status for status, answer in answers.items() if _is_failure(answer))
    path = {name: Taken(hints.pop(name)) for name in parameters_of(rule)}
    marked = [(_mark(hint), hint) for hint in hints.values()]
    queries = [get_args(hint)[0] for mark, hint in marked if isinstance(mark, Query)]
    bodies = [hint for mark, hint in marked if mark is None]
    return Operation(
        method=method,
        rule=rule,
        name=function.__name__,
        group=about.group,
        summary=summary.rstrip("."),
        description=description.strip(),
        path=path,
        headers={
            str(mark.alias).title(): Taken(get_args(hint)[0], mark.description)
            for mark, hint in marked
            if isinstance(mark, Header)
        },
        query=queries[0] if queries else None,
        body=bodies[0] if bodies else None,
        answers={status: answer for status, answer in answers.items() if status not in failures},
        failures=failures,
        example=about.example,
        is_open=about.is_open,
    )


def query_parameters(operation: Operation) -> Mapping[str, bool]:
    """Name the query parameters of an operation; tell for each whether it may come more than once."""
    fields = operation.query.model_fields if operation.query else {}
    return {name: get_origin(field.annotation) is list for name, field in fields.items()}


def _is_failure(answer: Any) -> bool:
    return isinstance(answer, type) and issubclass(answer, Exception)


def _mark(hint: Any) -> Query | Header | None:
    marks = (one for one in getattr(hint, "__metadata__", ()) if isinstance(one, (Query, Header)))
    return next(marks, None)
