"""Measures what our own code costs, prints the figures and keeps them in build/bench.json: ``python -m tests.bench``.

Each part is a module with a function ``figures``; what it measures replaces its older figures in the file. This
machine's milliseconds are good as ratios only.
"""

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.bench import cold, compaction, costs, load, maintenance, scan, search, store
from tests.bench.measuring import BUILD
from tests.eval import report

PARTS: Mapping[str, Callable[[argparse.Namespace], dict[str, float]]] = {
    "cold": lambda options: cold.figures(is_quick=options.quick),
    "scan": lambda options: scan.figures(scan.QUICK_SIZES if options.quick else scan.SIZES, options.peers),
    "search": lambda options: search.figures(is_quick=options.quick),
    "store": lambda options: store.figures(is_quick=options.quick),
    "load": lambda options: load.figures(is_quick=options.quick),
    "compaction": lambda options: compaction.figures(is_quick=options.quick),
    "maintenance": lambda options: maintenance.figures(is_quick=options.quick),
    "costs": lambda options: costs.figures(is_quick=options.quick),
}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="a part to run; all unless given")
    parser.add_argument("--quick", action="store_true", help="fewer repeats, and no user of a million memories")
    parser.add_argument(
        "--peers",
        type=lambda path: Path(path).absolute(),
        help="a Python that has tests/bench/requirements.txt, for the scan",
    )
    parser.add_argument("--output", type=Path, default=BUILD / "bench.json", help="file of figures")
    options = parser.parse_args()
    kept = report.read(options.output)
    found: dict[str, float] = {}
    for part in options.only or PARTS:
        print(f"{part} …", flush=True)
        started = time.perf_counter()
        found |= PARTS[part](options)
        kept = merged(kept, found)
        report.write(options.output, kept)
        print(f"  {time.perf_counter() - started:.0f} s", flush=True)
    print("\n".join(f"{name:56} {value:12.3f}" for name, value in found.items()), flush=True)
    print(f"written to {options.output}")


def merged(before: Mapping[str, float], found: Mapping[str, float]) -> dict[str, float]:
    """Put new figures in the place of older ones about the same: those whose names share their first two parts."""

    def about(name: str) -> list[str]:
        return name.split(".")[:2]

    replaced = [about(name) for name in found]
    kept = {name: value for name, value in before.items() if about(name) not in replaced}
    return dict(sorted({**kept, **{name: round(value, 4) for name, value in found.items()}}.items()))


if __name__ == "__main__":
    main()
