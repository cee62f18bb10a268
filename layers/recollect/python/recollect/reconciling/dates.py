"""Dates and times of day as keys, each part its own: a month, a day, a year, a weekday, a time.

Pure. Parts are separate so that "March 3" is contained in "3 March 2025" and differs from "March 10" in the day.
"""

import re
from collections.abc import Sequence

from recollect.reconciling.numbers import number_of

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero janeiro gennaio",
            "february feb februar février febrero fevereiro febbraio",
            "march märz mars marzo março",
            "april apr avril abril aprile",
            "may mai mayo maio maggio",
            "june jun juni juin junio junho giugno",
            "july jul juli juillet julio julho luglio",
            "august aug août agosto",
            "september sep sept septembre septiembre setembro settembre",
            "october oct oktober octobre octubre outubro ottobre",
            "november nov novembre noviembre novembro",
            "december dec dezember décembre diciembre dezembro dicembre",
        ),
        start=1,
    )
    for name in names.split()
}
_AMBIGUOUS = frozenset({"may", "march", "mars", "sept", "jan", "dec", "mai"})
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday montag lundi lunes segunda-feira lunedì",
            "tuesday dienstag mardi martes terça-feira martedì",
            "wednesday mittwoch mercredi miércoles quarta-feira mercoledì",
            "thursday donnerstag jeudi jueves quinta-feira giovedì",
            "friday freitag vendredi viernes sexta-feira venerdì",
            "saturday samstag samedi sábado sabato",
            "sunday sonntag dimanche domingo domenica",
        ),
        start=1,
    )
    for name in names.split()
}
_RELATIVE = frozenset(
    [
        "today",
        "tomorrow",
        "yesterday",
        "tonight",
        "heute",
        "morgen",
        "gestern",
        "demain",
        "hier",
        "hoy",
        "mañana",
        "ayer",
        "hoje",
        "amanhã",
        "ontem",
        "oggi",
        "domani",
        "ieri",
    ]
)
_SPOKEN = {"half": 30, "quarter": 15}
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?")


def iso_parts(word: str) -> list[str]:
    """Give the parts of a date like 2025-03-03; none for another word."""
    found = _ISO.fullmatch(word)
    return [f"@m{int(found[2])}", f"@d{int(found[3])}", f"@y{int(found[1])}"] if found else []


def month_of(word: str, written: str) -> str | None:
    """Give the month that a word names; "may" and "march" only when they are written as names."""
    folded = word.rstrip(".")
    if folded not in _MONTHS or (folded in _AMBIGUOUS and not written[:1].isupper() and folded in {"may", "march"}):
        return None
    return f"@m{_MONTHS[folded]}"


def weekday_of(word: str) -> str | None:
    """Give the weekday that a word names: ``@w1`` for one Monday, ``@habit1`` for every Monday."""
    if word in _WEEKDAYS:
        return f"@w{_WEEKDAYS[word]}"
    if word.endswith("s") and word[:-1] in _WEEKDAYS:
        return f"@habit{_WEEKDAYS[word[:-1]]}"
    return f"@relative-{word}" if word in _RELATIVE else None


def clock_of(word: str, half: str | None) -> str | None:
    """Give a time of day from "17:00", or from "5" with "am" or "pm"; ``None`` if it is none."""
    found = _CLOCK.fullmatch(word)
    if found is None and (half is None or not word.isdecimal()):
        return None
    hour, minute = (int(found[1]), int(found[2])) if found else (int(word), 0)
    if hour > 23 or minute > 59:
        return None
    if half in {"am", "a.m"}:
        hour %= 12
    elif half in {"pm", "p.m"}:
        hour = hour % 12 + 12
    return f"@t{hour:02}{minute:02}"


def spoken_clock(words: Sequence[str], index: int) -> tuple[int, tuple[str, ...]] | None:
    """Give the time that "half past nine" or "quarter to ten" says, and of how many words it is."""
    said = tuple(words[index : index + 3])
    if len(said) < 3 or said[0] not in _SPOKEN or said[1] not in {"past", "to"}:
        return None
    hour = number_of(said[2])
    if hour is None or not hour.isdecimal() or not 1 <= int(hour) <= 12:
        return None
    minutes = int(hour) * 60 + (_SPOKEN[said[0]] if said[1] == "past" else -_SPOKEN[said[0]])
    return 3, (f"{minutes // 60}:{minutes % 60:02}",)


def kind_of(key: str) -> str:
    """Name what a key of this module is: ``time``, ``weekday``, ``habit``, ``relative`` or ``date``."""
    for start, kind in (("@t", "time"), ("@w", "weekday"), ("@habit", "habit"), ("@relative", "relative")):
        if key.startswith(start):
            return kind
    return "date"
