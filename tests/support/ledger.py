"""What must be there of a user after every request, in plain dicts: what the state machine compares the service with.

It knows nothing of partitions, vectors, transactions or races: a request is one step after another. What the rules of
reconciling say is a table of a few texts; all others are unrelated.
"""

import json
from dataclasses import fields, replace
from typing import TypeVar

from recollect.changes import Patch
from recollect.errors import Conflict, NotFound, StaleVersion
from recollect.maintenance import BY
from recollect.model import Entry, Memory, MemoryType, NewMemory, Operation, Source, Status
from recollect.nominating import OnSimilar, ToStore
from recollect.undoing import Resolution

from tests.support.records import Records, Told, is_valid
from tests.support.texts import VERDICTS

M = TypeVar("M", bound=NewMemory)


class Ledger(Records):
    """One user's memories, from the first to the next erasure, and what requests make of them."""

    def store(self, asked: ToStore, now_ms: int) -> Told:
        """Take in one memory."""
        twin = self._twin(asked.memory, now_ms)
        if twin is not None and asked.supersedes != twin.memory_id:
            return self._cite(twin, asked.memory, now_ms)
        before = None if twin is not None else self._from_there(asked.memory)
        if before is not None:
            return _told("unchanged", before)
        if asked.supersedes is not None:
            old = self.present.get(asked.supersedes)
            if old is None or not is_valid(old, now_ms) or old.status is not Status.ACTIVE:
                return (("missing", asked.supersedes, 0),)
            return self._supersede(asked, old, now_ms)
        return self._reconcile(asked, now_ms)

    def _reconcile(self, asked: ToStore, now_ms: int) -> Told:
        outcome, close = self._verdict(asked, now_ms)
        if close is None:
            return self._create(asked, now_ms)
        if asked.on_similar is OnSimilar.REJECT:
            return _told("rejected", close)
        if outcome == "unchanged":
            return self._cite(close, asked.memory, now_ms)
        is_lasting = not _outlasts(close, asked.memory)
        if outcome == "merged":
            return self._merge(asked.memory, close, now_ms) if is_lasting else self._create(asked, now_ms)
        if outcome == "superseded" and is_lasting:
            return self._supersede(asked, close, now_ms)
        new = replace(self._new(asked.memory, now_ms, ahead=1), conflicts_with=(close.memory_id,))
        linked = replace(_next(close, now_ms), conflicts_with=(*close.conflicts_with, new.memory_id))
        self._put(Operation.LINK, linked)
        return _told("conflict", self._put(Operation.CREATE, new))

    def _merge(self, new: NewMemory, close: Memory, now_ms: int) -> Told:
        both = replace(_cited(_labelled(close, new), new), content=new.content, expires_at_ms=new.expires_at_ms)
        return _told("merged", self._put(Operation.MERGE, _next(both, now_ms, new.content)))

    def _create(self, asked: ToStore, now_ms: int) -> Told:
        archived = self._twin(asked.memory, now_ms, Status.ARCHIVED)
        if archived is not None:
            return _told("revived", self._put(Operation.REVIVE, _as_asked(_revived(archived, now_ms), asked.memory)))
        return _told("created", self._put(Operation.CREATE, self._new(asked.memory, now_ms)))

    def update(self, memory_id: str, patch: Patch, seen: int | None, now_ms: int) -> Told:
        """Change one memory."""
        memory = self._valid(memory_id, now_ms, seen)
        metadata = {**json.loads(memory.metadata_json), **(patch.metadata or {})}
        metadata_json = json.dumps({name: value for name, value in metadata.items() if value is not None})
        changed = replace(memory, **patch.values, metadata_json=metadata_json)
        if changed == memory:
            return _told("unchanged", memory)
        if changed.status is not memory.status is Status.SUPERSEDED:
            raise Conflict("superseded")
        self._refuse_twin(changed, now_ms)
        operation = Operation.UPDATE if changed.status is memory.status else Operation.REVIVE
        return _told("updated", self._put(operation, _next(changed, now_ms)))

    def delete(self, memory_id: str, seen: int | None, now_ms: int) -> Told:
        """Hide one memory."""
        memory = self._valid(memory_id, now_ms, seen)
        return (("deleted", memory_id, self._drop(Operation.DELETE, memory_id, memory.version + 1)),)

    def purge(self, memory_id: str, seen: int | None) -> Told:
        """Hide one memory, deleted or not, and what it said."""
        last = self.last_version(memory_id)
        if last is None:
            raise NotFound
        if memory_id in self.purged:
            return (("purged", memory_id, last),)
        if seen not in (None, last):
            raise StaleVersion("another version")
        self.purged.add(memory_id)
        return (("purged", memory_id, self._drop(Operation.PURGE, memory_id, last + 1)),)

    def restore(self, memory_id: str, number: int, now_ms: int) -> Told:
        """Make an earlier version the present one again."""
        versions = self.versions(memory_id, now_ms)
        wanted = next((one for one in versions if one.version == number), None)
        if wanted is None or memory_id in self.purged:
            raise NotFound
        if not is_valid(wanted, now_ms):
            raise Conflict("expired")
        last, after = versions[0], replace(_next(wanted, now_ms), version=(self.last_version(memory_id) or 0) + 1)
        retired = self.present.get(last.supersedes or "")
        after = replace(
            after,
            status=Status.ACTIVE,
            sources=(*self._still_cited(last, wanted), *last.sources),
            valid_until_ms=None,
            superseded_by=None,
            supersedes=last.supersedes if retired is not None and retired.superseded_by == memory_id else None,
            conflicts_with=tuple(one for one in last.conflicts_with if self._conflicts(one, memory_id)),
        )
        self._refuse_twin(after, now_ms)
        self._put(Operation.RESTORE, after)
        successor = self.present.get(last.superseded_by or "")
        if successor is not None and successor.supersedes == memory_id:
            self._put(Operation.LINK, replace(_next(successor, now_ms), supersedes=None))
        return _told("restored", after)

    def unmerge(self, memory_id: str, now_ms: int) -> Told:
        """Take apart what the present version merged."""
        memory = self._valid(memory_id, now_ms)
        if memory.merged_content is None:
            raise Conflict("merged nothing")
        earlier = self.past[memory_id][memory.version - 1]
        after = replace(_next(earlier, now_ms), version=memory.version + 1, status=memory.status)
        values = {field.name: getattr(memory, field.name) for field in fields(NewMemory)}
        kept = earlier.transcripts
        added = tuple(one for one in memory.sources if one.transcript_id not in kept) or memory.sources
        new = self._new(NewMemory(**values | {"content": memory.merged_content, "sources": added}), now_ms, ahead=1)
        for one in (after, new):
            self._refuse_twin(one, now_ms, leaving=memory_id)
        return _told("restored", self._put(Operation.UNMERGE, after)) + _told(
            "created", self._put(Operation.CREATE, new)
        )

    def resolve(self, memory_id: str, other_id: str, resolution: Resolution, now_ms: int) -> Told:
        """Settle a conflict."""
        this, other = self._valid(memory_id, now_ms), self._valid(other_id, now_ms)
        if other_id not in this.conflicts_with:
            raise Conflict("no conflict")
        if resolution is not Resolution.KEEP_BOTH and not this.status is other.status is Status.ACTIVE:
            raise Conflict("not active")
        kept, rest = (_without(_next(this, now_ms), other_id), _without(_next(other, now_ms), memory_id))
        if resolution is Resolution.KEEP_THIS:
            rest = replace(rest, status=Status.ARCHIVED)
        if resolution is not Resolution.SUPERSEDE:
            return self._resolved(kept, rest)
        rest = replace(rest, status=Status.SUPERSEDED, valid_until_ms=now_ms, superseded_by=memory_id)
        replaced, oldest = self.present.get(this.supersedes or ""), rest
        while (earlier := self.present.get(oldest.supersedes or "")) is not None:
            oldest = earlier
        if replaced is not None and oldest is rest:
            rest = replace(rest, supersedes=replaced.memory_id)
        told = self._resolved(replace(kept, supersedes=other_id), rest)
        if replaced is not None:
            self._put(Operation.LINK, replace(_next(replaced, now_ms), superseded_by=oldest.memory_id))
        if replaced is not None and oldest.memory_id != other_id:
            self._put(Operation.LINK, replace(_next(oldest, now_ms), supersedes=replaced.memory_id))
        return told

    def forget(self, transcript_id: str, cascade: bool, purges: bool, now_ms: int) -> None:
        """Let no memory cite a transcript any more."""
        found = [one for _, one in sorted(self.present.items()) if transcript_id in one.transcripts]
        alone = [one for one in found if cascade and one.transcripts == (transcript_id,)]
        for one in alone if purges else ():
            self.purge(one.memory_id, None)
        for one in found:
            left = tuple(source for source in one.sources if source.transcript_id != transcript_id)
            if one not in alone:
                self._put(Operation.CITE, replace(_next(one, now_ms), sources=left))
            elif not purges:
                self._drop(Operation.DELETE, one.memory_id, one.version + 1)

    def age(self, entry: Entry, now_ms: int) -> None:
        """Follow an entry of maintenance: what is over expires, what is neither pinned nor retired may be archived."""
        memory = self.present[entry.memory_id]
        assert entry.by == BY
        if entry.operation is Operation.EXPIRE:
            assert not is_valid(memory, now_ms)
            self._drop(Operation.EXPIRE, memory.memory_id, memory.version + 1)
        else:
            assert (memory.status, memory.pinned) == (Status.ACTIVE, False)
            self._put(Operation.ARCHIVE, replace(_next(memory, now_ms), status=Status.ARCHIVED))

    def _resolved(self, kept: Memory, rest: Memory) -> Told:
        return _told("resolved", self._put(Operation.RESOLVE, kept)) + _told(
            "resolved", self._put(Operation.RESOLVE, rest)
        )

    def _conflicts(self, memory_id: str, other_id: str) -> bool:
        return memory_id in self.present and other_id in self.present[memory_id].conflicts_with

    def _cite(self, twin: Memory, new: NewMemory, now_ms: int) -> Told:
        cited = _cited(twin, new)
        kept = _as_asked(cited, new)
        if kept == twin:
            return _told("unchanged", twin)
        operation = Operation.UPDATE if cited == twin else Operation.CITE
        return _told("unchanged", self._put(operation, _next(kept, now_ms)))

    def _from_there(self, new: NewMemory) -> Memory | None:
        same = [self.present[one] for one in sorted(self.present) if statement(self.present[one]) == statement(new)]
        return next((one for one in same if set(one.sources) & set(new.sources)), None)

    def _still_cited(self, last: Memory, wanted: Memory) -> list[Source]:
        cited = {one for memory in self.present.values() for one in memory.transcripts} - {*last.transcripts}
        return [one for one in wanted.sources if one.transcript_id in cited]

    def _supersede(self, asked: ToStore, old: Memory, now_ms: int) -> Told:
        new = self._new(_labelled(asked.memory, old), now_ms, ahead=1)
        by = new.memory_id
        retired = replace(_next(old, now_ms), status=Status.SUPERSEDED, valid_until_ms=now_ms, superseded_by=by)
        self._put(Operation.SUPERSEDE, retired)
        return _told("superseded", self._put(Operation.CREATE, replace(new, supersedes=old.memory_id)))

    def _verdict(self, asked: ToStore, now_ms: int) -> tuple[str, Memory | None]:
        new = asked.memory
        if asked.on_similar is not OnSimilar.CREATE and new.type is MemoryType.SEMANTIC:
            for one in self.active(now_ms):
                outcome = VERDICTS.get((one.content, new.content))
                if outcome is not None and (one.type, one.actor) == (new.type, new.actor):
                    return outcome, one
        return "created", None

    def _new(self, new: NewMemory, now_ms: int, ahead: int = 0) -> Memory:
        memory_id = self._name_at(len(self.log) + 1 + ahead)
        values = {field.name: getattr(new, field.name) for field in fields(NewMemory)}
        return Memory(memory_id=memory_id, created_at_ms=now_ms, updated_at_ms=now_ms, **values)

    def _put(self, operation: Operation, after: Memory) -> Memory:
        self._archive(after.memory_id)
        self.present[after.memory_id] = after
        self.log.append((operation, after.memory_id, after.version))
        return after

    def _drop(self, operation: Operation, memory_id: str, version: int) -> int:
        self._archive(memory_id)
        self.present.pop(memory_id, None)
        self.log.append((operation, memory_id, version))
        return version

    def _archive(self, memory_id: str) -> None:
        if memory_id in self.present:
            before = self.present[memory_id]
            self.past.setdefault(memory_id, {})[before.version] = before

    def _valid(self, memory_id: str, now_ms: int, seen: int | None = None) -> Memory:
        memory = self.present.get(memory_id)
        if memory is None or not is_valid(memory, now_ms):
            raise NotFound
        if seen not in (None, memory.version):
            raise StaleVersion("another version")
        return memory

    def _twin(self, new: NewMemory, now_ms: int, status: Status = Status.ACTIVE) -> Memory | None:
        twins = (one for one in self.visible(now_ms) if (one.status, statement(one)) == (status, statement(new)))
        return min(twins, key=lambda one: one.memory_id, default=None)

    def _refuse_twin(self, after: Memory, now_ms: int, leaving: str | None = None) -> None:
        twin = self._twin(after, now_ms)
        if after.status is Status.ACTIVE and twin is not None and twin.memory_id not in (after.memory_id, leaving):
            raise Conflict("the same statement")


