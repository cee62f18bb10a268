import json
from pathlib import Path
from typing import Any

import pytest

from tests.eval import locomo


def sample() -> dict[str, Any]:
    """A made-up conversation in the data set's form."""
    return {
        "sample_id": "made-up-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "The boat is sold."}],
            "session_10_date_time": "12:05 am on 1 March, 2024",
            "session_2": [
                {"speaker": "Ada", "dia_id": "D2:1", "text": "I bought a boat."},
                {"speaker": "Bo", "dia_id": "D2:2", "text": "Look!", "blip_caption": "a red boat"},
            ],
            "session_2_date_time": "3:30 pm on 29 February, 2024",
            "session_3_date_time": "1:00 pm on 5 March, 2024",
        },
        "qa": [
            {"question": "What did Ada buy?", "answer": "a boat", "category": 4, "evidence": ["D2:1"]},
            {"question": "When was it sold?", "answer": 2024, "category": 2, "evidence": ["D10:01; D2:2"]},
            {"question": "Who knows?", "answer": "nobody", "category": 1, "evidence": ["D", "D9:9"]},
            {"question": "What did Bo buy?", "category": 5, "evidence": ["D2:1"]},
        ],
    }


def test_turns_come_in_the_order_of_their_sessions() -> None:
    conversation = locomo.parse(sample())

    assert conversation.conversation_id == "made-up-1"
    assert [turn.turn_id for turn in conversation.turns] == ["D2:1", "D2:2", "D10:1"]
    assert [turn.session_id for turn in conversation.turns] == ["session_2", "session_2", "session_10"]
    assert [turn.actor for turn in conversation.turns] == ["Ada", "Bo", "Bo"]


def test_a_turn_happened_when_its_session_started() -> None:
    turns = locomo.parse(sample()).turns

    assert turns[0].occurred_at_ms == 1_709_220_600_000  # 2024-02-29T15:30:00Z
    assert turns[2].occurred_at_ms == 1_709_251_500_000  # 2024-03-01T00:05:00Z


def test_the_caption_of_an_image_belongs_to_what_was_said() -> None:
    turns = locomo.parse(sample()).turns

    assert turns[0].content == "I bought a boat."
    assert turns[1].content == "Look! [image: a red boat]"


def test_only_questions_with_an_answer_in_the_conversation_are_asked() -> None:
    questions = locomo.parse(sample()).questions

    assert [question.text for question in questions] == ["What did Ada buy?", "When was it sold?"]
    assert questions[1].evidence == {"D10:1", "D2:2"}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["D1:3"], {"D1:3"}),
        (["D8:6; D9:17"], {"D8:6", "D9:17"}),
        (["D9:1 D4:4 D4:6"], {"D9:1", "D4:4", "D4:6"}),
        (["D30:05"], {"D30:5"}),
        (["D:11:26"], {"D11:26"}),
        (["D"], set()),
        ([], set()),
    ],
)
def test_malformed_evidence_is_read_leniently(texts: list[str], expected: set[str]) -> None:
    assert locomo.turn_ids(texts) == expected


def test_a_file_holds_a_list_of_conversations(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([sample()]), encoding="utf-8")

    assert locomo.load(path) == (locomo.parse(sample()),)


def test_another_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}", encoding="utf-8")

    with pytest.raises(ValueError, match="give the path of"):
        locomo.load(path)
