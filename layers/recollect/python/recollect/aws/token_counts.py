"""Counts of the tokens that models took, in the table of the memories: an item for each user and day."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta

from recollect import keys
from recollect.aws.errors import translating
from recollect.aws.table import Table, key_of

KEPT = timedelta(days=90)
_KINDS = ("input", "output")


class DynamoDBTokenCounts(Table):
    """Counts, each a number that is added to."""

    def used(self, user_id: str, day: str) -> int:
        """Read with one GetItem; see ``TokenCounts.used``."""
        item = self._get("read a count of tokens", keys.user_partition(user_id), keys.tokens(day)) or {}
        return sum(int(item[kind]["N"]) for kind in _KINDS if kind in item)

    def add(self, user_id: str, epoch: str, day: str, tokens: Mapping[str, int]) -> None:
        """Add with one TransactWriteItems that checks the head; see ``TokenCounts.add``."""
        ends = datetime.combine(date.fromisoformat(day), time(tzinfo=UTC)) + KEPT
        update = {
            "TableName": self._table_name,
            "Key": key_of(keys.user_partition(user_id), keys.tokens(day)),
            "UpdateExpression": "SET #ttl = :ttl ADD " + ", ".join(f"#{kind} :{kind}" for kind in _KINDS),
            "ExpressionAttributeNames": {f"#{name}": name for name in ("ttl", *_KINDS)},
            "ExpressionAttributeValues": {
                ":ttl": {"N": str(int(ends.timestamp()))},
                **{f":{kind}": {"N": str(tokens.get(kind, 0))} for kind in _KINDS},
            },
        }
        with translating("count tokens"):
            self._client.transact_write_items(
                TransactItems=[self._head_check(user_id, epoch), {"Update": update}], ReturnConsumedCapacity="TOTAL"
            )
