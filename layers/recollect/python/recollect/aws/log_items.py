"""DynamoDB items of a user's log: the head, entries and touches, and the core's values. Pure.

Embeddings and terms travel as bytes: int8 codes, and little-endian uint32 hashes followed by uint16 counts; the
memories of a touch, and what an entry cites and derives from, as 16 bytes each; the manifest as 28 bytes for each
segment (id, u32 rows, u64 bytes), since every commit writes the head again.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ulid import ULID

from recollect import keys
from recollect.aws.attributes import (
    SCOPES,
    TIMES,
    Item,
    number,
    read_shared,
    read_text,
    reading,
    shared_values,
)
from recollect.aws.versions import PRESENT, upgraded
from recollect.model import Change, Columns, Entry, Head, Operation, SegmentRef, Touch

_COUNT_MAX = 65_535
_ID_BYTES = 16
_REF = struct.Struct("<16sIQ")
COLUMN_NAMES = (
    *("type", "status", "importance", "created_at", "updated_at", "metadata", "pinned", "tags", "flags"),
    *(*SCOPES, *TIMES, "content_bytes", "identity", "text_key", "terms", "codes", "embedder", "supersedes"),
    *("transcripts", "in_conflict", "derived_from", "consolidated_into"),
)  # of a log entry: what a purge takes out
_LINKS = ("supersedes", "consolidated_into")
_ID_LISTS = ("transcripts", "derived_from")


def head_values(head: Head) -> Item:
    """Attributes of the head, without its key."""
    return {
        "seq": number(head.seq),
        "epoch": {"S": head.epoch},
        "embedder": {"S": head.embedder},
        "dimension": number(head.dimension),
        "schema_version": number(head.schema_version),
        **({} if head.erasing_since_ms is None else _erasure_values(head.erasing_since_ms, head)),
    }


def manifest_values(head: Head) -> Item:
    """Attributes of the head that a compaction changes; a commit leaves them alone."""
    packed = b"".join(_REF.pack(ULID.from_str(ref.segment_id).bytes, ref.rows, ref.size) for ref in head.manifest)
    return {
        "compacted_seq": number(head.compacted_seq),
        "folded": number(head.folded_ms),
        "manifest": {"B": packed},
        "revision": number(head.revision),
    }


def read_head(item: Item) -> Head:
    """Read a head.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    NewerSchema
        If newer code has written it.
    """
    item = upgraded("head", item)
    return reading(
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
            **({} if "erasing_since" in item else _read_manifest(item)),
            erased_to=item.get("erased_to", {"S": ""})["S"],
        ),
    )


def entry_item(user_id: str, seq: int, change: Change, by: str) -> Item:
    """Make the log entry of a change."""
    item: Item = {
        "pk": {"S": keys.log_partition(user_id)},
        "sk": {"S": keys.entry(seq)},
        "operation": {"S": change.operation.value},
        "memory_id": {"S": change.memory_id},
        "version": number(change.version),
        "at": number(change.at_ms),
        "by": {"S": by},
        "reason": {"S": change.reason},
        **PRESENT,
    }
    columns = change.columns
    if columns is None:
        return item
    item |= shared_values(columns)
    item |= {
        "content_bytes": number(columns.content_bytes),
        "identity": {"B": columns.identity},
        "text_key": number(columns.text_key),
        "terms": {"B": _pack_terms(columns.term_counts)},
        "codes": {"B": columns.codes},
        "embedder": {"S": columns.embedder},
    }
    for name in _LINKS:
        if (linked := getattr(columns, name)) is not None:
            item[name] = {"S": linked}
    for name in _ID_LISTS:
        if listed := getattr(columns, name):
            item[name] = {"B": _pack_ids(listed)}
    if columns.in_conflict:
        item["in_conflict"] = {"BOOL": True}
    return item


def read_entry(item: Item) -> Entry:
    """Read a log entry.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    NewerSchema
        If newer code has written it.
    """
    item = upgraded("log entry", item)
    return reading(
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
            content_hash=read_text(item, "content_hash"),
        ),
    )


def touch_item(user_id: str, touch: Touch, expires_at_s: int) -> Item:
    """Make the item of a touch."""
    return {
        "pk": {"S": keys.log_partition(user_id)},
        "sk": {"S": keys.touch(touch.seq, touch.at_ms, touch.touch_id)},
        "memory_ids": {"B": _pack_ids(touch.memory_ids)},
        "ttl": number(expires_at_s),
        **({"said_again": {"BOOL": True}} if touch.is_said_again else {}),
    }


def read_touch(item: Item) -> Touch:
    """Read a touch.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    """
    return reading("touch", item, lambda: _touch(item))


def _read_manifest(item: Item) -> dict[str, Any]:
    if "revision" not in item:
        return {}
    refs = _REF.iter_unpack(bytes(item["manifest"]["B"]))
    manifest = tuple(SegmentRef(str(ULID.from_bytes(packed)), rows, size) for packed, rows, size in refs)
    return {
        "compacted_seq": int(item["compacted_seq"]["N"]),
        "folded_ms": int(item["folded"]["N"]),
        "manifest": manifest,
        "revision": int(item["revision"]["N"]),
    }


def _touch(item: Item) -> Touch:
    seq, at_ms, touch_id = keys.touch_of(item["sk"]["S"])
    memory_ids = _unpack_ids(bytes(item["memory_ids"]["B"]))
    is_said_again = "said_again" in item
    return Touch(touch_id=touch_id, seq=seq, at_ms=at_ms, memory_ids=memory_ids, is_said_again=is_said_again)


def _erasure_values(since_ms: int, head: Head) -> Item:
    counts = {kind: number(count) for kind, count in head.erased.items()}
    return {"erasing_since": number(since_ms), "erased": {"M": counts}, "erased_to": {"S": head.erased_to}}


def _read_columns(item: Item) -> Columns:
    return Columns(
        **read_shared(item),
        content_bytes=int(item["content_bytes"]["N"]),
        identity=bytes(item["identity"]["B"]),
        text_key=int(item["text_key"]["N"]),
        term_counts=_unpack_terms(bytes(item["terms"]["B"])),
        codes=bytes(item["codes"]["B"]),
        embedder=item["embedder"]["S"],
        in_conflict="in_conflict" in item,
        **_read_links(item),
    )


def _read_links(item: Item) -> dict[str, Any]:
    links: dict[str, Any] = {name: read_text(item, name) for name in _LINKS}
    return links | {name: _unpack_ids(bytes(item[name]["B"])) if name in item else () for name in _ID_LISTS}


def _pack_ids(ids: Sequence[str]) -> bytes:
    return b"".join(ULID.from_str(one).bytes for one in ids)


def _unpack_ids(packed: bytes) -> tuple[str, ...]:
    starts = range(0, len(packed), _ID_BYTES)
    return tuple(str(ULID.from_bytes(packed[start : start + _ID_BYTES])) for start in starts)


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
