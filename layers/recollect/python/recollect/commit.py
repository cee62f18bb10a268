"""The one way to write: refresh, decide, commit on condition that nobody else did, or try again.

The decision is always taken on the state that it is committed against. Attempts are bounded; waits between them
are random up to a doubling ceiling ("full jitter").
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from recollect import telemetry
from recollect.changes import NOT_EMBEDDED, Decision, Embedded, Embedding, Embeddings, NotEmbedded, Outcome
from recollect.consolidating import deriving
from recollect.errors import Conflict, InvalidInput, Unavailable
from recollect.model import SCHEMA_VERSION, Head, Memory
from recollect.partition import Partition
from recollect.partitions import Partitions
from recollect.ports import Embedder, MemoryStore, StoredAnswer

MAX_ATTEMPTS = 20
FIRST_WAIT_S = 0.02
MAX_WAIT_S = 0.5
ANSWER_TTL_S = 24 * 3600

Decide = Callable[[Partition, Mapping[str, Memory]], Decision]
DecideEmbedding = Callable[[Partition, Mapping[str, Memory], Embeddings], Decision]
Reads = Callable[[Partition], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is not pure: time, randomness, waiting.

    Parameters
    ----------
    now_ms : callable
        Gives epoch milliseconds.
    new_id : callable
        Gives a new ULID.
    random : callable
        Gives a float in [0, 1).
    sleep : callable
        Waits for that many seconds.
    """

    now_ms: Callable[[], int]
    new_id: Callable[[], str]
    random: Callable[[], float]
    sleep: Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Request:
    """Who asks for a change of whose memories, and under which idempotency key.

    Parameters
    ----------
    by : str
        The caller's subject, for the log.
    idempotency_key : str or None
    digest : str
        Hex digest of method, path and body.
    request_id : str
        The id that the log line has.
    epoch : str
        The life of the partition that it is meant for; empty if for the present one, whichever that is.
    """

    user_id: str
    by: str
    idempotency_key: str | None = None
    digest: str = ""
    request_id: str = ""
    epoch: str = ""


class Committer:
    """Commits decisions to users' logs."""

    def __init__(
        self,
        store: MemoryStore,
        partitions: Partitions,
        surroundings: Surroundings,
        embedder: str,
        dimension: int,
    ) -> None:
        self._store = store
        self._partitions = partitions
        self._surroundings = surroundings
        self._embedder = embedder
        self._dimension = dimension

    def commit(
        self,
        request: Request,
        decide: Decide,
        *,
        reads: Reads,
        earlier: tuple[Outcome, ...] = (),
        expected: int = 1,
        attempts: int = MAX_ATTEMPTS,
    ) -> tuple[Outcome, ...]:
        """Decide and commit, again and again until nobody else came first.

        Parameters
        ----------
        request : Request
        decide : callable
            Pure; given the partition and the memories named by `reads` (those that exist).
        reads : callable
            Pure; given the partition, names the memories whose content the decision needs.
        earlier : tuple of Outcome
            Outcomes of earlier parts of the same request.
        expected : int
            How many outcomes complete the answer, so that it is kept under the idempotency key.
        attempts : int
            How often it is tried.

        Returns
        -------
        tuple of Outcome
            Those of `earlier` and of this part; or the whole stored answer.

        Raises
        ------
        InvalidInput
            If the idempotency key was used for another request.
        Unavailable
            If others kept coming first, or a part that is needed does not answer.
        Conflict
            If the user is being erased, or was while this was going on.
        RecollectError
            Whatever `decide` raises.
        """
        ceiling_s = FIRST_WAIT_S
        epoch = request.epoch
        for _ in range(attempts):
            partition = self._partitions.refresh(request.user_id)
            epoch = _same_life(epoch, partition.head)
            stored = self.stored_answer(request)  # not before: who sees what a repeat did must see its answer
            if stored is not None:
                return stored
            try:
                return earlier + self._attempt(request, partition, decide, reads, earlier, expected)
            except _CameFirst:
                telemetry.count("commit_conflicts")
                self._surroundings.sleep(self._surroundings.random() * ceiling_s)
                ceiling_s = min(2 * ceiling_s, MAX_WAIT_S)
        raise Unavailable("other writers of this user kept coming first; retry later", retry_after_s=1)

    def stored_answer(self, request: Request) -> tuple[Outcome, ...] | None:
        """Find the answer that was given to this request before, if it has an idempotency key.

        Raises
        ------
        InvalidInput
            If the key was used for another request.
        """
        if request.idempotency_key is None:
            return None
        stored = self._store.stored_answer(request.user_id, request.idempotency_key)
        if stored is None or stored.expires_at_s <= self._surroundings.now_ms() // 1000:
            return None
        if stored.request_digest != request.digest:
            raise InvalidInput("this idempotency key was used for another request; use a new one")
        return tuple(Outcome(**outcome) for outcome in json.loads(stored.answer_json))

    def _attempt(
        self,
        request: Request,
        partition: Partition,
        decide: Decide,
        reads: Reads,
        earlier: tuple[Outcome, ...],
        expected: int,
    ) -> tuple[Outcome, ...]:
        memories = self._read(request.user_id, partition, reads(partition))
        decision = decide(partition, memories)
        outcomes = earlier + decision.outcomes
        answer = self._answer(request, outcomes) if len(outcomes) >= expected else None
        if decision.changes or answer is not None:
            with telemetry.stage("commit"):
                self._append(request, partition.head, decision, answer)
        return decision.outcomes

    def _append(self, request: Request, seen: Head, decision: Decision, answer: StoredAnswer | None) -> None:
        head = replace(
            seen,
            seq=seen.seq + len(decision.changes),
            epoch=seen.epoch or self._surroundings.new_id(),
            embedder=self._embedder,
            dimension=self._dimension,
            schema_version=SCHEMA_VERSION,
        )
        try:
            self._store.append(request.user_id, head, seen, decision.changes, request.by, answer)
        except Conflict as error:
            raise _CameFirst from error

    def _read(self, user_id: str, partition: Partition, memory_ids: Sequence[str]) -> Mapping[str, Memory]:
        wanted = partition.known(memory_ids)
        if not wanted:
            return {}
        memories, now_ms = self._store.fetch(user_id, wanted), self._surroundings.now_ms()
        for memory_id in wanted:
            memory = memories.get(memory_id)
            if memory is None and partition.is_expired(memory_id, now_ms):
                continue  # its item may be gone by itself
            if memory is None or memory.version != partition.version_of(memory_id):
                raise _CameFirst
        return memories

    def _answer(self, request: Request, outcomes: tuple[Outcome, ...]) -> StoredAnswer | None:
        if request.idempotency_key is None:
            return None
        now_s = self._surroundings.now_ms() // 1000
        return StoredAnswer(
            key=request.idempotency_key,
            request_digest=request.digest,
            answer_json=json.dumps([asdict(replace(outcome, detail=None)) for outcome in outcomes]),
            created_at_s=now_s,
            expires_at_s=now_s + ANSWER_TTL_S,
        )


