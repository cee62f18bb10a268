"""What becomes of new memories beside those that are there: the pure decision of a store.

Word for word the same is `unchanged`, and so is what was stored from the same messages before, whatever has become of
it since. Cosine nominates close memories of the same kind; the rules of ``reconciling`` decide what they mean to each
other. Without an embedding nothing is nominated, and what is not word for word the same is stored beside what is there.
What is new to the active memories and word for word the same as an archived one brings that one back: it is `revived`.
A decision takes as many of the asked memories, in order, as
one transaction holds and as do not depend on each other; the rest is decided on the state that this one leaves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from recollect.changes import (
    NOT_EMBEDDED,
    Decision,
    Embedded,
    Embedding,
    NotEmbedded,
    Outcome,
    change_of,
    columns_for,
    next_version,
    revived,
)
from recollect.chunks import fits
from recollect.citing import SAID_AGAIN, is_from_there, with_sources_of
from recollect.columns import MISSING
from recollect.consolidating.deriving import family, following
from recollect.model import (
    CONTENT_MAX_CHARS,
    TAG_MAX_COUNT,
    Change,
    Columns,
    Memory,
    MemoryType,
    NewMemory,
    Operation,
    Status,
    identity,
    is_expired,
)
from recollect.partition import Partition
from recollect.reconcile import NOMINATION_MAX_COUNT, NOMINATION_MIN_COSINE, Candidate, Statement, Verdict, reconcile
from recollect.scan import Mask, Rows, Vector, top_k

WINDOW_MAX_COUNT = 48
# What the log and stored answers keep of a verdict: no word of a memory, so that a purge need not look for one.
_REASONS = {
    "created": "nothing stored says the same",
    "created beside": "it adds to a memory that was made of several",
    "revived": "the same statement was archived",
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
    """The same with an id and an embedding, ``None`` if the embedder did not answer: a memory to be."""

    memory: Memory
    embedded: Embedded | None
    on_similar: OnSimilar = OnSimilar.RECONCILE
    supersedes: str | None = None


@dataclass(frozen=True, slots=True)
class Nominated:
    """A new memory beside a partition, and what is there that may mean something to it.

    Parameters
    ----------
    columns : Columns
        Of the new memory.
    known : str or None
        The active memory that is the same statement.
    archived : str or None
        If there is none, an archived one.
    family : tuple of str
        Of those that are archived because a memory was made of them and others: that memory, and all that it was made
        of.
    close : tuple of (memory_id, cosine)
        Close memories that are to be compared, at most 10, closest first: of the same type, and active or part of
        what one that is active was made of.
    before : tuple of str
        Of one that cites: memories that were the same statement, which may be from the same messages.
    """

    asked: Asked
    columns: Columns
    known: str | None
    close: tuple[tuple[str, float], ...]
    archived: str | None = None
    family: tuple[str, ...] = ()
    before: tuple[str, ...] = ()

    @property
    def needed(self) -> list[str]:
        """The memories whose content the decision needs."""
        named = self.asked.supersedes
        wanted = [named] if named else [memory_id for memory_id, _ in self.close]
        cited = [self.known] if self.known and self.asked.memory.sources else []
        archived = [] if self.archived is None else [self.archived]
        return [*wanted, *cited, *archived, *self.family, *self.before]


@dataclass(frozen=True, slots=True)
class Nominations:
    """What was nominated for a window of new memories, on one state of a partition and at one time."""

    window: tuple[Nominated, ...] = ()
    now_ms: int = 0

    @property
    def needed(self) -> list[str]:
        """The memories whose content the decision about the window needs."""
        return list(dict.fromkeys(memory_id for one in self.window for memory_id in one.needed))


def nominate(partition: Partition, window: Sequence[Asked], now_ms: int) -> Nominations:
    """Find what may mean something to each new memory of a window."""
    active = partition.active(now_ms)
    types = {asked.memory.type for asked in window if _is_reconciled(asked)}
    compared = active | (partition.present(now_ms) & _held(partition))
    rows_of = {kind: np.flatnonzero(compared & partition.labelled("type", kind)) for kind in types}
    return Nominations(tuple(_nominated(partition, asked, rows_of, now_ms) for asked in window), now_ms)


def store(
    partition: Partition, memories: Mapping[str, Memory], nominations: Nominations, merged: Mapping[str, Embedded]
) -> Decision:
    """Decide on new memories, as many of the window as fit; at least one.

    Parameters
    ----------
    partition : Partition
        In the state that the nominations were made on.
    memories : mapping of str to Memory
        Those that the nominations need, as they are now.
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
    step = _Step(partition, memories, merged, nominations.now_ms)
    outcomes: list[Outcome] = []
    changes: list[Change] = []
    new: list[Nominated] = []
    for one in nominations.window:
        outcome, more = step.decide_all(one)
        if outcomes and (_is_concerned(outcome, more, changes) or not _fits(one, changes, more, new)):
            break
        outcomes.append(outcome)
        changes += more
        new.append(one)
    return Decision(tuple(outcomes), tuple(changes))


