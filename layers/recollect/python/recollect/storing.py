"""What becomes of new memories beside those that are there: the pure decision of a store.

Word for word the same is `unchanged`. Cosine nominates close memories of the same kind; the rules of
``reconciling`` decide what they mean to each other. A decision takes as many of the asked memories, in order, as
one transaction holds and as do not depend on each other; the rest is decided on the state that this one leaves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from recollect.changes import Decision, Embedded, Outcome, change_of, columns_for, kept_embedding, next_version
from recollect.chunks import ACTIONS_MAX_COUNT, COMMIT_MAX_BYTES, action_count, commit_bytes
from recollect.model import CONTENT_MAX_CHARS, TAG_MAX_COUNT, Change, Memory, MemoryType, NewMemory, Operation, Status
from recollect.partition import Partition
from recollect.reconcile import NOMINATION_MAX_COUNT, NOMINATION_MIN_COSINE, Candidate, Statement, Verdict, reconcile
from recollect.scan import Rows, cosine, top_k

WINDOW_MAX_COUNT = 48
# What the log and stored answers keep of a verdict: no word of a memory, so that a purge need not look for one.
_REASONS = {
    "created": "nothing stored says the same",
    "unchanged": "it says the same in other words",
    "merged": "it adds to what is stored and contradicts nothing",
    "superseded": "it says something else about the same thing",
    "conflict": "it is close to another memory and may contradict it",
}


class OnSimilar(StrEnum):
    """What a caller wants when something close is stored already."""

    RECONCILE = "reconcile"
    CREATE = "create"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class ToStore:
    """What a caller wants to be stored, and how to treat what is close to it.

    Parameters
    ----------
    supersedes : str or None
        The memory whose place it takes, by the caller's word.
    """

    memory: NewMemory
    on_similar: OnSimilar = OnSimilar.RECONCILE
    supersedes: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The same with an id and an embedding: a memory to be."""

    memory: Memory
    embedded: Embedded
    on_similar: OnSimilar = OnSimilar.RECONCILE
    supersedes: str | None = None


class NotEmbedded(Exception):
    """A decision needs the embedding of a text that it has made, a merged content; embed it and decide again."""

    def __init__(self, text: str) -> None:
        super().__init__("a merged content is not embedded yet")
        self.text = text


def nominated(partition: Partition, asked: Asked, now_ms: int) -> list[tuple[str, float]]:
    """Find the close memories that may mean something to a new one.

    Returns
    -------
    list of (memory_id, cosine)
        At most 10, closest first: active and of the same type. None for an episode: it happened, whatever else did.
    """
    if not _is_reconciled(asked):
        return []
    rows = _comparable(partition, asked.memory, now_ms)
    scores = cosine(asked.embedded.vector, partition.vectors[rows])
    best = top_k(scores, NOMINATION_MAX_COUNT)
    return [
        (partition.memory_id(int(rows[place])), float(scores[place]))
        for place in best
        if scores[place] >= NOMINATION_MIN_COSINE
    ]


def needed(partition: Partition, window: Sequence[Asked], now_ms: int) -> list[str]:
    """Name the memories whose content the decision about a window of new memories needs."""
    wanted: dict[str, None] = {}
    for asked in window:
        columns = columns_for(asked.memory, asked.embedded)
        if asked.supersedes is not None:
            wanted[asked.supersedes] = None
        elif partition.same_statement(columns.identity, now_ms) is None:
            wanted |= {memory_id: None for memory_id, _ in nominated(partition, asked, now_ms)}
    return list(wanted)


