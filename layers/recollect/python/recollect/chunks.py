"""How much fits into one transaction and into one answer. Pure."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain

from recollect.changes import Embedded
from recollect.model import Memory

COMMIT_MAX_COUNT = 48  # two items a memory, the head and an answer: at most 98 of a transaction's 100
COMMIT_MAX_BYTES = 3_500_000  # of a transaction's 4 MB
ANSWER_MAX_BYTES = 5_000_000  # of the 6 MB that a Lambda function may answer

Asked = tuple[Memory, Embedded]


def chunks(asked: Sequence[Asked]) -> Iterator[list[Asked]]:
    """Cut new memories, in order, into parts that fit one commit each."""
    chunk: list[Asked] = []
    used = 0
    for memory, embedded in asked:
        size = _commit_bytes(memory)
        if chunk and (len(chunk) == COMMIT_MAX_COUNT or used + size > COMMIT_MAX_BYTES):
            yield chunk
            chunk, used = [], 0
        chunk.append((memory, embedded))
        used += size
    if chunk:
        yield chunk


def answer_bytes(memory: Memory) -> int:
    """Bound the bytes that a memory takes in an answer."""
    labels = chain(memory.tags, (memory.agent_id or "", memory.session_id or "", memory.actor or ""))
    texts = json.dumps([memory.content, *labels], ensure_ascii=False)
    return len(texts.encode()) + len(memory.metadata_json.encode()) + 1_000


def _commit_bytes(memory: Memory) -> int:
    # At most two terms a character, of six bytes each; content, metadata; the labels twice; 4 KB for the rest.
    return 12 * len(memory.content) + 2 * answer_bytes(memory) + 4_000
