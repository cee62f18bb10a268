from pathlib import Path

from tests.eval import metrics, report
from tests.eval.run import Asked


def asked(conversation_id: str, category: int, mode: str, rank: int) -> Asked:
    ranking = [f"m{n}" for n in range(1, 21)]
    return Asked(conversation_id, category, mode, metrics.measures(ranking, {f"m{rank}"}), float(rank))


ANSWERS = [
    asked("one", 1, "hybrid", 1),
    asked("one", 4, "hybrid", 12),
    asked("two", 4, "hybrid", 2),
    asked("two", 4, "lexical", 20),
]


def test_figures_are_named_by_mode_category_and_measure() -> None:
    figures = report.locomo_figures(ANSWERS, held_out={"two"})

    assert figures["locomo.hybrid.recall_at_10"] == 2 / 3
    assert figures["locomo.hybrid.category_1.mrr"] == 1.0
    assert figures["locomo.hybrid.category_4.hit_at_10"] == 0.5
    assert figures["locomo.held_out.hybrid.mrr"] == 0.5
    assert figures["locomo.lexical.recall_at_20"] == 1.0
    assert figures["locomo.search.hybrid.p50_ms"] == 2.0
    assert figures["locomo.search.hybrid.p95_ms"] == 12.0


def test_a_table_has_a_line_for_each_group_and_each_other_figure() -> None:
    figures = report.locomo_figures(ANSWERS, held_out=set())

    lines = report.table(figures).splitlines()

    assert sum(line.startswith("locomo.hybrid.category_") for line in lines) == 2
    assert any(line.split() == ["locomo.search.lexical.p50_ms", "20"] for line in lines)


def test_a_part_replaces_its_own_figures_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "build" / "eval.json"
    report.write(path, {"locomo.gone.mrr": 0.1, "peer.other.mrr": 0.2})

    report.write(path, report.merged(report.read(path), "locomo", {"locomo.hybrid.mrr": 0.3}))

    assert report.read(path) == {"locomo.hybrid.mrr": 0.3, "peer.other.mrr": 0.2}


def test_there_are_no_figures_before_the_first_run(tmp_path: Path) -> None:
    assert report.read(tmp_path / "eval.json") == {}
