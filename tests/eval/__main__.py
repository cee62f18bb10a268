"""Evaluates the service on real input, prints the figures and keeps them: ``python -m tests.eval``.

A part whose data is not there says that it is skipped; the others run.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from recollect.controller import MemoryController
from recollect.embedding.onnx import OnnxEmbedder
from recollect.partitions import Partitions
from recollect.ports import Embedder
from recollect.ranking import Mode
from recollect.wiring import surroundings

from tests.eval import (
    ablation,
    diverse,
    ingestion,
    languages,
    locomo,
    long,
    multilingual,
    reconcile,
    report,
    robust,
)
from tests.eval.elsewhere import MULTILINGUAL, Elsewhere
from tests.eval.locomo import CHOSEN_ON_EVERY, Conversation, held_out
from tests.eval.run import Asked, Remembering, ask, controller_of, evidence_in_context, ingest
from tests.support.app import App
from tests.support.builders import BUDGET_BYTES
from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_SICK = ROOT.parent / "shared" / "data" / "sick" / "SICK_trial.txt"
PAIRS = Path(__file__).parent / "pairs"
LIFE = Path(__file__).parent / "languages.json"
CONTEXT_BUDGETS = (500, 1_000, 2_000)  # tokens
CONTEXT_DIVERSITIES = (0.1, 0.2)
DAY_MS = 24 * 3600 * 1000


def evaluate_locomo(conversations: Sequence[Conversation], embedder: Embedder) -> dict[str, float]:
    """Store conversations, ask their questions, and summarise."""
    controller = controller_of(embedder)
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
    return {
        **report.locomo_figures(asked, {one.conversation_id for one in held_out(conversations)}),
        "locomo.ingest.memories_per_s": memories / seconds,
        "locomo.memories": memories,
        "locomo.questions": sum(len(conversation.questions) for conversation in conversations),
    }


def evaluate_robustness(conversations: Sequence[Conversation], embedder: Embedder) -> dict[str, float]:
    """Ask the held-out questions of conversations told otherwise, and with all conversations in one memory."""
    found: dict[str, float] = {}
    for name, told in robust.VARIANTS.items():
        controller = controller_of(embedder)
        asked = [
            one
            for conversation in map(told, held_out(conversations))
            for one in ask(controller, conversation, ingest(controller, conversation), (Mode.HYBRID,))
        ]
        found |= report.means_of(f"robust.{name}", asked)
    controller = controller_of(embedder)
    apart = [robust.set_apart(conversation) for conversation in conversations]
    ingested = [ingest(controller, conversation, "everyone") for conversation in apart]
    among = [
        one
        for conversation, stored in list(zip(apart, ingested, strict=True))[1::CHOSEN_ON_EVERY]
        for one in ask(controller, conversation, stored, (Mode.HYBRID,), "everyone")
    ]
    found |= report.means_of("robust.among_others", among)
    controller = controller_of(embedder)
    then = [
        one
        for conversation in held_out(conversations)
        for one in ask(
            controller,
            conversation,
            ingest(controller, conversation),
            (Mode.HYBRID,),
            asked_at_ms=conversation.ended_at_ms + DAY_MS,
        )
    ]
    return found | report.means_of("robust.asked_the_day_after", then)


def evaluate_parts(conversations: Sequence[Conversation], embedder: Embedder) -> dict[str, float]:
    """Tell for the held-out questions what each signal adds, and how often a context holds all that answers one."""
    store, objects = InMemoryMemoryStore(), InMemoryObjectStore()
    controller = MemoryController(store, objects, embedder, surroundings(), BUDGET_BYTES)
    partitions = Partitions(store, objects, embedder, surroundings().now_ms, BUDGET_BYTES)
    own = [(conversation, ingest(controller, conversation)) for conversation in held_out(conversations)]
    read = [(*one, partitions.refresh(one[0].conversation_id)) for one in own]
    found = ablation.figures(read, embedder, surroundings().now_ms())
    for budget in CONTEXT_BUDGETS:
        whole = [there for one in own for there in evidence_in_context(controller, *one, budget)]
        found[f"context.whole_evidence_in_{budget}"] = sum(whole) / len(whole)
        for diversity in CONTEXT_DIVERSITIES:
            whole = [there for one in own for there in evidence_in_context(controller, *one, budget, diversity)]
            name = f"context.diversity_{round(100 * diversity)}.whole_evidence_in_{budget}"
            found[name] = sum(whole) / len(whole)
    return found


def evaluate_diversity(conversations: Sequence[Conversation], embedder: Embedder) -> dict[str, float]:
    """Tell for the held-out questions what it brings and costs to thin what is alike."""
    store, objects = InMemoryMemoryStore(), InMemoryObjectStore()
    controller = MemoryController(store, objects, embedder, surroundings(), BUDGET_BYTES)
    partitions = Partitions(store, objects, embedder, surroundings().now_ms, BUDGET_BYTES)
    found: dict[str, float] = {}
    for prefix, is_twice in (("diversity", False), ("diversity.told_twice", True)):
        told = []
        for conversation in held_out(conversations):
            user_id = f"{prefix} {conversation.conversation_id}"
            ingested = ingest(controller, conversation, user_id)
            copies = ingest(controller, diverse.again(conversation), user_id).memory_of if is_twice else {}
            originals = {copy: ingested.memory_of[turn_id] for turn_id, copy in copies.items()}
            told.append(diverse.Told(conversation, ingested, partitions.refresh(user_id), originals))
        found |= diverse.figures(prefix, told, embedder, surroundings().now_ms())
    return found


def evaluate_long(conversations: Sequence[Conversation], embedder: Embedder) -> dict[str, float]:
    """Tell for the held-out questions which vectors find contents that are longer than the model's window."""
    store = InMemoryMemoryStore()
    controller = MemoryController(store, InMemoryObjectStore(), embedder, surroundings(), BUDGET_BYTES)
    return long.figures(held_out(conversations), controller, store, embedder, surroundings().now_ms())


