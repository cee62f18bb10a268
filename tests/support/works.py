"""Requests that change a user's memories, each as a value: how it is asked for, and what a `Ledger` makes of it.

A drawn work names memories by numbers, ``#0`` for the newest that there is; `named` puts ids in their place.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from recollect.changes import Outcome, Patch
from recollect.commit import Request
from recollect.controller import MemoryController
from recollect.model import Memory, Status
from recollect.nominating import ToStore
from recollect.undoing import Resolution

from tests.support.ledger import Ledger
from tests.support.records import Told

HOUR_MS = 3_600_000
Step = Callable[[Ledger, int], Told]
Wish = Callable[[Memory], bool]
Names = Callable[[str, Wish], str]  # from a number to an id, preferably of a memory that is wished for


def anything(_: Memory) -> bool:
    """Tell that any memory will do."""
    return True


def active(one: Memory) -> bool:
    """Prefer one that can be superseded."""
    return one.status is Status.ACTIVE


def linked(one: Memory) -> bool:
    """Prefer one that has something to do with others."""
    return (one.supersedes, one.superseded_by) != (None, None)


@dataclass(frozen=True)
class Work:
    """A request that changes memories."""

    def named(self, _names: Names, _ledger: Ledger) -> "Work":
        """Put ids in the place of numbers."""
        return self

    def ask(self, of: MemoryController, request: Request) -> Sequence[Outcome]:
        """Let the service do it."""
        raise NotImplementedError

    def steps(self) -> list[Step]:
        """Say what it does, in parts that may be committed one after another."""
        raise NotImplementedError


@dataclass(frozen=True)
class Store(Work):
    """Store one memory, or a batch."""

    new: tuple[ToStore, ...]

    def named(self, names: Names, _ledger: Ledger) -> Work:
        return Store(
            tuple(
                one if one.supersedes is None else replace(one, supersedes=names(one.supersedes, active))
                for one in self.new
            )
        )

    def ask(self, of: MemoryController, request: Request) -> Sequence[Outcome]:
        return of.store(request, self.new)

    def steps(self) -> list[Step]:
        return [partial(_stored, one) for one in self.new]


def _stored(one: ToStore, ledger: Ledger, now_ms: int) -> Told:
    return ledger.store(one, now_ms)


@dataclass(frozen=True)
class OnOne(Work):
    """Change one memory.

    Parameters
    ----------
    seen : int or None
        The version that the caller has seen; drawn as its distance from the last one.
    """

    memory_id: str
    seen: int | None = None

    def named(self, names: Names, ledger: Ledger) -> Work:
        memory_id = names(self.memory_id, anything)
        seen = None if self.seen is None else (ledger.last_version(memory_id) or 0) + self.seen
        return replace(self, memory_id=memory_id, seen=seen)


@dataclass(frozen=True)
class Update(OnOne):
    """PATCH."""

    patch: Patch = field(default_factory=lambda: Patch({}))

    def ask(self, of: MemoryController, request: Request) -> Sequence[Outcome]:
        return (of.update(request, self.memory_id, self.patch, self.seen),)

    def steps(self) -> list[Step]:
        return [lambda ledger, now_ms: ledger.update(self.memory_id, self.patch, self.seen, now_ms)]


@dataclass(frozen=True)
class Delete(OnOne):
    """DELETE."""

    def ask(self, of: MemoryController, request: Request) -> Sequence[Outcome]:
        return (of.delete(request, self.memory_id, self.seen),)

    def steps(self) -> list[Step]:
        return [lambda ledger, now_ms: ledger.delete(self.memory_id, self.seen, now_ms)]


@dataclass(frozen=True)
class Purge(OnOne):
    """DELETE with purge."""

    def ask(self, of: MemoryController, request: Request) -> Sequence[Outcome]:
        return (of.purge(request, self.memory_id, self.seen),)

    def steps(self) -> list[Step]:
        return [lambda ledger, _: ledger.purge(self.memory_id, self.seen)]


@dataclass(frozen=True)
class Restore(Work):
    """Bring back a version.

    Parameters
    ----------
    version : int
        Drawn as any number; 9 is of none.
    """

    memory_id: str
    version: int
    wish: Wish = anything

    def named(self, names: Names, ledger: Ledger) -> Work:
        memory_id = names(self.memory_id, self.wish)
        last = ledger.last_version(memory_id) or 1
        return Restore(memory_id, last + 1 if self.version == 9 else 1 + self.version % last)

    def ask(self, of: MemoryController, request: Request) -> Sequence[Outcome]:
        return (of.restore(request, self.memory_id, self.version),)

    def steps(self) -> list[Step]:
        return [lambda ledger, now_ms: ledger.restore(self.memory_id, self.version, now_ms)]


@dataclass(frozen=True)
class Unmerge(Work):
    """Take a merge apart."""

    memory_id: str

    def named(self, names: Names, _ledger: Ledger) -> Work:
        return Unmerge(names(self.memory_id, lambda one: one.merged_content is not None))

    def ask(self, of: MemoryController, request: Request) -> Sequence[Outcome]:
        return of.unmerge(request, self.memory_id)

    def steps(self) -> list[Step]:
        return [lambda ledger, now_ms: ledger.unmerge(self.memory_id, now_ms)]


@dataclass(frozen=True)
class Resolve(Work):
    """Settle a conflict."""

    memory_id: str
    other_id: str
    resolution: Resolution

    def named(self, names: Names, _ledger: Ledger) -> Work:
        memory_id = names(self.memory_id, lambda one: bool(one.conflicts_with))
        other_id = names(self.other_id, lambda one: memory_id in one.conflicts_with)
        return Resolve(memory_id, other_id, self.resolution)

    def ask(self, of: MemoryController, request: Request) -> Sequence[Outcome]:
        return of.resolve(request, self.memory_id, self.other_id, self.resolution)

    def steps(self) -> list[Step]:
        return [lambda ledger, now_ms: ledger.resolve(self.memory_id, self.other_id, self.resolution, now_ms)]


def settled(work: Work, names: Names, ledger: Ledger, mark: str, now_ms: int) -> Work:
    """Make a request of what was drawn: ids for numbers, instants for hours, and a mark in each new memory.

    By its mark, a word of its own in its metadata, all that is kept of a memory can be found.
    """
    work = work.named(names, ledger)
    if isinstance(work, Update):
        values = {
            name: _from(now_ms, value) if name == "expires_at_ms" else value
            for name, value in work.patch.values.items()
        }
        return replace(work, patch=replace(work.patch, values=values))
    if not isinstance(work, Store):
        return work
    new = [
        replace(
            one,
            memory=replace(
                one.memory,
                metadata_json=json.dumps({"mark": f"{mark}-{number}"}),
                expires_at_ms=_from(now_ms, one.memory.expires_at_ms),
            ),
        )
        for number, one in enumerate(work.new)
    ]
    return Store(tuple(new))


def _from(now_ms: int, hours: int | None) -> int | None:
    return None if hours is None else now_ms + hours * HOUR_MS
