"""The memory store on one DynamoDB table. Talks; decides nothing beyond which error something is.

Reads are strongly consistent. A commit is one ``TransactWriteItems`` conditioned on the head.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect import keys
from recollect.aws.attributes import Item
from recollect.aws.compacting import CompactionTable
from recollect.aws.erasing import ErasureTable
from recollect.aws.errors import translating
from recollect.aws.items import answer_item, memory_item, read_answer, read_memory, version_item
from recollect.aws.log_items import entry_item, head_values, read_entry, read_head, read_touch, touch_item
from recollect.aws.table import BATCH_GET_MAX, key_of
from recollect.aws.trail import TrailTable
from recollect.errors import CorruptData
from recollect.model import Change, Entry, Head, Memory, Operation, Touch
from recollect.ports import StoredAnswer, Version


class DynamoDBMemoryStore(TrailTable, ErasureTable, CompactionTable):
    """Users' logs, heads and memories in DynamoDB.

    Parameters
    ----------
    client : DynamoDB client
    table_name : str
    """

    def read_log(self, user_id: str, after_seq: int, touched_ms: int = 0) -> tuple[list[Entry | Touch], Head]:
        """Read what is new and the head with one Query; see ``MemoryStore.read_log``."""
        records: list[Entry | Touch] = []
        head = Head()
        values = {
            ":pk": {"S": keys.log_partition(user_id)},
            ":first": {"S": keys.touch(after_seq, touched_ms)},
            ":head": {"S": keys.HEAD},
        }
        for page in self._query("read the log", "pk = :pk AND sk BETWEEN :first AND :head", values):
            for item in page:
                if item["sk"]["S"] == keys.HEAD:
                    head = read_head(item)
                else:
                    records.append(read_touch(item) if keys.is_touch(item["sk"]["S"]) else read_entry(item))
        return records, head

    def append(
        self,
        user_id: str,
        head: Head,
        seen: Head,
        changes: Sequence[Change],
        by: str,
        answer: StoredAnswer | None,
    ) -> None:
        """Commit with one TransactWriteItems; see ``MemoryStore.append``."""
        actions = [self._head_action(user_id, head, seen)]
        for seq, change in enumerate(changes, start=seen.seq + 1):
            actions.append(self._put(entry_item(user_id, seq, change, by)))
            actions += self._memory_actions(user_id, change, seq)
        if answer is not None:
            actions.append(self._answer_action(user_id, answer))
        with translating("commit"):
            self._client.transact_write_items(TransactItems=actions, ReturnConsumedCapacity="TOTAL")

    def touch(self, user_id: str, touch: Touch, expires_at_s: int) -> None:
        """Keep a touch with one PutItem; see ``MemoryStore.touch``."""
        with translating("count a use"):
            self._client.put_item(
                TableName=self._table_name,
                Item=touch_item(user_id, touch, expires_at_s),
                ReturnConsumedCapacity="TOTAL",
            )

    def fetch(self, user_id: str, memory_ids: Sequence[str]) -> Mapping[str, Memory]:
        """Read memories with BatchGetItem, at most 100 a call; see ``MemoryStore.fetch``."""
        memories: dict[str, Memory] = {}
        unique = list(dict.fromkeys(memory_ids))
        for start in range(0, len(unique), BATCH_GET_MAX):
            wanted = [
                key_of(keys.user_partition(user_id), keys.memory(memory_id))
                for memory_id in unique[start : start + BATCH_GET_MAX]
            ]
            for item in self._batch_get("read memories", wanted):
                memory = read_memory(item)
                memories[memory.memory_id] = memory
        return memories

    def stored_answer(self, user_id: str, key: str) -> StoredAnswer | None:
        """Read a stored answer with one GetItem; see ``MemoryStore.stored_answer``."""
        item = self._get("read the stored answer", keys.user_partition(user_id), keys.idempotency(key))
        return None if item is None else read_answer(key, item)

    def read_head(self, user_id: str) -> Head:
        """Read the head with one GetItem; see ``MemoryStore.read_head``."""
        item = self._get("read the head", keys.log_partition(user_id), keys.HEAD)
        return Head() if item is None else read_head(item)

    def _head_action(self, user_id: str, head: Head, seen: Head) -> dict[str, Any]:
        place = key_of(keys.log_partition(user_id), keys.HEAD)
        action: dict[str, Any] = {"TableName": self._table_name, "Key": place}
        names: dict[str, str] = {}
        values: Item = {}
        if seen.epoch:
            unchanged = {name: head_values(seen)[name] for name in ("seq", "epoch", "schema_version")}
            action["ConditionExpression"] = " AND ".join(f"#{name} = :seen_{name}" for name in unchanged)
            names |= {f"#{name}": name for name in unchanged}
            values |= {f":seen_{name}": value for name, value in unchanged.items()}
        else:
            action["ConditionExpression"] = "attribute_not_exists(pk)"
        kind = "ConditionCheck"
        if head.seq != seen.seq:
            kind = "Update"
            new = head_values(head)
            action["UpdateExpression"] = "SET " + ", ".join(f"#{name} = :{name}" for name in new)
            names |= {f"#{name}": name for name in new}
            values |= {f":{name}": value for name, value in new.items()}
        if names:
            action |= {"ExpressionAttributeNames": names, "ExpressionAttributeValues": values}
        return {kind: action}

    def _memory_actions(self, user_id: str, change: Change, seq: int) -> list[dict[str, Any]]:
        actions: list[dict[str, Any]] = []
        if change.before is not None:
            actions.append(self._put(version_item(user_id, Version(change.before, ended_seq=seq))))
        if change.after is not None:
            after = replace(change.after, seq=seq)
            actions.append(self._put(memory_item(user_id, after, keys.memory(change.memory_id))))
        elif change.before is not None:
            place = key_of(keys.user_partition(user_id), keys.memory(change.memory_id))
            actions.append({"Delete": {"TableName": self._table_name, "Key": place}})
        elif change.operation not in (Operation.PURGE, Operation.EXPIRE, Operation.EMBED):
            raise CorruptData("a change without a memory before or after")
        return actions

    def _answer_action(self, user_id: str, answer: StoredAnswer) -> dict[str, Any]:
        put = self._put(answer_item(user_id, answer))
        put["Put"] |= {
            "ConditionExpression": "attribute_not_exists(pk) OR #ttl <= :now",
            "ExpressionAttributeNames": {"#ttl": "ttl"},
            "ExpressionAttributeValues": {":now": {"N": str(answer.created_at_s)}},
        }
        return put

    def _put(self, item: Item) -> dict[str, Any]:
        return {"Put": {"TableName": self._table_name, "Item": item}}
