"""Many instances that write to one user at once, each straight on the database: one winner, nothing lost, no gap."""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import cycle, islice
from typing import TypeVar

import pytest
from recollect import keys, wiring
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.changes import Outcome, Patch
from recollect.controller import MemoryController
from recollect.errors import StaleVersion, Unavailable
from recollect.filters import EVERYTHING
from recollect.nominating import OnSimilar

from tests.e2e.conftest import Database
from tests.support.builders import asking, controller, to_store
from tests.support.pictures import all_events, items_of
from tests.support.table import TABLE_NAME

WRITERS = 8
FACTS = 200
SIZES = (1, 4)  # of requests, in turn
CALLERS = 50

T = TypeVar("T")
Start = Callable[[], MemoryController]


@pytest.fixture(scope="module")
def start(database: Database) -> Iterator[Start]:
    """Start an instance, with partitions, time, ids and waits of its own; a client serves a few of them."""
    clients = [database.client() for _ in range(WRITERS)]
    numbers = iter(range(1_000_000))

    def instance() -> MemoryController:
        store = DynamoDBMemoryStore(clients[next(numbers) % WRITERS], TABLE_NAME)
        return controller(store, around=wiring.surroundings())

    yield instance
    for client in clients:
        client.close()


@pytest.fixture
def user_id() -> str:
    return f"user-{uuid.uuid4()}"


def test_writers_of_1600_facts_lose_nothing_and_leave_no_gap(database: Database, start: Start, user_id: str) -> None:
    def write(writer: int) -> list[Outcome]:
        of = start()
        facts = iter([to_store(f"fact {fact} of {writer}", on_similar=OnSimilar.CREATE) for fact in range(FACTS)])
        outcomes: list[Outcome] = []
        for size in cycle(SIZES):
            batch = list(islice(facts, size))
            if not batch:
                return outcomes
            outcomes += patient(partial(of.store, asking(user_id), batch))
        return outcomes

    with ThreadPoolExecutor(WRITERS) as pool:
        outcomes = [outcome for written in pool.map(write, range(WRITERS)) for outcome in written]

    total = WRITERS * FACTS
    assert Counter(outcome.outcome for outcome in outcomes) == {"created": total}
    items = items_of(database.client(), user_id)
    log = [item for item in items if keys.kind_of(item["sk"]["S"]) == "log_entries" and item["sk"]["S"] != keys.HEAD]
    assert [keys.seq_of(item["sk"]["S"]) for item in log] == list(range(1, total + 1))
    assert len({item["memory_id"]["S"] for item in log}) == total
    cold = start()
    assert [entry.seq for entry in all_events(cold, user_id)] == list(range(1, total + 1))
    assert everything(cold, user_id) == {
        outcome.memory_id: f"fact {number % FACTS} of {number // FACTS}" for number, outcome in enumerate(outcomes)
    }
    assert cold.stats(user_id).total == total


def test_fifty_instances_that_store_one_sentence_make_one_memory(start: Start, user_id: str) -> None:
    sentence = to_store("The spare key is with the neighbour")

    def write(of: MemoryController) -> Outcome:
        return patient(lambda: of.store(asking(user_id), [sentence])[0])

    with ThreadPoolExecutor(CALLERS) as pool:
        outcomes = list(pool.map(write, [start() for _ in range(CALLERS)]))

    assert Counter(outcome.outcome for outcome in outcomes) == {"created": 1, "unchanged": CALLERS - 1}
    cold = start()
    assert list(everything(cold, user_id)) == [outcomes[0].memory_id]
    assert [entry.seq for entry in all_events(cold, user_id)] == [1]


def test_fifty_updates_that_expect_one_version_have_one_winner(start: Start, user_id: str) -> None:
    memory_id = start().store(asking(user_id), [to_store("The spare key is with the neighbour")])[0].memory_id

    def update(number: int) -> float | None:
        of, importance = start(), number / CALLERS
        try:
            patient(lambda: of.update(asking(user_id), memory_id, Patch({"importance": importance}), 1))
        except StaleVersion:
            return None
        return importance

    with ThreadPoolExecutor(CALLERS) as pool:
        written = [importance for importance in pool.map(update, range(CALLERS)) if importance is not None]

    assert len(written) == 1
    cold = start()
    memory = cold.get(user_id, memory_id)
    assert (memory.version, memory.importance) == (2, written[0])
    assert [version.memory.version for version in cold.versions(user_id, memory_id, 9).versions] == [2, 1]
    assert [entry.seq for entry in all_events(cold, user_id)] == [1, 2]


def patient(call: Callable[[], T]) -> T:
    """Call as a client should: again when the service says that it is not available now."""
    for _ in range(9):
        try:
            return call()
        except Unavailable as error:
            time.sleep(error.retry_after_s)
    return call()


def everything(of: MemoryController, user_id: str) -> dict[str, str]:
    """List contents by id; an id that came twice would show as a gap."""
    found: dict[str, str] = {}
    cursor: str | None = None
    while True:
        page = of.list_memories(user_id, EVERYTHING, 200, cursor)
        assert found.keys().isdisjoint(memory.memory_id for memory in page.memories)
        found |= {memory.memory_id: memory.content for memory in page.memories}
        cursor = page.cursor
        if cursor is None:
            return found