def _held(partition: Partition) -> Mask:
    """Find the archived rows that something was made of."""
    is_part = partition.where(lambda part: part.labels("consolidated_into").matching(lambda one: one is not MISSING))
    return is_part & partition.labelled("status", Status.ARCHIVED)


def _fits(one: Nominated, changes: Sequence[Change], more: Sequence[Change], new: Sequence[Nominated]) -> bool:
    """Tell whether a step can be part of the same transaction as the ones before it."""
    if not fits([*changes, *more]):
        return False
    if not _is_reconciled(one.asked) or not more or more[0].operation is Operation.CITE:
        return all(one.columns.identity != other.columns.identity for other in new)
    return not any(_is_close(one.asked, other.asked) for other in new)


def _is_concerned(outcome: Outcome, more: Sequence[Change], changes: Sequence[Change]) -> bool:
    """Tell whether a step is about a memory that the steps before it change."""
    about = {outcome.memory_id, outcome.other_id, *(change.memory_id for change in more)}
    return any(change.memory_id in about for change in changes)


@dataclass(frozen=True, slots=True)
class _Step:
    """The decision about one new memory."""

    partition: Partition
    memories: Mapping[str, Memory]
    merged: Mapping[str, Embedded]
    now_ms: int

    def decide_all(self, one: Nominated) -> tuple[Outcome, Sequence[Change]]:
        """Give the outcome and the changes that make it, with what follows for memories that were made of others."""
        outcome, more = self.decide(one)
        decision = Decision((outcome,), tuple(more))
        return outcome, following(self.partition, self.memories, decision, self._embedding, self.now_ms).changes

    def decide(self, one: Nominated) -> tuple[Outcome, list[Change]]:
        """Give the outcome and the changes that make it."""
        asked = one.asked
        if one.known is not None and asked.supersedes != one.known:
            return self._known(one.known, asked)
        for memory_id in one.before:
            before = self.memories.get(memory_id)
            if before is not None and is_from_there(before, asked.memory):
                return Outcome("unchanged", memory_id, before.version, "it was stored from these messages before"), []
        if asked.supersedes is not None:
            return self._superseded_by_word(asked)
        return self._reconciled(one, self._verdict(one))

    def _reconciled(self, one: Nominated, verdict: Verdict) -> tuple[Outcome, list[Change]]:
        asked = one.asked
        target = self.memories.get(verdict.target or "")
        if target is None or verdict.outcome == "created":
            return self._created(one, _REASONS["created"])
        reason = _REASONS[verdict.outcome]
        more: list[Change] = []
        active = self._holder(target) or target
        if asked.on_similar is OnSimilar.REJECT:
            return Outcome("rejected", active.memory_id, active.version, reason, active.memory_id), []
        if verdict.outcome == "unchanged":
            outcome, more = self._unchanged(asked, active, reason)
        elif verdict.outcome == "merged" and active.derived_from:
            outcome, more = self._created(one, _REASONS["created beside"])
        elif verdict.outcome == "merged" and verdict.content is not None:
            outcome, more = self._merged(one, target, verdict.content, reason)
        elif verdict.outcome == "superseded":
            outcome, more = self._superseded(asked, target, reason)
        else:
            outcome, more = self._conflicting(asked, active, reason)
        return replace(outcome, detail=verdict.reason), more

    def _known(self, memory_id: str, asked: Asked) -> tuple[Outcome, list[Change]]:
        target = self.memories.get(memory_id)
        reason = "the same statement is stored already"
        if target is None:
            return Outcome("unchanged", memory_id, self.partition.version_of(memory_id) or 1, reason), []
        outcome, more = self._unchanged(asked, target, reason)
        return replace(outcome, other_id=None), more

    def _unchanged(self, asked: Asked, target: Memory, reason: str) -> tuple[Outcome, list[Change]]:
        cited = with_sources_of(target, asked.memory)
        if cited is target:
            return Outcome("unchanged", target.memory_id, target.version, reason, target.memory_id), []
        after = next_version(cited, self.now_ms)
        embedding = self.partition.embedding_of(target.memory_id)
        change = change_of(Operation.CITE, target, after, embedding, SAID_AGAIN)
        return Outcome("unchanged", after.memory_id, after.version, SAID_AGAIN, target.memory_id), [change]

    def _verdict(self, one: Nominated) -> Verdict:
        """Compare with what is close; in the place of a memory that was made of others, with those, one by one."""
        statement = Statement.of(one.asked.memory)
        close = [(self.memories[memory_id], score) for memory_id, score in one.close if memory_id in self.memories]
        made = {memory.consolidated_into for memory in self.memories.values()}
        whole = [Candidate.of(memory, score) for memory, score in close if memory.memory_id in made]
        parts = [
            Candidate.of(memory, score)
            for memory, score in close
            if memory.memory_id not in made and (memory.status is Status.ACTIVE or self._holder(memory))
        ]
        verdict = reconcile(statement, parts)
        if whole and verdict.outcome != "unchanged":
            of_whole = reconcile(statement, whole)
            verdict = of_whole if of_whole.outcome == "unchanged" else verdict
        if verdict.outcome == "merged" and len(verdict.content or "") > CONTENT_MAX_CHARS:
            return Verdict("created", None, "merged, it would be longer than a memory may be", None)
        return verdict

    def _created(self, one: Nominated, reason: str) -> tuple[Outcome, list[Change]]:
        archived = self.memories.get(one.archived or "")
        holder = None if archived is None else self._holder(archived)
        if holder is not None:
            return self._unchanged(one.asked, holder, _REASONS["unchanged"])
        if archived is not None:
            change = revived(self.partition, archived, self.now_ms, _REASONS["revived"])
            return Outcome("revived", archived.memory_id, change.version, change.reason), [change]
        memory = one.asked.memory
        change = Change(
            operation=Operation.CREATE,
            memory_id=memory.memory_id,
            version=memory.version,
            at_ms=memory.updated_at_ms,
            reason=reason,
            columns=one.columns,
            after=memory,
        )
        is_pending = one.asked.embedded is None
        return Outcome("created", memory.memory_id, memory.version, reason, is_pending=is_pending), [change]

    def _holder(self, memory: Memory) -> Memory | None:
        """Give the active memory that was made of one and others, and says what it says."""
        holder = self.memories.get(memory.consolidated_into or "")
        return holder if holder is not None and holder.status is Status.ACTIVE else None

    def _embedding(self, text: str) -> Embedding:
        embedded = self.merged.get(text)
        if embedded is None:
            raise NotEmbedded(text)
        return embedded

    def _superseded_by_word(self, asked: Asked) -> tuple[Outcome, list[Change]]:
        target = self.memories.get(asked.supersedes or "")
        if target is None or target.status is not Status.ACTIVE or is_expired(target.expires_at_ms, self.now_ms):
            reason = "there is no active memory with the id in `supersedes`"
            return Outcome("missing", asked.supersedes or "", 0, reason), []
        return self._superseded(asked, target, "superseded by the caller's word")

    def _superseded(self, asked: Asked, target: Memory, reason: str) -> tuple[Outcome, list[Change]]:
        memory = replace(
            _with_labels_of(asked.memory, target),
            supersedes=target.memory_id,
        )
        old = replace(
            next_version(target, self.now_ms),
            status=Status.SUPERSEDED,
            valid_until_ms=self.now_ms,
            superseded_by=memory.memory_id,
        )
        changes = [
            change_of(Operation.SUPERSEDE, target, old, self.partition.embedding_of(target.memory_id), reason),
            change_of(Operation.CREATE, None, memory, asked.embedded or NOT_EMBEDDED, reason),
        ]
        is_pending = asked.embedded is None
        outcome = Outcome(
            "superseded", memory.memory_id, memory.version, reason, target.memory_id, is_pending=is_pending
        )
        return outcome, changes

    def _merged(self, one: Nominated, target: Memory, content: str, reason: str) -> tuple[Outcome, list[Change]]:
        embedded = self._embedding(content)
        new = one.asked.memory
        labelled = next_version(with_sources_of(_with_labels_of(target, new), new), self.now_ms)
        flags = tuple(dict.fromkeys((*target.flags, *new.flags)))
        both = replace(labelled, content=content, merged_content=new.content, flags=flags)
        change = change_of(Operation.MERGE, target, both, embedded, reason)
        if self.partition.same_statement(identity(both), self.now_ms) is not None:
            return self._created(one, "merged, it would repeat another memory")
        return Outcome("merged", both.memory_id, both.version, reason, target.memory_id), [change]

    def _conflicting(self, asked: Asked, target: Memory, reason: str) -> tuple[Outcome, list[Change]]:
        memory = replace(asked.memory, conflicts_with=(target.memory_id,))
        linked = replace(next_version(target, self.now_ms), conflicts_with=(*target.conflicts_with, memory.memory_id))
        changes = [
            change_of(Operation.LINK, target, linked, self.partition.embedding_of(target.memory_id), reason),
            change_of(Operation.CREATE, None, memory, asked.embedded or NOT_EMBEDDED, reason),
        ]
        return Outcome("conflict", memory.memory_id, memory.version, reason, target.memory_id), changes


