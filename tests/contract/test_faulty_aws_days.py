"""A fault at every AWS call in turn, of requests, plans, the queue and maintenance, on the adapters as they are.

As ``test_faulty_days.py``, one floor below: a call of a store may be several of AWS (pages of a query or a listing, the
versions of each object before they are deleted), and each of those is struck, below the retries of the SDK, whose own
second try is one of the ways to fail (``aws_place``). Here requests that failed fail again when they are sent again,
and so do the runs that go on with the work of one that failed, each time at another call: a moment is one of the whole
piece of work, which may begin with what an earlier try has left. All four days are lived through, and of the nights the
two whose runs make every kind of call that there is.
"""

import logging
import time
from collections.abc import Iterable, Iterator

import pytest
from moto import mock_aws
from recollect import due, erasing

from tests.support.aws_place import InAws, make_small_and_quick
from tests.support.days import DAYS, HOUR_MS
from tests.support.nights import AFTER, EVENING, Life
from tests.support.quick_moto import quicken
from tests.support.sweeping import Stretch, one_each_try, stretches_of, sweep

BY_DAY, AT_NIGHT = 0, 1
SWEPT = [*((day, BY_DAY) for day in range(len(DAYS))), (1, AT_NIGHT), (2, AT_NIGHT)]
LOG = logging.getLogger(__name__)
OFTEN = (EVENING[0], *(int((10 + part) * HOUR_MS) for part in (0.4, 0.8, 1.2)), EVENING[-1])


@pytest.fixture(scope="module")
def life() -> Iterator[Life]:
    with pytest.MonkeyPatch.context() as patches:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patches.setenv(name, "test")
        patches.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patches.delenv("AWS_CA_BUNDLE", raising=False)
        patches.setattr(erasing, "ITEMS_PER_DELETE", 3)
        patches.setattr(due, "SHARDS", 2)
        quicken(patches)
        make_small_and_quick(patches)
        with mock_aws():
            yield Life(InAws, time.time_ns() // 1_000_000)  # in the time of the objects


@pytest.fixture(scope="module")
def stretches(life: Life) -> list[tuple[Stretch, Stretch]]:
    return stretches_of(life, OFTEN, after_day=(), after_night=AFTER[-2:])


@pytest.mark.parametrize(("day", "part"), SWEPT)
def test_whichever_aws_call_fails_it_all_ends_the_same(
    life: Life, stretches: list[tuple[Stretch, Stretch]], day: int, part: int
) -> None:
    swept = sweep(life, stretches[day][part], one_each_try)

    LOG.info("day %d, part %d: %s", day, part, swept)
    assert swept.moments > 40


def test_every_kind_of_aws_call_was_struck(stretches: list[tuple[Stretch, Stretch]]) -> None:
    def kinds(of: Iterable[Stretch]) -> set[str]:
        return {name for one in of for calls in one.calls.values() for name, _ in calls}

    assert kinds(stretches[day][part] for day, part in SWEPT) == kinds(one for both in stretches for one in both)
    assert len(kinds(one for both in stretches for one in both)) > 10
