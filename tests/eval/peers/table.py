"""What a comparison with peers says: figures by name, and a table for people. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.eval import report
from tests.eval.metrics import percentile
from tests.eval.run import Asked

_COLUMNS = {
    "recall@10": "%(recall_at_10).3f",
    "95 %": "%(recall_at_10.low).3f to %(recall_at_10.high).3f",
    "recall@20": "%(recall_at_20).3f",
    "nDCG@10": "%(ndcg_at_10).3f",
    "MRR": "%(mrr).3f",
    "memories/s": "%(add.per_s).0f",
    "add p50 ms": "%(add.p50_ms).1f",
    "of it embedding": "%(add.embedding_p50_ms).1f",
    "search p50 ms": "%(search.p50_ms).1f",
    "p95 ms": "%(search.p95_ms).1f",
    "bytes a memory": "%(stored_bytes).0f",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """What one store did with a conversation.

    Parameters
    ----------
    asked : sequence of Asked
    added_ms : sequence of float
        Of each turn, embedding included.
    embedded_ms : sequence of float
        How much of it was the embedder's.
    stored_bytes : int
    refused : sequence of str
        What was wanted from outside this machine.
    """

    asked: Sequence[Asked]
    added_ms: Sequence[float]
    embedded_ms: Sequence[float]
    stored_bytes: int
    refused: Sequence[str] = ()


def read(said: Mapping[str, Any]) -> Measured:
    """Read what ``dataclasses.asdict`` made of a measurement."""
    return Measured(**{**said, "asked": [Asked(**one) for one in said["asked"]]})


def figures(prefix: str, parts: Sequence[Measured]) -> dict[str, float]:
    """Summarise what one store did with conversations, under names with a prefix.

    Parameters
    ----------
    parts : sequence of Measured
        One for each conversation.

    Returns
    -------
    dict of str to float
        ``<measure>`` over the questions, two with their 95 % interval; ``add.per_s``, ``add.p50_ms`` and ``.p95_ms``,
        ``add.embedding_p50_ms`` (its part of the former), ``search.p50_ms`` and ``.p95_ms``; ``stored_bytes``, for one
        memory.
    """
    asked = [one for part in parts for one in part.asked]
    added_ms = [one for part in parts for one in part.added_ms]
    searched_ms = [one.milliseconds for one in asked]
    return {
        **report.means_of(prefix, asked),
        **report.intervals_of(prefix, asked),
        f"{prefix}.add.per_s": len(added_ms) / sum(added_ms) * 1000.0,
        f"{prefix}.add.p50_ms": percentile(0.50, added_ms),
        f"{prefix}.add.p95_ms": percentile(0.95, added_ms),
        f"{prefix}.add.embedding_p50_ms": percentile(0.50, [one for part in parts for one in part.embedded_ms]),
        f"{prefix}.search.p50_ms": percentile(0.50, searched_ms),
        f"{prefix}.search.p95_ms": percentile(0.95, searched_ms),
        f"{prefix}.stored_bytes": sum(part.stored_bytes for part in parts) / len(added_ms),
    }


def table(titles: Mapping[str, str], found: Mapping[str, float]) -> str:
    """Lay figures out in Markdown: a row for each prefix, under its title."""
    rows = [("", *_COLUMNS), ("---",) * (1 + len(_COLUMNS))]
    for prefix, title in titles.items():
        own = {name.removeprefix(f"{prefix}."): value for name, value in found.items() if name.startswith(f"{prefix}.")}
        rows.append((title, *(form % own for form in _COLUMNS.values())))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
