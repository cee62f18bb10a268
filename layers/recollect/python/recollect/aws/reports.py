"""Reports of maintenance, and the index of who is due, in DynamoDB. A report is one text: nobody asks for a part."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from recollect import keys
from recollect.aws.attributes import Item, number, reading
from recollect.aws.errors import translating
from recollect.aws.table import Table, key_of
from recollect.maintenance import Report, StepName, StepReport
from recollect.model import Head

TTL_S = 90 * 24 * 3600
INDEX_NAME = "due"


class DynamoDBReportStore(Table):
    """Reports, in the table of the memories."""

    def keep(self, user_id: str, report: Report, due_at_s: int | None, seen: Head, replaces: str | None = None) -> None:
        """Keep with one TransactWriteItems; see ``ReportStore.keep``."""
        partition = keys.user_partition(user_id)
        actions: list[dict[str, Any]] = [
            {"Update": self._scheduling(user_id, due_at_s, seen)},
            {"Put": {"TableName": self._table_name, "Item": _item(partition, report)}},
        ]
        if replaces is not None:
            actions.append({"Delete": {"TableName": self._table_name, "Key": key_of(partition, keys.report(replaces))}})
        with translating("keep a report"):
            self._client.transact_write_items(TransactItems=actions, ReturnConsumedCapacity="TOTAL")

    def reports(self, user_id: str, below: str | None, limit: int) -> list[Report]:
        """Read with one Query; see ``ReportStore.reports``."""
        values = {":pk": {"S": keys.user_partition(user_id)}, ":first": {"S": keys.reports()}}
        condition = "pk = :pk AND begins_with(sk, :first)"
        if below is not None:
            values[":last"] = {"S": keys.report(below)}
            condition = "pk = :pk AND sk BETWEEN :first AND :last"
        found: list[Report] = []
        for page in self._query("list reports", condition, values, ScanIndexForward=False, Limit=limit + 1):
            found += [_read(item) for item in page if item["sk"] != values.get(":last")]
            if len(found) >= limit:
                break
        return found[:limit]


class DynamoDBDueIndex(Table):
    """The sparse index on the heads.

    Parameters
    ----------
    client : DynamoDB client
    table_name : str
    """

    def due(self, shard: str, now_s: int) -> Iterator[Sequence[str]]:
        """Read with one Query for each 1 MB; see ``DueIndex.due``."""
        condition = "due_shard = :shard AND due_at <= :now"
        values = {":shard": {"S": shard}, ":now": number(now_s)}
        # An index cannot be read consistently.
        for page in self._query("ask who is due", condition, values, IndexName=INDEX_NAME, ConsistentRead=False):
            yield [keys.user_of_log(item["pk"]["S"]) for item in page]


def _item(partition: str, report: Report) -> Item:
    return {
        **key_of(partition, keys.report(report.report_id)),
        "report": {"S": json.dumps(asdict(report), separators=(",", ":"))},
        "ttl": number(report.ended_at_ms // 1000 + TTL_S),
    }


def _read(item: Item) -> Report:
    return reading("report", item, lambda: _report(json.loads(item["report"]["S"])))


def _report(values: dict[str, Any]) -> Report:
    steps = {StepName(name): _step(step) for name, step in values.pop("steps").items()}
    return Report(**values, steps=steps)


def _step(values: dict[str, Any]) -> StepReport:
    return StepReport(**{**values, "refused": tuple(values.get("refused", ()))})
