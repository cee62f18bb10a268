from pathlib import Path

import pytest
from recollect.model import MemoryType
from recollect.reconcile import Verdict

from tests.eval.reconcile import Judged, LabelledPair, judge_one, load, load_sick, rates, shown

NAMES = "label\ttype\tfirst\tsecond\tlanguage\tnote\n"


def judged(label: str, outcome: str) -> Judged:
    return Judged(LabelledPair(label, MemoryType.SEMANTIC, "a", "b", "en", ""), 0.9, Verdict(outcome, None, ""))


def test_rates_are_shares_of_the_pairs_that_could_go_wrong() -> None:  # case M8
    found = rates(
        [
            judged("same", "unchanged"),
            judged("same", "superseded"),
            judged("contradicts", "superseded"),
            judged("contradicts", "conflict"),
            judged("contradicts", "merged"),
            judged("coexist", "created"),
        ]
    )
    assert found["duplicate_recall"] == 1 / 2
    assert found["false_supersession_rate"] == 1 / 3
    assert found["false_merge_rate"] == 1 / 4
    assert (found["update_recall"], found["update_kept_rate"]) == (1 / 3, 2 / 3)


def test_no_pairs_give_rates_of_nothing() -> None:
    assert set(rates([]).values()) == {0.0}
    assert "none (0 pairs)" in shown("none", [])


def test_a_memory_that_is_not_close_is_no_candidate() -> None:
    pair = LabelledPair("same", MemoryType.SEMANTIC, "I live in Rome", "I live in Rome.", "en", "")
    assert judge_one(pair, 0.1).verdict.outcome == "created"
    assert judge_one(pair, 0.9).verdict.outcome == "unchanged"


def test_pairs_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(f"{NAMES}same\tprocedural\ta\tb\tde\t\n", encoding="utf-8")
    assert load(path) == (LabelledPair("same", MemoryType.PROCEDURAL, "a", "b", "de", ""),)
    path.write_text(f"{NAMES}equal\tsemantic\ta\tb\ten\t\n", encoding="utf-8")
    with pytest.raises(ValueError, match="unknown label 'equal'"):
        load(path)


def test_sick_is_read_with_its_own_labels(tmp_path: Path) -> None:
    path = tmp_path / "sick.txt"
    path.write_text("id\ta\tb\tscore\tjudgment\n1\tx\ty\t3.5\tCONTRADICTION\n", encoding="utf-8")
    assert [(pair.label, pair.first, pair.second) for pair in load_sick(path)] == [("contradicts", "x", "y")]
