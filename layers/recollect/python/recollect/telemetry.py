"""What one request cost: durations by stage, AWS calls and units; numbers only, for the request's log line.

Collected in a context variable, so that no function needs a parameter for it. Nothing here logs.
"""

import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any


@dataclass(slots=True)
class Measures:
    """Sums of one request.

    Parameters
    ----------
    stages_ms : Counter
        Milliseconds by stage.
    counts : Counter
        AWS calls (``dynamodb.Query``), request units (``read_units``, ``write_units``) and the like.
    """

    stages_ms: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)


_current: ContextVar[Measures | None] = ContextVar("recollect_measures", default=None)
_adding = Lock()  # the threads of a request add to the same sums


@contextmanager
def measured() -> Iterator[Measures]:
    """Collect what happens inside the block."""
    measures = Measures()
    token = _current.set(measures)
    try:
        yield measures
    finally:
        _current.reset(token)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Add the duration of the block to a stage of the current request."""
    started = time.perf_counter()
    try:
        yield
    finally:
        measures = _current.get()
        if measures is not None:
            with _adding:
                measures.stages_ms[name] += (time.perf_counter() - started) * 1000.0  # type: ignore[assignment]


def count(name: str, amount: float = 1) -> None:
    """Add to a count of the current request."""
    measures = _current.get()
    if measures is not None:
        with _adding:
            measures.counts[name] += amount  # type: ignore[assignment]


def described(error: BaseException) -> dict[str, Any]:
    """Tell kind, causes and place of a failure, but no message: that of a library may quote the text of a memory."""
    frames = traceback.extract_tb(error.__traceback__)
    causes: list[str] = []
    cause = error.__cause__
    while cause is not None:
        causes.append(type(cause).__name__)
        cause = cause.__cause__
    return {
        "error": type(error).__name__,
        "causes": causes,
        "where": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
