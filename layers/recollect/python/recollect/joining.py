"""Which messages of a list are new to a transcript. Pure.

Clients send again: after a failure, or the whole history each time. A message is known by its digest: by the client's
id of it anywhere in the transcript, by what it says only at the same place. That place is told by `first`, or found:
where the list begins as the transcript does, it is the history sent again; else the longest end of the transcript that
the list begins with was sent before.
"""

from collections.abc import Sequence

from recollect.conversation import DIGEST_BYTES
from recollect.errors import Conflict

_HISTORY_MIN_COUNT = 2  # one equal message is said twice more easily than sent twice


def new_messages(
    known: Sequence[bytes], sent: Sequence[bytes], with_id: Sequence[bool], first: int | None
) -> list[int]:
    """Name the places in a list whose messages are new.

    Parameters
    ----------
    known, sent : sequence of bytes
        Digests of the transcript's messages, and of those in the list.
    with_id : sequence of bool
        Which of those in the list have an id of their own.
    first : int or None
        The number in the transcript of the first message in the list, if the client tells.

    Raises
    ------
    Conflict
        If another message has the place that the client told, or there is a gap before it.
    """
    start = _resent(known, sent) if first is None else _checked(known, sent, first)
    seen = set(known)
    new: list[int] = []
    for place in range(start, len(sent)):
        if with_id[place] and sent[place] in seen:
            continue
        seen.add(sent[place])
        new.append(place)
    return new


def digests_of(packed: bytes) -> list[bytes]:
    """Take the digests of a part's messages apart."""
    return [packed[start : start + DIGEST_BYTES] for start in range(0, len(packed), DIGEST_BYTES)]


def _resent(known: Sequence[bytes], sent: Sequence[bytes]) -> int:
    """Count the messages at the beginning of a list that were sent before."""
    same = next((n for n, (one, other) in enumerate(zip(known, sent, strict=False)) if one != other), None)
    begin = min(len(known), len(sent)) if same is None else same
    if begin < len(known) and begin < _HISTORY_MIN_COUNT:
        begin = 0
    return begin if begin == len(known) else begin + _overlap(known, sent[begin:])


def _overlap(known: Sequence[bytes], sent: Sequence[bytes]) -> int:
    """Give the length of the longest end of one sequence that the other begins with; linear, as in KMP."""
    pattern = list(sent)
    fallback = [0] * len(pattern)
    for place in range(1, len(pattern)):
        length = _advance(pattern, fallback, fallback[place - 1], pattern[place])
        fallback[place] = length
    length = 0
    for digest in known[max(0, len(known) - len(pattern)) :]:
        length = _advance(pattern, fallback, length, digest)
    return length


def _advance(pattern: Sequence[bytes], fallback: Sequence[int], length: int, digest: bytes) -> int:
    if length == len(pattern) and length:
        length = fallback[length - 1]
    while length and pattern[length] != digest:
        length = fallback[length - 1]
    return length + 1 if pattern and pattern[length] == digest else length


def _checked(known: Sequence[bytes], sent: Sequence[bytes], first: int) -> int:
    if first > len(known):
        raise Conflict(f"the transcript has {len(known)} messages; there is a gap before message {first}")
    there = known[first : first + len(sent)]
    for number, (one, other) in enumerate(zip(there, sent, strict=False), start=first):
        if one != other:
            raise Conflict(f"message {number} of the transcript is another one")
    return len(there)
