"""The evaluation of search in several languages: its data, its measures, and the embedder in another Python."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.eval.__main__ import LIFE
from tests.eval.elsewhere import Elsewhere
from tests.eval.languages import figures, load, shown
from tests.support.embedder import HashingEmbedder

BOAT = {"en": "Ada sold the boat", "de": "Ada verkaufte das Boot"}
CELLO = {"en": "Ben plays the cello", "de": "Ben spielt Cello"}
ASKED = {"answers": ["boat"], "en": "who sold a boat", "de": "wer verkaufte ein Boot"}


def written(folder: Path, memories: Mapping[str, Any], questions: list[Any]) -> Path:
    path = folder / "life.json"
    path.write_text(json.dumps({"memories": memories, "questions": questions}), encoding="utf-8")
    return path


def test_the_life_that_is_asked_about_is_told_once_in_each_of_six_languages() -> None:
    life = load(LIFE)

    assert life.languages == ("en", "de", "es", "fr", "pt", "ja")
    assert len(set(life.wordings)) == len(life.wordings) == 6 * (40 + 30)


@pytest.mark.parametrize(
    ("memories", "questions", "complaint"),
    [
        ({"boat": BOAT, "cello": {"en": "Ben plays the cello"}}, [ASKED], "not in en, de"),
        ({"boat": BOAT, "cello": {**CELLO, "de": ""}}, [ASKED], "not in en, de"),
        ({"boat": BOAT}, [{"answers": ["boat"], "en": "who sold a boat"}], "not in en, de"),
        ({"cello": CELLO}, [ASKED], "without known answers"),
        ({"boat": BOAT}, [{**ASKED, "answers": []}], "without known answers"),
    ],
)
def test_a_text_that_is_missing_or_an_answer_that_is_unknown_is_refused(
    tmp_path: Path, memories: Mapping[str, Any], questions: list[Any], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        load(written(tmp_path, memories, questions))


def test_each_language_is_asked_in_itself_and_in_english(tmp_path: Path) -> None:
    found = figures(load(written(tmp_path, {"cello": CELLO, "boat": BOAT}, [ASKED])), HashingEmbedder())

    assert found["languages.en.lexical.mrr"] == found["languages.de.lexical.mrr"] == 1.0
    assert found["languages.de.asked_in_en.lexical.recall_at_5"] == 0.0  # "boat" is no word of "Boot"
    assert found["languages.de.hybrid.recall_at_5.low"] == found["languages.de.hybrid.recall_at_5.high"] == 1.0
    assert found["languages.de.created_rate"] == 1.0
    assert not any("en.asked_in" in name for name in found)


def test_the_table_has_a_line_for_each_language_and_language_of_its_questions(tmp_path: Path) -> None:
    found = figures(load(written(tmp_path, {"boat": BOAT}, [ASKED])), HashingEmbedder(), "other")

    lines = shown(found).splitlines()

    assert [line.split()[0] for line in lines[1:]] == ["other.en", "other.de", "other.de.asked_in_en"]
    assert lines[1].count("1.000 (1.00 to 1.00)") == 3


def test_an_embedder_elsewhere_gives_unit_rows_of_what_its_script_answers(tmp_path: Path) -> None:
    script = tmp_path / "lengths.py"
    script.write_text(
        "import array, json, sys\n"
        "rows = [value for text in json.load(sys.stdin) for value in (len(text), 0.0)]\n"
        "sys.stdout.buffer.write(array.array('f', rows).tobytes())\n",
        encoding="utf-8",
    )
    embedder = Elsewhere(Path(sys.executable), script, 2)

    assert embedder.name == "lengths"
    np.testing.assert_array_equal(embedder.embed(["a", "größer"]), [[1.0, 0.0], [1.0, 0.0]])


def test_an_embedder_elsewhere_whose_script_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        Elsewhere(Path(sys.executable), tmp_path / "missing.py", 2).embed(["a"])
