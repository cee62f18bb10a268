"""The archive of a log: entries that segments hold, as newline-delimited JSON, one entry a line. Pure.

What was changed, when, by whom and why; nothing that tells what a memory said: vector, terms, labels and metadata stay
behind, so that a purge has nothing to look for here.
"""

import json
from collections.abc import Sequence

from recollect.errors import CorruptData, NewerSchema
from recollect.model import SCHEMA_VERSION, Entry, Operation

_FIELDS = ("seq", "memory_id", "version", "at_ms", "by", "reason", "content_hash")


def encode(entries: Sequence[Entry]) -> bytes:
    """Write entries."""
    lines = [
        json.dumps(
            {"schema_version": SCHEMA_VERSION, "operation": entry.operation.value}
            | {name: getattr(entry, name) for name in _FIELDS}
        )
        for entry in entries
    ]
    return "".join(line + "\n" for line in lines).encode()


def decode(data: bytes, key: str) -> list[Entry]:
    """Read entries back; without columns.

    Raises
    ------
    CorruptData
        If it is not what `encode` wrote.
    NewerSchema
        If newer code has written it.
    """
    try:
        lines = [json.loads(line) for line in data.decode().splitlines()]
        newest = max((line.get("schema_version", 1) for line in lines), default=1)
        if newest > SCHEMA_VERSION:
            raise NewerSchema("archive of the log", newest)
        return [
            Entry(operation=Operation(line["operation"]), columns=None, **{name: line[name] for name in _FIELDS})
            for line in lines
        ]
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise CorruptData("an archive of the log has another form", key=key) from error
