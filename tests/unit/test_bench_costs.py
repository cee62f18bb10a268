"""The arithmetic of the benchmark: sizes, units, prices, and the memories that it makes up."""

import pytest
from recollect.aws.attributes import Item
from recollect.segments.building import from_entries
from recollect.segments.layout import encode

from tests.bench.account import Account
from tests.bench.compaction import run
from tests.bench.costs import Usage, data_dollars, duration_ms, function_dollars, mean, usage_of
from tests.bench.generated import DIMENSION, EMBEDDER, User, entries_of, word
from tests.bench.prices import Prices, Waits
from tests.bench.units import get_units, item_bytes, query_units, write_units
from tests.support.segments import assert_same_columns


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "héllo"}, 6),
        ({"N": "0"}, 1),
        ({"N": "7"}, 2),
        ({"N": "1700000000123"}, 8),
        ({"N": "17000"}, 2),
        ({"N": "-0.25"}, 3),
        ({"B": bytes(384)}, 384),
        ({"BOOL": True}, 1),
        ({"L": [{"S": "a"}, {"S": "bc"}]}, 3 + 2 + 3),
        ({"M": {"a": {"N": "12"}}}, 3 + 1 + 1 + 2),
    ],
)
def test_an_attribute_counts_its_name_and_its_value(value: dict[str, object], size: int) -> None:
    assert item_bytes({"name": value}) == 4 + size


def test_a_query_is_read_as_a_whole_and_other_items_one_by_one() -> None:
    assert query_units([]) == 1
    assert query_units([1_000] * 8) == 2
    assert query_units([4_096]) == 1
    assert get_units([1_000] * 8) == 8
    assert get_units([0, 4_097]) == 3


def test_writes_are_counted_by_the_kilobyte_and_twice_in_a_transaction() -> None:
    assert write_units([1, 1_024, 1_025]) == 4
    assert write_units([1, 1_024, 1_025], is_transaction=True) == 8


def test_dollars_are_those_of_a_million_requests() -> None:
    prices = Prices(write_units=1.0, read_units=0.1, s3_puts=5.0, s3_gets=0.4, lambda_requests=0.2, api_requests=1.0)
    used = Usage(read_units=11, write_units=2, s3_gets=10, s3_puts=1)

    assert data_dollars(used, prices) == pytest.approx(1.1 + 2.0 + 4.0 + 5.0)
    assert data_dollars(Usage(read_units=8)) == pytest.approx(1.0)  # at 0.125 for a million


def test_a_function_is_billed_by_gigabyte_and_second() -> None:
    one_second = function_dollars(1_000.0) - function_dollars(0.0)

    assert function_dollars(0.0) == pytest.approx(1.2)
    assert function_dollars(0.0, is_api=False) == pytest.approx(0.2)
    assert one_second == pytest.approx(13.3334 * 1_769 / 1_024)


def test_objects_of_a_load_are_waited_for_once_and_milliseconds_are_billed_whole() -> None:
    waits = Waits(dynamodb_ms=4.0, transaction_ms=10.0, s3_ms=30.0, s3_megabytes_per_s=100.0)
    used = Usage(s3_gets=12, dynamodb_calls=3, transactions=1, s3_megabytes=10.0, own_ms=5.5)

    assert duration_ms(used, embed_ms=4.0, waits=waits) == 162
    assert duration_ms(Usage(own_ms=0.1), waits=waits) == 1


def test_a_share_of_many_requests_is_what_few_used_divided_among_them() -> None:
    used = [Usage(read_units=10, write_units=1), Usage(read_units=20, write_units=3)]

    assert mean(used) == Usage(read_units=15, write_units=2)
    assert mean(used, count=10) == Usage(read_units=3, write_units=0.4)


def test_an_account_counts_what_is_asked_of_it() -> None:
    account = Account()
    key = {"pk": {"S": "LOG#ana"}, "sk": {"S": "LOG#HEAD"}}
    put = {"Put": {"TableName": "t", "Item": {**key, "data": {"B": bytes(1_500)}}}}
    change = {
        "Key": key,
        "UpdateExpression": "SET #seq = :seq",
        "ExpressionAttributeNames": {"#seq": "seq"},
        "ExpressionAttributeValues": {":seq": {"N": "1"}},
    }

    account.dynamodb.transact_write_items(TransactItems=[put])
    account.dynamodb.transact_write_items(TransactItems=[{"Update": change}, {"ConditionCheck": {"Key": key}}])
    account.dynamodb.transact_write_items(TransactItems=[{"Delete": {"Key": key}}])
    account.dynamodb.get_item(Key=key)
    account.s3.put_object(Key="k", Body=bytes(10))
    account.s3.get_object(Key="k", Range="bytes=0-99")
    used = usage_of(account.reset())

    assert used == Usage(
        read_units=1,
        write_units=4 + 8 + 4,
        s3_gets=1,
        s3_puts=1,
        dynamodb_calls=1,
        transactions=3,
        s3_megabytes=10 / 1e6,
    )
    assert account.meter.requests.total() == 0


def test_a_query_goes_on_where_its_page_ends() -> None:
    account = Account()
    for number in range(4):
        item: Item = {"pk": {"S": "LOG#ana"}, "sk": {"S": f"LOG#{number}"}, "data": {"B": bytes(600_000)}}
        account.dynamodb.put_item(Item=item)
    values: Item = {":pk": {"S": "LOG#ana"}, ":first": {"S": "LOG#1"}, ":head": {"S": "LOG#9"}}

    first = account.dynamodb.query(ExpressionAttributeValues=values)
    rest = account.dynamodb.query(ExpressionAttributeValues=values, ExclusiveStartKey=first["LastEvaluatedKey"])

    assert [item["sk"]["S"] for item in first["Items"]] == ["LOG#1", "LOG#2"]
    assert [item["sk"]["S"] for item in rest["Items"]] == ["LOG#3"]
    assert "LastEvaluatedKey" not in rest


def test_a_run_of_stores_loses_no_row_and_writes_each_a_few_times() -> None:
    done = run(100_000)

    assert sum(done.segments) + done.tail == 100_000
    assert done.written <= 6 * 100_000
    assert done.folded == 100_000 // 256


def test_made_up_columns_are_those_that_a_fold_of_the_same_memories_makes() -> None:
    segment = User(1_000).segment(300)

    assert_same_columns(dict(segment.columns), from_entries(entries_of(segment), EMBEDDER, DIMENSION))
    assert encode(User(1_000).segment(300).columns, segment.about) == encode(segment.columns, segment.about)


def test_every_rank_has_a_word_of_its_own() -> None:
    assert len({word(number) for number in range(50_000)}) == 50_000
