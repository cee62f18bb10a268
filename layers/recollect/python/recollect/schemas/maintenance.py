"""What maintenance may be asked, and what it answers."""

from typing import Annotated, Self

from pydantic import BaseModel, Field

from recollect.maintenance import Report, ReportPage, StepName, StepReport
from recollect.schemas.fields import IN_DIGITS, Between, Closed, Moment
from recollect.schemas.inputs import LIMIT_MAX


class MaintenanceInput(Closed):
    """What to do for a user now; everything unless said."""

    steps: Annotated[
        tuple[StepName, ...],
        Field(
            min_length=1,
            max_length=len(StepName),
            description="done in their own order; before a compaction, erasures and purges that were begun",
            strict=False,
        ),
    ] = tuple(StepName)
    force: bool = Field(False, strict=True, description="do also what is not worth its cost yet, as fold a short tail")
    dry_run: bool = Field(False, strict=True, description="tell what would be done first, and do nothing")


class ReportsInput(Closed):
    """Which page of the reports to list."""

    limit: Annotated[int, Between(1, LIMIT_MAX), IN_DIGITS] = 50
    cursor: str | None = Field(None, description="of the page before, of the same user")


class StepOutput(BaseModel):
    """What a step did; of a dry run, what it would do.

    ``looked_at`` and ``changed`` count memories; of ``compaction`` entries, uses, segments and objects, of ``erasure``
    items and objects. ``skipped`` counts by reason what was left alone, ``counts`` whatever else is worth telling.
    ``done``: nothing was left for the next run. ``next_at``: when there will be something to do. ``failure``: why it
    ended early.
    """

    looked_at: int
    changed: int
    skipped: dict[str, int]
    counts: dict[str, int]
    tokens: dict[str, int]
    done: bool
    next_at: Moment | None
    failure: str | None
    duration_ms: int

    @classmethod
    def of(cls, step: StepReport) -> Self:
        """Make the answer of the core's value."""
        return cls(
            looked_at=step.looked_at,
            changed=step.changed,
            skipped=dict(step.skipped),
            counts=dict(step.counts),
            tokens=dict(step.tokens),
            done=step.is_done,
            next_at=step.next_at_ms,
            failure=step.failure,
            duration_ms=step.duration_ms,
        )


class ReportOutput(BaseModel):
    """What a run of maintenance did for a user, by step.

    ``log_entries`` counts the committed changes when it ended. ``next_due_at``: when the user is due again, ``null`` if
    nothing is to be done until the next change. ``units``: request units that it took of the database.
    """

    report_id: str
    started_at: Moment
    ended_at: Moment
    dry_run: bool
    log_entries: int
    steps: dict[StepName, StepOutput]
    next_due_at: Moment | None
    units: dict[str, float]

    @classmethod
    def of(cls, report: Report) -> Self:
        """Make the answer of the core's value."""
        return cls(
            report_id=report.report_id,
            started_at=report.started_at_ms,
            ended_at=report.ended_at_ms,
            dry_run=report.is_dry_run,
            log_entries=report.seq,
            steps={name: StepOutput.of(step) for name, step in report.steps.items()},
            next_due_at=report.next_due_at_ms,
            units=dict(report.units),
        )


class ReportsOutput(BaseModel):
    """Reports, newest first; ``cursor`` leads to the next page, ``null`` if there is none."""

    reports: list[ReportOutput]
    cursor: str | None

    @classmethod
    def of(cls, page: ReportPage) -> Self:
        """Make the answer of the core's value."""
        return cls(reports=[ReportOutput.of(report) for report in page.reports], cursor=page.cursor)
