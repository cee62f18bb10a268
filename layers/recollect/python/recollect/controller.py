"""The memory controller: what each request does, step by step; the only place that decides which storage it touches.

Callers are authorised before they come here. Writes: embed first, then one commit. Reads: refresh the partition,
filter, rank, fetch. Serves one request at a time, as a Lambda instance does.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from recollect import changes, context, ranking, telemetry
from recollect.answers import ContextBlock, Hit, Page, SearchQuery, SearchResult, Stats
from recollect.changes import Decision, Embedded, Outcome, Patch
from recollect.chunks import ANSWER_MAX_BYTES, Asked, answer_bytes, chunks
from recollect.commit import Committer, Decide, Partitions, Request, Surroundings
from recollect.cursors import read_cursor, write_cursor
from recollect.errors import NotFound, Unavailable
from recollect.filters import Filter
from recollect.model import Memory, NewMemory, is_expired, is_memory_id
from recollect.partition import Partition
from recollect.ports import Embedder, MemoryStore
from recollect.ranking import Mode, Ranked
from recollect.scan import Vector

CONTEXT_MAX_HITS = 50


class MemoryController:
    """Serves the requests of users.

    Parameters
    ----------
    store : MemoryStore
    embedder : Embedder
    surroundings : Surroundings
        Time, ids, randomness, waiting.
    """

    def __init__(self, store: MemoryStore, embedder: Embedder, surroundings: Surroundings) -> None:
        self._store = store
        self._embedder = embedder
        self._surroundings = surroundings
        self._partitions = Partitions(store, embedder.name, embedder.dimension)
        self._committer = Committer(store, self._partitions, surroundings, embedder.name, embedder.dimension)

    def store(self, request: Request, new: Sequence[NewMemory]) -> tuple[Outcome, ...]:
        """Store memories; each is `created`, or `unchanged` when the same statement is there.

        Returns
        -------
        tuple of Outcome
            One for each of `new`, in order.

        Raises
        ------
        InvalidInput
            If the idempotency key was used for another request.
        Unavailable
            If the store or the embedder does not answer. Of several memories some may be stored by then; a
            repeat finds them `unchanged`.
        """
        stored = self._committer.stored_answer(request)
        if stored is not None:
            return stored
        asked = self._embedded(new)
        outcomes: tuple[Outcome, ...] = ()
        parts = list(chunks(asked))
        for number, part in enumerate(parts, start=1):
            outcomes = self._committer.commit(
                request, self._creating(part), earlier=outcomes, is_last=number == len(parts)
            )
        return outcomes

    def get(self, user_id: str, memory_id: str) -> Memory:
        """Read one memory.

        Raises
        ------
        NotFound
            If the user has no such memory, or it has expired.
        """
        if not is_memory_id(memory_id):
            raise NotFound
        return self._unexpired(self._store.fetch(user_id, (memory_id,)).get(memory_id))

    def update(self, request: Request, memory_id: str, patch: Patch) -> Outcome:
        """Change one memory; its earlier version is kept.

        Raises
        ------
        NotFound
            If the user has no such memory.
        Conflict
            If another memory is the same statement already.
        Unavailable
            If the store or the embedder does not answer.
        """
        content = patch.values.get("content")
        embedded = self._embed([content])[0] if content is not None else None

        def decide(partition: Partition, memories: Mapping[str, Memory]) -> Decision:
            memory = self._unexpired(memories.get(memory_id))
            return changes.update(partition, memory, patch, embedded, self._surroundings.now_ms())

        return self._committer.commit(request, decide, reads=(memory_id,))[-1]

    def delete(self, request: Request, memory_id: str) -> Outcome:
        """Hide one memory at once and everywhere; its last version is kept.

        Raises
        ------
        NotFound
            If the user has no such memory.
        Unavailable
            If the store does not answer.
        """

        def decide(_: Partition, memories: Mapping[str, Memory]) -> Decision:
            return changes.delete(self._unexpired(memories.get(memory_id)), self._surroundings.now_ms())

        return self._committer.commit(request, decide, reads=(memory_id,))[-1]

    def list_memories(self, user_id: str, wanted: Filter, limit: int, cursor: str | None = None) -> Page:
        """List memories, newest first, page by page; stable while others write.

        Raises
        ------
        InvalidInput
            If the cursor is not one of this user and filter.
        """
        partition = self._partitions.refresh(user_id)
        rows = np.flatnonzero(partition.mask(wanted, self._surroundings.now_ms()))
        positions = sorted(
            zip(
                partition.number("created_at_ms")[rows].tolist(),
                (partition.memory_id(int(row)) for row in rows),
                strict=True,
            ),
            reverse=True,
        )
        if cursor is not None:
            last = read_cursor(cursor, user_id, wanted)
            positions = [position for position in positions if position < last]
        page = positions[:limit]
        memories, shown = self._fetch(user_id, [memory_id for _, memory_id in page])
        more = shown < len(page) or len(positions) > limit
        return Page(tuple(memories), write_cursor(page[shown - 1], user_id, wanted) if more else None)

    def search(self, user_id: str, query: SearchQuery) -> SearchResult:
        """Find the memories that matter for a query, best first.

        Raises
        ------
        Unavailable
            If the store does not answer; or the embedder, and the mode is ``semantic``.
        """
        partition = self._partitions.refresh(user_id)
        mask = partition.mask(query.filter, self._surroundings.now_ms())
        if not mask.any():
            return SearchResult((), 0, is_degraded=False, is_truncated=False)
        vector, is_degraded = self._query_vector(partition, query)
        with telemetry.stage("rank"):
            scored = ranking.score(partition, mask, query.text, vector, query.mode)
            ranked = ranking.best(scored, query.k, query.min_score)
        hits, is_truncated = self._hits(user_id, partition, ranked)
        return SearchResult(hits, int(mask.sum()), is_degraded, is_truncated)

    def context(self, user_id: str, query: SearchQuery, token_budget: int) -> ContextBlock:
        """Render the memories that matter for a query into a prompt block.

        Raises
        ------
        Unavailable
            As `search`.
        """
        found = self.search(user_id, replace(query, k=CONTEXT_MAX_HITS))
        text, memory_ids = context.render([hit.memory for hit in found.hits], token_budget)
        return ContextBlock(text, tuple(memory_ids), context.estimated_tokens(text), found.is_degraded)

    def stats(self, user_id: str) -> Stats:
        """Count a user's memories."""
        partition = self._partitions.refresh(user_id)
        everything = partition.mask(Filter(statuses=()), self._surroundings.now_ms())
        kept = [partition.columns_of(int(row)) for row in np.flatnonzero(everything)]
        return Stats(
            total=len(kept),
            by_type=Counter(columns.type.value for columns in kept),
            by_status=Counter(columns.status.value for columns in kept),
            by_tag=Counter(tag for columns in kept for tag in columns.tags),
            pending_embeddings=int((everything & ~partition.has_vector).sum()),
            seq=partition.head.seq,
            embedder=self._embedder.name,
            dimension=self._embedder.dimension,
        )

    def _embed(self, texts: Sequence[str]) -> Sequence[Embedded]:
        with telemetry.stage("embed"):
            vectors = self._embedder.embed(texts)
        return [Embedded(vector, self._embedder.name) for vector in vectors]

    def _embedded(self, new: Sequence[NewMemory]) -> list[Asked]:
        now_ms = self._surroundings.now_ms()
        return [
            (_memory(asked, self._surroundings.new_id(), now_ms), embedded)
            for asked, embedded in zip(new, self._embed([asked.content for asked in new]), strict=True)
        ]

    def _creating(self, asked: Sequence[Asked]) -> Decide:
        return lambda partition, _: changes.create(partition, asked, self._surroundings.now_ms())

    def _unexpired(self, memory: Memory | None) -> Memory:
        if memory is None or is_expired(memory.expires_at_ms, self._surroundings.now_ms()):
            raise NotFound
        return memory

    def _query_vector(self, partition: Partition, query: SearchQuery) -> tuple[Vector | None, bool]:
        if query.mode is Mode.LEXICAL:
            return None, False
        try:
            return self._embed([ranking.text_to_embed(query.text, partition)])[0].vector, False
        except Unavailable:
            if query.mode is Mode.SEMANTIC:
                raise
            telemetry.count("degraded_searches")
            return None, True

    def _hits(self, user_id: str, partition: Partition, ranked: Ranked) -> tuple[tuple[Hit, ...], bool]:
        memory_ids = [partition.memory_id(int(row)) for row in ranked.rows]
        memories, shown = self._fetch(user_id, memory_ids)
        place = {memory_id: number for number, memory_id in enumerate(memory_ids)}
        hits = tuple(
            Hit(
                memory,
                float(ranked.scores[place[memory.memory_id]]),
                {name: float(part[place[memory.memory_id]]) for name, part in ranked.parts.items()},
            )
            for memory in memories
        )
        return hits, shown < len(memory_ids)

    def _fetch(self, user_id: str, memory_ids: Sequence[str]) -> tuple[list[Memory], int]:
        """Fetch memories in order until the answer is full; tell how many of the ids were looked at."""
        if not memory_ids:
            return [], 0
        with telemetry.stage("fetch"):
            found = self._store.fetch(user_id, memory_ids)
        memories: list[Memory] = []
        used = 0
        for shown, memory_id in enumerate(memory_ids):
            memory = found.get(memory_id)
            if memory is None or is_expired(memory.expires_at_ms, self._surroundings.now_ms()):
                continue
            used += answer_bytes(memory)
            if used > ANSWER_MAX_BYTES and memories:
                return memories, shown
            memories.append(memory)
        return memories, len(memory_ids)


def _memory(asked: NewMemory, memory_id: str, now_ms: int) -> Memory:
    values = {field.name: getattr(asked, field.name) for field in fields(NewMemory)}
    return Memory(memory_id=memory_id, created_at_ms=now_ms, updated_at_ms=now_ms, **values)
