"""Numbers in words and digits, their units, and one form for equal amounts.

Pure. An amount becomes ``#<value> <dimension>`` in the dimension's base unit, so that 1 kg equals 1000 g, 14 GB
differs from 14 MB, and 5 km from 5 miles. A number without a known unit keeps its digits: 1.10 is not 1.1.
"""

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

_WORDS = {
    word: value
    for value, words in {
        0: "zero null zéro cero",
        1: "one eins",
        2: "two zwei deux dos dois duas",
        3: "three drei trois tres três tre",
        4: "four vier quatre cuatro quatro quattro",
        5: "five fünf cinq cinco cinque",
        6: "six sechs seis sei",
        7: "seven sieben sept siete sete sette",
        8: "eight acht huit ocho oito otto",
        9: "nine neun neuf nueve nove",
        10: "ten zehn dix diez dez dieci",
        11: "eleven elf onze undici",
        12: "twelve zwölf douze doce doze dodici dozen",
        13: "thirteen dreizehn treize trece treze tredici",
        14: "fourteen vierzehn quatorze catorce catorze quattordici",
        15: "fifteen fünfzehn quinze quince quindici",
        16: "sixteen",
        17: "seventeen",
        18: "eighteen",
        19: "nineteen",
        20: "twenty zwanzig vingt veinte vinte venti",
        30: "thirty dreissig trente treinta trinta trenta",
        40: "forty vierzig quarante cuarenta quarenta quaranta",
        50: "fifty fünfzig cinquante cincuenta cinquenta cinquanta",
        60: "sixty",
        70: "seventy",
        80: "eighty",
        90: "ninety",
    }.items()
    for word in words.split()
}
WRITTEN = tuple(sorted(_WORDS, key=len, reverse=True))
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "mil": 1_000}
_ORDINALS = dict(
    zip(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
        ],
        range(1, 21),
        strict=True,
    )
)
_UNITS: dict[str, tuple[Decimal, str]] = {
    name: (Decimal(factor), dimension)
    for dimension, units in {
        "mass": {"1e-3": "mg milligram milligrams", "1": "g gram grams gramm grammes", "1e3": "kg kilo kilos kilogram kilograms",
                 "453.59237": "lb lbs pound-mass", "28.349523": "oz ounce ounces"},
        "length": {"1e-3": "mm", "1e-2": "cm centimeter centimeters", "1": "m meter meters metre metres",
                   "1e3": "km kilometer kilometers kilometre kilometres kilómetros quilômetros",
                   "1609.344": "mile miles mi meilen", "0.3048": "ft feet foot", "0.0254": "inch inches"},
        "bytes": {"1e3": "kb", "1e6": "mb megabyte megabytes", "1e9": "gb gigabyte gigabytes", "1e12": "tb terabyte terabytes"},
        "seconds": {"1e-3": "ms millisecond milliseconds", "1": "s sec second seconds sekunden secondes segundos secondi",
                    "60": "min mins minute minutes minuten minutos minuti",
                    "3600": "h hr hrs hour hours stunde stunden heure heures hora horas ore",
                    "86400": "day days tage tagen jour jours día días dia dias giorno giorni",
                    "604800": "week weeks woche wochen semaine semaines semana semanas settimana settimane"},
        "months": {"1": "month months monat monate monaten mois mes meses mese mesi",
                   "12": "year years jahr jahre jahren an ans année años año anno anos ano anni"},
        "eur": {"1": "euro euros eur €"},
        "usd": {"1": "dollar dollars usd $"},
        "gbp": {"1": "gbp £ pounds"},
        "jpy": {"1": "yen ¥ 円 元"},
        "percent": {"1": "% percent prozent"},
        "times": {"1": "time times x mal fois veces vezes volte"},
        "degrees": {"1": "degree degrees grad degrés grados graus gradi °"},
        "litres": {"1e-3": "ml", "1": "l litre litres liter liters"},
    }.items()
    for factor, names in units.items()
    for name in names.split()
}  # fmt: skip
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
MONEY = frozenset({"eur", "usd", "gbp", "jpy"})
CURRENCIES = frozenset("€$£¥")


def number_of(word: str) -> str | None:
    """Give the digits of a number in digits or words, or ``None`` if it is none.

    Examples
    --------
    >>> number_of("fourteen"), number_of("1,500"), number_of("3,5"), number_of("22.04"), number_of("nut")
    ('14', '1500', '3.5', '22.04', None)
    """
    if word in _WORDS:
        return str(_WORDS[word])
    if word[:1] in ("-", "\u2212") and word[1:2].isdecimal():
        return f"-{number_of(word[1:])}"
    if not word[:1].isdecimal():
        return None
    if _THOUSANDS.fullmatch(word):
        return word.replace(",", "")
    if word.isdecimal():
        return str(int(word)) if len(word) < 20 else word
    return word.replace(",", ".")


def compound(words: Sequence[str], index: int) -> tuple[int, tuple[str, ...]]:
    """Give a number of several words ("twenty-four", "two hundred") as digits, and of how many words it is, or 0.

    Examples
    --------
    >>> compound(["twenty", "four"], 0), compound(["two", "hundred"], 0), compound(["two", "cats"], 0)
    ((2, ('24',)), (2, ('200',)), (0, ()))
    """
    first, following = _WORDS.get(words[index]), words[index + 1] if index + 1 < len(words) else ""
    if first is None:
        return 0, ()
    if first in range(20, 100, 10) and _WORDS.get(following, 10) in range(1, 10):
        return 2, (str(first + _WORDS[following]),)
    return (2, (str(first * _SCALES[following]),)) if following in _SCALES and first else (0, ())


def ordinal_of(word: str) -> str | None:
    """Give the digits of an ordinal ("third", "3rd"), or ``None`` if it is none."""
    if word in _ORDINALS:
        return str(_ORDINALS[word])
    found = re.fullmatch(r"(\d+)(?:st|nd|rd|th)", word)
    return found[1] if found else None


def is_unit(word: str) -> bool:
    """Tell whether a word names a unit that the rules know."""
    return word in _UNITS


def amount(digits: str, unit: str | None) -> str:
    """Give the key of an amount: equal keys are equal amounts.

    Examples
    --------
    >>> amount("1", "kg") == amount("1000", "g"), amount("14", "gb") == amount("14", "mb"), amount("14", None)
    (True, False, '#14')
    """
    if unit is None:
        return f"#{digits}"
    factor, dimension = _UNITS[unit]
    try:
        value = (Decimal(digits) * factor).normalize()
    except InvalidOperation:
        return f"#{digits} {unit}"
    return f"#{value:f} {dimension}"


def dimension_of(key: str) -> str:
    """Give what an amount is measured in; empty for a bare number."""
    return key.partition(" ")[2]
