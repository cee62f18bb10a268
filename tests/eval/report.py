"""What an evaluation says: flat dotted names to numbers, a table for people, and the file that keeps them.

Names are ``<part>.<what>.<measure>``; a part replaces its own names in the file and leaves those of others.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from tests.eval.metrics import interval, mean, percentile
from tests.eval.run import Asked

_COLUMNS = ("recall_at_5", "recall_at_10", "recall_at_20", "ndcg_at_10", "mrr", "hit_at_10")


def locomo_figures(asked: Sequence[Asked], held_out: Collection[str]) -> dict[str, float]:
    """Summarise the answers to LoCoMo's questions.

    Parameters
    ----------
    held_out : collection of str
        Conversations that no constant of the ranking was chosen on.

    Returns
    -------
    dict of str to float
        ``locomo.<mode>.<measure>`` over all questions, ``locomo.<mode>.category_<n>.<measure>``,
        ``locomo.held_out.<mode>.<measure>`` with the 95 % interval of two (``recall_at_10.low``, ``.high``),
        ``locomo.chosen_on.<mode>.<measure>``, ``locomo.search.<mode>.p50_ms`` and ``.p95_ms``.
    """
    figures: dict[str, float] = {}
    for mode in sorted({one.mode for one in asked}):
        answers = [one for one in asked if one.mode == mode]
        groups = {f"locomo.{mode}": answers}
        for category in sorted({one.category for one in answers}):
            groups[f"locomo.{mode}.category_{category}"] = [a for a in answers if a.category == category]
        groups[f"locomo.chosen_on.{mode}"] = [a for a in answers if a.conversation_id not in held_out]
        groups[f"locomo.held_out.{mode}"] = [a for a in answers if a.conversation_id in held_out]
        for prefix, group in groups.items():
            figures |= means_of(prefix, group)
        figures |= intervals_of(f"locomo.held_out.{mode}", groups[f"locomo.held_out.{mode}"])
        times = [one.milliseconds for one in answers]
        figures[f"locomo.search.{mode}.p50_ms"] = percentile(0.50, times)
        figures[f"locomo.search.{mode}.p95_ms"] = percentile(0.95, times)
    return figures


def means_of(prefix: str, asked: Sequence[Asked]) -> dict[str, float]:
    """Average every measure over questions, under names with a prefix."""
    return {f"{prefix}.{name}": value for name, value in mean([one.measured for one in asked]).items()}


def intervals_of(prefix: str, asked: Sequence[Asked]) -> dict[str, float]:
    """Give the 95 % intervals of recall@10 and nDCG@10 over questions, under names with a prefix."""
    figures: dict[str, float] = {}
    for name in ("recall_at_10", "ndcg_at_10") if asked else ():
        low, high = interval([one.measured[name] for one in asked])
        figures |= {f"{prefix}.{name}.low": low, f"{prefix}.{name}.high": high}
    return figures


def table(figures: Mapping[str, float]) -> str:
    """Lay out figures: one line for each group that has all measures, then the other figures by name."""
    groups = [name.removesuffix(".mrr") for name in figures if name.endswith(".mrr")]
    shown = {f"{group}.{column}" for group in groups for column in _COLUMNS}
    width = max((len(name) for name in (*groups, *(figures.keys() - shown))), default=0)
    lines = [" ".join([" " * width, *(f"{column:>12}" for column in _COLUMNS)])] if groups else []
    lines += [
        " ".join([f"{group:<{width}}", *(f"{figures[f'{group}.{column}']:>12.3f}" for column in _COLUMNS)])
        for group in groups
    ]
    lines += [f"{name:<{width}} {value:>12.6g}" for name, value in figures.items() if name not in shown]
    return "\n".join(lines)


def merged(before: Mapping[str, float], part: str, figures: Mapping[str, float]) -> dict[str, float]:
    """Put a part's figures in the place of those that it had before; other parts stay."""
    kept = {name: value for name, value in before.items() if not name.startswith(f"{part}.")}
    return dict(sorted({**kept, **figures}.items()))


def read(path: Path) -> dict[str, float]:
    """Read the kept figures; none if there is no file yet."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def write(path: Path, figures: Mapping[str, float]) -> None:
    """Keep figures in a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
