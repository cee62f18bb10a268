"""Memory ids as numbers: a ULID's 128 bits in two halves, and as bytes that sort as the ids do."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from recollect.model import is_memory_id
from recollect.scan import Rows

Halves = npt.NDArray[np.uint64]
Keys = npt.NDArray[np.bytes_]

_LENGTH: Final = 26
_DIGIT_BITS: Final = 5
_HALF_BITS: Final = 64
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's
_DIGITS: Final = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")  # as `int` reads base 32
_CHARACTERS: Final = np.frombuffer(_ALPHABET.encode(), dtype=np.uint8)
_FIRST_MAX: Final = "7"  # 26 characters are 130 bits: the first one has three
_SHIFTS: Final = [_DIGIT_BITS * (_LENGTH - 1 - place) for place in range(_LENGTH)]


def is_in_range(memory_id: str) -> bool:
    """Tell whether a text is an id of 128 bits."""
    return is_memory_id(memory_id) and memory_id[0] <= _FIRST_MAX


def halves_of(memory_ids: Sequence[str]) -> tuple[Halves, Halves]:
    """Turn ids into numbers.

    Parameters
    ----------
    memory_ids : sequence of str
        Each one `is_in_range`.

    Returns
    -------
    high, low : ndarray of shape (n,), uint64
        The first and the last 64 bits.
    """
    packed = b"".join(int(memory_id.translate(_DIGITS), 32).to_bytes(16, "big") for memory_id in memory_ids)
    pairs = np.frombuffer(packed, dtype=">u8").reshape(-1, 2)
    return pairs[:, 0].astype(np.uint64), pairs[:, 1].astype(np.uint64)


def ids_of(high: Halves, low: Halves) -> Keys:
    """Turn numbers into ids.

    Parameters
    ----------
    high, low : ndarray of shape (n,), uint64

    Returns
    -------
    ndarray of shape (n,), S26, read-only
    """
    characters = np.empty((high.size, _LENGTH), dtype=np.uint8)
    for place, shift in enumerate(_SHIFTS):
        if shift >= _HALF_BITS:
            digits = high >> np.uint64(shift - _HALF_BITS)
        elif shift > _HALF_BITS - _DIGIT_BITS:
            digits = low >> np.uint64(shift) | high << np.uint64(_HALF_BITS - shift)
        else:
            digits = low >> np.uint64(shift)
        characters[:, place] = _CHARACTERS[digits & np.uint64(31)]
    characters.flags.writeable = False
    return characters.view(f"S{_LENGTH}").reshape(-1)


def id_of(high: int, low: int) -> str:
    """Turn the numbers of one id into the id."""
    number = high << _HALF_BITS | low
    return "".join(_ALPHABET[number >> shift & 31] for shift in _SHIFTS)


def keys_of(high: Halves, low: Halves) -> Keys:
    """Turn numbers into bytes that sort as the ids do.

    Returns
    -------
    ndarray of shape (n,), S16
    """
    pairs = np.empty((high.size, 2), dtype=">u8")
    pairs[:, 0], pairs[:, 1] = high, low
    return pairs.view("S16").reshape(-1)


def places_among(wanted: Sequence[str], high: Halves, low: Halves) -> Rows:
    """Find where some ids are among others.

    Parameters
    ----------
    wanted : sequence of str
        Each one `is_in_range`.
    high, low : ndarray of shape (n,), uint64
        Of ids in ascending order, without repeats.

    Returns
    -------
    ndarray of shape (len(wanted),), int64
        -1 for what is not there.
    """
    highs, lows = halves_of(wanted)
    starts, stops = (np.searchsorted(high, highs, side=side) for side in ("left", "right"))  # few ids share a half
    places = [
        start + int(np.searchsorted(low[start:stop], one))
        for start, stop, one in zip(starts.tolist(), stops.tolist(), lows, strict=True)
    ]
    found = zip(places, stops.tolist(), lows, strict=True)
    return np.array([at if at < stop and low[at] == one else -1 for at, stop, one in found], dtype=np.int64)


def places_of(wanted: npt.NDArray[Any], keys: npt.NDArray[Any]) -> Rows:
    """Find where each key is.

    Parameters
    ----------
    wanted : ndarray of shape (m,)
    keys : ndarray of shape (n,)
        Ascending, without repeats.

    Returns
    -------
    ndarray of shape (m,), int64
        -1 for what is not there.
    """
    places = np.searchsorted(keys, wanted)
    found = np.zeros(wanted.shape, dtype=np.bool_)
    within = places < keys.size
    found[within] = keys[places[within]] == wanted[within]
    return np.where(found, places, -1)
