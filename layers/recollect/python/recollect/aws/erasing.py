"""The erasure of a user, in DynamoDB: a fence on the head, and deletes that each move it."""

from collections.abc import Sequence
from typing import Any

from recollect import keys
from recollect.aws.attributes import Item as Attributes
from recollect.aws.attributes import number
from recollect.aws.errors import translating
from recollect.aws.log_items import head_values
from recollect.aws.table import Table, key_of
from recollect.model import Head
from recollect.ports import Item

_PARTITIONS = {"log": keys.log_partition, "memories": keys.user_partition}


class ErasureTable(Table):
    """What an erasure needs."""

    def begin_erasure(self, user_id: str, head: Head, seen: Head) -> None:
        """Move the head with one UpdateItem; see ``MemoryStore.begin_erasure``."""
        update = self._moving(user_id, head, seen, ("epoch", "schema_version"))
        with translating("begin the erasure"):
            self._client.update_item(**update, ReturnConsumedCapacity="TOTAL")

    def items(self, user_id: str, limit: int, after: Item | None = None) -> list[Item]:
        """List keys with one Query a partition, if they fit its 1 MB; see ``MemoryStore.items``."""
        found: list[Item] = []
        for part, partition_of in _PARTITIONS.items():
            if after is not None and after.part > part:
                continue
            start = after.key if after is not None and after.part == part else " "  # below every key of ours
            values: Attributes = {":pk": {"S": partition_of(user_id)}, ":start": {"S": start}}
            for page in self._query(
                "list what is kept",
                "pk = :pk AND sk > :start",
                values,
                ProjectionExpression="sk",
                Limit=limit + 1,  # the head may be among them
            ):
                found += [Item(part, item["sk"]["S"]) for item in page if item["sk"]["S"] != keys.HEAD]
                if len(found) >= limit:
                    return found[:limit]
        return found

    def erase_items(self, user_id: str, items: Sequence[Item], head: Head, seen: Head) -> None:
        """Delete with one TransactWriteItems; see ``MemoryStore.erase_items``."""
        actions: list[dict[str, Any]] = [
            {"Update": self._moving(user_id, head, seen, ("epoch", "schema_version", "erased"))}
        ]
        actions += [
            {"Delete": {"TableName": self._table_name, "Key": key_of(_PARTITIONS[item.part](user_id), item.key)}}
            for item in items
        ]
        with translating("erase"):
            self._client.transact_write_items(TransactItems=actions, ReturnConsumedCapacity="TOTAL")

    def end_erasure(self, user_id: str, seen: Head) -> None:
        """Delete the head; see ``MemoryStore.end_erasure``."""
        with translating("end the erasure"):
            self._client.delete_item(
                TableName=self._table_name,
                Key=key_of(keys.log_partition(user_id), keys.HEAD),
                ConditionExpression="epoch = :epoch AND schema_version = :schema",
                ExpressionAttributeValues={":epoch": {"S": seen.epoch}, ":schema": number(seen.schema_version)},
                ReturnConsumedCapacity="TOTAL",
            )

    def _moving(self, user_id: str, head: Head, seen: Head, unchanged: Sequence[str]) -> dict[str, Any]:
        new, old = head_values(head), head_values(seen)
        update: dict[str, Any] = {
            "TableName": self._table_name,
            "Key": key_of(keys.log_partition(user_id), keys.HEAD),
            "UpdateExpression": "SET " + ", ".join(f"#{name} = :{name}" for name in new),
            "ConditionExpression": "attribute_not_exists(pk)",
            "ExpressionAttributeNames": {f"#{name}": name for name in new},
            "ExpressionAttributeValues": {f":{name}": value for name, value in new.items()},
        }
        if seen.epoch:
            update["ConditionExpression"] = " AND ".join(f"#{name} = :seen_{name}" for name in unchanged)
            update["ExpressionAttributeValues"] |= {f":seen_{name}": old[name] for name in unchanged}
        return update
