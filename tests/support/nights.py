"""Days and nights of users of a service whose processes fail at a chosen call: requests by day, maintenance by night.

Whoever sends a request sends it again, under the same key, until it is answered; to another instance if the first one
has died. The schedule starts a plan at fixed times, whatever came of the one before; a message about a user comes again
at the next of these times unless its work has ended. Each morning all processes are new.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from recollect import keys
from recollect.answers import SearchQuery
from recollect.changes import Outcome
from recollect.commit import Surroundings
from recollect.compaction import Policy
from recollect.controller import MemoryController
from recollect.errors import Unavailable
from recollect.filters import EVERYTHING
from recollect.maintaining import Maintainer
from recollect.maintenance import StepName
from recollect.model import Memory
from recollect.planning import Planner
from recollect.steps import steps_of

from tests.support.builders import BUDGET_BYTES, NOW_MS, Clock, asking
from tests.support.days import DAY_MS, DAYS, EMBEDDERS, HOUR_MS, SCRIPT, Asked
from tests.support.embedder import HashingEmbedder
from tests.support.faults import Killed
from tests.support.moments import Call, Moment, Watch

POLICY = Policy(fold_entries=8, fold_touches=4, fold_max_entries=64, fan=2, tiers=2)
RUN_MS = 5 * 60 * 1000
EVENING = (10 * HOUR_MS, int(10.4 * HOUR_MS), 18 * HOUR_MS)  # after the morning
CALM = (int(18.4 * HOUR_MS), 20 * HOUR_MS, int(21.5 * HOUR_MS))
AFTER = (*CALM, 28 * HOUR_MS, 35 * HOUR_MS)
INSTANCES = 2
DIMENSION = 300
TRIES = 9
_MADE_ID = re.compile(r"01HF\d{22}")
Faults = Mapping[str, Sequence[Moment]]  # by the name of a piece of work, one for each time that it is tried
Calls = Mapping[str, Sequence[Call]]


class Place(Protocol):
    """Where everything is stored."""

    stores: Any
    """All stores, index and queue as one, whose calls are watched."""

    def take(self) -> list[str]:
        """Take the users in the queue."""
        ...

    def give_back(self, user_id: str) -> None:
        """Put a user into the queue again."""
        ...

    def texts(self) -> str:
        """Give whatever is stored anywhere."""
        ...

    def objects_of(self, user_id: str) -> list[str]:
        """Name the objects of a user."""
        ...

    def mark(self) -> Any:
        """Give what `back` brings back."""
        ...

    def back(self, mark: Any) -> None:
        """Let everything be stored as it was."""
        ...


@dataclass
class Life:
    """What the users do, and what is done for them.

    Parameters
    ----------
    make_place : callable
    began_ms : int
        When the first day begins.
    calls : dict of str to list of Call
        Those of each piece of work, at its first try.
    struck : list of (str, Moment)
        What happened, and in which piece of work.
    answers : dict of str to list of str
        What became of what was asked.
    ids : dict of str to str
        Of memories, by what was said.
    done : set of str
        Operations, outcomes and what steps have counted.
    failures : list of str
        Errors of steps that are no weather.
    """

    make_place: Callable[[Watch, Clock], Place]
    began_ms: int = NOW_MS
    calls: dict[str, list[Call]] = field(default_factory=dict)
    struck: list[tuple[str, Moment]] = field(default_factory=list)
    answers: dict[str, list[str]] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock, self.watch = Clock(self.began_ms), Watch()
        self.place = self.make_place(self.watch, self.clock)
        self.day = self._last_id = 0

    def mark(self) -> Any:
        """Give what `back` brings back."""
        return self.place.mark(), self.day, self._last_id, self.clock.now_ms, dict(self.ids)

    def back(self, mark: Any) -> None:
        """Let everything be as it was."""
        kept, self.day, self._last_id, self.clock.now_ms, ids = mark
        self.place.back(kept)
        self.ids = dict(ids)
        self.calls, self.struck, self.answers = {}, [], {}

    def live(self, day: int, faults: Faults, tries: int = TRIES) -> None:
        """Let the requests of a day come, each so often at most until it is answered."""
        self.day = day
        self.clock.now_ms = self._morning_ms()
        instances = [self._instance() for _ in range(INSTANCES)]
        for number, asked in enumerate(SCRIPT[day]):
            self.clock.now_ms += 1_000
            self._ask(asked, instances, number % INSTANCES, faults.get(asked.name, ()), tries)

    def sleep(self, faults: Faults, times: Sequence[int] = EVENING) -> None:
        """Let plans and runs of maintenance come at some times after the morning."""
        self._maintainer = self._worker()
        for number, after_ms in enumerate(times):
            self.clock.now_ms = self._morning_ms() + after_ms
            self._plan(f"plan {number}", faults)
            for user_id in self.place.take():
                self._maintain(user_id, faults)

    def instance(self) -> MemoryController:
        """Make an instance that nobody watches."""
        self.watch.begin()
        return self._instance()

    def picture(self, user_id: str = "ana") -> Any:
        """Tell what there is of a user, ids, times and the number of uses apart."""
        of = self.instance()
        memories = of.list_memories(user_id, EVERYTHING, 200).memories
        says = {one.memory_id: one.content for one in memories}
        told = sorted(_told(one, says) for one in memories)
        block = of.context(user_id, SearchQuery(text="code", reinforces=False), 10_000)
        return told, _MADE_ID.sub("", block.stable.text)

    def orphans(self, user_id: str) -> list[str]:
        """Name the objects that nothing refers to."""
        head = self.place.stores.read_head(user_id)
        known = {keys.segment(user_id, head.epoch, ref.segment_id) for ref in head.manifest}
        archives = keys.archives(user_id, head.epoch)
        return [one for one in self.place.objects_of(user_id) if one not in known and not one.startswith(archives)]

    def disagreements(self, user_id: str = "ana") -> Any:
        """Tell where log, versions and partition do not agree; the log is read whole, and without a gap."""
        of = self.instance()
        if self.place.stores.read_head(user_id).erasing_since_ms is not None:
            return ()
        seqs = [entry.seq for entry in of.events(user_id, 200, is_descending=False).entries]
        assert seqs == list(range(1, self.place.stores.read_head(user_id).seq + 1))
        return of.replay(user_id, verifies=True).disagreements

    def _morning_ms(self) -> int:
        return self.began_ms + DAYS[self.day] * DAY_MS

    def _ask(
        self, asked: Asked, instances: list[MemoryController], number: int, moments: Sequence[Moment], tries: int
    ) -> None:
        answer: Any = None
        for moment in (*moments, *[None] * tries)[:tries]:
            self.watch.begin(moment)
            of = self._instance(step_ms=10_000) if asked.has_little_time else instances[number]
            try:
                answer = asked.act(of, asking(asked.user_id, asked.name, asked.name), self.ids)
                break
            except Killed:
                instances[number] = self._instance()
            except Unavailable:
                pass
            finally:
                self._note(asked.name, moment)
        outcomes = [one for one in (answer if isinstance(answer, tuple) else (answer,)) if isinstance(one, Outcome)]
        self.ids |= {said: one.memory_id for said, one in zip(asked.says, outcomes, strict=False)}
        self.done |= {one.outcome for one in outcomes}
        self.answers[asked.name] = [one.outcome for one in outcomes]

    def _plan(self, name: str, faults: Faults) -> None:
        stores = self.place.stores
        moment = self._begin(name, faults)
        with suppress(Killed, Unavailable):
            Planner(stores, stores, self.clock).plan(self.clock.now_ms + RUN_MS)
        self._note(name, moment)

    def _maintain(self, user_id: str, faults: Faults) -> None:
        name = next(one for one in (f"run {n} of {user_id}" for n in range(99)) if one not in self.calls)
        moment = self._begin(name, faults)
        try:
            report = self._maintainer.run_if_due(user_id, self.clock.now_ms + RUN_MS)
        except (Killed, Unavailable) as error:
            self.place.give_back(user_id)
            if isinstance(error, Killed):
                self._maintainer = self._worker()
        else:
            steps = {} if report is None else report.steps
            self.done |= {f"{step}: {what}" for step, of in steps.items() for what, n in of.counts.items() if n}
            self.done |= {f"{step}: changed" for step, of in steps.items() if of.changed}
        self._note(name, moment)

    def _begin(self, name: str, faults: Faults) -> Moment | None:
        moment = next(iter(faults.get(name, ())), None)
        self.watch.begin(moment)
        return moment

    def _note(self, name: str, moment: Moment | None) -> None:
        self.calls.setdefault(name, [*self.watch.calls])
        if moment is not None and self.watch.has_struck:
            self.struck.append((name, moment))

    def _instance(self, step_ms: int = 0) -> MemoryController:
        stores, embedder = self.place.stores, HashingEmbedder(EMBEDDERS[self.day], DIMENSION)
        return MemoryController(stores, stores, embedder, self._surroundings(step_ms), BUDGET_BYTES)

    def _worker(self) -> Maintainer:
        of, stores = self._instance(), self.place.stores
        steps = steps_of(of, stores, compacting=POLICY)
        return Maintainer(stores, stores, steps, self._surroundings(), self._tell)

    def _tell(self, name: StepName, error: Exception) -> None:
        if not isinstance(error, Unavailable):
            self.failures.append(f"{name}: {type(error).__name__}")

    def _surroundings(self, step_ms: int = 0) -> Surroundings:
        def now_ms() -> int:
            self.clock.now_ms += step_ms
            return self.clock.now_ms

        return Surroundings(now_ms=now_ms, new_id=self._new_id, random=lambda: 0.5, sleep=lambda _: None)

    def _new_id(self) -> str:
        self._last_id += 1
        return f"01HF{self._last_id:022d}"


def _told(one: Memory, says: Mapping[str, str]) -> Any:
    def named(*memory_ids: str | None) -> list[str]:
        return sorted(says.get(memory_id or "", "gone" if memory_id else "none") for memory_id in memory_ids)

    return (
        (one.content, one.status, one.pinned, one.tags),
        (named(*one.derived_from), named(one.consolidated_into), named(*one.conflicts_with), named(one.superseded_by)),
    )
