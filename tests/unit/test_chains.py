"""What supersedes what, whatever is done to memories in whatever order."""

from collections.abc import Callable
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.errors import Conflict, NotFound
from recollect.filters import EVERYTHING
from recollect.model import Memory, Status
from recollect.undoing import Resolution

from tests.support.builders import asking, controller, entries_of, to_store
from tests.support.inmemory import InMemoryMemoryStore

DISAGREEING = (
    "The user likes to work from the office on Mondays",
    "The user hates to be at the office on Mondays for work",
)
STATEMENTS = (
    *(f"The user's team uses PostgreSQL {version}" for version in (13, 14, 15)),
    *DISAGREEING,
    "The user has a dog",
    "The user has a dog named Rex",
    "fact 1",
)
ACTIONS = ("store", "disagree", "resolve", "supersede", "update", "delete", "restore", "unmerge")
INDEXES = st.integers(0, 9)


class Story:
    """A user's memories, and what may be done to them; what is refused changes nothing."""

    def __init__(self) -> None:
        self.store = InMemoryMemoryStore()
        self.of: MemoryController = controller(self.store)
        self.ids: list[str] = []

    def id(self, index: int) -> str:
        return self.ids[index % len(self.ids)]

    def words(self, index: int) -> str:
        return STATEMENTS[index % len(STATEMENTS)]

    def do(self, action: str, one: int, other: int) -> None:
        actions: dict[str, Callable[[], object]] = {
            "store": lambda: self.of.store(asking(), [to_store(self.words(one))]),
            "disagree": lambda: self.of.store(asking(), [to_store(content) for content in DISAGREEING]),
            "supersede": lambda: self.of.store(asking(), [to_store(self.words(other), supersedes=self.id(one))]),
            "update": lambda: self.of.update(asking(), self.id(one), Patch({"content": f"fact {other}"})),
            "delete": lambda: self.of.delete(asking(), self.id(one)),
            "restore": lambda: self.of.restore(asking(), self.id(one), other % 4 + 1),
            "unmerge": lambda: self.of.unmerge(asking(), self.id(one)),
            "resolve": lambda: self.of.resolve(asking(), *self.conflict(one), list(Resolution)[other % 3]),
        }
        if action == "store" or self.ids:
            with suppress(Conflict, NotFound):
                actions[action]()
        known = {entry.memory_id for entry in entries_of(self.store)}
        self.ids += sorted(known.difference(self.ids))

    def conflict(self, index: int) -> tuple[str, str]:
        linked = [one for one in self.memories().values() if one.conflicts_with]
        if not linked:
            raise NotFound
        this = linked[index % len(linked)]
        return this.memory_id, this.conflicts_with[0]

    def memories(self) -> dict[str, Memory]:
        return {one.memory_id: one for one in self.of.list_memories("ana", EVERYTHING, 200).memories}


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(ACTIONS), INDEXES, INDEXES), max_size=14))
def test_links_agree_and_a_chain_has_one_head(actions: list[tuple[str, int, int]]) -> None:  # case M7
    story = Story()
    for action, one, other in [("store", 0, 0), *actions]:
        story.do(action, one, other)

    memories = story.memories()
    for memory in memories.values():
        is_superseded = memory.status is Status.SUPERSEDED
        assert (memory.superseded_by is not None, memory.valid_until_ms is not None) == (is_superseded, is_superseded)
        if memory.supersedes in memories:
            assert memories[memory.supersedes].superseded_by == memory.memory_id
        if memory.superseded_by in memories:
            assert memories[memory.superseded_by].supersedes == memory.memory_id
        for linked in set(memory.conflicts_with) & set(memories):
            assert memory.memory_id in memories[linked].conflicts_with
    entries = entries_of(story.store)
    assert all(entry.by == "ana" and entry.reason for entry in entries)
    statuses = {entry.memory_id: entry.columns.status for entry in entries if entry.columns is not None}
    assert {memory_id: statuses[memory_id] for memory_id in memories} == {
        memory_id: memory.status for memory_id, memory in memories.items()
    }
