"""Which memories a read may see: a filter as a value. Decides nothing about order.

A condition on a field that a memory does not have never holds: a range of ``occurred_at`` leaves out memories
without that time. All conditions of a filter must hold.
"""

from dataclasses import dataclass

from recollect.model import MemoryType, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Bounds of a number or a time; ``None`` is open.

    Parameters
    ----------
    gte, gt, lte, lt : float, int or None
        At least, more than, at most, less than.
    """

    gte: float | None = None
    gt: float | None = None
    lte: float | None = None
    lt: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions on the columns of a partition; ``None`` and empty tuples ask nothing.

    Parameters
    ----------
    statuses : tuple of Status
        Active memories only, unless told otherwise.
    tags_all, tags_any : tuple of str
        Tags of which a memory must have all, or at least one.
    importance, created_at_ms, updated_at_ms, occurred_at_ms : Range or None
    agent_id, session_id, actor : str or None
        Exact values.
    """

    types: tuple[MemoryType, ...] = ()
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    tags_all: tuple[str, ...] = ()
    tags_any: tuple[str, ...] = ()
    importance: Range | None = None
    created_at_ms: Range | None = None
    updated_at_ms: Range | None = None
    occurred_at_ms: Range | None = None
    agent_id: str | None = None
    session_id: str | None = None
    actor: str | None = None
