"""Runs the steps of maintenance for one user and keeps a report of it. Talks; `due` decides when it comes again.

A step that fails is reported and does not stop the others, but for a compaction: it takes from the log what tells of
purges that were begun and what settles conflicts, and waits until that was read; for conflicts no longer than the log
is short enough to be read fast. A process that dies leaves what its steps have committed, and a user who is due again
when the time is over that it took for itself.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace

from recollect import due, telemetry
from recollect.commit import Surroundings
from recollect.compaction import DEFAULT
from recollect.cursors import read_id, write_mark
from recollect.errors import Conflict, RecollectError
from recollect.maintenance import Report, ReportPage, Run, Step, StepName, StepReport
from recollect.model import Head
from recollect.ports import MemoryStore
from recollect.report_store import ReportStore

ATTEMPTS = 3
UNITS = ("read_units", "write_units")
NOT_BEGUN = StepReport(skipped={"no time was left": 1}, is_done=False)
WAITING = StepReport(looked_at=1, skipped={"the log is needed still": 1}, is_done=False)
LONG_LOG = 4 * DEFAULT.fold_entries  # so many entries slow every cold read
Tell = Callable[[StepName, Exception], None]


class Maintainer:
    """Maintains users.

    Parameters
    ----------
    store : MemoryStore
    reports : ReportStore
    steps : mapping of StepName to Step
        Those there are.
    surroundings : Surroundings
        Time and ids.
    tell : callable
        Gets the error of a step that failed.
    """

    def __init__(
        self,
        store: MemoryStore,
        reports: ReportStore,
        steps: Mapping[StepName, Step],
        surroundings: Surroundings,
        tell: Tell,
    ) -> None:
        self._store = store
        self._reports = reports
        self._steps = steps
        self.now_ms = surroundings.now_ms
        self._new_id = surroundings.new_id
        self._tell = tell

    def run_if_due(self, user_id: str, deadline_ms: int) -> Report | None:
        """Run every step for a user who is due; ``None`` for one who is not, or whom another one has just taken.

        Raises
        ------
        Unavailable
            If the store does not answer; the user stays due.
        """
        head = self._store.read_head(user_id)
        now_s = self.now_ms() // 1000
        if head.due_at_s is None or head.due_at_s > now_s:
            return None
        try:
            self._store.schedule(user_id, now_s + due.LEASE_S, head)
        except Conflict:
            return None
        return self.run(user_id, deadline_ms)

    def run(
        self,
        user_id: str,
        deadline_ms: int,
        steps: Collection[StepName] = tuple(StepName),
        *,
        is_forced: bool = False,
        is_dry_run: bool = False,
    ) -> Report:
        """Run steps for a user now, whether due or not.

        Of a user who is being erased, the erasure goes on, and nothing else is done. Before a compaction the purges are
        completed that were begun.

        Raises
        ------
        Unavailable
            If the store does not answer, or others kept coming first; what the steps have done stays.
        """
        report_id, started_ms = self._new_id(), self.now_ms()
        before = {name: telemetry.counted(name) for name in UNITS}
        head = self._store.read_head(user_id)
        last = next(iter(self._reports.reports(user_id, None, 1)), None) if head.epoch else None
        told = Run(head.epoch, deadline_ms, is_forced=is_forced, is_dry_run=is_dry_run)
        done: dict[StepName, StepReport] = {}
        for name in _chosen(steps, head):
            if name in self._steps:
                done[name] = (
                    WAITING
                    if _has_to_wait(name, done, head)
                    else self._run_step(name, user_id, _remembering(told, name, last))
                )
        report = Report(
            report_id=report_id,
            started_at_ms=started_ms,
            ended_at_ms=self.now_ms(),
            is_dry_run=is_dry_run,
            seq=head.seq,
            steps=done,
            units={name: telemetry.counted(name) - before[name] for name in UNITS},
        )
        return report if is_dry_run or not head.epoch else self._keep(user_id, report, head, last)

    def list_reports(self, user_id: str, limit: int, cursor: str | None = None) -> ReportPage:
        """List the reports of a user, newest first.

        Raises
        ------
        InvalidInput
            If the cursor is not one of this user and listing.
        Unavailable
            If the store does not answer.
        """
        listing = ("reports", user_id)
        found = self._reports.reports(user_id, None if cursor is None else read_id(cursor, *listing), limit + 1)
        page = tuple(found[:limit])
        return ReportPage(page, write_mark(page[-1].report_id, *listing) if len(found) > limit else None)

    def _run_step(self, name: StepName, user_id: str, run: Run) -> StepReport:
        started_ms = self.now_ms()
        if started_ms >= run.deadline_ms:
            return NOT_BEGUN
        try:
            with telemetry.stage(name.value):
                report = self._steps[name].run(user_id, run)
        except RecollectError as error:
            report = self._failed(name, error, error.message)
        except Exception as error:  # noqa: BLE001 - a bug in one step must not keep the others from their work
            report = self._failed(name, error, "internal error")
        return replace(report, duration_ms=self.now_ms() - started_ms)

    def _failed(self, name: StepName, error: Exception, failure: str) -> StepReport:
        telemetry.count("failed_steps")
        self._tell(name, error)
        return StepReport(is_done=False, failure=failure)

    def _keep(self, user_id: str, report: Report, seen: Head, last: Report | None) -> Report:
        """Keep a report and say when the user is due; of one who was erased meanwhile there is nothing to keep."""
        is_idle = last is not None and _changed_nothing(report) and _changed_nothing(last)
        replaces = last.report_id if last is not None and is_idle else None
        for _ in range(ATTEMPTS):
            head = self._store.read_head(user_id)
            if head.epoch != seen.epoch:
                return report
            due_at_s = head.due_at_s
            if report.steps.keys() >= self._steps.keys() or head.erasing_since_ms is not None:
                is_changed = head.seq != seen.seq
                due_at_s = due.after_run(report.steps.values(), self.now_ms(), is_changed=is_changed)
            next_at_ms = None if due_at_s is None else due_at_s * 1000
            kept = replace(report, seq=head.seq, next_due_at_ms=next_at_ms)
            with suppress(Conflict):
                if head.erasing_since_ms is None:
                    self._reports.keep(user_id, kept, due_at_s, head, replaces)
                else:
                    self._store.schedule(user_id, due_at_s, head)
                return kept
        telemetry.count("lost_reports")
        return report


def _chosen(steps: Collection[StepName], head: Head) -> list[StepName]:
    """Put the steps in order that are to be run for a user."""
    if head.erasing_since_ms is not None:
        return [StepName.ERASURE]
    needed = {StepName.ERASURE} if StepName.COMPACTION in steps else set()
    return [name for name in StepName if name in needed.union(steps) and head.epoch]


def _remembering(run: Run, name: StepName, last: Report | None) -> Run:
    """Tell a step what it has refused in its last run."""
    step = None if last is None else last.steps.get(name)
    return run if step is None else replace(run, refused=frozenset(step.refused))


def _has_to_wait(name: StepName, done: Mapping[StepName, StepReport], head: Head) -> bool:
    """Tell whether a step would take from the log what an earlier one has not read."""
    is_long = head.seq - head.compacted_seq >= LONG_LOG
    readers = [StepName.ERASURE] if is_long else [StepName.ERASURE, StepName.CONFLICTS]
    unread = [one for step in readers if (one := done.get(step)) and (one.failure is not None or not one.is_done)]
    return name is StepName.COMPACTION and bool(unread)


def _changed_nothing(report: Report) -> bool:
    return not any(step.changed or step.failure or not step.is_done for step in report.steps.values())
