"""Evaluates reconciling on labelled pairs: how often the outcome is what a careful annotator expects.

Pure but for reading the file; cosines come from the embedder that the caller gives.

References
----------
Marelli et al.: A SICK cure for the evaluation of compositional distributional semantic models (2014); read from
where it lies, never copied into this project.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect.model import MemoryType
from recollect.ports import Embedder
from recollect.reconcile import NOMINATION_MIN_COSINE, Candidate, Statement, Verdict, reconcile

LABELS = ("same", "adds_detail", "contradicts", "coexist", "unrelated")
OUTCOMES = ("created", "unchanged", "merged", "superseded", "conflict")
_DISTINCT = ("coexist", "unrelated")
_SICK_LABELS = {"ENTAILMENT": "adds_detail", "NEUTRAL": "coexist", "CONTRADICTION": "contradicts"}


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two statements, the second said later, and what an annotator says of them."""

    label: str
    type: MemoryType
    first: str
    second: str
    language: str
    note: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled pair with its cosine and its verdict."""

    pair: LabelledPair
    cosine: float
    verdict: Verdict


def load(path: Path) -> tuple[LabelledPair, ...]:
    """Read pairs from a file of tab-separated values with one line of names.

    Raises
    ------
    ValueError
        If a line has another number of columns, or an unknown label.
    """
    pairs: list[LabelledPair] = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        label, kind, first, second, language, note = line.split("\t")
        if label not in LABELS:
            raise ValueError(f"{path} has the unknown label {label!r}; labels are {', '.join(LABELS)}")
        pairs.append(LabelledPair(label, MemoryType(kind), first, second, language, note))
    return tuple(pairs)


def load_sick(path: Path) -> tuple[LabelledPair, ...]:
    """Read a file of the SICK data; entailment counts as added detail, neutral as must coexist."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    kind = MemoryType.SEMANTIC
    return tuple(LabelledPair(_SICK_LABELS[row[4].strip()], kind, row[1], row[2], "en", row[3]) for row in rows)


def judge(pairs: Sequence[LabelledPair], embedder: Embedder) -> tuple[Judged, ...]:
    """Reconcile the second statement of every pair with the first as the only memory."""
    judged: list[Judged] = []
    for pair in pairs:
        vectors = embedder.embed([pair.first, pair.second])
        judged.append(judge_one(pair, float(vectors[0] @ vectors[1])))
    return tuple(judged)


def judge_one(pair: LabelledPair, cosine: float) -> Judged:
    """Reconcile one pair; a memory below the nominating cosine is not a candidate."""
    candidate = Candidate("first", pair.first, pair.type, cosine)
    candidates = [candidate] if cosine >= NOMINATION_MIN_COSINE else []
    return Judged(pair, cosine, reconcile(Statement(pair.second, pair.type), candidates))


def rates(judged: Sequence[Judged]) -> dict[str, float]:
    """Summarise verdicts; every rate is in [0, 1].

    Returns
    -------
    dict of str to float
        ``false_supersession_rate``: superseded, of all pairs that contradict nothing; ``false_merge_rate``: merged
        or unchanged, of all pairs that contradict, coexist or are unrelated; ``duplicate_recall``: unchanged or
        merged, of the same; ``update_recall``: superseded, of those that contradict; ``update_kept_rate``:
        superseded or in conflict, of those that contradict; ``detail_recall``: merged, of those that add detail.
    """
    counts = table(judged)

    def share(labels: Sequence[str], *outcomes: str) -> float:
        total = sum(counts[label, outcome] for label in labels for outcome in OUTCOMES)
        return sum(counts[label, outcome] for label in labels for outcome in outcomes) / total if total else 0.0

    return {
        "false_supersession_rate": share(("same", "adds_detail", *_DISTINCT), "superseded"),
        "false_merge_rate": share(("contradicts", *_DISTINCT), "merged", "unchanged"),
        "duplicate_recall": share(("same",), "unchanged", "merged"),
        "update_recall": share(("contradicts",), "superseded"),
        "update_kept_rate": share(("contradicts",), "superseded", "conflict"),
        "detail_recall": share(("adds_detail",), "merged"),
    }


def table(judged: Sequence[Judged]) -> Mapping[tuple[str, str], int]:
    """Count pairs by label and outcome."""
    return Counter((one.pair.label, one.verdict.outcome) for one in judged)


def shown(name: str, judged: Sequence[Judged]) -> str:
    """Lay out the confusion table and the rates of a set of pairs."""
    counts = table(judged)
    lines = [f"{name} ({len(judged)} pairs)".ljust(32) + "".join(f"{outcome:>12}" for outcome in OUTCOMES)]
    lines += [f"  {label:<30}" + "".join(f"{counts[label, outcome]:>12}" for outcome in OUTCOMES) for label in LABELS]
    lines += [f"  {rate:<30}{value:>12.3f}" for rate, value in rates(judged).items()]
    return "\n".join(lines)
