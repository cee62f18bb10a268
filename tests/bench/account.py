"""An AWS account that costs next to nothing: recorded answers, and everything that was asked is counted and timed.

Stands below the real adapters, in the place of botocore's clients, so that what is measured around it is all of our
own code and nothing else. Every condition is taken to hold: one writer. Items and objects are kept in dicts.
"""

import re
import time
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from recollect import telemetry
from recollect.aws.attributes import Item

from tests.bench.units import get_units, item_bytes, query_units, write_units

PAGE_BYTES = 2**20
_TERM = re.compile(r"(\S+) = (if_not_exists\(\S+, )?(:\w+)")
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
Recorded = Callable[[str, str], Item | None]
Answer = dict[str, Any]


@dataclass(slots=True)
class Meter:
    """What was asked of AWS, and how long the answers took to make up.

    Parameters
    ----------
    requests : Counter
        By name, such as ``dynamodb.Query``.
    read_units, write_units : int
    s3_bytes : int
        That were read.
    written : list of int
        Sizes of the items that were put.
    seconds : Counter
        How long answers took to make up, by the same names.
    """

    requests: Counter[str] = field(default_factory=Counter)
    read_units: int = 0
    write_units: int = 0
    s3_bytes: int = 0
    written: list[int] = field(default_factory=list)
    seconds: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def request(self, name: str) -> Iterator[None]:
        """Count and time a request."""
        started = time.perf_counter()
        self.requests[name] += 1
        telemetry.count(name)
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - started  # type: ignore[assignment]


class Account:
    """One table and one bucket.

    Parameters
    ----------
    recorded : callable
        Gives an item that was not put but is asked for, by partition and sort key.
    """

    def __init__(self, recorded: Recorded = lambda _pk, _sk: None) -> None:
        self.meter = Meter()
        self.recorded = recorded
        self.partitions: dict[str, dict[str, Item]] = defaultdict(dict)
        self.objects: dict[str, bytes] = {}
        self.dynamodb = DynamoDB(self)
        self.s3 = S3(self)

    def reset(self) -> Meter:
        """Count from nothing again; give what was counted so far."""
        counted, self.meter = self.meter, Meter()
        return counted

    def find(self, key: Mapping[str, Mapping[str, str]]) -> Item | None:
        """Find an item by its key."""
        partition, sort = key["pk"]["S"], key["sk"]["S"]
        return self.partitions[partition].get(sort) or self.recorded(partition, sort)

    def keep(self, item: Item) -> int:
        """Put an item; give the larger of its sizes before and after."""
        before = self.partitions[item["pk"]["S"]].get(item["sk"]["S"], {})
        self.partitions[item["pk"]["S"]][item["sk"]["S"]] = item
        return max(item_bytes(before), item_bytes(item))

    def update(self, of: Mapping[str, Any]) -> int:
        """Set attributes of an item; give its size."""
        names, values = of.get("ExpressionAttributeNames", {}), of["ExpressionAttributeValues"]
        if of["UpdateExpression"].startswith("REMOVE "):
            gone = of["UpdateExpression"].removeprefix("REMOVE ").split(", ")
            return self.keep({name: value for name, value in (self.find(of["Key"]) or {}).items() if name not in gone})
        before = self.find(of["Key"]) or of["Key"]
        new: Item = {}
        for name, if_new, value in _TERM.findall(of["UpdateExpression"].removeprefix("SET ")):
            name_of = names.get(name, name)
            new[name_of] = before.get(name_of, values[value]) if if_new else values[value]
        return self.keep({**before, **new})

    def drop(self, key: Mapping[str, Mapping[str, str]]) -> int:
        """Delete an item; give its size."""
        size = item_bytes(self.find(key) or {})
        self.partitions[key["pk"]["S"]].pop(key["sk"]["S"], None)
        return size


