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
        ``locomo.<mode>.<measure>`` over all questions; ``locomo.<half>.<mode>.<measure>`` and
        ``locomo.<half>.<mode>.category_<n>.<measure>`` with their 95 % intervals (``….low``, ``….high``), where half is
        ``held_out`` or ``chosen_on``; ``locomo.search.<mode>.p50_ms`` and ``.p95_ms``.
    """
    figures: dict[str, float] = {}
    for mode in sorted({one.mode for one in asked}):
        answers = [one for one in asked if one.mode == mode]
        figures |= means_of(f"locomo.{mode}", answers)
        for half, is_held_out in (("chosen_on", False), ("held_out", True)):
            own = [one for one in answers if (one.conversation_id in held_out) is is_held_out]
            groups = {f"locomo.{half}.{mode}": own}
            for category in sorted({one.category for one in own}):
                groups[f"locomo.{half}.{mode}.category_{category}"] = [a for a in own if a.category == category]
            for prefix, group in groups.items():
                figures |= means_of(prefix, group) | intervals_of(prefix, group)
        times = [one.milliseconds for one in answers]
        figures[f"locomo.search.{mode}.p50_ms"] = percentile(0.50, times)
        figures[f"locomo.search.{mode}.p95_ms"] = percentile(0.95, times)
    return figures


def means_of(prefix: str, asked: Sequence[Asked]) -> dict[str, float]:
    """Average every measure over questions, under names with a prefix."""
    return {f"{prefix}.{name}": value for name, value in mean([one.measured for one in asked]).items()}


def intervals_of(prefix: str, asked: Sequence[Asked]) -> dict[str, float]:
    """Give the 95 % intervals of every measure over questions, under names with a prefix."""
    figures: dict[str, float] = {}
    for name in asked[0].measured if asked else ():
        low, high = interval([one.measured[name] for one in asked])
        figures |= {f"{prefix}.{name}.low": low, f"{prefix}.{name}.high": high}
    return figures


def table(figures: Mapping[str, float]) -> str:
    """Lay out figures: a line for each group that has all measures, two for its intervals, then the others by name."""
    groups = [name.removesuffix(".mrr") for name in figures if name.endswith(".mrr")]
    rows = {group: [f"{group}.{column}" for column in _COLUMNS] for group in groups}
    bounds = {(group, side): [f"{name}.{side}" for name in rows[group]] for group in groups for side in ("low", "high")}
    shown = {name for names in (*rows.values(), *bounds.values()) for name in names}
    width = max((len(name) for name in (*groups, *(figures.keys() - shown))), default=0)
    lines = [" ".join([" " * width, *(f"{column:>12}" for column in _COLUMNS)])] if groups else []
    for group in groups:
        lines.append(_line(f"{group:<{width}}", rows[group], figures))
        if f"{group}.mrr.low" in figures:
            lines += [_line(f"{f'95 % {side}':>{width}}", bounds[group, side], figures) for side in ("low", "high")]
    lines += [f"{name:<{width}} {value:>12.6g}" for name, value in figures.items() if name not in shown]
    return "\n".join(lines)


def _line(title: str, names: Sequence[str], figures: Mapping[str, float]) -> str:
    return " ".join([title, *(f"{figures[name]:>12.3f}" for name in names)])


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
