"""What may mean something to new memories among those that are there; `storing` decides what it means. Pure.

Cosine nominates close memories of the same kind; without an embedding nothing is nominated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from recollect.changes import NOT_EMBEDDED, Embedded, columns_for
from recollect.columns import MISSING
from recollect.consolidating.deriving import family
from recollect.model import Columns, Memory, MemoryType, NewMemory, Status, identity
from recollect.partition import Partition
from recollect.reconcile import NOMINATION_MAX_COUNT, NOMINATION_MIN_COSINE
from recollect.scan import Mask, Rows, Vector, top_k


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
    gives_all : bool
        Whether that one has the tags and the pin of the new one, and stays as long.
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
    gives_all: bool
    close: tuple[tuple[str, float], ...]
    archived: str | None = None
    family: tuple[str, ...] = ()
    before: tuple[str, ...] = ()

    @property
    def needed(self) -> list[str]:
        """The memories whose content the decision needs."""
        named = self.asked.supersedes
        wanted = [named] if named else [memory_id for memory_id, _ in self.close]
        cited = [self.known] if self.known and (self.asked.memory.sources or not self.gives_all) else []
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
    types = {asked.memory.type for asked in window if is_reconciled(asked)}
    compared = active | (partition.present(now_ms) & _held(partition))
    rows_of = {kind: np.flatnonzero(compared & partition.labelled("type", kind)) for kind in types}
    return Nominations(tuple(_nominated(partition, asked, rows_of, now_ms) for asked in window), now_ms)


def _held(partition: Partition) -> Mask:
    """Find the archived rows that something was made of."""
    is_part = partition.where(lambda part: part.labels("consolidated_into").matching(lambda one: one is not MISSING))
    return is_part & partition.labelled("status", Status.ARCHIVED)


def _nominated(partition: Partition, asked: Asked, rows_of: Mapping[MemoryType, Rows], now_ms: int) -> Nominated:
    columns = columns_for(asked.memory, asked.embedded or NOT_EMBEDDED)
    known = partition.same_statement(columns.identity, now_ms)
    close: tuple[tuple[str, float], ...] = ()
    if known is None and asked.embedded is not None and is_reconciled(asked):
        close = _close(partition, asked.embedded.vector, rows_of[asked.memory.type])
    archived = partition.same_statement(columns.identity, now_ms, Status.ARCHIVED) if known is None else None
    before = partition.statements(columns.identity) if known is None and asked.memory.sources else ()
    family = _family(partition, [memory_id for memory_id, _ in close], archived)
    gives_all = known is not None and partition.gives(known, asked.memory)
    return Nominated(asked, columns, known, gives_all, close, archived, family, tuple(before))


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


def is_close(one: Asked, other: Asked) -> bool:
    """Tell whether one of two new memories may mean something to the other."""
    if one.embedded is None or other.embedded is None:
        return identity(one.memory) == identity(other.memory)
    return float(one.embedded.vector @ other.embedded.vector) >= NOMINATION_MIN_COSINE


def is_reconciled(asked: Asked) -> bool:
    """Tell whether a new memory is compared with what is close to it."""
    is_wanted = asked.on_similar is not OnSimilar.CREATE and asked.supersedes is None
    return is_wanted and asked.memory.type is not MemoryType.EPISODIC  # which happened, whatever else did
