"""Says when, in words that stay true: "next Friday" becomes the date that it meant when it was said.

Pure; days are days in UTC. What names no single day becomes the week, weekend, month, season or year it is in. Meant
for single sentences: the patterns are only given text of bounded length.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial

from recollect.times import MONTHS

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
_NUMBERS = {
    word: number
    for number, words in enumerate(
        ("a an one", "two couple", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        1,
    )
    for word in words.split()
}
_DAY = "|".join(_WEEKDAYS)
_NUMBER = rf"(?:a couple of|a couple|{'|'.join(_NUMBERS)}|\d{{1,3}})"
_PART = r"(?: (?P<part>morning|afternoon|evening|night))?"
_BEFORE = r"(?:(?P<before>(?:in )?(?:early|late|mid)|by|until|till|since|from|before|after|for|on|in|of|to|during|around|through|at) )?"
_ROUGHLY = r"(?P<roughly>(?:(?:about|around|roughly|over|almost|nearly|approximately|just|more than) )*)"
_FORWARD = frozenset({"by", "until", "till", "to", "before", "from", "for"})
_NAMED_DAYS = r"(?<!black )(?<!good )(?<!cyber )(?<!easter )(?<!every )(?<!each )(?<!the )"
_EVER_PAST = re.compile(
    r"\b(?:was|were|did|had|went|got|met|saw|bought|took|made|left|came|ran|began|gave|found|lost|won|told|said|ate"
    r"|\w{2,20}(?<!ne)ed)\b",
    re.IGNORECASE,
)
_EVER_PRESENT = re.compile(r"\b(?:is|are|am|will|shall|going|starts?|leaves?|ends?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _When:
    day: date
    is_past: bool


_Meaning = Callable[[re.Match[str], _When], tuple[str, str] | None]  # a preposition and what it stands before


def resolved(sentence: str, at_ms: int) -> str:
    """Put dates in the place of what a sentence says relative to the time at which it was said.

    Examples
    --------
    >>> resolved("I am flying to Rome next Friday", 1_777_000_000_000)
    'I am flying to Rome on 2026-05-01'
    """
    try:
        day = datetime.fromtimestamp(at_ms / 1000, UTC).date()
        when = _When(day, bool(_EVER_PAST.search(sentence)) and not _EVER_PRESENT.search(sentence))
        for pattern, meaning in _RULES:
            sentence = pattern.sub(partial(_said, meaning, when), sentence)
    except (OverflowError, ValueError, OSError):
        return sentence  # a year that no calendar has
    return sentence


def names_time(sentence: str) -> bool:
    """Tell whether a sentence says when: a date, a month, a weekday, a time relative to now."""
    return bool(_TIME.search(sentence))


def _said(meaning: _Meaning, when: _When, found: re.Match[str]) -> str:
    meant = meaning(found, when)
    if meant is None:
        return found[0]
    preposition, phrase = meant
    groups = found.groupdict()
    before, roughly = groups.get("before"), groups.get("roughly")
    if before and before.casefold() in {"early", "late", "mid"}:
        return f"in {before} {phrase}"
    if groups.get("owner"):
        return f"the {phrase.removeprefix('the ')}"
    return f"{before or ('around' if roughly else preposition)} {phrase}"


def _on(day: date, part: str | None) -> tuple[str, str]:
    return ("on", f"the {part} of {day.isoformat()}") if part else ("on", day.isoformat())


def _week(day: date) -> tuple[str, str]:
    return "in", f"the week of {(day - timedelta(days=day.weekday())).isoformat()}"


def _weekend(day: date) -> tuple[str, str]:
    return "on", f"the weekend of {(day + timedelta(days=5 - day.weekday())).isoformat()}"


def _month(day: date, months: int) -> tuple[str, str]:
    count = day.year * 12 + day.month - 1 + months
    return "in", f"{MONTHS[count % 12]} {date(count // 12, 1, 1).year}"


def _year(day: date, years: int) -> tuple[str, str]:
    return "in", str(date(day.year + years, 1, 1).year)


def _near_day(found: re.Match[str], when: _When) -> tuple[str, str]:
    word, part = found["word"].casefold(), found["part"]
    away = {
        "the day after tomorrow": 2,
        "tomorrow": 1,
        "yesterday": -1,
        "the day before yesterday": -2,
        "last night": -1,
    }
    if word in {"tonight", "last night"}:
        part = "night" if word == "last night" else "evening"
    elif word.startswith("this "):
        part = word.removeprefix("this ")
    return _on(when.day + timedelta(days=away.get(word, 0)), part)


def _counted(found: re.Match[str], when: _When) -> tuple[str, str] | None:
    is_ago = found["away"].casefold() == "ago"
    words = found["number"].casefold().removeprefix("a couple of").split() or ["two"]
    number = int(words[-1]) if words[-1].isdecimal() else _NUMBERS[words[-1]]
    return _away(found["unit"].casefold(), -number if is_ago else number, when.day)


def _ahead(found: re.Match[str], when: _When) -> tuple[str, str] | None:
    words = found["number"].casefold().removeprefix("a couple of").split() or ["two"]
    number = int(words[-1]) if words[-1].isdecimal() else _NUMBERS[words[-1]]
    return None if when.is_past else _away(found["unit"].casefold(), number, when.day)


def _away(unit: str, number: int, day: date) -> tuple[str, str]:
    if unit == "day":
        return _on(day + timedelta(days=number), None)
    if unit == "week":
        return _week(day + timedelta(weeks=number))
    return _month(day, number) if unit == "month" else _year(day, number)


def _named(found: re.Match[str], when: _When) -> tuple[str, str] | None:
    which = {"last": -1, "past": -1, "next": 1}.get(found["which"].casefold().removeprefix("this "), 0)
    word, day = found["word"].casefold(), when.day
    if word in {"week", "weekend"}:
        return (_week if word == "week" else _weekend)(day + timedelta(weeks=which))
    if word in {"month", "year"}:
        return _away(word, which, day)
    if word in _WEEKDAYS:
        return _on(_weekday(word, which, day), found["part"])
    if word in _SEASONS:
        return _in(_SEASONS[word], which, day, word)
    number = [month.casefold() for month in MONTHS].index(word) + 1
    return _in(number, which, day, MONTHS[number - 1])


def _in(month: int, which: int, day: date, name: str) -> tuple[str, str]:
    length = 3 if name in _SEASONS else 1  # of a season that has begun "this" and "last" mean the one that goes on
    has_ended, has_begun = month + length <= day.month, month <= day.month
    years = {-1: 0 if has_ended else -1, 0: 0, 1: 1 if has_begun else 0}[which]
    return "in", f"{name} {date(day.year + years, 1, 1).year}"


def _weekday(word: str, which: int, day: date) -> date:
    number = _WEEKDAYS.index(word)
    if which > 0:  # of the week that begins next Monday
        return day + timedelta(days=7 - day.weekday() + number)
    if which < 0:
        return day - timedelta(days=(day.weekday() - number - 1) % 7 + 1)
    return day + timedelta(days=(number - day.weekday()) % 7)


def _bare_weekday(found: re.Match[str], when: _When) -> tuple[str, str] | None:
    if found.string[: found.start()].rstrip().casefold().endswith(_WEEKDAYS):
        return None  # from Monday to Friday
    before = (found["before"] or "").casefold()
    is_past = before == "since" or (when.is_past and before not in _FORWARD)
    return _on(_weekday(found["word"].casefold(), -1 if is_past else 0, when.day), found["part"])


def _rule(pattern: str, meaning: _Meaning) -> tuple[re.Pattern[str], _Meaning]:
    return re.compile(pattern, re.IGNORECASE), meaning


_UNIT = r"(?P<unit>day|week|month|year)s?"
_RULES = (
    _rule(
        rf"\b{_BEFORE}(?P<word>the day after tomorrow|the day before yesterday|tomorrow|yesterday|today|tonight|last night"
        rf"|this morning|this afternoon|this evening)\b{_PART}(?P<owner>'s)?",
        _near_day,
    ),
    _rule(rf"\b{_ROUGHLY}(?P<number>{_NUMBER}) {_UNIT} (?P<away>ago|from now|from today)\b", _counted),
    _rule(rf"\b(?:in|within) {_ROUGHLY}(?P<number>{_NUMBER}) {_UNIT}\b(?!'| of| or| and)", _ahead),
    _rule(
        rf"(?<!the )(?<!every )\b{_BEFORE}(?P<which>this past|this coming|this|last|past|next|coming) "
        rf"(?P<word>weekend|week|month|year|{_DAY}|{'|'.join(MONTHS)}|{'|'.join(_SEASONS)})\b{_PART}(?P<owner>'s)?",
        _named,
    ),
    _rule(
        rf"{_NAMED_DAYS}\b(?P<before>by|until|till|since|from|before|after|for|on|to|at) (?P<word>{_DAY})\b{_PART}"
        rf"(?! ?(?:nights|mornings|evenings|afternoons|to|through|thru|and|or|-|–|the|,? \d)\b)(?!, (?:{'|'.join(MONTHS)}|\d))",
        _bare_weekday,
    ),
    _rule(rf"{_NAMED_DAYS}(?<!to )(?<!and )(?<!through )(?<!or )\b(?P<before>)(?P<word>{_DAY}){_PART}$", _bare_weekday),
)
_TIME = re.compile(
    rf"\b(?:\d{{4}}-\d{{2}}-\d{{2}}|(?:the week|the weekend) of|(?:in|since|by|until|around) (?:early |late |mid-?)?\d{{4}}"
    rf"|(?:{_DAY}|{'|'.join(month for month in MONTHS if month not in {'May', 'March'})})"
    rf"|(?:in|on|by|until|of|\d|th|st|nd|rd) (?:May|March)|(?:May|March) \d|at \d|(?:spring|summer|autumn|winter) \d{{4}})\b",
    re.IGNORECASE,
)