def store(
    partition: Partition,
    memories: Mapping[str, Memory],
    window: Sequence[Asked],
    merged: Mapping[str, Embedded],
    now_ms: int,
) -> Decision:
    """Decide on new memories, as many of the window as fit; at least one.

    Parameters
    ----------
    memories : mapping of str to Memory
        Those of `needed`, as they are now.
    window : sequence of Asked
    merged : mapping of str to Embedded
        Embeddings of merged contents, by content.

    Returns
    -------
    Decision
        Outcomes of the first memories of the window.

    Raises
    ------
    NotEmbedded
        If a merged content has no embedding in `merged`.
    """
    step = _Step(partition, memories, merged, now_ms)
    outcomes: list[Outcome] = []
    changes: list[Change] = []
    new: list[Asked] = []
    for asked in window:
        outcome, more = step.decide(asked)
        if outcomes and not _fits(asked, changes, more, new):
            break
        outcomes.append(outcome)
        changes += more
        new.append(asked)
    return Decision(tuple(outcomes), tuple(changes))


def _fits(asked: Asked, changes: Sequence[Change], more: Sequence[Change], new: Sequence[Asked]) -> bool:
    """Tell whether a step can be part of the same transaction as the ones before it."""
    together = [*changes, *more]
    if action_count(together) > ACTIONS_MAX_COUNT or commit_bytes(together) > COMMIT_MAX_BYTES:
        return False
    if {change.memory_id for change in changes} & {change.memory_id for change in more}:
        return False
    if not _is_reconciled(asked) or not more:
        return all(_identity(asked) != _identity(other) for other in new)
    return all(float(asked.embedded.vector @ other.embedded.vector) < NOMINATION_MIN_COSINE for other in new)


def _identity(asked: Asked) -> bytes:
    return columns_for(asked.memory, asked.embedded).identity


@dataclass(frozen=True, slots=True)
class _Step:
    """The decision about one new memory."""

    partition: Partition
    memories: Mapping[str, Memory]
    merged: Mapping[str, Embedded]
    now_ms: int

    def decide(self, asked: Asked) -> tuple[Outcome, list[Change]]:
        """Give the outcome and the changes that make it."""
        known = self.partition.same_statement(_identity(asked), self.now_ms)
        if known is not None and asked.supersedes != known:
            version = self.partition.version_of(known) or 1
            return Outcome("unchanged", known, version, "the same statement is stored already"), []
        if asked.supersedes is not None:
            return self._superseded_by_word(asked)
        verdict = self._verdict(asked)
        target = self.memories.get(verdict.target or "")
        if target is None or verdict.outcome == "created":
            return self._created(asked, _REASONS["created"])
        reason = _REASONS[verdict.outcome]
        more: list[Change] = []
        if asked.on_similar is OnSimilar.REJECT:
            return Outcome("rejected", target.memory_id, target.version, reason, target.memory_id), []
        if verdict.outcome == "unchanged":
            outcome = Outcome("unchanged", target.memory_id, target.version, reason, target.memory_id)
        elif verdict.outcome == "merged" and verdict.content is not None:
            outcome, more = self._merged(asked, target, verdict.content, reason)
        elif verdict.outcome == "superseded":
            outcome, more = self._superseded(asked, target, reason)
        else:
            outcome, more = self._conflicting(asked, target, reason)
        return replace(outcome, detail=verdict.reason), more

    def _verdict(self, asked: Asked) -> Verdict:
        close = [
            _candidate(self.memories[memory_id], score)
            for memory_id, score in nominated(self.partition, asked, self.now_ms)
            if memory_id in self.memories
        ]
        verdict = reconcile(_statement(asked.memory), close)
        if verdict.outcome == "merged" and len(verdict.content or "") > CONTENT_MAX_CHARS:
            return Verdict("created", None, "merged, it would be longer than a memory may be", None)
        return verdict

    def _created(self, asked: Asked, reason: str) -> tuple[Outcome, list[Change]]:
        memory = asked.memory
        change = change_of(Operation.CREATE, None, memory, asked.embedded, reason)
        return Outcome("created", memory.memory_id, memory.version, reason), [change]

    def _superseded_by_word(self, asked: Asked) -> tuple[Outcome, list[Change]]:
        target = self.memories.get(asked.supersedes or "")
        if target is None or target.status is not Status.ACTIVE:
            reason = "there is no active memory with the id in `supersedes`"
            return Outcome("missing", asked.supersedes or "", 0, reason), []
        return self._superseded(asked, target, "superseded by the caller's word")

    def _superseded(self, asked: Asked, target: Memory, reason: str) -> tuple[Outcome, list[Change]]:
        memory = replace(
            _with_labels_of(asked.memory, target),
            supersedes=target.memory_id,
            lineage=(target.memory_id, *target.lineage),
        )
        old = replace(
            next_version(target, self.now_ms),
            status=Status.SUPERSEDED,
            valid_until_ms=self.now_ms,
            superseded_by=memory.memory_id,
        )
        changes = [
            change_of(Operation.SUPERSEDE, target, old, kept_embedding(self.partition, target.memory_id), reason),
            change_of(Operation.CREATE, None, memory, asked.embedded, reason),
        ]
        return Outcome("superseded", memory.memory_id, memory.version, reason, target.memory_id), changes

    def _merged(self, asked: Asked, target: Memory, content: str, reason: str) -> tuple[Outcome, list[Change]]:
        embedded = self.merged.get(content)
        if embedded is None:
            raise NotEmbedded(content)
        labelled = next_version(_with_labels_of(target, asked.memory), self.now_ms)
        both = replace(labelled, content=content, merged_content=asked.memory.content)
        known = self.partition.same_statement(columns_for(both, embedded).identity, self.now_ms)
        if known is not None:
            return self._created(asked, "merged, it would repeat another memory")
        change = change_of(Operation.MERGE, target, both, embedded, reason)
        return Outcome("merged", both.memory_id, both.version, reason, target.memory_id), [change]

    def _conflicting(self, asked: Asked, target: Memory, reason: str) -> tuple[Outcome, list[Change]]:
        memory = replace(asked.memory, conflicts_with=(target.memory_id,))
        linked = replace(next_version(target, self.now_ms), conflicts_with=(*target.conflicts_with, memory.memory_id))
        changes = [
            change_of(Operation.LINK, target, linked, kept_embedding(self.partition, target.memory_id), reason),
            change_of(Operation.CREATE, None, memory, asked.embedded, reason),
        ]
        return Outcome("conflict", memory.memory_id, memory.version, reason, target.memory_id), changes


