"""A world whose users are maintained: in memory or in AWS, by processes that may die at any call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from recollect.controller import MemoryController
from recollect.maintaining import Maintainer, Tell
from recollect.maintenance import Report, Run, Step, StepName, StepReport
from recollect.object_store import ObjectStore
from recollect.report_store import ReportStore
from recollect.steps import steps_of
from recollect.transcript_store import TranscriptStore

from tests.support.builders import BUDGET_BYTES
from tests.support.faults import Dying
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.inmemory_reports import InMemoryReportStore
from tests.support.inmemory_transcripts import InMemoryTranscriptStore
from tests.support.worlds import World

MINUTES_MS = 60_000


def maintainer_of(of: MemoryController, tell: Tell = lambda *_: None) -> Maintainer:
    """Make what maintains users beside a controller; of a store that is not in memory the reports are elsewhere."""
    store = of.workings.store
    memories = store if isinstance(store, InMemoryMemoryStore) else InMemoryMemoryStore()
    steps = steps_of(of, InMemoryTranscriptStore(memories))
    return Maintainer(store, InMemoryReportStore(memories), steps, of.workings.surroundings, tell)


class DyingWorkshop(Dying):
    """All stores in one count of calls, of which one is deadly."""

    def __init__(self, world: "Maintained") -> None:
        super().__init__(world.store)
        self._others = (world.reports, world.transcripts, world.objects)

    def __getattr__(self, name: str) -> Any:
        for other in self._others:
            if hasattr(other, name):
                return self._counted(name, getattr(other, name))
        return super().__getattr__(name)


@dataclass
class Maintained(World):
    """A world with reports and transcripts.

    Parameters
    ----------
    failures : list
        Steps that failed, and of what.
    """

    reports: ReportStore = field(init=False)
    transcripts: TranscriptStore = field(init=False)
    failures: list[tuple[StepName, type[Exception]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.store, InMemoryMemoryStore):
            self.reports = InMemoryReportStore(self.store)
            self.transcripts = InMemoryTranscriptStore(self.store)

    def maintainer(
        self, dying: Dying | None = None, steps: Mapping[StepName, Step] | None = None, tell: Tell | None = None
    ) -> Maintainer:
        """Make a process that maintains, on stores that may fail; with steps beside its own or in their place."""
        stores: Any = dying
        store = stores or self.store
        objects = cast("ObjectStore", stores or self.objects)
        around = self._of_compactors
        of = MemoryController(store, objects, self.embedder, around, BUDGET_BYTES)
        known = steps_of(of, stores or self.transcripts, compacting=self.policy)
        return Maintainer(store, stores or self.reports, {**known, **(steps or {})}, around, tell or self._note)

    def maintain(self, user_id: str = "ana", **how: Any) -> Report:
        """Let some time pass, and maintain."""
        self.clock.now_ms += MINUTES_MS
        return self.maintainer().run(user_id, self.clock.now_ms + 5 * MINUTES_MS, **how)

    def _note(self, name: StepName, error: Exception) -> None:
        self.failures.append((name, type(error)))


@dataclass
class Scripted:
    """A step that does what it is told.

    Parameters
    ----------
    result : StepReport or Exception
    calls : list of Run
    """

    result: StepReport | Exception = field(default_factory=StepReport)
    calls: list[Run] = field(default_factory=list)

    def run(self, user_id: str, run: Run) -> StepReport:
        self.calls.append(run)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result
