"""The memory controller: what each request does, step by step; the only place that decides which storage it touches.

Callers are authorised before they come here. Writes: embed first, then one commit. Reads: refresh the partition,
filter, rank, fetch. Serves one request at a time, as a Lambda instance does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recollect import context, explaining, named_times, ordering, ranking, signs, telemetry
from recollect.answers import ContextBlock, Hit, Page, SearchQuery, SearchResult, Stats
from recollect.chunks import ANSWER_MAX_BYTES, answer_bytes
from recollect.commit import Request
from recollect.cursors import read_cursor, write_cursor
from recollect.diversity import varied
from recollect.errors import NotFound, Unavailable
from recollect.explaining import Searched
from recollect.extracting import dates
from recollect.filtering import visible
from recollect.filters import ACTIVE, EVERYTHING, AllOf, Compare, Filter, Operator
from recollect.forgetting import Forgetting
from recollect.model import QUERY_MAX_CHARS, Memory, Status, is_expired, is_memory_id
from recollect.ordering import NEWEST_FIRST, Order
from recollect.partition import Partition
from recollect.ranking import Asked, Mode, Ranked, Weights
from recollect.scan import Mask, Vector
from recollect.text import is_blank
from recollect.writing import Writing

CONTEXT_MAX_HITS = 50
_NO_LIFT = Weights(recency=0.0, importance=0.0, reinforcement=0.0)


class MemoryController(Forgetting, Writing):
    """Serves the requests of users; see also `Writing`, `Erasing`, `Forgetting` and `Trail`, its other parts."""

    def get(self, user_id: str, memory_id: str) -> Memory:
        """Read one memory.

        Raises
        ------
        NotFound
            If the user has no such memory, or it has expired.
        """
        if not is_memory_id(memory_id):
            raise NotFound
        partition = self._partitions.refresh(user_id)
        if partition.version_of(memory_id) is None:
            raise NotFound
        memory = self._unexpired(self._store.fetch(user_id, (memory_id,)).get(memory_id))
        return partition.with_use([memory])[0]

    def list_memories(
        self, user_id: str, wanted: Filter, limit: int, cursor: str | None = None, order: Order = NEWEST_FIRST
    ) -> Page:
        """List memories in an order, page by page.

        While others write, every memory whose place in the order stays is listed once; one that is created or moves
        meanwhile is listed if its new place comes after the page.

        Raises
        ------
        InvalidInput
            If the cursor is not one of this user, filter and order.
        """
        last = None if cursor is None else read_cursor(cursor, user_id, wanted, order)
        partition = self._partitions.refresh(user_id)
        mask = visible(partition, wanted, self._surroundings.now_ms())
        positions = ordering.positions(partition, mask, order, limit + 1, last)
        page = positions[:limit]
        memories, shown = self._fetch(user_id, partition, [memory_id for _, _, memory_id in page])
        more = shown < len(page) or len(positions) > limit
        return Page(tuple(memories), write_cursor(page[shown - 1], user_id, wanted, order) if more else None)

    def search(self, user_id: str, query: SearchQuery, by: str | None = None) -> SearchResult:
        """Find the memories that matter for a query, best first; archived ones among them are active from then on.

        Parameters
        ----------
        by : str or None
            Who asks, for the log; the user unless said.

        Raises
        ------
        Unavailable
            If the store does not answer; or the embedder, and the mode is ``semantic``.
        """
        partition = self._partitions.refresh(user_id)
        now_ms = self._surroundings.now_ms()
        searched = Searched(now_ms=now_ms, mask=visible(partition, query.filter, now_ms))
        if not searched.mask.any():
            result = SearchResult((), 0)
        elif query.mode is Mode.EXACT:
            result, searched = self._exact(user_id, partition, query, searched)
        else:
            result, searched = self._ranked(user_id, partition, query, searched)
        if query.explained_ids:
            searched = replace(searched, shown=[hit.memory.memory_id for hit in result.hits])
            result = replace(result, explained=explaining.explain(partition, query, searched))
        if query.reinforces:
            self._use(Request(user_id, by or user_id, epoch=partition.head.epoch), [hit.memory for hit in result.hits])
        return result

    def close_to(self, user_id: str, text: str, limit: int = 10) -> list[Memory]:
        """Find the active memories that are close to a text, closest first; it is no use of them.

        By words and meaning; by words alone when the embedder does not answer.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        if is_blank(text):
            return []
        query = SearchQuery(text=text[:QUERY_MAX_CHARS], k=limit, weights=_NO_LIFT, reinforces=False)
        return [hit.memory for hit in self.search(user_id, query).hits]

    def context(self, user_id: str, query: SearchQuery, token_budget: int, by: str | None = None) -> ContextBlock:
        """Render the user's profile and the memories that matter for a query into a prompt block.

        Flagged memories stay out until they are approved. Those that were put in for the query count as used, and are
        active from then on if they were archived; `by`: see `search`.

        Raises
        ------
        Unavailable
            As `search`.
        """
        partition = self._partitions.refresh(user_id)
        mask = visible(partition, query.filter, self._surroundings.now_ms()) & ~partition.where(
            lambda part: part.texts("flags").filled
        )
        profile = context.profile(partition, mask)
        query = replace(query, k=CONTEXT_MAX_HITS)
        asked, is_degraded = self._question(partition, mask, query)
        with telemetry.stage("rank"):
            scored = ranking.score(partition, mask, asked)
            ranked = varied(partition, scored, query.k, query.min_score, query.diversity)
        found = [partition.memory_id(int(row)) for row in ranked.rows]
        memories, _ = self._fetch(user_id, partition, list(dict.fromkeys(profile + found)))
        known = set(profile)
        stable, volatile = context.render(
            [memory for memory in memories if memory.memory_id in known],
            [memory for memory in memories if memory.memory_id not in known],
            token_budget,
        )
        if query.reinforces:
            shown = [memory for memory in memories if memory.memory_id in volatile.memory_ids]
            self._use(Request(user_id, by or user_id, epoch=partition.head.epoch), shown)
        return ContextBlock(stable, volatile, is_degraded)

    def stats(self, user_id: str) -> Stats:
        """Count a user's memories."""
        partition = self._partitions.refresh(user_id)
        everything = visible(partition, EVERYTHING, self._surroundings.now_ms())
        total = int(everything.sum())
        created_at, updated_at = (partition.number(name)[everything] for name in ("created_at", "updated_at"))
        return Stats(
            total=total,
            by_type=partition.counts("type", everything),
            by_status=partition.counts("status", everything),
            by_tag=partition.counts("tags", everything),
            mean_importance=float(partition.number("importance")[everything].mean()) if total else None,
            text_bytes=partition.text_bytes(everything),
            first_created_at_ms=int(created_at.min()) if total else None,
            last_created_at_ms=int(created_at.max()) if total else None,
            last_updated_at_ms=int(updated_at.max()) if total else None,
            pending_embeddings=int(partition.pending(self._surroundings.now_ms()).sum()),
            seq=partition.head.seq,
            embedder=self._embedder.name,
            dimension=self._embedder.dimension,
            due_at_s=partition.head.due_at_s,
        )

    def count_citing(self, user_id: str, transcript_id: str) -> Mapping[str, int]:
        """Count a user's active memories that cite a transcript, by type."""
        partition = self._partitions.refresh(user_id)
        citing = AllOf((ACTIVE, Compare(("transcripts",), Operator.CONTAINS, transcript_id)))
        return partition.counts("type", visible(partition, citing, self._surroundings.now_ms()))

    def _use(self, request: Request, memories: Sequence[Memory]) -> None:
        """Count a use of memories, and bring back those of them that were archived."""
        self._reinforce(request.user_id, [memory.memory_id for memory in memories])
        self._revive(request, [memory.memory_id for memory in memories if memory.status is Status.ARCHIVED])

    def _exact(
        self, user_id: str, partition: Partition, query: SearchQuery, searched: Searched
    ) -> tuple[SearchResult, Searched]:
        positions = ordering.positions(partition, searched.mask, query.order, query.k)
        chosen = [memory_id for _, _, memory_id in positions]
        memories, shown = self._fetch(user_id, partition, chosen)
        hits = tuple(Hit(memory, 1.0, {}) for memory in memories)
        result = SearchResult(hits, int(searched.mask.sum()), is_truncated=shown < len(positions))
        return result, replace(searched, chosen=chosen)

    def _ranked(
        self, user_id: str, partition: Partition, query: SearchQuery, searched: Searched
    ) -> tuple[SearchResult, Searched]:
        asked, is_degraded = self._question(partition, searched.mask, query)
        with telemetry.stage("rank"):
            scored = ranking.score(partition, searched.mask, asked)
            best = varied(partition, scored, query.k, query.min_score, query.diversity)
        chosen = [partition.memory_id(int(row)) for row in best.rows]
        hits, is_truncated = self._hits(user_id, partition, best, chosen)
        result = SearchResult(hits, int(searched.mask.sum()), is_degraded, is_truncated)
        return result, replace(searched, asked=asked, scored=scored, chosen=chosen)

    def _question(self, partition: Partition, mask: Mask, query: SearchQuery) -> tuple[Asked, bool]:
        """Make what rows are scored against; tell whether only words count for some that vectors should count for."""
        vector, is_degraded = self._query_vector(partition, query)
        if query.mode is not Mode.LEXICAL:
            is_degraded |= bool((mask & ~partition.where(lambda part: part.has_vector)).any())
        now_ms = self._surroundings.now_ms() if query.now_ms is None else query.now_ms
        asked = Asked(
            text=query.text,
            vector=vector,
            mode=query.mode,
            weights=query.weights,
            now_ms=now_ms,
            times=named_times.spans(dates.resolved(query.text, now_ms), now_ms),
        )
        return asked, is_degraded

    def _query_vector(self, partition: Partition, query: SearchQuery) -> tuple[Vector | None, bool]:
        if query.mode is Mode.LEXICAL:
            return None, False
        try:
            return self._embed([signs.text_to_embed(query.text, partition)])[0].vector, False
        except Unavailable:
            if query.mode is Mode.SEMANTIC:
                raise
            telemetry.count("degraded_searches")
            return None, True

    def _hits(
        self, user_id: str, partition: Partition, ranked: Ranked, memory_ids: Sequence[str]
    ) -> tuple[tuple[Hit, ...], bool]:
        memories, shown = self._fetch(user_id, partition, memory_ids)
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

    def _fetch(self, user_id: str, partition: Partition, memory_ids: Sequence[str]) -> tuple[list[Memory], int]:
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
                return partition.with_use(memories), shown
            memories.append(memory)
        return partition.with_use(memories), len(memory_ids)
