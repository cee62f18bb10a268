"""Samples and what is said of them."""

import statistics
from collections.abc import Sequence

from tests.bench.service import Call


def said(name: str, values: Sequence[float]) -> float:
    """Print the median with its spread, and give it."""
    median = statistics.median(values)
    print(f"  {name:34} {median:10.3f}   ({min(values):.3f} … {max(values):.3f}, {len(values)} times)", flush=True)
    return median


def stages(prefix: str, calls: Sequence[Call]) -> dict[str, float]:
    """Give medians of the own time by stage: ``<prefix>.<stage>_ms``."""
    names = sorted({name for call in calls for name in call.stages_ms})
    return {f"{prefix}.{name}_ms": said(f"{prefix}.{name}_ms", [c.stages_ms[name] for c in calls]) for name in names}