class DynamoDB:
    """The DynamoDB client's methods that searches, stores and maintenance call."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def query(self, *, ExpressionAttributeValues: Item, **more: Any) -> Answer:  # noqa: N803
        """Give a page of the items between two sort keys."""
        meter = self._account.meter
        with meter.request("dynamodb.Query"):
            values = {name: value["S"] for name, value in ExpressionAttributeValues.items()}
            items = self._account.partitions[values[":pk"]]
            order = sorted(items)
            after = more.get("ExclusiveStartKey", {}).get("sk", {}).get("S")
            first = bisect_right(order, after) if after else bisect_left(order, values[":first"])
            last = values.get(":head", values.get(":last", values[":first"] + "~"))
            page: list[Item] = []
            size = 0
            for sort in order[first : bisect_right(order, last)][:: 1 if more.get("ScanIndexForward", True) else -1]:
                page.append(items[sort])
                size += item_bytes(items[sort])
                if size >= PAGE_BYTES or len(page) == more.get("Limit"):
                    break
            meter.read_units += query_units([size])
            is_last = not page or page[-1]["sk"]["S"] == order[-1] or "Limit" in more
            following = {} if is_last else {"LastEvaluatedKey": {name: page[-1][name] for name in ("pk", "sk")}}
            return {"Items": page, **following}

    def batch_get_item(self, *, RequestItems: Mapping[str, Any], **_: Any) -> Answer:  # noqa: N803
        """Give items."""
        meter = self._account.meter
        with meter.request("dynamodb.BatchGetItem"):
            (table, asked), *_rest = RequestItems.items()
            found = [self._account.find(key) for key in asked["Keys"]]
            meter.read_units += get_units(item_bytes(item or {}) for item in found)
            return {"Responses": {table: [item for item in found if item is not None]}}

    def get_item(self, *, Key: Item, **_: Any) -> Answer:  # noqa: N803
        """Give an item."""
        meter = self._account.meter
        with meter.request("dynamodb.GetItem"):
            found = self._account.find(Key)
            meter.read_units += get_units([item_bytes(found or {})])
            return {} if found is None else {"Item": found}

    def put_item(self, *, Item: Item, **_: Any) -> Answer:  # noqa: N803
        """Put an item."""
        meter = self._account.meter
        with meter.request("dynamodb.PutItem"):
            meter.written.append(self._account.keep(Item))
            meter.write_units += write_units(meter.written[-1:])
            return {}

    def update_item(self, **asked: Any) -> Answer:
        """Set attributes of an item."""
        meter = self._account.meter
        with meter.request("dynamodb.UpdateItem"):
            meter.write_units += write_units([self._account.update(asked)])
            return {}

    def transact_write_items(self, *, TransactItems: list[Mapping[str, Any]], **_: Any) -> Answer:  # noqa: N803
        """Do several things; a check is counted as a write."""
        meter = self._account.meter
        with meter.request("dynamodb.TransactWriteItems"):
            sizes = [self._act(*next(iter(action.items()))) for action in TransactItems]
            meter.write_units += write_units(sizes, is_transaction=True)
            return {}

    def _act(self, kind: str, action: Mapping[str, Any]) -> int:
        match kind:
            case "Put":
                self._account.meter.written.append(self._account.keep(action["Item"]))
                return self._account.meter.written[-1]
            case "Update":
                return self._account.update(action)
            case "Delete":
                return self._account.drop(action["Key"])
            case _:
                return item_bytes(self._account.find(action["Key"]) or {})


class S3:
    """The S3 client's methods that loads and maintenance call."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def get_object(self, *, Key: str, Range: str = "", **_: Any) -> Answer:  # noqa: N803
        """Read a part of an object."""
        meter = self._account.meter
        with meter.request("s3.GetObject"):
            whole = self._account.objects[Key]
            start, end = (int(text) for text in Range.removeprefix("bytes=").split("-"))
            data = whole[start : end + 1]
            meter.s3_bytes += len(data)
            return {"Body": BytesIO(data), "ETag": "e", "ContentRange": f"bytes {start}-{end}/{len(whole)}"}

    def put_object(self, *, Key: str, Body: bytes, **_: Any) -> Answer:  # noqa: N803
        """Put an object."""
        with self._account.meter.request("s3.PutObject"):
            self._account.objects[Key] = Body
            return {}

    def list_objects_v2(self, *, Prefix: str, StartAfter: str = "", **_: Any) -> Answer:  # noqa: N803
        """List objects; all are in one page, and old."""
        with self._account.meter.request("s3.ListObjectsV2"):
            found = sorted(key for key in self._account.objects if key.startswith(Prefix) and key > StartAfter)
            sizes = {key: len(self._account.objects[key]) for key in found}
            listed = [{"Key": key, "Size": size, "LastModified": _LONG_AGO} for key, size in sizes.items()]
            return {"Contents": listed, "IsTruncated": False}

    def list_object_versions(self, *, Prefix: str, **_: Any) -> Answer:  # noqa: N803
        """List versions of objects; each has one."""
        with self._account.meter.request("s3.ListObjectVersions"):
            found = sorted(key for key in self._account.objects if key.startswith(Prefix))
            return {"Versions": [{"Key": key, "VersionId": "null"} for key in found], "IsTruncated": False}

    def delete_objects(self, *, Delete: Mapping[str, Any], **_: Any) -> Answer:  # noqa: N803
        """Delete objects."""
        with self._account.meter.request("s3.DeleteObjects"):
            for one in Delete["Objects"]:
                self._account.objects.pop(one["Key"], None)
            return {}
