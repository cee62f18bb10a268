from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from recollect.schemas.fields import Instant, Moment

MOMENTS = st.integers(-62_135_596_800_000, 253_402_300_799_999)  # the years 1 to 9999
READ: TypeAdapter[int] = TypeAdapter(Instant)
SHOWN: TypeAdapter[int] = TypeAdapter(Moment)


@given(MOMENTS)
def test_a_time_comes_back_to_the_millisecond(at_ms: int) -> None:  # case T5
    text = SHOWN.dump_python(at_ms)

    assert READ.validate_python(text) == at_ms


@pytest.mark.parametrize(
    "text",
    [
        "2023-05-08T11:56:00.5Z",
        "2023-05-08t11:56:00.500z",
        "2023-05-08T13:56:00.500000000+02:00",
        "2023-05-08T06:26:00.5-05:30",
        "2023-05-08T11:56:00.5-00:00",
        "2023-05-08 11:56:00.5Z",
        "2023-05-09T11:55:00.5+23:59",
        "2023-05-08T11:55:60.5Z",  # a leap second is the first of the next minute
    ],
)
def test_every_form_of_rfc_3339_is_the_instant_that_it_means(text: str) -> None:  # case T5
    at_ms = READ.validate_python(text)

    assert datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms) == datetime(
        2023, 5, 8, 11, 56, 0, 500_000, UTC
    )


@pytest.mark.parametrize(
    "text",
    [
        "2023-05-08T11:56:00",
        "2023-05-08",
        "2023-05-08T11:56:61Z",
        "2023-05-08T24:00:00Z",
        "2023-02-29T00:00:00Z",
        "9999-12-31T23:59:60Z",
        "9999-12-31T23:59:59-00:01",
        "0001-01-01T00:00:00+00:01",
        "now",
        "",
        "2023-05-08T11:56Z",
        "20230508T115600Z",
        "2023-W19-1T11:56:00Z",
        "2023-05-08T11:56:00,5Z",
        "2023-05-08T11:56:00+02:00:30",
        "2023-05-08_11:56:00Z",
        "２023-05-08T11:56:00Z",
        1_683_546_960,
        None,
    ],
)
def test_a_time_without_an_offset_of_another_form_or_out_of_range_is_refused(text: object) -> None:  # case T5
    with pytest.raises(ValidationError):
        READ.validate_python(text)
