"""Which times a text names: "8 May 2023", "in May", "the last two weeks", "before 2023", "before the move".

Pure; days are days in UTC. "Yesterday" and the like are made dates first: see ``extracting.dates.resolved``.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta

from recollect.times import MONTHS

Span = tuple[int, int]  # epoch milliseconds, the end not included
FIRST, LAST = -(2**53), 2**53  # where a time has no beginning or no end

_MONTHS = tuple(month.lower() for month in MONTHS)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_COUNTS = {"a": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6}
_DAYS_OF = {"day": 1, "week": 7, "month": 30, "year": 365}
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|{'|'.join(month[:3] for month in _MONTHS)}|sept)\b\.?"
_FULL_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})\b"
_SEASON = rf"(?P<season>{'|'.join(_SEASONS)})\b"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT = rf"(?P<count>{'|'.join(_COUNTS)}|\d{{1,3}})"
_UNIT = rf"(?P<unit>{'|'.join(_DAYS_OF)})"
_IN = r"(?:in|during|over|of|since|before|after|until|till|by|early|late|mid)(?: the| last| this past)?"
_RELATED = re.compile(
    rf"(?:\b(?:the |{_COUNT} )?(?:{_UNIT}s?|(?P<weekday>{'|'.join(_WEEKDAYS)})|(?P<weekend>weekend)) )?"
    r"\b(?P<relation>before|prior to|until|till|after|since)(?: the)? $"
)
_RELATED_MAX_CHARS = 60
_WORD = (
    r"(?!(?:until|till|before|after|since|and|or|but|that|which|who|do|does|did|is|are|was|were|to|in|on|at|for|with)\b)"
    r"\w{2,40}"
)
_EVENT = re.compile(
    r"\b(?P<relation>before|until|till|after|since) (?:the|my|our|his|her|their|\w{1,40}['\u2019]s) "
    rf"(?P<event>{_WORD}(?:[ -]{_WORD}){{0,3}})"
)
_EVENTS_MAX_COUNT = 3  # each is looked for among all memories
_NO_EVENTS = frozenset({*_DAYS_OF, *_WEEKDAYS, *_SEASONS, "weekend", "morning", "evening", "first", "last", "next"})
_DAY_MS = 24 * 3600 * 1000


def spans(text: str, now_ms: int) -> list[Span]:
    """Find the times that a text names; of months, days and seasons without a year the latest that has begun.

    Examples
    --------
    >>> [(end - start) // 86_400_000 for start, end in spans("in May 2023, and the week before 2 June 2023", 0)]
    [31, 7]
    """
    try:
        today = datetime.fromtimestamp(now_ms / 1000, UTC).date()
    except (OverflowError, ValueError, OSError):
        return []
    return list(_spans(text.casefold(), today))


def events(text: str, now_ms: int) -> list[tuple[str, bool]]:
    """Find what a text names a time before or after, in English: "before the move".

    Returns
    -------
    list of (str, bool)
        At most 3; the words, folded, and whether the time is before it.
    """
    found = [
        (event["event"], event["relation"] not in ("after", "since"))
        for event in _EVENT.finditer(text.casefold())
        if _NO_EVENTS.isdisjoint(event["event"].split()) and not spans(event[0], now_ms)
    ]
    return found[:_EVENTS_MAX_COUNT]


def _spans(text: str, today: date) -> Iterator[Span]:
    for pattern, meaning in _RULES:
        for found in pattern.finditer(text):
            try:
                first, days = meaning(found, today)
                begin = found.start("when")
                related = _RELATED.search(text[max(0, begin - _RELATED_MAX_CHARS) : begin])
                yield _related(related, first, days) if related else (_ms(first), _ms(first) + days * _DAY_MS)
            except (ValueError, OverflowError):
                continue  # 31 February
        text = pattern.sub(" ", text)


def _related(found: re.Match[str], first: date, days: int) -> Span:
    """Give the time that is before, after or since another one, by as much as is said."""
    start, end = _ms(first), _ms(first) + days * _DAY_MS
    is_before = found["relation"] not in ("after", "since")
    if found["unit"] is not None:
        length = _DAYS_OF[found["unit"]] * _DAY_MS
        away = (_count(found) - 1) * length
        return (start - away - length, start - away) if is_before else (end + away, end + away + length)
    if found["weekday"] is not None or found["weekend"] is not None:
        weekday = _WEEKDAYS.index(found["weekday"] or "saturday")
        last = first + timedelta(days=days - 1)
        back, ahead = (first.weekday() - weekday - 1) % 7 + 1, (weekday - last.weekday() - 1) % 7 + 1
        day = _ms(first - timedelta(days=back) if is_before else last + timedelta(days=ahead))
        return day, day + (1 if found["weekday"] else 2) * _DAY_MS
    if is_before:
        return FIRST, start
    return (end if found["relation"] == "after" else start), LAST


def _ms(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)


def _count(found: re.Match[str]) -> int:
    word = found["count"] or "one"
    return int(word) if word.isdecimal() else _COUNTS[word]


def _day(found: re.Match[str], _: date) -> tuple[date, int]:
    return date(int(found["year"]), _month(found), int(found["day"])), 1


def _latest_day(found: re.Match[str], today: date) -> tuple[date, int]:
    day = date(today.year, _month(found), int(found["day"]))
    return (day if day <= today else day.replace(year=today.year - 1)), 1


def _iso_week(found: re.Match[str], _: date) -> tuple[date, int]:
    return date.fromisoformat(found["first"]), 2 if found["unit"] == "weekend" else 7


def _whole_month(found: re.Match[str], _: date) -> tuple[date, int]:
    return _months(int(found["year"]), _month(found), 1)


def _latest_month(found: re.Match[str], today: date) -> tuple[date, int]:
    return _months(today.year - (_month(found) > today.month), _month(found), 1)


def _season(found: re.Match[str], _: date) -> tuple[date, int]:
    return _months(int(found["year"]), _SEASONS[found["season"]], 3)


def _latest_season(found: re.Match[str], today: date) -> tuple[date, int]:
    month = _SEASONS[found["season"]]
    return _months(today.year - (month > today.month), month, 3)


def _whole_year(found: re.Match[str], _: date) -> tuple[date, int]:
    return _months(int(found["year"]), 1, 12)


def _until_today(found: re.Match[str], today: date) -> tuple[date, int]:
    days = _count(found) * _DAYS_OF[found["unit"]]
    return today - timedelta(days=days), days + 1


def _months(year: int, month: int, count: int) -> tuple[date, int]:
    """Give the first day of a month, and the days of so many from there."""
    first, end = date(year, month, 1), year * 12 + month - 1 + count
    return first, (date(end // 12, end % 12 + 1, 1) - first).days


def _month(found: re.Match[str]) -> int:
    name = found["month"]
    return int(name) if name.isdecimal() else next(n for n, month in enumerate(_MONTHS, 1) if month[:3] == name[:3])


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], tuple[date, int]]], ...] = (
    (re.compile(r"\b(?P<when>the (?P<unit>week|weekend) of (?P<first>\d{4}-\d\d-\d\d))\b"), _iso_week),
    (re.compile(r"\b(?P<when>(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d))(?!\d)"), _day),
    (re.compile(rf"\b(?P<when>{_DAY}(?: of)? {_MONTH},? {_YEAR})\b"), _day),
    (re.compile(rf"\b(?P<when>{_MONTH} {_DAY},? {_YEAR})\b"), _day),
    (re.compile(rf"\b(?P<when>{_MONTH}(?: of)?,? {_YEAR})\b"), _whole_month),
    (re.compile(rf"\b(?P<when>{_SEASON}(?: of)?,? {_YEAR})\b"), _season),
    (re.compile(rf"\b(?P<when>{_YEAR})\b"), _whole_year),
    (re.compile(rf"\b(?P<when>(?:last|past) {_COUNT} {_UNIT}s?)\b"), _until_today),
    (re.compile(rf"\b(?P<when>the (?:last|past)(?P<count>) {_UNIT})\b"), _until_today),
    (re.compile(rf"\b(?P<when>{_DAY}(?: of)? {_FULL_MONTH})"), _latest_day),
    (re.compile(rf"\b(?P<when>{_FULL_MONTH} {_DAY})\b"), _latest_day),
    (re.compile(rf"\b{_IN} (?P<when>{_FULL_MONTH})"), _latest_month),
    (re.compile(rf"\b{_IN} (?P<when>{_SEASON})"), _latest_season),
)
