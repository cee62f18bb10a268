"""Which memories are to be embedded next, and what a new embedding changes. Pure; `reembedding` talks.

Pending are memories that were stored while the embedder did not answer, and all that another embedder has embedded:
vectors of two models are never compared. Until their turn comes they are found by their words. A new embedding is an
entry of the log for the version that is there: memory, versions and times stay as they are.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from recollect.changes import Decision, Embedded, Outcome, columns_for
from recollect.chunks import fits
from recollect.model import Change, Memory, Operation, Status
from recollect.partition import Partition

BATCH_MAX_COUNT = 32
BATCH_MAX_CONTENT_BYTES = 32_000  # a second of one vCPU in English, three in Korean
EMBEDDED, SKIPPED = "embedded", "skipped"
_REASON = "embedded for the present model"


def batch(partition: Partition, without: Collection[str], now_ms: int) -> list[str]:
    """Name the memories to embed next: active ones first, then older ones; at least one if any is pending.

    Parameters
    ----------
    without : collection of str
        Memories that are left out.
    """
    pending = partition.pending(now_ms)
    is_active = partition.labelled("status", Status.ACTIVE)
    rows = [*np.flatnonzero(pending & is_active).tolist(), *np.flatnonzero(pending & ~is_active).tolist()]
    content_bytes = partition.number("content_bytes")
    chosen: list[str] = []
    room = BATCH_MAX_CONTENT_BYTES
    for row in rows:
        memory_id = partition.memory_id(row)
        if memory_id in without:
            continue
        room -= int(content_bytes[row])
        if chosen and room < 0:
            break
        chosen.append(memory_id)
        if len(chosen) == BATCH_MAX_COUNT:
            break
    return chosen


def embed(
    partition: Partition, chosen: Sequence[str], ready: Mapping[str, tuple[Memory, Embedded]], now_ms: int
) -> Decision:
    """Decide on new embeddings of memories; of one that was changed or embedded meanwhile nothing becomes.

    Parameters
    ----------
    chosen : sequence of str
        In this order, as many as one transaction holds.
    ready : mapping of str to (Memory, Embedded)
        Those that were there, as they were read, and the embeddings of their contents.

    Returns
    -------
    Decision
        An outcome, `EMBEDDED` or `SKIPPED`, for each of the first of `chosen`.
    """
    outcomes: list[Outcome] = []
    changes: list[Change] = []
    for memory_id in chosen:
        version = partition.version_of(memory_id) or 0
        memory, embedded = ready.get(memory_id, (None, None))
        if memory is None or embedded is None or memory.version != version or not partition.is_pending(memory_id):
            outcomes.append(Outcome(SKIPPED, memory_id, version, "it was changed meanwhile"))
            continue
        change = Change(
            operation=Operation.EMBED,
            memory_id=memory_id,
            version=version,
            at_ms=now_ms,
            reason=_REASON,
            columns=columns_for(memory, embedded),
        )
        if changes and not fits([*changes, change]):
            break
        changes.append(change)
        outcomes.append(Outcome(EMBEDDED, memory_id, version, _REASON))
    return Decision(tuple(outcomes), tuple(changes))
