"""Parses JSON strictly: numbers are finite, nesting is bounded. Pure."""

import json
import math
from typing import Any, NoReturn

from recollect.errors import InvalidInput


def loads(text: str) -> Any:
    """Parse JSON.

    Raises
    ------
    ValueError
        If it is not JSON.
    InvalidInput
        If a number is not finite, or the nesting is too deep.
    """
    try:
        return json.loads(text, parse_constant=_refuse_number, parse_float=_finite)
    except RecursionError as error:
        raise InvalidInput("the JSON is nested too deeply") from error


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _refuse_number(_: str) -> NoReturn:
    raise InvalidInput("numbers must be finite: no NaN, no Infinity, nothing beyond the range of a double")
