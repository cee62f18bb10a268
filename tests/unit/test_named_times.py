from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recollect.named_times import FIRST, LAST, events, spans

NOW = datetime(2024, 3, 15, 12, tzinfo=UTC)  # a Friday
NOW_MS = int(NOW.timestamp() * 1000)
DAY_MS = 86_400_000


def day(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()


def days(text: str) -> list[tuple[str, int]]:
    """Give each time as its first day and its length in days."""
    return [(day(start), (end - start) // DAY_MS) for start, end in spans(text, NOW_MS)]


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
        ("in summer 2023", [("2023-06-01", 92)]),
        ("Winter of 2022", [("2022-12-01", 90)]),
        ("31 February 2023", []),
        ("31 February", []),
        ("I may call in the evening", []),
        ("order 12023, size 2199", []),
        ("they march on, and fall", []),
    ],
)
def test_the_times_that_a_text_names(text: str, expected: list[tuple[str, int]]) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what did we do in May", [("2023-05-01", 31)]),
        ("in march?", [("2024-03-01", 31)]),
        ("late last June", [("2023-06-01", 30)]),
        ("over the summer", [("2023-06-01", 92)]),
        ("on 14 March", [("2024-03-14", 1)]),
        ("on March 16th", [("2023-03-16", 1)]),
        ("in the last two weeks", [("2024-03-01", 15)]),
        ("over the past few days", [("2024-03-12", 4)]),
        ("for the past 2 months", [("2024-01-15", 61)]),
        ("during the last month", [("2024-02-14", 31)]),
        ("the last year", [("2023-03-16", 366)]),
        ("in the last 999 years or 9999 weeks", [("1025-11-13", 364_636)]),
    ],
)
def test_times_without_a_year_are_the_latest_that_have_begun(text: str, expected: list[tuple[str, int]]) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the week before 16 November 2023", [("2023-11-09", 7)]),
        ("two weeks before August 11, 2023", [("2023-07-28", 7)]),
        ("the day after May 2023", [("2023-06-01", 1)]),
        ("3 days after 8 May 2023", [("2023-05-11", 1)]),
        ("the Monday before July 24, 2023", [("2023-07-17", 1)]),
        ("the Saturday after October 28, 2023", [("2023-11-04", 1)]),
        ("the weekend before 4th October, 2023", [("2023-09-30", 2)]),
        ("the month before June 2023", [("2023-05-02", 30)]),
    ],
)
def test_times_beside_other_times_are_as_far_away_as_is_said(text: str, expected: list[tuple[str, int]]) -> None:
    assert days(text) == expected


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("before 2023", None, "2023-01-01"),
        ("until May 2023", None, "2023-05-01"),
        ("after 8 May 2023", "2023-05-09", None),
        ("since May", "2023-05-01", None),
        ("prior to the summer of 2023", None, "2023-06-01"),
    ],
)
def test_a_time_may_have_no_beginning_or_no_end(text: str, start: str | None, end: str | None) -> None:
    ((first, last),) = spans(text, NOW_MS)

    assert (None if first == FIRST else day(first), None if last == LAST else day(last)) == (start, end)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where did we live before the move?", [("move", True)]),
        ("What did she do after Leo's road trip, at last", [("road trip", False)]),
        ("since my knee surgery until the race", [("knee surgery", False), ("race", True)]),
        ("until our wedding.", [("wedding", True)]),
        ("before the 8th of May 2023", []),
        ("since the summer", []),
        ("after the weekend", []),
        ("before I left", []),
        (" before the ab" * 100, [("ab", True)] * 3),
        ("the day before", []),
    ],
)
def test_the_events_that_a_text_names_a_time_beside(text: str, expected: list[tuple[str, bool]]) -> None:
    assert events(text, NOW_MS) == expected


@given(
    st.text()
    | st.from_regex(
        r"(before|the week after|since|\\d+ days before) [0-9]{1,2} (may|june)( [0-9]{4}-[0-9]{2}-[0-9]{2})?"
    ),
    st.integers(-(10**18), 10**18) | st.integers(0, 2 * NOW_MS),
)
def test_whatever_a_text_holds_its_times_have_a_beginning_before_their_end(text: str, now_ms: int) -> None:
    assert all(FIRST <= start < end <= LAST for start, end in spans(text, now_ms))
    assert all(words for words, _ in events(text, now_ms))
    assert len(events(text, now_ms)) <= 3
