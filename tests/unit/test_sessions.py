"""The order of turns, against a naive reading of it, and whatever has become of a partition."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.model import MemoryType
from recollect.ranking import Mode
from recollect.sessions import Sessions

from tests.support.builders import asking
from tests.support.histories import stored
from tests.support.worlds import World

REACH = 2
TURNS = st.lists(st.none() | st.tuples(st.integers(0, 2), st.integers(0, 4)), max_size=12)


def order_of(turns: Sequence[tuple[int, int] | None]) -> Sessions:
    rows = np.array([row for row, turn in enumerate(turns) if turn is not None], dtype=np.int64)
    there = [turn for turn in turns if turn is not None]
    sessions, times = (np.array([turn[place] for turn in there], dtype=np.int64) for place in (0, 1))
    return Sessions(len(turns), rows, sessions, times, rows)


@given(TURNS)
def test_the_rows_around_one_are_those_before_and_after_it_in_its_session(
    turns: Sequence[tuple[int, int] | None],
) -> None:
    found = order_of(turns).around(np.arange(len(turns)), REACH).T.tolist()

    for row, turn in enumerate(turns):
        line = sorted((other[1], place) for place, other in enumerate(turns) if turn and other and other[0] == turn[0])
        places = [place for _, place in line]
        at = places.index(row) if turn else 0
        near = [places[at + step] for step in (-1, 1, -2, 2) if turn and 0 <= at + step < len(places)]
        assert [other for other in found[row] if other != -1] == near


def context_of(world: World, text: str) -> dict[str, Any]:
    query = SearchQuery(text=text, mode=Mode.LEXICAL, reinforces=False)
    return {hit.memory.content: hit.parts["context"] for hit in world.instance().search("ana", query).hits}


def test_turns_are_around_each_other_whether_compacted_or_not_and_without_those_that_are_gone() -> None:
    world = World()
    of = world.instance()
    kind = {"type": MemoryType.EPISODIC, "session_id": "s"}
    first, second, third, _ = (stored(of, one, **kind) for one in ("a question", "gone soon", "tea", "answer"))

    assert context_of(world, "question").keys() == {"a question", "gone soon", "tea"}
    world.compact(is_forced=True)
    of.delete(asking("ana"), second)
    of.update(asking("ana"), third, Patch({"importance": 0.9}))
    before = context_of(world, "question")
    world.compact(is_forced=True)

    assert before.keys() == {"a question", "tea", "answer"}
    assert context_of(world, "question") == before
    of.update(asking("ana"), first, Patch({"session_id": "another"}))
    assert context_of(world, "question").keys() == {"a question"}
