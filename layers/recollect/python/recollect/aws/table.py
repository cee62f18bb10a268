"""One DynamoDB table: its name, and the reads that go on until everything is there."""

import random
import time
from collections.abc import Iterator
from typing import Any

from recollect import keys, telemetry
from recollect.aws.attributes import Item, number
from recollect.aws.errors import translating
from recollect.aws.log_items import due_values
from recollect.errors import Unavailable
from recollect.model import Head

BATCH_GET_MAX = 100
_BATCH_GET_ATTEMPTS = 5
_BATCH_GET_FIRST_WAIT_S = 0.05


class Table:
    """A table.

    Parameters
    ----------
    client : DynamoDB client
    table_name : str
    """

    def __init__(self, client: Any, table_name: str) -> None:
        self._client = client
        self._table_name = table_name

    def _query(self, operation: str, condition: str, values: Item, **more: Any) -> Iterator[list[Item]]:
        """Query page by page, strongly consistent unless said otherwise."""
        start: dict[str, Any] = {}
        while True:
            with translating(operation):
                page = self._client.query(
                    TableName=self._table_name,
                    KeyConditionExpression=condition,
                    ExpressionAttributeValues=values,
                    ReturnConsumedCapacity="TOTAL",
                    **{"ConsistentRead": True, **more},
                    **start,
                )
            yield page["Items"]
            if "LastEvaluatedKey" not in page:
                return
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def _get(self, operation: str, partition: str, sort_key: str) -> Item | None:
        """Get one item, strongly consistent."""
        with translating(operation):
            found = self._client.get_item(
                TableName=self._table_name,
                Key=key_of(partition, sort_key),
                ConsistentRead=True,
                ReturnConsumedCapacity="TOTAL",
            )
        item: Item | None = found.get("Item")
        return item

    def _batch_get(self, operation: str, wanted: list[Item]) -> list[Item]:
        """Get at most 100 items, strongly consistent, in any order."""
        items: list[Item] = []
        for attempt in range(_BATCH_GET_ATTEMPTS):
            if attempt:
                telemetry.count("aws_retries")
                time.sleep(random.random() * _BATCH_GET_FIRST_WAIT_S * 2 ** (attempt - 1))  # noqa: S311 - only jitter
            with translating(operation):
                page = self._client.batch_get_item(
                    RequestItems={self._table_name: {"Keys": wanted, "ConsistentRead": True}},
                    ReturnConsumedCapacity="TOTAL",
                )
            items += page["Responses"].get(self._table_name, [])
            wanted = page.get("UnprocessedKeys", {}).get(self._table_name, {}).get("Keys", [])
            if not wanted:
                return items
        raise Unavailable(f"could not {operation}: the table is busy; retry later")

    def _head_check(self, user_id: str, epoch: str) -> dict[str, Any]:
        """Make the part of a transaction that fails unless the head is of this epoch and no erasure has begun."""
        return {
            "ConditionCheck": {
                "TableName": self._table_name,
                "Key": key_of(keys.log_partition(user_id), keys.HEAD),
                "ConditionExpression": "epoch = :epoch AND attribute_not_exists(erasing_since)",
                "ExpressionAttributeValues": {":epoch": {"S": epoch}},
            }
        }

    def _scheduling(self, user_id: str, due_at_s: int | None, seen: Head) -> dict[str, Any]:
        """Make the update that says when a user is due; see ``MemoryStore.schedule``."""
        new: Item = {} if due_at_s is None else due_values(user_id, due_at_s)
        values = {f":{name}": value for name, value in new.items()}
        values |= {":seen_epoch": {"S": seen.epoch}, ":seen_seq": number(seen.seq)}
        condition = "attribute_not_exists(due_at)"
        if seen.due_at_s is not None:
            condition = "due_at = :seen_due_at"
            values[":seen_due_at"] = number(seen.due_at_s)
        return {
            "TableName": self._table_name,
            "Key": key_of(keys.log_partition(user_id), keys.HEAD),
            "UpdateExpression": "SET " + ", ".join(f"{name} = :{name}" for name in new)
            if new
            else "REMOVE due_at, due_shard",
            "ConditionExpression": f"epoch = :seen_epoch AND seq = :seen_seq AND {condition}",
            "ExpressionAttributeValues": values,
        }


def key_of(partition: str, sort_key: str) -> Item:
    """Make an item's key."""
    return {"pk": {"S": partition}, "sk": {"S": sort_key}}