def _comparable(partition: Partition, memory: Memory, now_ms: int) -> Rows:
    mask = partition.active(now_ms) & partition.has_vector & partition.labelled("type", memory.type)
    return np.flatnonzero(mask).astype(np.int64)


def _is_reconciled(asked: Asked) -> bool:
    is_wanted = asked.on_similar is not OnSimilar.CREATE and asked.supersedes is None
    return is_wanted and asked.memory.type is not MemoryType.EPISODIC


def _with_labels_of(memory: Memory, other: Memory) -> Memory:
    """Give a memory another one's tags, pin and importance beside its own; nothing is taken away."""
    tags = tuple(dict.fromkeys((*memory.tags, *other.tags)))[:TAG_MAX_COUNT]
    importance = max(memory.importance, other.importance)
    return replace(memory, tags=tags, importance=importance, pinned=memory.pinned or other.pinned)


def _statement(memory: Memory) -> Statement:
    return Statement(
        content=memory.content,
        type=memory.type,
        actor=memory.actor,
        session_id=memory.session_id,
        occurred_at_ms=memory.occurred_at_ms,
        tags=memory.tags,
    )


def _candidate(memory: Memory, score: float) -> Candidate:
    return Candidate(
        memory_id=memory.memory_id,
        content=memory.content,
        type=memory.type,
        cosine=score,
        actor=memory.actor,
        session_id=memory.session_id,
        occurred_at_ms=memory.occurred_at_ms,
        tags=memory.tags,
    )
