"""Compaction in DynamoDB: the manifest in the head, and the deletion of what was folded."""

from collections.abc import Sequence
from typing import Any

from recollect import keys
from recollect.aws.attributes import number
from recollect.aws.errors import translating
from recollect.aws.log_items import manifest_values
from recollect.aws.table import Table, key_of
from recollect.model import Head
from recollect.ports import Item


class CompactionTable(Table):
    """What a compaction needs."""

    def commit_manifest(self, user_id: str, head: Head, seen: Head) -> None:
        """Change the head with one UpdateItem; see ``MemoryStore.commit_manifest``."""
        new = manifest_values(head)
        seen_values = {":seen_epoch": {"S": seen.epoch}, ":seen_schema": number(seen.schema_version)}
        condition = "attribute_not_exists(revision)"
        if seen.revision:
            condition = "revision = :seen_revision"
            seen_values[":seen_revision"] = number(seen.revision)
        with translating("commit the manifest"):
            self._client.update_item(
                TableName=self._table_name,
                Key=key_of(keys.log_partition(user_id), keys.HEAD),
                UpdateExpression="SET " + ", ".join(f"{name} = :{name}" for name in new),
                ConditionExpression=f"epoch = :seen_epoch AND schema_version = :seen_schema AND {condition}",
                ExpressionAttributeValues={**{f":{name}": value for name, value in new.items()}, **seen_values},
                ReturnConsumedCapacity="TOTAL",
            )

    def drop_items(self, user_id: str, items: Sequence[Item], seen: Head) -> None:
        """Delete with one TransactWriteItems; see ``MemoryStore.drop_items``."""
        check: dict[str, Any] = {
            "TableName": self._table_name,
            "Key": key_of(keys.log_partition(user_id), keys.HEAD),
            "ConditionExpression": "epoch = :epoch AND schema_version = :schema",
            "ExpressionAttributeValues": {":epoch": {"S": seen.epoch}, ":schema": number(seen.schema_version)},
        }
        actions: list[dict[str, Any]] = [{"ConditionCheck": check}]
        actions += [
            {"Delete": {"TableName": self._table_name, "Key": key_of(keys.log_partition(user_id), item.key)}}
            for item in items
        ]
        with translating("delete what was folded"):
            self._client.transact_write_items(TransactItems=actions, ReturnConsumedCapacity="TOTAL")
