"""DynamoDB items of memories, their versions and stored answers, and the core's values. Pure.

Sources travel as 24 bytes each: the transcript's id, u32 first and u32 last.
"""

import struct
from typing import Any

from ulid import ULID

from recollect import keys
from recollect.aws.attributes import Item, list_of, number, read_list, read_shared, read_text, reading, shared_values
from recollect.aws.versions import PRESENT, upgraded
from recollect.model import Memory, Source
from recollect.ports import StoredAnswer, Version

_LINKS = ("supersedes", "superseded_by", "merged_content", "consolidated_into")
_LISTS = ("conflicts_with", "derived_from")
_SOURCE = struct.Struct("<16sII")
EXPIRED_KEPT_S = 30 * 24 * 3600  # after its time is over; long before that maintenance has seen to it


def memory_item(user_id: str, memory: Memory, sort_key: str) -> Item:
    """Make the item of a memory as it is now, or as it was, by the sort key; the table drops it when it has expired."""
    return {
        "pk": {"S": keys.user_partition(user_id)},
        "sk": {"S": sort_key},
        "memory_id": {"S": memory.memory_id},
        "version": number(memory.version),
        "seq": number(memory.seq),
        **PRESENT,
        "content": {"S": memory.content},
        **shared_values(memory),
        **{name: {"S": value} for name in _LINKS if (value := getattr(memory, name)) is not None},
        **{name: list_of(values) for name in _LISTS if (values := getattr(memory, name))},
        **({"sources": {"B": _packed(memory.sources)}} if memory.sources else {}),
        **({} if memory.expires_at_ms is None else {"ttl": number(memory.expires_at_ms // 1000 + EXPIRED_KEPT_S)}),
    }


def read_memory(item: Item) -> Memory:
    """Read a memory.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    NewerSchema
        If newer code has written it.
    """
    item = upgraded("memory", item)
    return reading(
        "memory",
        item,
        lambda: Memory(
            memory_id=item["memory_id"]["S"],
            version=int(item["version"]["N"]),
            seq=int(item["seq"]["N"]),
            content=item["content"]["S"],
            **_read_links(item),
            sources=_unpacked(bytes(item["sources"]["B"])) if "sources" in item else (),
            **read_shared(item),
        ),
    )


def version_item(user_id: str, version: Version) -> Item:
    """Make the item of an earlier version."""
    memory = version.memory
    item = memory_item(user_id, memory, keys.version(memory.memory_id, memory.version))
    item["ended_seq"] = number(version.ended_seq)
    return item if version.content_hash is None else item | {"content_hash": {"S": version.content_hash}}


def read_version(item: Item) -> Version:
    """Read an earlier version.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    NewerSchema
        If newer code has written it.
    """
    item = upgraded("memory", item)
    memory = read_memory({**item, **PRESENT})  # which it is by now
    content_hash = read_text(item, "content_hash")
    return reading("version", item, lambda: Version(memory, content_hash, int(item["ended_seq"]["N"])))


def answer_item(user_id: str, answer: StoredAnswer) -> Item:
    """Make the item of a stored answer."""
    return {
        "pk": {"S": keys.user_partition(user_id)},
        "sk": {"S": keys.idempotency(answer.key)},
        "digest": {"S": answer.request_digest},
        "answer": {"S": answer.answer_json},
        "created_at": number(answer.created_at_s),
        "ttl": number(answer.expires_at_s),
    }


def read_answer(key: str, item: Item) -> StoredAnswer:
    """Read a stored answer.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    """
    return reading(
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


def _read_links(item: Item) -> dict[str, Any]:
    links: dict[str, Any] = {name: read_text(item, name) for name in _LINKS}
    return links | {name: read_list(item, name) for name in _LISTS}


def _packed(sources: tuple[Source, ...]) -> bytes:
    return b"".join(_SOURCE.pack(ULID.from_str(one.transcript_id).bytes, one.first, one.last) for one in sources)


def _unpacked(packed: bytes) -> tuple[Source, ...]:
    return tuple(Source(str(ULID.from_bytes(one)), first, last) for one, first, last in _SOURCE.iter_unpack(packed))
