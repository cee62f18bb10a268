"""Stores a batch item by item: one memory that is not valid does not keep the others from being stored."""

from collections.abc import Sequence

from pydantic import JsonValue, ValidationError

from recollect.changes import Outcome
from recollect.commit import Request
from recollect.controller import MemoryController
from recollect.errors import Conflict, InvalidInput, NotFound, RecollectError
from recollect.http.problems import field_errors, problem
from recollect.model import BATCH_MAX_CONTENT_BYTES
from recollect.nominating import ToStore
from recollect.schemas.inputs import MemoryInput
from recollect.schemas.outputs import BatchProblem, BatchReceipt, Problem, Receipt


def store_batch(
    controller: MemoryController, request: Request, items: Sequence[JsonValue]
) -> list[BatchReceipt | BatchProblem]:
    """Validate each item for itself, store the valid ones, and answer in order.

    Raises
    ------
    InvalidInput
        If the contents together are too much for one request.
    RecollectError
        What ``MemoryController.store`` raises: then a repeat of the whole batch is safe.
    """
    results: dict[int, BatchReceipt | BatchProblem] = {}
    valid: dict[int, ToStore] = {}
    for index, item in enumerate(items):
        try:
            valid[index] = MemoryInput.model_validate(item).to_store()
        except ValidationError as error:
            results[index] = BatchProblem(index=index, problem=_problem(request, index, error))
    if sum(len(one.memory.content.encode()) for one in valid.values()) > BATCH_MAX_CONTENT_BYTES:
        raise InvalidInput("the contents of a batch must be at most 200 KB together", pointer="/memories")
    outcomes = controller.store(request, list(valid.values())) if valid else ()
    for index, outcome in zip(valid, outcomes, strict=True):
        refusal = refused(outcome)
        if refusal is None:
            results[index] = BatchReceipt(index=index, **dict(Receipt.of(outcome)))
        else:
            document = problem(refusal, request.request_id)[2]
            results[index] = BatchProblem(index=index, problem=Problem.model_validate(document))
    return [results[index] for index in sorted(results)]


def refused(outcome: Outcome) -> RecollectError | None:
    """Give the error that an outcome means for its caller, if nothing was stored."""
    if outcome.outcome == "rejected":
        return Conflict(f"memory {outcome.other_id} is close to this one: {outcome.reason}")
    if outcome.outcome == "missing":
        return NotFound(outcome.reason)
    return None


def _problem(request: Request, index: int, error: ValidationError) -> Problem:
    faults = field_errors(
        [dict(fault) for fault in error.errors(include_input=False, include_url=False)], f"/memories/{index}"
    )
    message = InvalidInput("this memory is not valid; see `errors` for each field")
    return Problem.model_validate(problem(message, request.request_id, faults)[2])
