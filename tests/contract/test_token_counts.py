"""What every count of tokens must keep to, in memory and on DynamoDB alike."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from recollect import keys
from recollect.aws import clients
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.aws.token_counts import DynamoDBTokenCounts
from recollect.budget import TokenCounts
from recollect.errors import Conflict
from recollect.ports import MemoryStore

from tests.contract.conftest import Make
from tests.support.builders import asking, controller, to_store
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.inmemory_transcripts import InMemoryTokenCounts
from tests.support.table import TABLE_NAME

DAY = "2026-05-01"


@pytest.fixture(params=["inmemory", "dynamodb"])
def both(request: pytest.FixtureRequest, make: Make) -> tuple[MemoryStore, TokenCounts]:
    store = make.store(request.param)
    if isinstance(store, InMemoryMemoryStore):
        return store, InMemoryTokenCounts(store)
    assert isinstance(store, DynamoDBMemoryStore)
    return store, DynamoDBTokenCounts(clients.dynamodb_client(), TABLE_NAME)


@pytest.fixture
def counts(both: tuple[MemoryStore, TokenCounts]) -> TokenCounts:
    return both[1]


@pytest.fixture
def epoch(both: tuple[MemoryStore, TokenCounts]) -> str:
    controller(both[0]).store(asking(), [to_store("tea")])
    return both[0].read_head("ana").epoch


def test_nothing_was_used_before(counts: TokenCounts) -> None:
    assert counts.used("ana", DAY) == 0


def test_tokens_of_a_user_and_day_are_added_up(counts: TokenCounts, epoch: str) -> None:
    counts.add("ana", epoch, DAY, {"input": 70, "output": 5})
    counts.add("ana", epoch, DAY, {"input": 20})
    counts.add("ana", epoch, "2026-05-02", {"output": 1})

    assert [counts.used(*of) for of in [("ana", DAY), ("ana", "2026-05-02"), ("bob", DAY)]] == [95, 1, 0]


def test_no_count_is_lost_when_several_add_at_once(counts: TokenCounts, epoch: str) -> None:
    def add(_: int) -> int:
        refused = 0
        while True:
            try:
                counts.add("ana", epoch, DAY, {"input": 1, "output": 1})
                return refused
            except Conflict:
                refused += 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(20)))

    assert counts.used("ana", DAY) == 40


@pytest.mark.parametrize("is_erasing", [True, False])
def test_nothing_is_counted_for_a_life_that_is_over(
    both: tuple[MemoryStore, TokenCounts], epoch: str, is_erasing: bool
) -> None:
    store, counts = both
    seen = store.read_head("ana")
    store.begin_erasure("ana", replace(seen, epoch="01HZ", erasing_since_ms=1), seen)

    with pytest.raises(Conflict):
        counts.add("ana", "01HZ" if is_erasing else epoch, DAY, {"input": 1})

    assert counts.used("ana", DAY) == 0


def test_an_erasure_takes_the_counts_along(both: tuple[MemoryStore, TokenCounts], epoch: str) -> None:
    store, counts = both
    counts.add("ana", epoch, DAY, {"input": 1})

    erasure = controller(store, prefix="01HG").erase("ana")

    assert erasure.counts["token_counts"] == 1
    assert counts.used("ana", DAY) == 0


def test_a_count_goes_by_itself_after_ninety_days(aws: None, make: Make) -> None:
    store = make.store("dynamodb")
    controller(store).store(asking(), [to_store("tea")])
    client: Any = clients.dynamodb_client()
    counts = DynamoDBTokenCounts(client, TABLE_NAME)
    counts.add("ana", store.read_head("ana").epoch, DAY, {"input": 1})

    place = {"pk": {"S": keys.user_partition("ana")}, "sk": {"S": keys.tokens(DAY)}}
    item = client.get_item(TableName=TABLE_NAME, Key=place)["Item"]

    assert item["ttl"] == {"N": "1785369600"}  # 2026-07-30
