"""DynamoDB items and the core's values, into each other; in the low-level client's typed form. Pure.

Floats travel as the shortest decimal text that reads back as the same float; metadata travels as JSON text;
embeddings and terms as bytes: int8 codes, and little-endian uint32 hashes followed by uint16 counts.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from recollect import keys
from recollect.errors import CorruptData
from recollect.model import Change, Columns, Entry, Head, Memory, MemoryType, Operation, Status
from recollect.ports import StoredAnswer, Version

Item = dict[str, dict[str, Any]]
_COUNT_MAX = 65_535
_SCOPES = ("agent_id", "session_id", "actor")
_TIMES = ("occurred_at", "expires_at", "valid_until")
_LINKS = ("supersedes", "superseded_by", "merged_content")
_LISTS = ("conflicts_with", "lineage")
COLUMN_NAMES = (
    *("type", "status", "importance", "created_at", "updated_at", "metadata", "pinned", "tags", "flags"),
    *(*_SCOPES, *_TIMES, "content_bytes", "identity", "text_key", "terms", "codes", "embedder"),
)  # of a log entry: what a purge takes out
T = TypeVar("T")


def head_values(head: Head) -> Item:
    """Attributes of the head, without its key."""
    return {
        "seq": _number(head.seq),
        "epoch": {"S": head.epoch},
        "embedder": {"S": head.embedder},
        "dimension": _number(head.dimension),
        "schema_version": _number(head.schema_version),
        **({} if head.erasing_since_ms is None else _erasure_values(head.erasing_since_ms, head.erased)),
    }


def read_head(item: Item) -> Head:
    """Read a head.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    """
    return _reading(
        "head",
        item,
        lambda: Head(
            seq=int(item["seq"]["N"]),
            epoch=item["epoch"]["S"],
            embedder=item["embedder"]["S"],
            dimension=int(item["dimension"]["N"]),
            schema_version=int(item["schema_version"]["N"]),
            erasing_since_ms=int(item["erasing_since"]["N"]) if "erasing_since" in item else None,
            erased={kind: int(count["N"]) for kind, count in item.get("erased", {"M": {}})["M"].items()},
        ),
    )


def entry_item(user_id: str, seq: int, change: Change, by: str) -> Item:
    """Make the log entry of a change."""
    item: Item = {
        "pk": {"S": keys.log_partition(user_id)},
        "sk": {"S": keys.entry(seq)},
        "operation": {"S": change.operation.value},
        "memory_id": {"S": change.memory_id},
        "version": _number(change.version),
        "at": _number(change.at_ms),
        "by": {"S": by},
        "reason": {"S": change.reason},
    }
    columns = change.columns
    if columns is None:
        return item
    item |= _shared_values(columns)
    item |= {
        "content_bytes": _number(columns.content_bytes),
        "identity": {"B": columns.identity},
        "text_key": _number(columns.text_key),
        "terms": {"B": _pack_terms(columns.term_counts)},
        "codes": {"B": columns.codes},
        "embedder": {"S": columns.embedder},
    }
    return item


def read_entry(item: Item) -> Entry:
    """Read a log entry.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    """
    return _reading(
        "log entry",
        item,
        lambda: Entry(
            seq=keys.seq_of(item["sk"]["S"]),
            operation=Operation(item["operation"]["S"]),
            memory_id=item["memory_id"]["S"],
            version=int(item["version"]["N"]),
            at_ms=int(item["at"]["N"]),
            by=item["by"]["S"],
            reason=item["reason"]["S"],
            columns=_read_columns(item) if "identity" in item else None,
            content_hash=_read_text(item, "content_hash"),
        ),
    )


def memory_item(user_id: str, memory: Memory, sort_key: str) -> Item:
    """Make the item of a memory as it is now, or as it was, by the sort key."""
    return {
        "pk": {"S": keys.user_partition(user_id)},
        "sk": {"S": sort_key},
        "memory_id": {"S": memory.memory_id},
        "version": _number(memory.version),
        "content": {"S": memory.content},
        **_shared_values(memory),
        **{name: {"S": value} for name in _LINKS if (value := getattr(memory, name)) is not None},
        **{name: _texts(values) for name in _LISTS if (values := getattr(memory, name))},
    }


def read_memory(item: Item) -> Memory:
    """Read a memory.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    """
    return _reading(
        "memory",
        item,
        lambda: Memory(
            memory_id=item["memory_id"]["S"],
            version=int(item["version"]["N"]),
            content=item["content"]["S"],
            **_read_links(item),
            **_read_shared(item),
        ),
    )


def version_item(user_id: str, version: Version) -> Item:
    """Make the item of a redacted version."""
    memory = version.memory
    item = memory_item(user_id, memory, keys.version(memory.memory_id, memory.version))
    return item if version.content_hash is None else item | {"content_hash": {"S": version.content_hash}}


def read_version(item: Item) -> Version:
    """Read an earlier version.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    """
    return Version(read_memory(item), _read_text(item, "content_hash"))


def answer_item(user_id: str, answer: StoredAnswer) -> Item:
    """Make the item of a stored answer."""
    return {
        "pk": {"S": keys.user_partition(user_id)},
        "sk": {"S": keys.idempotency(answer.key)},
        "digest": {"S": answer.request_digest},
        "answer": {"S": answer.answer_json},
        "created_at": _number(answer.created_at_s),
        "ttl": _number(answer.expires_at_s),
    }


def read_answer(key: str, item: Item) -> StoredAnswer:
    """Read a stored answer.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    """
    return _reading(
        "stored answer",
        item,
        lambda: StoredAnswer(
            key=key,
            request_digest=item["digest"]["S"],
            answer_json=item["answer"]["S"],
            created_at_s=int(item["created_at"]["N"]),
            expires_at_s=int(item["ttl"]["N"]),
        ),
    )


def _erasure_values(since_ms: int, erased: Mapping[str, int]) -> Item:
    counts = {kind: _number(count) for kind, count in erased.items()}
    return {"erasing_since": _number(since_ms), "erased": {"M": counts}}


def _shared_values(values: Memory | Columns) -> Item:
    item: Item = {
        "type": {"S": values.type.value},
        "status": {"S": values.status.value},
        "importance": {"N": repr(values.importance)},
        "created_at": _number(values.created_at_ms),
        "updated_at": _number(values.updated_at_ms),
    }
    if values.metadata_json != "{}":
        item["metadata"] = {"S": values.metadata_json}
    if values.pinned:
        item["pinned"] = {"BOOL": True}
    for name in ("tags", "flags"):
        if getattr(values, name):
            item[name] = _texts(getattr(values, name))
    for name in _SCOPES:
        if getattr(values, name) is not None:
            item[name] = {"S": getattr(values, name)}
    for name in _TIMES:
        if getattr(values, name + "_ms") is not None:
            item[name] = _number(getattr(values, name + "_ms"))
    return item


def _read_shared(item: Item) -> dict[str, Any]:
    return {
        "type": MemoryType(item["type"]["S"]),
        "status": Status(item["status"]["S"]),
        "importance": float(item["importance"]["N"]),
        "created_at_ms": int(item["created_at"]["N"]),
        "updated_at_ms": int(item["updated_at"]["N"]),
        "metadata_json": item["metadata"]["S"] if "metadata" in item else "{}",
        "pinned": "pinned" in item,
        "tags": _read_texts(item, "tags"),
        "flags": _read_texts(item, "flags"),
        **{name: _read_text(item, name) for name in _SCOPES},
        **{f"{name}_ms": int(item[name]["N"]) if name in item else None for name in _TIMES},
    }


def _read_links(item: Item) -> dict[str, Any]:
    return {name: _read_text(item, name) for name in _LINKS} | {name: _read_texts(item, name) for name in _LISTS}


def _texts(values: tuple[str, ...]) -> dict[str, Any]:
    return {"L": [{"S": value} for value in values]}


def _read_texts(item: Item, name: str) -> tuple[str, ...]:
    return tuple(value["S"] for value in item.get(name, {"L": []})["L"])


def _read_text(item: Item, name: str) -> str | None:
    return item[name]["S"] if name in item else None


def _read_columns(item: Item) -> Columns:
    return Columns(
        **_read_shared(item),
        content_bytes=int(item["content_bytes"]["N"]),
        identity=bytes(item["identity"]["B"]),
        text_key=int(item["text_key"]["N"]),
        term_counts=_unpack_terms(bytes(item["terms"]["B"])),
        codes=bytes(item["codes"]["B"]),
        embedder=item["embedder"]["S"],
    )


def _pack_terms(term_counts: Mapping[int, int]) -> bytes:
    terms = np.fromiter(term_counts.keys(), dtype="<u4", count=len(term_counts))
    counts = np.fromiter((min(n, _COUNT_MAX) for n in term_counts.values()), dtype="<u2", count=len(term_counts))
    return terms.tobytes() + counts.tobytes()


def _unpack_terms(packed: bytes) -> dict[int, int]:
    count, rest = divmod(len(packed), 6)
    if rest:
        raise ValueError("terms")
    terms = np.frombuffer(packed, dtype="<u4", count=count)
    counts = np.frombuffer(packed, dtype="<u2", offset=4 * count, count=count)
    return dict(zip(terms.tolist(), counts.tolist(), strict=True))


def _number(value: int) -> dict[str, str]:
    return {"N": str(value)}


def _reading(kind: str, item: Item, read: Callable[[], T]) -> T:
    try:
        return read()
    except (KeyError, ValueError, TypeError) as error:
        raise CorruptData(f"a stored {kind} has another form", sk=item.get("sk", {}).get("S")) from error