def commit_embedding(
    committer: Committer, embedder: Embedder, request: Request, decide: DecideEmbedding, *, reads: Reads
) -> tuple[Outcome, ...]:
    """Commit a decision that puts texts together, which are then embedded and the decision taken again.

    Where the embedder does not answer, they stay without an embedding for now: they are put together by the way, and
    what was asked for must not fail for it. See `Committer.commit`.
    """
    made: dict[str, Embedding] = {}

    def embedding(text: str) -> Embedding:
        if text not in made:
            raise NotEmbedded(text)
        return made[text]

    while True:
        try:
            return committer.commit(request, lambda at, memories: decide(at, memories, embedding), reads=reads)
        except NotEmbedded as error:
            made[error.text] = _embedded(embedder, error.text)


def commit_following(
    committer: Committer,
    embedder: Embedder,
    request: Request,
    decide: Decide,
    *,
    reads: Reads,
    now_ms: Callable[[], int],
) -> tuple[Outcome, ...]:
    """Commit a decision with what follows from it for memories that were made of others; see ``deriving``."""

    def reads_all(partition: Partition) -> Sequence[str]:
        return deriving.family(partition, reads(partition))

    def decide_all(partition: Partition, memories: Mapping[str, Memory], embeddings: Embeddings) -> Decision:
        return deriving.following(partition, memories, decide(partition, memories), embeddings, now_ms())

    return commit_embedding(committer, embedder, request, decide_all, reads=reads_all)


def _embedded(embedder: Embedder, text: str) -> Embedding:
    try:
        return Embedded(embedder.embed([text])[0], embedder.name)
    except Unavailable:
        return NOT_EMBEDDED


def chain_of(store: MemoryStore, user_id: str, memory_id: str) -> list[str]:
    """Name a memory, the one whose place it took, the one whose place that took, and so on.

    Raises
    ------
    Unavailable
        If the store does not answer.
    """
    chain = [memory_id]
    while (memory := store.fetch(user_id, chain[-1:]).get(chain[-1])) and memory.supersedes:
        chain.append(memory.supersedes)
    return chain


def _same_life(epoch: str, head: Head) -> str:
    """Give the epoch of a commit's attempts; it must not go over from one life of the partition to the next."""
    if head.erasing_since_ms is not None:
        raise Conflict("this user is being erased; call DELETE on the user again until it is done")
    if epoch and head.epoch != epoch:
        raise Conflict("this user was erased in the meantime; nothing was changed")
    return head.epoch


class _CameFirst(Exception):
    """Somebody else committed since the partition was refreshed."""
