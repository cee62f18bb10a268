"""Makes damaged segments anew from the memories: their text is the truth. Talks.

What the sound segments hold is left as it is. Embeddings are made as long as the time allows; memories without one are
pending, found by their words, until they are embedded. What is lost: how often the memories of the damaged segments
were used; and of a memory that was deleted first and purged later, the number of the purge's entry.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from recollect import telemetry
from recollect.changes import NOT_EMBEDDED, Embedded, columns_for
from recollect.commit import Surroundings
from recollect.errors import Conflict, Unavailable
from recollect.folding import telling_of
from recollect.model import Columns, Entry, Memory, Operation
from recollect.object_store import ObjectStore
from recollect.partition import Partition
from recollect.ports import Embedder, MemoryStore, Version
from recollect.publishing import Publisher
from recollect.replay import state_at
from recollect.segments.building import from_entries
from recollect.segments.layout import About
from recollect.segments.segment import Changed

EMBEDDING_BUDGET_MS = 8_000
EMBEDDED_AT_ONCE = 32


class Mender:
    """Puts a new segment in the place of damaged ones."""

    def __init__(
        self, store: MemoryStore, objects: ObjectStore, embedder: Embedder, surroundings: Surroundings
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._surroundings = surroundings
        self._publisher = Publisher(store, objects, surroundings.new_id)

    def mend(self, user_id: str, sound: Partition) -> None:
        """Make one segment of all that sound segments should know and do not; see `Partition.head` for what that is.

        Another instance may come first: the head tells.

        Raises
        ------
        Unavailable
            If a store does not answer.
        """
        versions = list(self._store.every_version(user_id))
        there, gone = state_at(versions, sound.head.compacted_seq)
        lost = [
            version.memory
            for version in there.values()
            if version.content_hash is None and sound.version_of(version.memory.memory_id) != version.memory.version
        ]
        entries = self._entries(lost) + [_departure(version) for version in gone if _is_news(sound, version)]
        columns = from_entries(entries, sound.embedder, sound.dimension)
        about = About(
            embedder=sound.embedder,
            dimension=sound.dimension,
            rows=columns["seq"].size,
            first_seq=1,
            last_seq=sound.head.compacted_seq,
        )
        made = telling_of(columns, about, _outdated(sound, there))
        last = slice(len(sound.segments), None)
        telemetry.count("mended_memories", len(lost))
        try:
            self._publisher.publish(user_id, sound, sound.head, last, *made)
        except Conflict:
            telemetry.count("mending_conflicts")

    def _entries(self, lost: Sequence[Memory]) -> list[Entry]:
        deadline = self._surroundings.now_ms() + EMBEDDING_BUDGET_MS
        entries: list[Entry] = []
        for start in range(0, len(lost), EMBEDDED_AT_ONCE):
            some = lost[start : start + EMBEDDED_AT_ONCE]
            for memory, embedded in zip(some, self._embedded(some, deadline), strict=True):
                entries.append(_entry(memory, columns_for(memory, embedded)))
        return entries

    def _embedded(self, some: Sequence[Memory], deadline: int) -> Sequence[Embedded | tuple[bytes, str]]:
        pending = [NOT_EMBEDDED] * len(some)
        if self._surroundings.now_ms() >= deadline:
            return pending
        try:
            vectors = self._embedder.embed([memory.content for memory in some])
        except Unavailable:
            return pending
        return [Embedded(vector, self._embedder.name) for vector in vectors]


def _is_news(sound: Partition, version: Version) -> bool:
    known = sound.last_seq_of(version.memory.memory_id)
    return known is None or known < version.ended_seq


def _departure(version: Version) -> Entry:
    operation = Operation.DELETE if version.content_hash is None else Operation.PURGE
    return Entry(
        seq=version.ended_seq,
        operation=operation,
        memory_id=version.memory.memory_id,
        version=version.memory.version + 1,
        at_ms=0,
        by="",
        reason="",
        columns=None,
    )


def _entry(memory: Memory, columns: Columns) -> Entry:
    return Entry(
        seq=memory.seq,
        operation=Operation.UPDATE,
        memory_id=memory.memory_id,
        version=memory.version,
        at_ms=memory.updated_at_ms,
        by="",
        reason="",
        columns=columns,
    )


def _outdated(sound: Partition, there: Mapping[str, Version]) -> list[Changed]:
    """Find live rows that are not what their memories were: a damaged segment knew that."""
    version_of = {memory_id.encode(): version.memory.version for memory_id, version in there.items()}
    nothing = np.zeros(0, dtype=np.int64)
    found: list[Changed] = []
    for segment_id, segment in sound.segments.items():
        rows = np.flatnonzero(sound.state_of(segment_id).live)
        ids, versions = segment.memory_ids_at(rows).tolist(), segment.number("version")[rows].tolist()
        is_dead = [version_of.get(one) != version for one, version in zip(ids, versions, strict=True)]
        dead = rows[np.array(is_dead, dtype=np.bool_)]
        if dead.size:
            found.append(
                Changed(
                    segment_id, dead.astype(np.uint32), nothing.astype(np.uint32), nothing.astype(np.uint32), nothing
                )
            )
    return found
