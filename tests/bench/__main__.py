"""``python -m tests.bench``: what a cold start and a warm request cost in our own code.

Cold: fresh processes, alternating between a bare Python, the imports that every such function needs, and the whole
handler with its clients and model made. Warm: a controller with the real embedder on a store in memory, so that no
network is in the figures. Medians with minimum and maximum; this machine's figures are good as ratios only.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from recollect.answers import SearchQuery
from recollect.controller import MemoryController
from recollect.embedding.onnx import OnnxEmbedder

from tests.support.builders import asking, controller, to_store
from tests.support.inmemory import InMemoryMemoryStore

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "bench.json"
ENVIRONMENT = {
    "RECOLLECT_TABLE_NAME": "memories",
    "RECOLLECT_EMBEDDER": "onnx",
    "AWS_LAMBDA_RUNTIME_API": "none",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONPATH": ":".join(
        str(ROOT / part) for part in ("functions/api", "layers/recollect/python", "build/layers/model/python")
    ),
}
COLD = {
    "python": "pass",
    "libraries": "import numpy, pydantic, botocore.session, onnxruntime, aws_lambda_powertools.event_handler.openapi",
    "handler": "import handler",
}
WORDS = ["tea", "coffee", "office", "garden", "train", "flight", "doctor", "sister", "project", "budget", "lunch"]


def main() -> None:
    """Measure, print a table, and write build/bench.json."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="fresh processes of each kind (default %(default)s)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 5_000], help="memories of a user")
    arguments = parser.parse_args()
    figures = cold(arguments.rounds)
    for size in arguments.sizes:
        print(f"warm requests with {size} memories …", flush=True)
        figures |= warm(size)
    for name, values in figures.items():
        print(f"{name:34} {statistics.median(values):9.2f}   ({min(values):.2f} … {max(values):.2f})")
    medians = {name: round(statistics.median(values), 3) for name, values in figures.items()}
    medians["cold.handler_over_libraries"] = round(medians["cold.handler_ms"] / medians["cold.libraries_ms"], 3)
    print(f"{'cold.handler_over_libraries':34} {medians['cold.handler_over_libraries']:9.2f}")
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(medians, indent=2, sort_keys=True) + "\n")
    print(f"written to {OUT.relative_to(ROOT)}")


def cold(rounds: int) -> dict[str, list[float]]:
    """Time fresh processes in turn, so that a noisy moment meets all kinds.

    Returns
    -------
    dict of str to list of float
        ``cold.<kind>_ms``: milliseconds of each round.
    """
    print(f"cold starts, {rounds} fresh processes of each kind …", flush=True)
    figures: dict[str, list[float]] = {f"cold.{kind}_ms": [] for kind in COLD}
    for turn in range(rounds + 1):
        for kind, code in COLD.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, check=True)
            if turn:  # the first round only warms the file cache
                figures[f"cold.{kind}_ms"].append((time.perf_counter() - started) * 1000)
    return figures


def warm(size: int, repeats: int = 40) -> dict[str, list[float]]:
    """Time stores and searches of one user with `size` memories.

    Returns
    -------
    dict of str to list of float
        ``store.<size>.own_ms`` and ``search.<size>.own_ms``.
    """
    of = filled(size)
    rng = np.random.default_rng(7)

    def sentence() -> str:
        return " ".join(rng.choice(WORDS, 12))

    def search() -> None:
        of.search("ana", SearchQuery(text=sentence(), reinforces=False))

    return {
        f"store.{size}.own_ms": times(repeats, lambda: of.store(asking(), [to_store(content=sentence())])),
        f"search.{size}.own_ms": times(
            repeats, lambda: of.search("ana", SearchQuery(text=sentence(), reinforces=False))
        ),
    }


def filled(size: int) -> MemoryController:
    """Make a controller whose user has `size` memories."""
    rng = np.random.default_rng(size)
    of = controller(InMemoryMemoryStore(), OnnxEmbedder())
    for start in range(0, size, 100):
        texts = [f"{' '.join(rng.choice(WORDS, 10))} {start + number}" for number in range(min(100, size - start))]
        of.store(asking(), [to_store(content=text) for text in texts])
    return of


def times(repeats: int, run: Callable[[], object]) -> list[float]:
    """Time calls, in milliseconds."""
    run()
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        taken.append((time.perf_counter() - started) * 1000)
    return taken


if __name__ == "__main__":
    main()
