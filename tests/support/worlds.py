"""A user's service as several instances on one store, with compactions, damage and a time of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recollect import keys
from recollect.answers import SearchQuery, Stats
from recollect.commit import Committer, Surroundings
from recollect.compacting import Compaction, Compactor
from recollect.compaction import Policy
from recollect.controller import MemoryController
from recollect.errors import NotFound
from recollect.filters import ACTIVE, EVERYTHING, AllOf, Compare, Filter, Operator, limits
from recollect.maintenance import Run, StepReport
from recollect.model import Entry, Head
from recollect.object_store import ObjectStore
from recollect.ordering import Order, OrderBy
from recollect.partitions import Partitions
from recollect.ports import MemoryStore
from recollect.ranking import Mode
from recollect.reembedding import Reembedding

from tests.support.builders import BUDGET_BYTES, TRANSCRIPTS, Clock, surroundings
from tests.support.embedder import HashingEmbedder
from tests.support.faults import DyingStores
from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore

SMALL = Policy(fold_entries=4, fold_touches=2, fold_max_entries=7, fan=3, tiers=2)
LATER_MS = 60_000
QUERIES = ("green tea", "office", "number 3", "nothing like it")
FILTERS: tuple[Filter, ...] = (
    EVERYTHING,
    ACTIVE,
    Compare(("tags",), Operator.CONTAINS, "a"),
    Compare(("agent_id",), Operator.EQ, "robot"),
    Compare(("metadata", "team"), Operator.EQ, "blue"),
    AllOf((ACTIVE, Compare(("access_count",), Operator.GTE, 1))),
    Compare(("importance",), Operator.GT, 0.6),
    Compare(("transcripts",), Operator.CONTAINS, TRANSCRIPTS[0]),
    Compare(("transcripts",), Operator.EXISTS, True),
)
ORDERS = tuple(Order(by, is_descending) for by in OrderBy for is_descending in (True, False))


@dataclass
class World:
    """What all instances share; ids of instances and of compactors are told apart."""

    store: MemoryStore = field(default_factory=InMemoryMemoryStore)
    objects: ObjectStore = field(default_factory=InMemoryObjectStore)
    embedder: HashingEmbedder = field(default_factory=HashingEmbedder)
    policy: Policy = SMALL
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.last_id = 0
        self._of_instances = replace(surroundings(self.clock), new_id=self._new_id)
        self._of_compactors = surroundings(self.clock, "01HG")

    def take_over(self) -> None:
        """Give no id that an earlier world on the same stores has given."""
        self.last_id += 1_000
        self._of_compactors = surroundings(self.clock, "01HH")

    def count_together(self) -> None:
        """Let the ids of all ascend in the order in which they are made, as ids that begin with the time do."""
        self._of_compactors = replace(self._of_compactors, new_id=self._new_id)

    def instance(self, budget_bytes: int = BUDGET_BYTES, embedder: HashingEmbedder | None = None) -> MemoryController:
        """Make an instance that has seen nothing yet."""
        return MemoryController(self.store, self.objects, embedder or self.embedder, self._of_instances, budget_bytes)

    def partitions(self) -> Partitions:
        """Make a cache of partitions that has seen nothing yet."""
        return Partitions(self.store, self.objects, self.embedder, self.clock, BUDGET_BYTES)

    def compactor(self, store: MemoryStore | None = None, objects: ObjectStore | None = None) -> Compactor:
        """Make a process that compacts, on stores that may fail."""
        store, objects = store or self.store, objects or self.objects
        partitions = Partitions(store, objects, self.embedder, self.clock, BUDGET_BYTES)
        return Compactor(store, objects, partitions, self._of_compactors, self.policy)

    def aging(self, store: MemoryStore | None = None) -> tuple[Partitions, Committer, Surroundings]:
        """Make what the steps of maintenance are made of, in a process of its own, on a store that may fail."""
        store = store or self.store
        partitions = Partitions(store, self.objects, self.embedder, self.clock, BUDGET_BYTES)
        around = self._of_compactors
        return partitions, Committer(store, partitions, around, self.embedder.name, self.embedder.dimension), around

    def due(self, user_id: str = "ana", *, within_ms: int = 60_000, is_dry_run: bool = False) -> Run:
        """Say what a step is told now."""
        return Run(self.head(user_id).epoch, self.clock.now_ms + within_ms, is_dry_run=is_dry_run)

    def compact(self, user_id: str = "ana", *, is_forced: bool = False) -> Compaction:
        """Let some time pass, and compact."""
        self.clock.now_ms += LATER_MS
        return self.compactor().compact(user_id, is_forced=is_forced)

    def reembedding(self, stores: DyingStores | None = None) -> Reembedding:
        """Make a process that embeds what is pending, on stores that may fail."""
        store, objects = (self.store, self.objects) if stores is None else (stores.store, stores.objects)
        partitions = Partitions(store, objects, self.embedder, self.clock, BUDGET_BYTES)
        around = self._of_instances
        committer = Committer(store, partitions, around, self.embedder.name, self.embedder.dimension)
        return Reembedding(store, partitions, committer, self.embedder, around)

    def reembed(self, user_id: str = "ana", within_ms: int = LATER_MS, *, is_dry_run: bool = False) -> StepReport:
        """Embed what is pending."""
        run = Run(self.head(user_id).epoch, self.clock.now_ms + within_ms, is_dry_run=is_dry_run)
        return self.reembedding().run(user_id, run)

    def _new_id(self) -> str:
        self.last_id += 1
        return f"01HF{self.last_id:022d}"

    def head(self, user_id: str = "ana") -> Head:
        """Read the head."""
        return self.store.read_head(user_id)

    def segment_keys(self, user_id: str = "ana") -> list[str]:
        """Name the objects of the live segments."""
        head = self.head(user_id)
        return [keys.segment(user_id, head.epoch, ref.segment_id) for ref in head.manifest]

    def object_keys(self, user_id: str = "ana") -> list[str]:
        """Name all objects of a user."""
        return [one.key for one in self.objects.list_objects(keys.objects_of(user_id))]


def everything_read(of: MemoryController, memory_ids: Sequence[str], user_id: str = "ana") -> dict[str, Any]:
    """Give all that reads tell of a user: floats rounded, so that the order of a sum does not matter."""
    return {
        "lists": [
            [_shown(memory) for memory in of.list_memories(user_id, wanted, 200, order=order).memories]
            for wanted in FILTERS
            for order in (ORDERS if wanted is EVERYTHING else ORDERS[:1])
        ],
        "hits": [
            _hits(of, user_id, SearchQuery(text=text, mode=mode, filter=wanted, k=100, reinforces=False))
            for text in QUERIES
            for mode in Mode
            for wanted in (ACTIVE, FILTERS[2])
        ],
        "explained": [_explained(of, user_id, mode, memory_ids) for mode in Mode],
        "stats": _stats(of.stats(user_id)),
        "events": [_log(of, user_id, None, is_descending=is_descending) for is_descending in (True, False)],
        "events of": [_log(of, user_id, memory_id, is_descending=True) for memory_id in memory_ids],
        "versions": [_versions(of, user_id, memory_id) for memory_id in memory_ids],
    }


def _shown(memory: Any) -> tuple[Any, ...]:
    use = (memory.access_count, memory.last_accessed_at_ms)
    return (memory.memory_id, memory.version, memory.content, memory.sources, *use)


def _hits(of: MemoryController, user_id: str, query: SearchQuery) -> Any:
    result = of.search(user_id, query)
    found = [(hit.memory.memory_id, hit.memory.access_count, round(hit.score, 5)) for hit in result.hits]
    return sorted(found), result.scanned, result.is_degraded, result.is_truncated


def _explained(of: MemoryController, user_id: str, mode: Mode, memory_ids: Sequence[str]) -> Any:
    asked = SearchQuery(
        text=QUERIES[0], mode=mode, k=100, explained_ids=tuple(memory_ids), conditions=limits(EVERYTHING)
    )
    found = of.search(user_id, replace(asked, reinforces=False)).explained
    return [(one.memory_id, one.why, one.is_pending, one.score and round(one.score, 5)) for one in found]


def _stats(stats: Stats) -> Stats:
    mean = stats.mean_importance
    return replace(stats, mean_importance=None if mean is None else round(mean, 9), due_at_s=None)


def _log(of: MemoryController, user_id: str, memory_id: str | None, *, is_descending: bool) -> list[Entry]:
    entries = of.events(user_id, 200, memory_id=memory_id, is_descending=is_descending).entries
    return [replace(entry, columns=None) for entry in entries]


def _versions(of: MemoryController, user_id: str, memory_id: str) -> Any:
    try:
        return of.versions(user_id, memory_id, 100).versions
    except NotFound:
        return None
