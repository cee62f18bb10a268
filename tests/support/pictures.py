"""Whatever can be seen of a user: the items in the table, and what the reads tell; comparable between users.

Ids that were made are numbered in the order of the log and the user's id is left out, so that two users to whom the
same was done look the same, however often it was begun. How often a memory was used is left out as well: to say a
thing again is to use it, and no change of it.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from recollect import due, keys
from recollect.answers import SearchQuery
from recollect.controller import MemoryController
from recollect.filters import EVERYTHING
from recollect.model import Entry, Memory

from tests.support.table import TABLE_NAME

_MADE_ID = re.compile(r"01HF[0-9A-Z]{22}")
_TRIES = {"revision"}  # of the head: a purge that is sent again fences again
_USE = {"access_count", "last_accessed_at_ms"}
_QUESTION = "What is in the cellar, and which PostgreSQL and which dog has the user?"


def items_of(client: Any, user_id: str) -> list[dict[str, Any]]:
    """Read every item of a user as it is in the table, the log first."""
    found: list[dict[str, Any]] = []
    for partition in (keys.log_partition(user_id), keys.user_partition(user_id)):
        pages = client.get_paginator("query").paginate(
            TableName=TABLE_NAME,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": partition}},
            ConsistentRead=True,
        )
        found += [item for page in pages for item in page["Items"]]
    return found


def everything_in(client: Any) -> Iterator[dict[str, Any]]:
    """Read every item of the table."""
    for page in client.get_paginator("scan").paginate(TableName=TABLE_NAME, ConsistentRead=True):
        yield from page["Items"]


def kept_of(client: Any, user_id: str) -> list[str]:
    """Describe the items of a user."""
    items = [item for item in items_of(client, user_id) if "TOUCH#" not in item["sk"]["S"]]
    shard = {"S": due.shard_of(user_id)}
    for item in items:
        assert item.setdefault("due_shard", shard) == shard
    left_out = {*_TRIES, "due_shard"}
    told = [sorted((name, value) for name, value in item.items() if name not in left_out) for item in items]
    return _comparable(told, user_id)


def shown_of(of: MemoryController, user_id: str) -> dict[str, list[str]]:
    """Describe what the reads of an instance tell of a user."""
    entries = all_events(of, user_id)
    changes = Counter(entry.memory_id for entry in entries)
    query = SearchQuery(text=_QUESTION, k=100, filter=EVERYTHING, reinforces=False)
    shown: dict[str, list[Any]] = {
        "events": entries,
        "memories": [_unused(memory) for memory in of.list_memories(user_id, EVERYTHING, 200).memories],
        "versions": [
            (_unused(version.memory), version.content_hash)
            for memory_id in changes
            if changes[memory_id] > 1
            for version in of.versions(user_id, memory_id, 50).versions
        ],
        "stats": [of.stats(user_id)],
        "found": sorted(hit.memory.content for hit in of.search(user_id, query).hits),
    }
    return {name: _comparable(part, user_id, list(changes)) for name, part in shown.items()}


def all_events(of: MemoryController, user_id: str) -> list[Entry]:
    """Read a user's whole log."""
    entries: list[Entry] = []
    cursor: str | None = None
    while True:
        page = of.events(user_id, 200, cursor, is_descending=False)
        entries += page.entries
        cursor = page.cursor
        if cursor is None:
            return entries


def _unused(memory: Memory) -> dict[str, Any]:
    return {name: value for name, value in asdict(memory).items() if name not in _USE}


def _comparable(part: list[Any], user_id: str, order: list[str] | None = None) -> list[str]:
    texts = [repr(one) for one in part]
    made = dict.fromkeys(order or _MADE_ID.findall("".join(texts)))
    names = {memory_id: f"<{number}>" for number, memory_id in enumerate(made)}
    return [_MADE_ID.sub(lambda found: names.get(found[0], "<?>"), text).replace(user_id, "<user>") for text in texts]
