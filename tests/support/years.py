"""Years of several users on a virtual clock: what their diaries say, and maintenance whenever the plan says so.

Instances come and go: each day one of them is a new one. What expires by DynamoDB's time to live is taken away here.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from recollect.answers import SearchQuery
from recollect.aws.reports import TTL_S
from recollect.changes import Patch
from recollect.compaction import Policy
from recollect.controller import MemoryController
from recollect.filters import ACTIVE, EVERYTHING, AllOf, Compare, Filter, Operator
from recollect.maintenance import Report
from recollect.model import Memory, Status
from recollect.planning import Planner
from recollect.ranking import Mode
from recollect.undoing import Resolution

from tests.support.builders import NOW_MS, Clock, asking, to_store
from tests.support.diaries import DAY_MS, Diary
from tests.support.embedder import HashingEmbedder
from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore
from tests.support.inmemory_reports import InMemoryDueIndex, InMemoryMaintenanceQueue
from tests.support.maintained import Maintained

POLICY = Policy(fold_entries=64, fold_touches=64, fold_max_entries=256, fan=4, tiers=3)
USERS = {"ana": 1, "ben": 1, "cleo": 1}  # a session every so many days
DIMENSION = 300
HOUR_MS = 3600 * 1000
RUN_MS = 5 * 60 * 1000
INSTANCES = 3
K = 10
NOTES = AllOf((ACTIVE, Compare(("type",), Operator.EQ, "episodic")))
ARCHIVED = Compare(("status",), Operator.EQ, "archived")
DELETE_EVERY, PURGE_EVERY, BROWSE_EVERY, RETURN_EVERY, SETTLE_EVERY = 11, 60, 50, 60, 30  # sessions


@dataclass
class Years:
    """Users who live with the service.

    Parameters
    ----------
    users : mapping of str to int
        A session every so many days, by user.
    plan_every : int
        Days from one plan of maintenance to the next; a schedule in earnest has many a day, and this one seconds.
    counts : Counter
        What was done so far.
    purged : list of str
        Texts.
    given_up : list of str
        Ids of memories that a conflict was resolved against.
    pinned : dict of str to list of str
        Ids of memories by user.
    """

    users: Mapping[str, int] = field(default_factory=lambda: USERS)
    plan_every: int = 7
    seed: int = 1
    counts: Counter[str] = field(default_factory=Counter)
    purged: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    pinned: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clock = Clock(NOW_MS - NOW_MS % DAY_MS)
        self._began_ms = self.clock.now_ms
        self.store = InMemoryMemoryStore()
        objects = InMemoryObjectStore(self.clock)
        embedder = HashingEmbedder(dimension=DIMENSION)
        self.world = Maintained(self.store, objects, embedder, POLICY, self.clock)
        self.world.count_together()
        self.diaries = {user_id: Diary(user_id, self.seed) for user_id in self.users}
        self._random = Random(self.seed)
        self._instances = [self.world.instance() for _ in range(INSTANCES)]
        self._queue = InMemoryMaintenanceQueue()
        self._planner = Planner(InMemoryDueIndex(self.store), self._queue, self.clock)
        self._maintainer = self.world.maintainer()
        self.day = self.runs = 0

    def live(self, days: int) -> None:
        """Let days pass: sessions in the morning, maintenance in the evening."""
        for _ in range(days):
            self.day += 1
            self.clock.now_ms = self._began_ms + self.day * DAY_MS + 8 * HOUR_MS
            self._instances[self.day % INSTANCES] = self.world.instance()
            for user_id, every in self.users.items():
                number, rest = divmod(self.day, every)
                if not rest:
                    self._live(user_id, number, self._random.choice(self._instances))
            self.clock.now_ms = self._began_ms + self.day * DAY_MS + 20 * HOUR_MS
            if self.day % self.plan_every == 0:
                self.maintain()
                self._lapse()

    def maintain(self) -> None:
        """Maintain whoever is due, until nobody is."""
        if self.day % 5 == 0:
            self._maintainer = self.world.maintainer()
        for _ in range(9):
            self._planner.plan(self.clock.now_ms + RUN_MS)
            due = self._queue.take()
            if not due:
                return
            for user_id in due:
                self.runs += 1
                self._maintainer.run_if_due(user_id, self.clock.now_ms + RUN_MS)
        raise AssertionError("they stay due")

    def again(self, user_id: str) -> int:
        """Maintain, whether due or not; tell how much was changed."""
        report = self.world.maintainer().run(user_id, self.clock.now_ms + RUN_MS)
        return sum(step.changed for step in report.steps.values())

    def present(self, user_id: str, wanted: Filter = EVERYTHING) -> list[Memory]:
        """List memories, with a cold instance."""
        of, cursor = self.world.instance(), None
        found: list[Memory] = []
        while True:
            page = of.list_memories(user_id, wanted, 200, cursor)
            found += page.memories
            cursor = page.cursor
            if cursor is None:
                return found

    def found(self, of: MemoryController, user_id: str, question: str) -> list[Memory]:
        """Search without using what is found."""
        query = SearchQuery(text=question, k=K, reinforces=False)
        return [hit.memory for hit in of.search(user_id, query).hits]

    def kept(self, user_id: str) -> Any:
        """Tell all that is stored of a user but reports, and when the user is due."""
        head = replace(self.world.head(user_id), due_at_s=None)
        versions = sorted(map(repr, self.store.every_version(user_id)))
        return head, versions, self.store.read_log(user_id, 0)[0], self.world.object_keys(user_id)

    def _live(self, user_id: str, number: int, of: MemoryController) -> None:
        """Have a session: say something, ask, forget, look back."""
        session = self.diaries[user_id].session(number, self.clock.now_ms)
        outcomes = of.store(asking(user_id), [*session.says, *session.pins])
        self.counts["stores"] += len(outcomes)
        self.counts.update(outcome.outcome for outcome in outcomes)
        pins = outcomes[len(session.says) :]
        self.pinned.setdefault(user_id, []).extend(one.memory_id for one in pins)
        for fact in session.tells:
            replaced = None if fact.is_single or not fact.memory_id else fact.memory_id
            [told] = of.store(asking(user_id), [to_store(fact.content, supersedes=replaced)])
            self.counts.update([told.outcome])
            fact.memory_id = told.memory_id
        self.counts["stores"] += len(session.tells)
        if session.asks:
            of.search(user_id, SearchQuery(text=session.asks, k=3))
            self.counts["searches"] += 1
        self._forget(user_id, number, of)
        self._look_back(user_id, number, of)

    def _forget(self, user_id: str, number: int, of: MemoryController) -> None:
        """Delete a note or purge one, as they are wont to."""
        for every, forget, name in ((DELETE_EVERY, of.delete, "deletes"), (PURGE_EVERY, of.purge, "purges")):
            if number % every == 0:
                for note in of.list_memories(user_id, NOTES, 50).memories[-1:]:
                    forget(asking(user_id), note.memory_id)
                    self.counts[name] += 1
                    self.purged += [note.content] if name == "purges" else []

    def _look_back(self, user_id: str, number: int, of: MemoryController) -> None:
        """Search what was archived, take one of it back, settle a conflict."""
        if number % BROWSE_EVERY == 0:
            query = SearchQuery(text="met in the harbour", mode=Mode.LEXICAL, k=1, filter=ARCHIVED)
            self.counts["found in the archive"] += len(of.search(user_id, query).hits)
        if number % RETURN_EVERY == 0:
            for memory in of.list_memories(user_id, ARCHIVED, 20).memories:
                if memory.consolidated_into is None:
                    of.update(asking(user_id), memory.memory_id, Patch({"status": Status.ACTIVE}))
                    self.counts["taken back"] += 1
                    break
        if number % SETTLE_EVERY == 0:
            self._settle(user_id, of)

    def _settle(self, user_id: str, of: MemoryController) -> None:
        """Resolve a conflict by hand."""
        for memory in of.list_memories(user_id, ACTIVE, 20).memories:
            if memory.conflicts_with:
                other = memory.conflicts_with[0]
                of.resolve(asking(user_id), memory.memory_id, other, Resolution.KEEP_THIS)
                self.given_up.append(other)
                self.counts["resolved"] += 1
                return

    def _lapse(self) -> None:
        """Take away the reports whose time is over."""
        before_ms = self.clock.now_ms - TTL_S * 1000
        old = [key for key, one in self.store.others.items() if isinstance(one, Report) and one.ended_at_ms < before_ms]
        for key in old:
            del self.store.others[key]


def words_of(content: str) -> set[str]:
    """Give the words of a sentence, and times of day among them."""
    return set(re.findall(r"[\w:]+", content))
