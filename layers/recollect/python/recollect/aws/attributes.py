"""Values in the low-level client's typed form, and back. Pure.

Floats travel as the shortest decimal text that reads back as the same float; metadata travels as JSON text.
"""

import struct
from collections.abc import Callable
from typing import Any, TypeVar

from recollect.errors import CorruptData
from recollect.model import Columns, Memory, MemoryType, Status

Item = dict[str, dict[str, Any]]
SCOPES = ("agent_id", "session_id", "actor")
TIMES = ("occurred_at", "expires_at", "valid_until")
T = TypeVar("T")


def shared_values(values: Memory | Columns) -> Item:
    """Attributes that a memory and its columns share."""
    item: Item = {
        "type": {"S": values.type.value},
        "status": {"S": values.status.value},
        "importance": {"N": repr(values.importance)},
        "created_at": number(values.created_at_ms),
        "updated_at": number(values.updated_at_ms),
    }
    if values.metadata_json != "{}":
        item["metadata"] = {"S": values.metadata_json}
    if values.pinned:
        item["pinned"] = {"BOOL": True}
    for name in ("tags", "flags"):
        if getattr(values, name):
            item[name] = list_of(getattr(values, name))
    for name in SCOPES:
        if getattr(values, name) is not None:
            item[name] = {"S": getattr(values, name)}
    for name in TIMES:
        if getattr(values, name + "_ms") is not None:
            item[name] = number(getattr(values, name + "_ms"))
    return item


def read_shared(item: Item) -> dict[str, Any]:
    """Read the attributes that a memory and its columns share."""
    return {
        "type": MemoryType(item["type"]["S"]),
        "status": Status(item["status"]["S"]),
        "importance": float(item["importance"]["N"]),
        "created_at_ms": int(item["created_at"]["N"]),
        "updated_at_ms": int(item["updated_at"]["N"]),
        "metadata_json": item["metadata"]["S"] if "metadata" in item else "{}",
        "pinned": "pinned" in item,
        "tags": read_list(item, "tags"),
        "flags": read_list(item, "flags"),
        **{name: read_text(item, name) for name in SCOPES},
        **{f"{name}_ms": int(item[name]["N"]) if name in item else None for name in TIMES},
    }


def list_of(values: tuple[str, ...]) -> dict[str, Any]:
    """Make a list of texts."""
    return {"L": [{"S": value} for value in values]}


def read_list(item: Item, name: str) -> tuple[str, ...]:
    """Read a list of texts that may be missing."""
    return tuple(value["S"] for value in item.get(name, {"L": []})["L"])


def read_text(item: Item, name: str) -> str | None:
    """Read a text that may be missing."""
    return item[name]["S"] if name in item else None


def number(value: int) -> dict[str, str]:
    """Make a number."""
    return {"N": str(value)}


def reading(kind: str, item: Item, read: Callable[[], T]) -> T:
    """Read an item of this kind.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    """
    try:
        return read()
    except (KeyError, ValueError, TypeError, struct.error) as error:
        raise CorruptData(f"a stored {kind} has another form", sk=item.get("sk", {}).get("S")) from error
