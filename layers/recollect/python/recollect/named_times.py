"""Which times a text names: "8 May 2023", "May 8th, 2023", "2023-05-08", "the week of 2023-05-08", "May 2023", "2023".

Pure; days are days in UTC. What is said relative to now is made a date first: see ``extracting.dates.resolved``.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta

from recollect.times import MONTHS

_MONTHS = tuple(month.lower() for month in MONTHS)
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|{'|'.join(month[:3] for month in _MONTHS)}|sept)\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY_MS = 24 * 3600 * 1000
Span = tuple[int, int]  # epoch milliseconds, the end not included


def spans(text: str) -> list[Span]:
    """Find the times that a text names.

    Examples
    --------
    >>> [(end - start) // 86_400_000 for start, end in spans("in May 2023, and on 2 June 2023")]
    [31, 1]
    """
    return list(_spans(text.casefold()))


def _spans(text: str) -> Iterator[Span]:
    for pattern, first_and_days in _RULES:
        for found in pattern.finditer(text):
            try:
                first, days = first_and_days(found)
                start = int(datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp() * 1000)
            except (ValueError, OverflowError):
                continue  # 31 February
            yield start, start + days * _DAY_MS
        text = pattern.sub(" ", text)


def _day(found: re.Match[str]) -> tuple[date, int]:
    return date(int(found["year"]), _month(found), int(found["day"])), 1


def _iso_week(found: re.Match[str]) -> tuple[date, int]:
    return date.fromisoformat(found["first"]), 2 if found["unit"] == "weekend" else 7


def _whole_month(found: re.Match[str]) -> tuple[date, int]:
    first = date(int(found["year"]), _month(found), 1)
    return first, ((first + timedelta(days=31)).replace(day=1) - first).days


def _whole_year(found: re.Match[str]) -> tuple[date, int]:
    first = date(int(found["year"]), 1, 1)
    return first, (date(first.year, 12, 31) - first).days + 1


def _month(found: re.Match[str]) -> int:
    name = found["month"]
    return int(name) if name.isdecimal() else next(n for n, month in enumerate(_MONTHS, 1) if month[:3] == name[:3])


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], tuple[date, int]]], ...] = (
    (re.compile(r"\bthe (?P<unit>week|weekend) of (?P<first>\d{4}-\d\d-\d\d)\b"), _iso_week),
    (re.compile(r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)"), _day),
    (re.compile(rf"\b{_DAY}(?: of)? {_MONTH},? {_YEAR}\b"), _day),
    (re.compile(rf"\b{_MONTH} {_DAY},? {_YEAR}\b"), _day),
    (re.compile(rf"\b{_MONTH}(?: of)?,? {_YEAR}\b"), _whole_month),
    (re.compile(rf"\b{_YEAR}\b"), _whole_year),
)
