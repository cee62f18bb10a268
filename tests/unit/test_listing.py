import json

import pytest
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.errors import InvalidInput
from recollect.filters import ACTIVE
from recollect.model import MemoryType
from recollect.nominating import OnSimilar
from recollect.ranking import Mode

from tests.support.asked import stored, where
from tests.support.builders import Clock, asking, controller
from tests.support.inmemory import InMemoryMemoryStore


def test_a_listing_walks_through_everything_once_while_others_write() -> None:  # case R2
    clock = Clock()
    store = InMemoryMemoryStore()
    of, writer = controller(store, clock=clock), controller(store, clock=clock, prefix="01HFB")
    text = "three kilobytes " * 190
    ids: set[str] = set()
    for start in range(0, 2_345, 67):
        clock.now_ms += 1
        contents = (f"{start + number} {text}" for number in range(67))
        ids |= set(stored(of, *contents, on_similar=OnSimilar.CREATE))

    seen: list[str] = []
    cursor = None
    while True:
        page = of.list_memories("ana", ACTIVE, 100, cursor)
        seen += [one.memory_id for one in page.memories]
        clock.now_ms += 1
        stored(writer, f"meanwhile {len(seen)}")
        writer.update(asking(), seen[-1], Patch({"importance": 0.9}))
        cursor = page.cursor
        if cursor is None:
            break

    assert len(seen) == len(set(seen)) == len(ids) == 2_345
    assert set(seen) == ids


def test_a_page_that_would_be_too_large_is_shorter_and_goes_on() -> None:
    of = controller()
    metadata = json.dumps({"note": "x" * 16_000})
    for number in range(0, 120, 20):
        stored(of, *(f"{number + place}" + "漢" * 15_990 for place in range(20)), metadata_json=metadata)

    first = of.list_memories("ana", ACTIVE, 200)
    rest = of.list_memories("ana", ACTIVE, 200, first.cursor)

    assert 0 < len(first.memories) < 120
    assert len(first.memories) + len(rest.memories) == 120
    result = of.search("ana", SearchQuery(text="漢", k=100, mode=Mode.LEXICAL))
    assert result.is_truncated
    assert 0 < len(result.hits) < 100


def test_pages_end_and_refuse_foreign_cursors() -> None:
    of = controller()
    stored(of, "one", "two", "three")
    cursor = of.list_memories("ana", ACTIVE, 2).cursor

    assert of.list_memories("ana", ACTIVE, 3).cursor is None
    with pytest.raises(InvalidInput):
        of.list_memories("bob", ACTIVE, 2, cursor)
    with pytest.raises(InvalidInput):
        of.list_memories("ana", where("agent_id", "eq", "x"), 2, cursor)


def test_stats_count_by_type_tag_and_status() -> None:
    of = controller()
    stored(of, "a", "b", tags=("x",))
    stored(of, "c", type=MemoryType.EPISODIC, tags=("x", "y"))

    stats = of.stats("ana")

    assert (stats.total, stats.seq) == (3, 3)
    assert stats.by_type == {"semantic": 2, "episodic": 1}
    assert stats.by_tag == {"x": 3, "y": 1}
    assert stats.by_status == {"active": 3}
