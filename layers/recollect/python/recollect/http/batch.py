"""Stores a batch item by item: one memory that is not valid does not keep the others from being stored."""

from collections.abc import Sequence

from pydantic import JsonValue, ValidationError

from recollect.commit import Request
from recollect.controller import MemoryController
from recollect.errors import InvalidInput
from recollect.http.problems import field_errors, problem
from recollect.model import BATCH_MAX_CONTENT_BYTES, NewMemory
from recollect.schemas.inputs import MemoryInput
from recollect.schemas.outputs import BatchProblem, BatchReceipt, Problem


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
    valid: dict[int, NewMemory] = {}
    for index, item in enumerate(items):
        try:
            valid[index] = MemoryInput.model_validate(item).to_new()
        except ValidationError as error:
            results[index] = BatchProblem(index=index, problem=_problem(request, index, error))
    if sum(len(new.content.encode()) for new in valid.values()) > BATCH_MAX_CONTENT_BYTES:
        raise InvalidInput("the contents of a batch must be at most 200 KB together", pointer="/memories")
    outcomes = controller.store(request, list(valid.values())) if valid else ()
    for index, outcome in zip(valid, outcomes, strict=True):
        results[index] = BatchReceipt(
            index=index,
            outcome=outcome.outcome,
            memory_id=outcome.memory_id,
            version=outcome.version,
            reason=outcome.reason,
        )
    return [results[index] for index in sorted(results)]


def _problem(request: Request, index: int, error: ValidationError) -> Problem:
    faults = field_errors(
        [dict(fault) for fault in error.errors(include_input=False, include_url=False)], f"/memories/{index}"
    )
    message = InvalidInput("this memory is not valid; see `errors` for each field")
    return Problem.model_validate(problem(message, request.request_id, faults)[2])
