"""The values of maintenance: which steps there are, what one run of a user's is told, and what it reports.

A step is a pure decision in a module of its own and a small class that talks (`Step`); ``maintaining.py`` runs them in
the order of `StepName`. Each commits on condition that nobody came first, may die anywhere, be run again, and run twice
at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

BY = "maintenance"  # who asked, as the log says


class StepName(StrEnum):
    """The steps, in the order in which they run."""

    ERASURE = "erasure"
    EXPIRY = "expiry"
    DECAY = "decay"
    CONFLICTS = "conflicts"
    CONSOLIDATION = "consolidation"
    EMBEDDING = "embedding"
    COMPACTION = "compaction"


@dataclass(frozen=True, slots=True)
class Run:
    """What a step is told.

    Parameters
    ----------
    epoch : str
        The life of the partition that is maintained; its commits are meant for no other (`Request.epoch`).
    deadline_ms : int
        When it must have ended, epoch milliseconds; what is left stays due.
    is_forced : bool
        Do also what is not worth its cost yet.
    is_dry_run : bool
        Tell what would be done, and do nothing.
    refused : frozenset of str
        `StepReport.refused` of the step's last run.
    """

    epoch: str
    deadline_ms: int
    is_forced: bool = False
    is_dry_run: bool = False
    refused: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """What a step did; of a dry run, what it would do.

    Parameters
    ----------
    looked_at, changed : int
        Memories; of a compaction entries, touches and segments; of an erasure items and objects.
    skipped : mapping of str to int
        How many of those it looked at it left alone, by reason.
    counts : mapping of str to int
        Whatever else is worth telling, by name.
    tokens : mapping of str to int
        What a model took, ``input`` and ``output``.
    is_done : bool
        Whether nothing was left for the next run.
    next_at_ms : int or None
        When there will be something to do, as far as can be told now; epoch milliseconds.
    failure : str or None
        Why it ended early; never text of a memory.
    refused : tuple of str
        Digests of what came to nothing and is not to be tried again as it is, unless a run is forced.
    duration_ms : int
        Filled in by the runner.
    """

    looked_at: int = 0
    changed: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)
    is_done: bool = True
    next_at_ms: int | None = None
    failure: str | None = None
    refused: tuple[str, ...] = ()
    duration_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run of maintenance did for one user.

    Parameters
    ----------
    report_id : str
        ULID.
    seq : int
        Of the user's head when it ended.
    next_due_at_ms : int or None
        When the user is due again; ``None`` if nothing is to be done until the next change.
    units : mapping of str to float
        Request units of the table that it took: ``read_units``, ``write_units``.
    """

    report_id: str
    started_at_ms: int
    ended_at_ms: int
    is_dry_run: bool
    seq: int
    steps: Mapping[StepName, StepReport]
    next_due_at_ms: int | None = None
    units: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportPage:
    """Some reports, newest first, and where the next page starts (``None``: nowhere)."""

    reports: tuple[Report, ...]
    cursor: str | None


class Step(Protocol):
    """One kind of maintenance."""

    def run(self, user_id: str, run: Run) -> StepReport:
        """Do it for one user, as far as the time allows.

        Raises
        ------
        RecollectError
            If it cannot go on; what it committed stays, and the other steps run all the same.
        """
        ...
