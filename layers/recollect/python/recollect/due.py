"""When a user is due for maintenance. Pure.

The head says it, and only while it says so the user is in the sparse index that the planner asks: who is dormant costs
nothing. Whoever commits makes the user due in some hours, and at once when work has piled up. Who maintains a user
pushes the time forward first, so that nobody else does it meanwhile, and at the end sets it to what the steps said.
"""

import hashlib
from collections.abc import Collection, Sequence

from recollect.compaction import DEFAULT
from recollect.maintenance import StepReport
from recollect.model import Change, Head

SHARDS = 16
PAUSE_S = 6 * 3600  # between runs, when nothing is pressing
RETRY_S = 3600  # after a step has failed, or got nowhere
ERASURE_S = 15 * 60  # after an erasure has begun: whoever asked for it is expected to go on
LEASE_S = 15 * 60  # longer than a run may take, shorter than its message stays hidden


def shard_of(user_id: str) -> str:
    """Name the part of the index that a user is in."""
    return shard(hashlib.sha256(user_id.encode("utf-8", "surrogatepass")).digest()[0] % SHARDS)


def shard(number: int) -> str:
    """Name a part of the index."""
    return f"{number:02d}"


def at_once(due_at_s: int | None, now_s: int) -> int:
    """Give the due time of a user with pressing work; one who is due soon, or being maintained, stays as it is."""
    return now_s if due_at_s is None or due_at_s > now_s + LEASE_S else due_at_s


def after_commit(seen: Head, changes: Sequence[Change], now_s: int) -> int:
    """Give the due time after a commit: the tail is long, embeddings are pending, or just something changed."""
    tail = seen.seq + len(changes) - seen.compacted_seq
    is_pending = any(change.columns is not None and not change.columns.embedder for change in changes)
    if tail >= DEFAULT.fold_entries or is_pending:
        return at_once(seen.due_at_s, now_s)
    return now_s + PAUSE_S if seen.due_at_s is None else min(seen.due_at_s, now_s + PAUSE_S)


def after_touch(head: Head, touches: int, embedder: str, now_s: int) -> int | None:
    """Give the due time after a touch: there are many of them, or another embedder has come since the last commit.

    Parameters
    ----------
    touches : int
        So many of them the segments do not hold yet.
    embedder : str
        Name of the present one.
    """
    is_pressing = touches >= DEFAULT.fold_touches or head.embedder != embedder
    return at_once(head.due_at_s, now_s) if is_pressing else head.due_at_s


def after_run(reports: Collection[StepReport], now_ms: int, *, is_changed: bool) -> int | None:
    """Give the due time after a run of all steps, epoch seconds; ``None`` if nothing is to be done until a change.

    At once if there is more to do; not so where a step found nothing that it could do: it would find the same again.

    Parameters
    ----------
    is_changed : bool
        Whether anything was committed since it began, by itself or by others: that was not looked at by every step.
    """
    now_s = now_ms // 1000
    left = [report for report in reports if not report.is_done or report.failure is not None]
    if any(report.failure is None and (report.changed or not report.looked_at) for report in left):
        return now_s
    if left:
        return now_s + RETRY_S
    times = [-(-report.next_at_ms // 1000) for report in reports if report.next_at_ms is not None]
    if not times and not is_changed:
        return None
    return now_s + PAUSE_S if is_changed else max(min(times), now_s + PAUSE_S)
