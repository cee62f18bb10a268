from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.named_times import spans


def days(text: str) -> list[tuple[str, int]]:
    """Give each time as its first day and its length in days."""
    return [
        (datetime.fromtimestamp(start / 1000, UTC).date().isoformat(), (end - start) // 86_400_000)
        for start, end in spans(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did she say on 8 May 2023?", [("2023-05-08", 1)]),
        ("on May 8th, 2023", [("2023-05-08", 1)]),
        ("the 8th of May 2023", [("2023-05-08", 1)]),
        ("at 2023-05-08T10:00", [("2023-05-08", 1)]),
        ("on 2023-05-08", [("2023-05-08", 1)]),
        ("in the week of 2023-05-08", [("2023-05-08", 7)]),
        ("on the weekend of 2023-05-13", [("2023-05-13", 2)]),
        ("in Feb. 2024", [("2024-02-01", 29)]),
        ("during 2023", [("2023-01-01", 365)]),
        ("December of 1999 and in 2020", [("1999-12-01", 31), ("2020-01-01", 366)]),
        ("31 February 2023", []),
        ("I may call in the evening", []),
        ("order 12023, size 2199", []),
    ],
)
def test_the_times_that_a_text_names(text: str, expected: list[tuple[str, int]]) -> None:
    assert days(text) == expected


@given(st.text() | st.from_regex(r"[0-9]{1,2} (may|june) [0-9]{4}-[0-9]{2}-[0-9]{2}"))
def test_whatever_a_text_holds_its_times_have_a_beginning_before_their_end(text: str) -> None:
    assert all(start < end for start, end in spans(text))
