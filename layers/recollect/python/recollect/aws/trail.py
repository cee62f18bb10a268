"""What was, in DynamoDB: earlier versions and log entries, read and redacted."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from recollect import keys
from recollect.aws.attributes import Item
from recollect.aws.errors import translating
from recollect.aws.items import read_memory, read_version, version_item
from recollect.aws.log_items import COLUMN_NAMES, read_entry
from recollect.aws.table import BATCH_GET_MAX, Table, key_of
from recollect.errors import Conflict
from recollect.model import Entry
from recollect.ports import Version

_BETWEEN = "pk = :pk AND sk BETWEEN :first AND :last"


class TrailTable(Table):
    """The trail of users' memories."""

    def versions(self, user_id: str, memory_id: str, below: int | None, limit: int) -> list[Version]:
        """Read earlier versions with one Query, if they fit its 1 MB; see ``MemoryStore.versions``."""
        last = keys.last_version(memory_id) if below is None else keys.version(memory_id, below - 1)
        values = {
            ":pk": {"S": keys.user_partition(user_id)},
            ":first": {"S": keys.version(memory_id, 0)},
            ":last": {"S": last},
        }
        found: list[Version] = []
        for page in self._query("read versions", _BETWEEN, values, ScanIndexForward=False, Limit=limit):
            found += [read_version(item) for item in page]
            if len(found) >= limit:
                break
        return found[:limit]

    def every_version(self, user_id: str) -> Iterator[Version]:
        """Query all memories, then all versions; see ``MemoryStore.every_version``."""
        for first in (keys.memories(), keys.versions()):
            values = {":pk": {"S": keys.user_partition(user_id)}, ":first": {"S": first}}
            for page in self._query("read memories", "pk = :pk AND begins_with(sk, :first)", values):
                for item in page:
                    yield read_version(item) if "ended_seq" in item else Version(read_memory(item))

    def seqs_of(self, user_id: str, memory_id: str) -> list[int]:
        """Give entry numbers with one Query and one BatchGetItem; see ``MemoryStore.seqs_of``."""
        values = {
            ":pk": {"S": keys.user_partition(user_id)},
            ":first": {"S": keys.version(memory_id, 0)},
            ":last": {"S": keys.last_version(memory_id)},
        }
        seqs: set[int] = set()
        for page in self._query("read versions", _BETWEEN, values, ProjectionExpression="seq, ended_seq"):
            seqs |= {int(value["N"]) for item in page for value in item.values()}
        present = [key_of(keys.user_partition(user_id), keys.memory(memory_id))]
        seqs |= {int(item["seq"]["N"]) for item in self._batch_get("read a memory", present)}
        return sorted(seqs)

    def read_entries(self, user_id: str, seqs: Sequence[int]) -> list[Entry]:
        """Read entries: with one Query those that follow each other, others with BatchGetItem."""
        if not seqs:
            return []
        items: list[Item] = []
        if max(seqs) - min(seqs) < len(seqs):
            values = {
                ":pk": {"S": keys.log_partition(user_id)},
                ":first": {"S": keys.entry(min(seqs))},
                ":last": {"S": keys.entry(max(seqs))},
            }
            for page in self._query("read the log", _BETWEEN, values):
                items += [item for item in page if not keys.is_touch(item["sk"]["S"])]
        else:
            wanted = [key_of(keys.log_partition(user_id), keys.entry(seq)) for seq in seqs]
            for start in range(0, len(wanted), BATCH_GET_MAX):
                items += self._batch_get("read the log", wanted[start : start + BATCH_GET_MAX])
        found = {entry.seq: entry for entry in map(read_entry, items)}
        return [found[seq] for seq in seqs if seq in found]

    def redact_version(self, user_id: str, version: Version) -> None:
        """Replace a version's item if it is there; see ``MemoryStore.redact_version``."""
        with suppress(Conflict), translating("redact a version"):
            self._client.put_item(
                TableName=self._table_name,
                Item=version_item(user_id, version),
                ConditionExpression="attribute_exists(pk)",
                ReturnConsumedCapacity="TOTAL",
            )

    def redact_entry(self, user_id: str, entry: Entry) -> None:
        """Take attributes out of an entry's item if it is there; see ``MemoryStore.redact_entry``."""
        names = {f"#{number}": name for number, name in enumerate(COLUMN_NAMES)}
        update = "REMOVE " + ", ".join(names)
        values: Item = {":memory_id": {"S": entry.memory_id}}
        if entry.content_hash is not None:
            update = f"SET content_hash = :content_hash {update}"
            values[":content_hash"] = {"S": entry.content_hash}
        with suppress(Conflict), translating("redact the log"):
            self._client.update_item(
                TableName=self._table_name,
                Key=key_of(keys.log_partition(user_id), keys.entry(entry.seq)),
                UpdateExpression=update,
                ConditionExpression="memory_id = :memory_id",  # not an entry of a later life of the user
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=values,
                ReturnConsumedCapacity="TOTAL",
            )
