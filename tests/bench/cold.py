"""Cold starts: fresh processes, in turn a bare Python, the imports that every such function needs, and the handler."""

import statistics
import subprocess
import sys
import time

from tests.bench.measuring import ROOT

ROUNDS = 9
ENVIRONMENT = {
    "RECOLLECT_TABLE_NAME": "memories",
    "RECOLLECT_BUCKET_NAME": "objects",
    "RECOLLECT_QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/000000000000/jobs",
    "RECOLLECT_EMBEDDER": "onnx",
    "RECOLLECT_EXTRACTOR": "rules",
    "AWS_LAMBDA_RUNTIME_API": "none",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONPATH": ":".join(
        str(ROOT / part)
        for part in (
            "functions/api",
            "layers/recollect/python",
            "build/layers/model/python",
            "build/layers/lexicon/python",
        )
    ),
}
KINDS = {
    "python": "pass",
    "libraries": "import numpy, pydantic, botocore.session, onnxruntime, aws_lambda_powertools.event_handler.openapi",
    "handler": "import handler",
}


def figures(*, is_quick: bool = False) -> dict[str, float]:
    """Time fresh processes in turn, so that a noisy moment meets all kinds.

    Returns
    -------
    dict of str to float
        ``cold.<kind>_ms``: medians; ``cold.<kind>_ms.lowest`` and ``.highest``; ``cold.handler_over_libraries``.
    """
    rounds = 2 if is_quick else ROUNDS
    print(f"  {rounds} fresh processes of each kind …", flush=True)
    taken: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for turn in range(rounds + 1):
        for kind, code in KINDS.items():
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, check=True)
            if turn:  # the first round only warms the file cache
                taken[kind].append((time.perf_counter() - started) * 1000)
    medians = {kind: statistics.median(times) for kind, times in taken.items()}
    found = {f"cold.{kind}_ms": median for kind, median in medians.items()}
    found |= {f"cold.{kind}_ms.lowest": min(times) for kind, times in taken.items()}
    found |= {f"cold.{kind}_ms.highest": max(times) for kind, times in taken.items()}
    return {**found, "cold.handler_over_libraries": medians["handler"] / medians["libraries"]}