def evaluate_ingestion(path: Path, api: str | None, token: str) -> dict[str, float]:
    """Hand the conversations of a file over through the API, and count what comes of it."""
    call = ingestion.over_http(api, token) if api else ingestion.in_process(App(OnnxEmbedder()))
    done = ingestion.hand_over(call, locomo.load(path))
    for fault in done.faults:
        print(f"ingest fault: {fault}")
    return done.figures


def evaluate_languages(python: Path | None) -> dict[str, float]:
    """Ask about one life in six languages; beside it with a multilingual model, if there is a Python that has it."""
    life = languages.load(LIFE)
    found = languages.figures(life, OnnxEmbedder())
    if python is not None:
        embedder = Elsewhere(python, MULTILINGUAL, multilingual.DIMENSION)
        found |= languages.figures(life, embedder, "languages.multilingual")
    print(languages.shown(found), flush=True)
    return found


def evaluate_reconciling(sick: Path) -> dict[str, float]:
    """Reconcile labelled pairs, and SICK.

    Rules were tuned on `tune`, `third` and `fifth`; `held` is the other half of the pairs of the rules' author, who has
    seen its totals. `fourth` and `sixth` are by authors who had seen neither the rules nor other pairs, and no rule has
    learnt from them; `fifth` is the other half of `sixth`.
    """
    embedder = OnnxEmbedder()
    found: dict[str, float] = {}
    for pairs in ("tune", "held", "third", "fourth", "fifth", "sixth"):
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


LOCOMO_PARTS = {
    ("locomo",): evaluate_locomo,
    ("robust",): evaluate_robustness,
    ("ablation", "context"): evaluate_parts,
    ("diversity",): evaluate_diversity,
    ("long",): evaluate_long,
}


def main() -> None:
    """Run every part whose data is there."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval", description=__doc__)
    parser.add_argument("--locomo", type=Path, default=locomo.DEFAULT_PATH, help="path of locomo10.json")
    parser.add_argument("--sick", type=Path, default=DEFAULT_SICK, help="path of a file of the SICK data")
    parser.add_argument(
        "--multilingual", type=lambda path: Path(path).absolute(), help="a Python that has tests/eval/multilingual.txt"
    )
    parser.add_argument("--api", help="hand the conversations over to this service that runs, not in process")
    parser.add_argument("--token", default="", help="for --api: a token that reaches any user")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "eval.json", help="file of figures")
    options = parser.parse_args()
    figures = report.read(options.output)
    figures = report.merged(figures, "reconcile", evaluate_reconciling(options.sick))
    figures = report.merged(figures, "languages", evaluate_languages(options.multilingual))
    if options.locomo.is_file():
        conversations, embedder = locomo.load(options.locomo), Remembering(OnnxEmbedder())
        for parts, evaluate in LOCOMO_PARTS.items():
            found = evaluate(conversations, embedder)
            print(report.table(found), flush=True)
            for part in parts:
                own = {name: value for name, value in found.items() if name.startswith(f"{part}.")}
                figures = report.merged(figures, part, own)
        found = evaluate_ingestion(options.locomo, options.api, options.token)
        print(report.table(found))
        figures = report.merged(figures, "ingest", found)
    else:
        print(f"locomo: skipped, there is no file {options.locomo}; give one with --locomo")
    report.write(options.output, figures)
    print(f"figures are in {options.output}")


if __name__ == "__main__":
    main()
