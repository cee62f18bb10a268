"""How many AWS calls a request takes, and what its failures become."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from moto import mock_aws
from recollect import keys, telemetry
from recollect.answers import SearchQuery
from recollect.aws import clients
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.aws.errors import translating
from recollect.aws.items import memory_item
from recollect.aws.log_items import entry_item, head_values, manifest_values, read_head
from recollect.aws.objects import S3ObjectStore
from recollect.aws.table import key_of
from recollect.changes import Embedded, columns_for
from recollect.compaction import DEFAULT
from recollect.controller import MemoryController
from recollect.errors import Conflict, NotFound, Unavailable
from recollect.filters import ACTIVE
from recollect.model import Change, Head, Operation, SegmentRef
from recollect.nominating import OnSimilar
from recollect.ranking import Mode

from tests.support.bucket import BUCKET_NAME, create_bucket
from tests.support.builders import asking, controller, memory, to_store
from tests.support.embedder import HashingEmbedder
from tests.support.table import TABLE_NAME, create_table
from tests.support.worlds import World


@pytest.fixture
def of(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryController]:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    with mock_aws():
        client = clients.dynamodb_client()
        create_table(client)
        made = controller(DynamoDBMemoryStore(client, TABLE_NAME))
        made.store(asking(), [to_store(content="green tea")])
        yield made


def counted(run: Any, service: str = "dynamodb") -> dict[str, float]:
    with telemetry.measured() as measures:
        run()
    return {name: count for name, count in measures.counts.items() if name.startswith(service) and "." in name}


@pytest.mark.parametrize("mode", Mode)
def test_a_warm_search_is_one_query_and_one_batch_get_and_a_put_for_its_use(of: MemoryController, mode: Mode) -> None:
    query = SearchQuery(text="tea", mode=mode)
    of.search("ana", query)

    reads = {"dynamodb.Query": 1, "dynamodb.BatchGetItem": 1}
    assert counted(lambda: of.search("ana", query)) == reads | {"dynamodb.PutItem": 1}
    assert counted(lambda: of.search("ana", replace(query, reinforces=False))) == reads


@pytest.mark.parametrize("mode", Mode)
def test_to_tell_why_a_memory_is_not_among_the_hits_costs_no_call_more(of: MemoryController, mode: Mode) -> None:
    outcomes = of.store(asking(), [to_store(content=text) for text in ("black coffee", "a red car", "tea for two")])
    ids = [outcome.memory_id for outcome in outcomes]
    of.delete(asking(), ids[0])
    query = SearchQuery(
        text="tea", mode=mode, k=1, reinforces=False, explained_ids=(*ids, "01HZZZZZZZZZZZZZZZZZZZZZZZ")
    )
    of.search("ana", query)

    assert counted(lambda: of.search("ana", query)) == {"dynamodb.Query": 1, "dynamodb.BatchGetItem": 1}
    assert counted(lambda: of.search("bob", query)) == {"dynamodb.Query": 1}


def test_a_context_costs_what_a_search_does(of: MemoryController) -> None:
    of.store(asking(), [to_store("Ana drinks no coffee", pinned=True)])

    assert counted(lambda: of.context("ana", SearchQuery(text="tea"), 500)) == {
        "dynamodb.Query": 1,
        "dynamodb.BatchGetItem": 1,
        "dynamodb.PutItem": 1,
    }


def test_a_search_that_finds_nothing_is_one_query(of: MemoryController) -> None:
    assert counted(lambda: of.search("bob", SearchQuery(text="tea"))) == {"dynamodb.Query": 1}


def test_a_listing_is_one_query_and_one_batch_get(of: MemoryController) -> None:
    assert counted(lambda: of.list_memories("ana", ACTIVE, 10)) == {"dynamodb.Query": 1, "dynamodb.BatchGetItem": 1}


def test_a_store_is_one_query_and_one_transaction(of: MemoryController) -> None:
    assert counted(lambda: of.store(asking(), [to_store(content="coffee")])) == {
        "dynamodb.Query": 1,
        "dynamodb.TransactWriteItems": 1,
    }


def test_a_store_of_what_is_there_counts_a_use_and_writes_nothing_else(of: MemoryController) -> None:
    assert counted(lambda: of.store(asking(), [to_store(content="green tea")])) == {
        "dynamodb.Query": 1,
        "dynamodb.PutItem": 1,
    }


def test_what_was_is_read_in_a_bounded_number_of_calls(of: MemoryController) -> None:
    memory_id = of.list_memories("ana", ACTIVE, 1).memories[0].memory_id

    assert counted(lambda: of.get("ana", memory_id)) == {"dynamodb.Query": 1, "dynamodb.BatchGetItem": 1}
    assert counted(lambda: of.versions("ana", memory_id, 50)) == {"dynamodb.Query": 2, "dynamodb.BatchGetItem": 1}
    assert counted(lambda: of.events("ana", 50)) == {"dynamodb.Query": 2}
    assert counted(lambda: of.events("bob", 50)) == {"dynamodb.Query": 1}


def test_an_erasure_deletes_in_transactions(of: MemoryController) -> None:
    for number in range(30):
        of.store(asking(), [to_store(f"fact {number}", on_similar=OnSimilar.CREATE)])

    assert counted(lambda: of.erase("ana")) == {
        "dynamodb.GetItem": 1,
        "dynamodb.UpdateItem": 1,
        "dynamodb.Query": 1 + 2 * 2 + 1,  # what there is, twice that nothing is left; both partitions each time
        "dynamodb.TransactWriteItems": 3,
        "dynamodb.DeleteItem": 1,
    }


def test_a_compaction_and_a_cold_search_after_it_take_few_calls(of: MemoryController) -> None:
    client = clients.s3_client()
    create_bucket(client)
    world = World(
        DynamoDBMemoryStore(clients.dynamodb_client(), TABLE_NAME), S3ObjectStore(lambda: client, BUCKET_NAME)
    )
    for number in range(119):
        of.store(asking(), [to_store(f"fact {number}", on_similar=OnSimilar.CREATE)])
    world.policy = DEFAULT

    done = world.compactor()
    assert counted(lambda: done.compact("ana", is_forced=True), "") == {
        "dynamodb.GetItem": 2,
        "dynamodb.Query": 2,
        "s3.PutObject": 2,  # segment and archive
        "dynamodb.UpdateItem": 1,
        "dynamodb.TransactWriteItems": 2,  # deletions, 99 in each
        "s3.ListObjectsV2": 1,
    }
    cold = world.instance()
    assert counted(lambda: cold.search("ana", SearchQuery(text="tea", reinforces=False)), "") == {
        "dynamodb.Query": 1,
        "s3.GetObject": 1,
        "dynamodb.BatchGetItem": 1,
    }
    assert counted(lambda: cold.search("ana", SearchQuery(text="tea", reinforces=False)), "") == {
        "dynamodb.Query": 1,
        "dynamodb.BatchGetItem": 1,
    }


@pytest.mark.parametrize(("segments", "most"), [(0, 1_024), (40, 2_048)])
def test_the_head_stays_small(segments: int, most: int) -> None:
    """A commit writes it again; 40 segments are more than a million memories take."""
    refs = tuple(SegmentRef(f"01HF{number:022d}", 2**32 - 1, 2**48) for number in range(segments))
    head = Head(
        seq=10**9,
        epoch="01HF0000000000000000000001",
        embedder="amazon.titan-embed-text-v2:0/1024/int8",
        dimension=1_024,
        compacted_seq=10**9,
        folded_ms=10**13,
        manifest=refs,
        revision=10**6,
    )
    item = {**key_of(keys.log_partition("\U0001f600" * 256), keys.HEAD), **head_values(head), **manifest_values(head)}

    assert item_bytes(item) - len(keys.log_partition("\U0001f600" * 256).encode()) < most
    assert read_head(item) == head


def item_bytes(item: Any) -> int:
    """Size an item as DynamoDB does: UTF-8 names and strings, bytes, numbers at most 21."""
    sizes = {"S": lambda text: len(text.encode()), "N": lambda text: min(len(text), 21), "B": len}
    sizes["L"] = lambda values: 3 + sum(1 + sizes[kind](value) for one in values for kind, value in one.items())
    return sum(len(name) + sizes[kind](value) for name, typed in item.items() for kind, value in typed.items())


def test_a_short_memory_takes_one_write_unit_for_its_entry_and_one_for_itself() -> None:
    content = "Ana moved to Lisbon last spring, works from home on Fridays, and prefers window seats on flights."
    short = memory(content, tags=("preference", "travel"), session_id="2026-05-01/7", actor="Ana", occurred_at_ms=1)
    embedded = Embedded(HashingEmbedder(dimension=384).embed([content])[0], "all-minilm-l6-v2-int8")
    change = Change(
        operation=Operation.CREATE,
        memory_id=short.memory_id,
        version=1,
        at_ms=1,
        reason="nothing stored says the same",
        columns=columns_for(short, embedded),
        after=short,
    )
    user_id = "mia+test@example.invalid"

    assert item_bytes(entry_item(user_id, 123_456, change, user_id)) <= 1024
    assert item_bytes(memory_item(user_id, short, "MEM#" + short.memory_id)) <= 1024


def client_error(code: str, status: int = 400, reasons: tuple[str, ...] = ()) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": "a canary message"},
        "ResponseMetadata": {"HTTPStatusCode": status},
        "CancellationReasons": [{"Code": reason} for reason in reasons],
    }
    return ClientError(response, "Operation")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (client_error("ConditionalCheckFailedException"), Conflict),
        (client_error("TransactionCanceledException", reasons=("None", "ConditionalCheckFailed")), Conflict),
        (client_error("TransactionCanceledException", reasons=("TransactionConflict",)), Conflict),
        (client_error("TransactionCanceledException", reasons=("None", "ThrottlingError")), Unavailable),
        (client_error("PreconditionFailed", 412), Conflict),
        (client_error("ConditionalRequestConflict", 409), Conflict),
        (client_error("ProvisionedThroughputExceededException"), Unavailable),
        (client_error("ThrottlingException", 429), Unavailable),
        (client_error("SlowDown", 503), Unavailable),
        (client_error("SomethingNew", 500), Unavailable),
        (client_error("NoSuchKey", 404), NotFound),
        (EndpointConnectionError(endpoint_url="http://x"), Unavailable),
        (ReadTimeoutError(endpoint_url="http://x"), Unavailable),
    ],
)
def test_weather_and_lost_races_become_kinds_that_a_caller_can_act_on(error: Exception, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught, translating("do it"):
        raise error

    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("code", ["AccessDeniedException", "ValidationException", "ResourceNotFoundException"])
def test_a_mistake_of_ours_is_not_weather(code: str) -> None:
    with pytest.raises(ClientError), translating("do it"):
        raise client_error(code)
