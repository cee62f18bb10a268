"""Lets a stretch of a life go wrong at each of its moments in turn, and looks whether it all ends the same."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.days import SECRET
from tests.support.moments import Moment, moments_of
from tests.support.nights import Calls, Faults, Life


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some hours of a life.

    Parameters
    ----------
    begins : object
        The mark of the life before it.
    calls : mapping of str to list of Call
        Those that are made when nothing goes wrong, by piece of work.
    lives : callable
        Lets them pass, with faults.
    ends : callable
        Lets time pass after them, without.
    """

    begins: Any
    calls: Calls
    lives: Callable[[Faults], None]
    ends: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Swept:
    """What came of it.

    Parameters
    ----------
    moments : int
        Those of all calls that are made when nothing goes wrong.
    struck : int
        At which something went wrong.
    passes : int
    """

    moments: int
    struck: int
    passes: int


def sweep(life: Life, stretch: Stretch, *, is_alone: bool = False) -> Swept:
    """Strike each moment of a stretch once: in each pass one of every piece of work, or of one piece if `is_alone`.

    A moment that is not reached in a pass, because an earlier
    fault has changed what there is to do, comes again in a later one, at last alone: then everything before it is as
    it was in the pass without faults.
    """
    expected = _passed(life, stretch, {})
    left = {name: moments_of(calls) for name, calls in stretch.calls.items()}
    answers, total, struck, passes = life.answers, sum(map(len, left.values())), 0, 0
    while left:
        faults = {name: moments[0] for name, moments in list(left.items())[: 1 if is_alone else None]}
        found = _passed(life, stretch, faults)
        passes, struck = passes + 1, struck + len(life.struck)
        assert life.struck, f"{faults} was not reached, and nothing else could change that"
        assert found == expected, life.struck
        assert life.failures == [], life.struck
        assert _are_alike(life.answers, answers), life.struck
        left = {name: moments for name in left if (moments := _left(left[name], name in life.struck, name in faults))}
    return Swept(total, struck, passes)


def found_of(life: Life) -> Any:
    """Tell what there is of both users, what is wrong with it, and whether a purged word is anywhere."""
    users = ("ana", "ben")
    wrong = [(life.orphans(user_id), life.disagreements(user_id)) for user_id in users]
    return [life.picture(user_id) for user_id in users], wrong, SECRET in life.place.texts()


def _passed(life: Life, stretch: Stretch, faults: Faults) -> Any:
    life.back(stretch.begins)
    stretch.lives(faults)
    stretch.ends()
    return found_of(life)


def _left(moments: list[Moment], is_struck: bool, was_tried: bool) -> list[Moment]:
    if not was_tried:
        return moments
    return moments[1:] if is_struck else [*moments[1:], moments[0]]


def _are_alike(answers: dict[str, list[str]], expected: dict[str, list[str]]) -> bool:
    """Tell whether requests were answered as expected; what a first try had stored is there at the second one."""
    return answers.keys() == expected.keys() and all(
        len(some) == len(expected[name])
        and all(one in (other, "unchanged") for one, other in zip(some, expected[name], strict=True))
        for name, some in answers.items()
    )
