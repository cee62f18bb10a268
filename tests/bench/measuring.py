"""What the parts of the benchmark share."""

import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def milliseconds(run: Callable[[], object]) -> float:
    """Time one call."""
    started = time.perf_counter()
    run()
    return (time.perf_counter() - started) * 1000
