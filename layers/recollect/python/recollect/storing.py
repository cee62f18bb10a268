"""What becomes of new memories beside those that are there: the pure decision of a store.

Word for word the same is `unchanged`, and so is what was stored from the same messages before, whatever has become of
it since. What is close was nominated; the rules of ``reconciling`` decide what the two mean to each other. Where
nothing was nominated, what is not word for word the same is stored beside what is there. What is new to the
active memories and word for word the same as an archived one brings that one back: it is `revived`. What was there gets
the new memory's tags, its pin and its later end. Nothing is lost to a memory that expires sooner: what adds to one that
outlasts it, or says something else for a while, stays beside that one.

A decision takes as many of the asked memories, in order, as one transaction holds and as do not depend on each other;
the rest is decided on the state that this one leaves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.changes import (
    NOT_EMBEDDED,
    Decision,
    Embedded,
    Embedding,
    NotEmbedded,
    Outcome,
    awake,
    change_of,
    next_version,
)
from recollect.chunks import fits
from recollect.citing import SAID_AGAIN, is_from_there, with_sources_of
from recollect.consolidating.deriving import following
from recollect.model import (
    CONTENT_MAX_CHARS,
    TAG_MAX_COUNT,
    Change,
    Memory,
    Operation,
    Status,
    identity,
    is_expired,
    outlasts,
)
from recollect.nominating import Asked, Nominated, Nominations, OnSimilar, is_close, is_reconciled
from recollect.partition import Partition
from recollect.reconcile import Candidate, Statement, Verdict, reconcile

WINDOW_MAX_COUNT = 48
# What the log and stored answers keep of a verdict: no word of a memory, so that a purge need not look for one.
_REASONS = {
    "created": "nothing stored says the same",
    "created beside": "it adds to a memory that was made of several",
    "created for another time": "it adds to a memory that expires at another time",
    "revived": "the same statement was archived",
    "unchanged": "it says the same in other words",
    "asked more": "said again, with a tag, a pin or a later end",
    "merged": "it adds to what is stored and contradicts nothing",
    "superseded": "it says something else about the same thing",
    "superseded for a while": "it says something else about the same thing, and expires before it",
    "conflict": "it is close to another memory and may contradict it",
}
_SAID_AGAIN = (Operation.CITE, Operation.UPDATE)  # what a memory that is `unchanged` may gain


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


def _fits(one: Nominated, changes: Sequence[Change], more: Sequence[Change], new: Sequence[Nominated]) -> bool:
    """Tell whether a step can be part of the same transaction as the ones before it."""
    if not fits([*changes, *more]):
        return False
    if not is_reconciled(one.asked) or not more or more[0].operation in _SAID_AGAIN:
        return all(one.columns.identity != other.columns.identity for other in new)
    return not any(is_close(one.asked, other.asked) for other in new)


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
        elif verdict.outcome == "superseded" and outlasts(target, asked.memory):
            outcome, more = self._conflicting(asked, active, _REASONS["superseded for a while"])
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
        kept = _as_asked(cited, asked.memory)
        if kept == target:
            return Outcome("unchanged", target.memory_id, target.version, reason, target.memory_id), []
        operation, reason = (
            (Operation.UPDATE, _REASONS["asked more"]) if cited is target else (Operation.CITE, SAID_AGAIN)
        )
        after = next_version(kept, self.now_ms)
        change = change_of(operation, target, after, self.partition.embedding_of(target.memory_id), reason)
        return Outcome("unchanged", after.memory_id, after.version, reason, target.memory_id), [change]

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
            after = _as_asked(awake(archived, self.now_ms), one.asked.memory)
            embedding = self.partition.embedding_of(archived.memory_id)
            change = change_of(Operation.REVIVE, archived, after, embedding, _REASONS["revived"])
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
        new = one.asked.memory
        is_all_new = content == new.content and outlasts(new, target)
        if not is_all_new and new.expires_at_ms != target.expires_at_ms:
            return self._created(one, _REASONS["created for another time"])
        embedded = self._embedding(content)
        labelled = next_version(with_sources_of(_with_labels_of(target, new), new), self.now_ms)
        flags = tuple(dict.fromkeys((*target.flags, *new.flags)))
        both = replace(
            labelled, content=content, merged_content=new.content, flags=flags, expires_at_ms=new.expires_at_ms
        )
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


def _with_labels_of(memory: Memory, other: Memory) -> Memory:
    """Give a memory another one's tags, pin and importance beside its own; nothing is taken away."""
    importance = max(memory.importance, other.importance)
    return replace(_marked(memory, other), importance=importance)


def _as_asked(memory: Memory, new: Memory) -> Memory:
    """Give a memory what a new one that says the same asks for: tags, a pin, a later end."""
    end = new if outlasts(new, memory) else memory
    return replace(_marked(memory, new), expires_at_ms=end.expires_at_ms)


def _marked(memory: Memory, other: Memory) -> Memory:
    tags = tuple(dict.fromkeys((*memory.tags, *other.tags)))[:TAG_MAX_COUNT]
    return replace(memory, tags=tags, pinned=memory.pinned or other.pinned)
