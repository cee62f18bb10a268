"""Lets a stretch of a life go wrong at each of its moments in turn, and looks whether it all ends the same."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.support.days import DAYS, SECRET
from tests.support.moments import Moment, moments_of
from tests.support.nights import CALM, Calls, Faults, Life


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


def stretches_of(
    life: Life, evening: Sequence[int], *, after_day: Sequence[int], after_night: Sequence[int]
) -> list[tuple[Stretch, Stretch]]:
    """Live all days once without faults, and give each day and each night.

    Parameters
    ----------
    evening : sequence of int
        When plans and runs come on the day that is looked at; milliseconds after the morning.
    after_day, after_night : sequence of int
        When they come after it, until it is looked what there is.
    """
    made = []
    for day in range(len(DAYS)):
        morning = life.mark()
        life.back(morning)
        life.live(day, {})
        by_day, night = life.calls, life.mark()
        life.back(night)
        life.sleep({}, evening)
        made.append(
            (
                Stretch(morning, by_day, partial(life.live, day), lambda: life.sleep({}, after_day)),
                Stretch(
                    night,
                    {**life.calls},
                    lambda faults: life.sleep(faults, evening),
                    lambda: life.sleep({}, after_night),
                ),
            )
        )
        life.sleep({}, CALM)
    return made


@dataclass(frozen=True, slots=True)
class Swept:
    """What came of it.

    Parameters
    ----------
    moments : int
        Those of all calls that are made when nothing goes wrong; all were struck.
    passes : int
    """

    moments: int
    passes: int


Left = Mapping[str, Sequence[Moment]]  # to be struck, by piece of work
Choose = Callable[[Left], Faults]
AGAIN = 4


def sweep(life: Life, stretch: Stretch, choose: Choose) -> Swept:
    """Strike each moment of a stretch once, as many in a pass as are chosen, until none is left.

    A moment that is not reached in a pass, because an earlier fault has changed what there is to do, comes again in a
    later one, at last as the first of its piece of work.
    """
    expected = _passed(life, stretch, {})
    left = {name: moments_of(calls) for name, calls in stretch.calls.items()}
    answers, total, passes = life.answers, sum(map(len, left.values())), 0
    while left:
        faults = choose(left)
        found = _passed(life, stretch, faults)
        passes += 1
        assert life.struck, f"{faults} was not reached, and nothing else could change that"
        assert found == expected, life.struck
        assert life.failures == [], life.struck
        assert _are_alike(life.answers, answers), life.struck
        _take_out(left, faults, life.struck)
    return Swept(total, passes)


def each_alone(left: Left) -> Faults:
    """Choose one moment of one piece of work."""
    name = next(iter(left))
    return {name: left[name][:1]}


def one_each(left: Left) -> Faults:
    """Choose one moment of each piece of work."""
    return {name: moments[:1] for name, moments in left.items()}


def one_each_try(left: Left) -> Faults:
    """Choose a moment for each time that a piece of work is tried: a request again, or a user's next run.

    What has failed goes on then with what is left of it: such a moment is one of the work, not of its first try.
    """
    faults: dict[str, Sequence[Moment]] = {name: moments[:AGAIN] for name, moments in left.items()}
    for name, moments in left.items():
        if name.startswith("run 0"):
            later = [name.replace("0", str(number), 1) for number in range(1, AGAIN)]
            faults |= {one: [moment] for one, moment in zip(later, moments[1:], strict=False) if one not in left}
    return faults


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


def _take_out(left: dict[str, list[Moment]], faults: Faults, struck: Sequence[tuple[str, Moment]]) -> None:
    """Take out what has been struck, and put what was not last."""
    for name, moments in faults.items():
        for moment in moments:
            of = name if name in left and moment in left[name] else re.sub("[0-9]+", "0", name, count=1)
            left[of].remove(moment)
            left[of] += [] if (name, moment) in struck else [moment]
    for name in [name for name, moments in left.items() if not moments]:
        del left[name]


def _are_alike(answers: dict[str, list[str]], expected: dict[str, list[str]]) -> bool:
    """Tell whether requests were answered as expected; what a first try had stored is there at the second one."""
    return answers.keys() == expected.keys() and all(
        len(some) == len(expected[name])
        and all(one in (other, "unchanged") for one, other in zip(some, expected[name], strict=True))
        for name, some in answers.items()
    )
