from itertools import product
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
    assert figures["locomo.chosen_on.hybrid.category_1.mrr"] == 1.0
    assert figures["locomo.chosen_on.hybrid.category_4.hit_at_10"] == 0.0
    assert figures["locomo.held_out.hybrid.category_4.hit_at_10"] == 1.0
    assert figures["locomo.held_out.hybrid.mrr"] == 0.5
    assert figures["locomo.lexical.recall_at_20"] == 1.0
    assert figures["locomo.search.hybrid.p50_ms"] == 2.0
    assert figures["locomo.search.hybrid.p95_ms"] == 12.0


def test_each_half_has_intervals_by_mode_and_category_of_every_measure() -> None:
    modes, halves = ("hybrid", "lexical"), {"chosen_on": "one", "held_out": "two"}
    answers = [
        asked(conversation_id, category, mode, rank)
        for conversation_id in halves.values()
        for category in (1, 4)
        for mode in modes
        for rank in (1, 3, 7, 20)
    ]

    figures = report.locomo_figures(answers, held_out={halves["held_out"]})

    for half, mode, group in product(halves, modes, ("", ".category_1", ".category_4")):
        for measure in metrics.measures(["m1"], {"m1"}):
            name = f"locomo.{half}.{mode}{group}.{measure}"
            assert figures[f"{name}.low"] <= figures[name] <= figures[f"{name}.high"]
        assert figures[f"locomo.{half}.{mode}{group}.mrr.low"] < figures[f"locomo.{half}.{mode}{group}.mrr.high"]


def test_a_table_has_a_line_for_each_group_and_each_other_figure() -> None:
    figures = report.locomo_figures(ANSWERS, held_out=set())

    lines = report.table(figures).splitlines()

    assert sum(line.startswith("locomo.chosen_on.hybrid.category_") for line in lines) == 2
    assert [line.split()[:3] for line in lines if "95 %" in line][:2] == [["95", "%", "low"], ["95", "%", "high"]]
    assert any(line.split() == ["locomo.search.lexical.p50_ms", "20"] for line in lines)


def test_a_part_replaces_its_own_figures_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "build" / "eval.json"
    report.write(path, {"locomo.gone.mrr": 0.1, "peer.other.mrr": 0.2})

    report.write(path, report.merged(report.read(path), "locomo", {"locomo.hybrid.mrr": 0.3}))

    assert report.read(path) == {"locomo.hybrid.mrr": 0.3, "peer.other.mrr": 0.2}


def test_there_are_no_figures_before_the_first_run(tmp_path: Path) -> None:
    assert report.read(tmp_path / "eval.json") == {}
