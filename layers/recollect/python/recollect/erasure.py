"""What is left of a memory that was purged, and of a user who is being erased. Pure.

A purged memory keeps its id, the numbers and times of its versions, who did what and why, and a hash of each content:
whoever holds a text can show that it was this one. The hash is keyed by the memory's id, so that equal texts of two
memories do not have equal hashes and no table of hashes made beforehand helps; that is all it does. Who can read
hash and id can still test a guess of the text.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from recollect import keys
from recollect.changes import Decision, Outcome
from recollect.errors import NotFound, StaleVersion
from recollect.model import Change, Head, Memory, Operation
from recollect.object_store import ObjectVersion
from recollect.partition import Partition
from recollect.ports import Item, Version

BACKUP_DAYS = 35  # how far back point-in-time recovery reaches
PURGED = "purged as asked"
_NO_SEGMENTS: dict[str, Any] = {"compacted_seq": 0, "folded_ms": 0, "manifest": (), "revision": 0}
OBJECTS = "objects"
KINDS = {"dynamodb": keys.KINDS, "s3": (OBJECTS,)}  # by store
_DAY_MS = 24 * 3600 * 1000


class ErasureState(StrEnum):
    """How far the erasure of a user is."""

    COUNTED = "counted"
    ERASING = "erasing"
    ERASED = "erased"


@dataclass(frozen=True, slots=True)
class Erasure:
    """What an erasure has done so far.

    Parameters
    ----------
    counts : mapping of str to int
        Items and objects deleted since it began, by kind; of a dry run, those that are there.
    left : int
        Items and objects that are still there; at least that many if `is_partial`.
    is_partial : bool
        Whether the time was over before everything was counted.
    at_ms : int
        When all this was so; of an erasure that is done, when reading found nothing any more.
    """

    state: ErasureState
    counts: Mapping[str, int]
    left: int
    is_partial: bool
    at_ms: int

    @property
    def by_store(self) -> dict[str, dict[str, int]]:
        """The counts by store and kind."""
        return {store: {kind: self.counts.get(kind, 0) for kind in kinds} for store, kinds in KINDS.items()}

    @property
    def backup_until_ms(self) -> int:
        """Until when the table's point-in-time backup can still bring back what was deleted last."""
        return self.at_ms + BACKUP_DAYS * _DAY_MS


def content_hash(memory: Memory) -> str:
    """Digest of a content, keyed by the memory's id.

    Returns
    -------
    str
        32 hex digits of BLAKE2b.
    """
    content = memory.content.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16, key=memory.memory_id.encode()).hexdigest()


def redacted(version: Version) -> Version:
    """Take out of a version whatever tells what the memory said, or of whom; what it cites leads there."""
    if version.content_hash is not None:
        return version
    memory = version.memory
    kept = Memory(
        memory_id=memory.memory_id,
        content="",
        type=memory.type,
        status=memory.status,
        importance=memory.importance,
        version=memory.version,
        created_at_ms=memory.created_at_ms,
        updated_at_ms=memory.updated_at_ms,
        valid_until_ms=memory.valid_until_ms,
        seq=memory.seq,
    )
    return Version(kept, content_hash(memory), version.ended_seq)


def purge(
    partition: Partition, memory_id: str, memory: Memory | None, expected_version: int | None, now_ms: int
) -> Decision:
    """Decide on purging one memory; one that was purged before stays as it is.

    Parameters
    ----------
    memory : Memory or None
        The memory as it is now; ``None`` if it was deleted.
    expected_version : int or None
        The last version that the caller has seen, if it must still be the last one.

    Raises
    ------
    NotFound
        If there never was such a memory.
    StaleVersion
        If the last version is another one than expected.
    """
    last = partition.last_version_of(memory_id)
    if last is None:
        raise NotFound
    if partition.is_purged(memory_id):
        return Decision((Outcome("purged", memory_id, last, PURGED),))
    if expected_version not in (None, last):
        raise StaleVersion(f"the memory is at version {last}; read it again, then decide")
    change = Change(
        operation=Operation.PURGE,
        memory_id=memory_id,
        version=last + 1,
        at_ms=now_ms,
        reason=PURGED,
        columns=None,
        before=memory,
    )
    return Decision((Outcome("purged", memory_id, last + 1, PURGED),), (change,))


def erasing_head(seen: Head, epoch: str, now_ms: int) -> Head:
    """Make the head that an erasure begins with: no entry counts any more, and no commit fits it."""
    nothing = counts_of(())
    return replace(seen, seq=0, epoch=epoch, erasing_since_ms=now_ms, erased=nothing, erased_to="", **_NO_SEGMENTS)


def erased_with(head: Head, items: Sequence[Item]) -> Head:
    """Count items into the head of an erasure."""
    return _with_counts(head, counts_of(items))


def claiming(head: Head, versions: Sequence[ObjectVersion]) -> Head:
    """Count versions of objects that are about to go into the head of an erasure, but for those that it counts already.

    Parameters
    ----------
    versions : sequence of ObjectVersion
        In the order of their keys.
    """
    new = [version.key for version in versions if version.key > head.erased_to]
    return replace(_with_counts(head, counts_of((), len(new))), erased_to=new[-1] if new else head.erased_to)


def counts_of(items: Sequence[Item], objects: int = 0) -> dict[str, int]:
    """Count items by kind, beside a number of objects; every kind is there."""
    counts = Counter(keys.kind_of(item.key) for item in items)
    return {**{kind: counts[kind] for kind in keys.KINDS}, OBJECTS: objects}


def _with_counts(head: Head, counts: Mapping[str, int]) -> Head:
    return replace(head, erased={kind: head.erased.get(kind, 0) + count for kind, count in counts.items()})