def statement(of: NewMemory) -> tuple[object, ...]:
    """What two active memories never share."""
    when = (of.session_id, of.occurred_at_ms) if of.type is MemoryType.EPISODIC else ()
    return of.type, of.actor, of.content, when


def _next(memory: Memory, now_ms: int, merged_content: str | None = None) -> Memory:
    return replace(memory, version=memory.version + 1, updated_at_ms=now_ms, merged_content=merged_content)


def _revived(memory: Memory, now_ms: int) -> Memory:
    return replace(_next(memory, now_ms), status=Status.ACTIVE)


def _labelled(memory: M, other: NewMemory) -> M:
    return replace(_marked(memory, other), importance=max(memory.importance, other.importance))


def _marked(memory: M, other: NewMemory) -> M:
    tags = tuple(dict.fromkeys((*memory.tags, *other.tags)))
    return replace(memory, tags=tags, pinned=memory.pinned or other.pinned)


def _as_asked(memory: Memory, new: NewMemory) -> Memory:
    ends = memory.expires_at_ms, new.expires_at_ms
    return replace(_marked(memory, new), expires_at_ms=None if None in ends else max(one or 0 for one in ends))


def _outlasts(one: NewMemory, other: NewMemory) -> bool:
    return other.expires_at_ms is not None and (one.expires_at_ms is None or one.expires_at_ms > other.expires_at_ms)


def _cited(memory: Memory, other: NewMemory) -> Memory:
    more = [one for one in other.sources if memory.sources and one.transcript_id not in memory.transcripts]
    return replace(memory, sources=(*memory.sources, *more))


def _without(memory: Memory, other_id: str) -> Memory:
    return replace(memory, conflicts_with=tuple(one for one in memory.conflicts_with if one != other_id))


def _told(outcome: str, memory: Memory) -> Told:
    return ((outcome, memory.memory_id, memory.version),)
