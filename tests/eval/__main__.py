"""Evaluates the service on real input, prints the figures and keeps them: ``python -m tests.eval``.

A part whose data is not there says that it is skipped; the others run.
"""

import argparse
import time
from pathlib import Path

from recollect.controller import MemoryController
from recollect.embedding.onnx import OnnxEmbedder
from recollect.wiring import surroundings

from tests.eval import ingestion, locomo, reconcile, report
from tests.eval.run import Asked, ask, ingest
from tests.support.app import App
from tests.support.builders import BUDGET_BYTES
from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_LOCOMO = ROOT.parent / "shared" / "data" / "locomo" / "locomo10.json"
DEFAULT_SICK = ROOT.parent / "shared" / "data" / "sick" / "SICK_trial.txt"
PAIRS = Path(__file__).parent / "pairs"
CHOSEN_ON_EVERY = 2  # constants of the ranking were chosen on the 1st, 3rd, 5th … conversation of the file


def evaluate_locomo(path: Path) -> dict[str, float]:
    """Store the conversations of a file, ask their questions, and summarise."""
    conversations = locomo.load(path)
    controller = MemoryController(
        InMemoryMemoryStore(), InMemoryObjectStore(), OnnxEmbedder(), surroundings(), BUDGET_BYTES
    )
    asked: list[Asked] = []
    memories, seconds = 0, 0.0
    for number, conversation in enumerate(conversations, start=1):
        ingested = ingest(controller, conversation)
        memories += len(conversation.turns)
        seconds += ingested.seconds
        started = time.perf_counter()
        asked += ask(controller, conversation, ingested)
        print(
            f"locomo {number}/{len(conversations)}: stored {len(conversation.turns)} turns in "
            f"{ingested.seconds:.1f} s, asked {len(conversation.questions)} questions in "
            f"{time.perf_counter() - started:.1f} s",
            flush=True,
        )
    held_out = {c.conversation_id for n, c in enumerate(conversations) if n % CHOSEN_ON_EVERY != 0}
    return {
        **report.locomo_figures(asked, held_out),
        "locomo.ingest.memories_per_s": memories / seconds,
        "locomo.memories": memories,
        "locomo.questions": sum(len(conversation.questions) for conversation in conversations),
    }


def evaluate_ingestion(path: Path, api: str | None, token: str) -> dict[str, float]:
    """Hand the conversations of a file over through the API, and count what comes of it."""
    call = ingestion.over_http(api, token) if api else ingestion.in_process(App(OnnxEmbedder()))
    done = ingestion.hand_over(call, locomo.load(path))
    for fault in done.faults:
        print(f"ingest fault: {fault}")
    return done.figures


def evaluate_reconciling(sick: Path) -> dict[str, float]:
    """Reconcile labelled pairs, and SICK.

    Rules were tuned on `tune` and `third`; `held` is the other half of the pairs of the rules' author, who has seen its
    totals; `fourth` is by an author who had seen neither the rules nor other pairs, and no rule has learnt from it.
    """
    embedder = OnnxEmbedder()
    found: dict[str, float] = {}
    for pairs in ("tune", "held", "third", "fourth"):
        judged = reconcile.judge(reconcile.load(PAIRS / f"{pairs}.tsv"), embedder)
        print(reconcile.shown(f"reconcile {pairs}", judged))
        prefix = "reconcile" if pairs == "held" else f"reconcile.{pairs}"
        found |= {f"{prefix}.{name}": rate for name, rate in reconcile.rates(judged).items()}
    if sick.is_file():
        judged = reconcile.judge(reconcile.load_sick(sick), embedder)
        print(reconcile.shown("reconcile SICK", judged))
        rates = reconcile.rates(judged)
        found |= {f"reconcile.sick.{name}": rates[name] for name in ("false_supersession_rate", "false_merge_rate")}
    else:
        print(f"reconcile SICK: skipped, there is no file {sick}; give one with --sick")
    return found


def main() -> None:
    """Run every part whose data is there."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval", description=__doc__)
    parser.add_argument("--locomo", type=Path, default=DEFAULT_LOCOMO, help="path of locomo10.json")
    parser.add_argument("--sick", type=Path, default=DEFAULT_SICK, help="path of a file of the SICK data")
    parser.add_argument("--api", help="hand the conversations over to this service that runs, not in process")
    parser.add_argument("--token", default="", help="for --api: a token that reaches any user")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "eval.json", help="file of figures")
    options = parser.parse_args()
    figures = report.read(options.output)
    figures = report.merged(figures, "reconcile", evaluate_reconciling(options.sick))
    if options.locomo.is_file():
        found = evaluate_locomo(options.locomo)
        print(report.table(found))
        figures = report.merged(figures, "locomo", found)
        found = evaluate_ingestion(options.locomo, options.api, options.token)
        print(report.table(found))
        figures = report.merged(figures, "ingest", found)
    else:
        print(f"locomo: skipped, there is no file {options.locomo}; give one with --locomo")
    report.write(options.output, figures)
    print(f"figures are in {options.output}")


if __name__ == "__main__":
    main()
