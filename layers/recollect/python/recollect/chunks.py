"""How much fits into one transaction and into one answer. Pure."""

import json
from collections.abc import Sequence
from itertools import chain

from recollect.model import Change, Memory

ACTIONS_MAX_COUNT = 98  # of a transaction's 100: the head and an answer come to it
CHANGES_MAX_COUNT = ACTIONS_MAX_COUNT // 3  # of memories that are there: see `action_count`
COMMIT_MAX_BYTES = 3_500_000  # of a transaction's 4 MB
ANSWER_MAX_BYTES = 5_000_000  # of the 6 MB that a Lambda function may answer
_SOURCE_BYTES = 120


def fits(changes: Sequence[Change]) -> bool:
    """Tell whether changes fit into one transaction."""
    return action_count(changes) <= ACTIONS_MAX_COUNT and commit_bytes(changes) <= COMMIT_MAX_BYTES


def action_count(changes: Sequence[Change]) -> int:
    """Count the items that changes write: an entry, the memory, and its earlier version if there is one."""
    return sum(2 + (change.before is not None) for change in changes)


def commit_bytes(changes: Sequence[Change]) -> int:
    """Bound the bytes of the items that changes write."""
    return sum(
        sum(answer_bytes(memory) for memory in (change.before, change.after) if memory is not None)
        + _entry_bytes(change)
        for change in changes
    )


def fitting(changes: Sequence[Change]) -> Sequence[Change]:
    """Take as many changes, from the first on, as one transaction holds; at least one."""
    count = len(changes)
    while count > 1 and not fits(changes[:count]):
        count -= 1
    return changes[:count]


def answer_bytes(memory: Memory) -> int:
    """Bound the bytes that a memory takes in an answer, which travels as JSON inside of the JSON of the function."""
    labels = chain(memory.tags, (memory.agent_id or "", memory.session_id or "", memory.actor or ""))
    texts = json.dumps([memory.content, memory.merged_content, *labels, *memory.conflicts_with], ensure_ascii=False)
    return _inside_json(texts) + _inside_json(memory.metadata_json) + _SOURCE_BYTES * len(memory.sources) + 1_000


def _inside_json(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode())


def _entry_bytes(change: Change) -> int:
    if change.columns is None:
        return 1_000
    labels = sum(len(label.encode()) for label in change.columns.tags)
    return 6 * len(change.columns.term_counts) + len(change.columns.metadata_json.encode()) + labels + 8_000