def _nominated(partition: Partition, asked: Asked, rows_of: Mapping[MemoryType, Rows], now_ms: int) -> Nominated:
    columns = columns_for(asked.memory, asked.embedded or NOT_EMBEDDED)
    known = partition.same_statement(columns.identity, now_ms)
    close: tuple[tuple[str, float], ...] = ()
    if known is None and asked.embedded is not None and _is_reconciled(asked):
        close = _close(partition, asked.embedded.vector, rows_of[asked.memory.type])
    archived = partition.same_statement(columns.identity, now_ms, Status.ARCHIVED) if known is None else None
    before = partition.statements(columns.identity) if known is None and asked.memory.sources else ()
    family = _family(partition, [memory_id for memory_id, _ in close], archived)
    return Nominated(asked, columns, known, close, archived, family, tuple(before))


def _family(partition: Partition, close: Sequence[str], archived: str | None) -> tuple[str, ...]:
    there = {*close, *([] if archived is None else [archived])}
    return tuple(one for one in family(partition, sorted(there)) if one not in there)


def _close(partition: Partition, vector: Vector, rows: Rows) -> tuple[tuple[str, float], ...]:
    rows = partition.nearest(vector, rows, NOMINATION_MAX_COUNT)
    scores = partition.cosines(vector, rows)
    return tuple(
        (partition.memory_id(int(rows[place])), float(scores[place]))
        for place in top_k(scores, NOMINATION_MAX_COUNT)
        if scores[place] >= NOMINATION_MIN_COSINE
    )


def _is_close(one: Asked, other: Asked) -> bool:
    if one.embedded is None or other.embedded is None:
        return identity(one.memory) == identity(other.memory)
    return float(one.embedded.vector @ other.embedded.vector) >= NOMINATION_MIN_COSINE


def _is_reconciled(asked: Asked) -> bool:
    is_wanted = asked.on_similar is not OnSimilar.CREATE and asked.supersedes is None
    return is_wanted and asked.memory.type is not MemoryType.EPISODIC  # which happened, whatever else did


def _with_labels_of(memory: Memory, other: Memory) -> Memory:
    """Give a memory another one's tags, pin and importance beside its own; nothing is taken away."""
    tags = tuple(dict.fromkeys((*memory.tags, *other.tags)))[:TAG_MAX_COUNT]
    importance = max(memory.importance, other.importance)
    return replace(memory, tags=tags, importance=importance, pinned=memory.pinned or other.pinned)
