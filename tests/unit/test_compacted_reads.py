"""Whatever was done, and however it was compacted: every instance reads what it would have read without."""

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.errors import RecollectError
from recollect.forgetting import Forgotten
from recollect.model import Source
from recollect.nominating import OnSimilar

from tests.support.builders import TRANSCRIPTS, asking, to_store
from tests.support.worlds import LATER_MS, SMALL, World, everything_read

Step = tuple[str, int, int]
_KINDS = (
    *("store", "store", "store", "store", "again", "update", "edit", "supersede", "delete", "purge", "restore"),
    *("search", "search", "wait", "compact", "compact", "force", "sleeper", "forget"),
)
STEPS = st.lists(st.tuples(st.sampled_from(_KINDS), st.integers(0, 9), st.integers(0, 9)), min_size=8, max_size=40)


class Run:
    """Does the same in one world, which compacts, and in its twin, which never does."""

    def __init__(self) -> None:
        self.world, self.twin = World(), World()
        self.of, self.same = self.world.instance(), self.twin.instance()
        self.sleeper = self.world.instance()
        self.memory_ids: list[str] = []
        self.replaced: set[str] = set()

    def both(self, do: Callable[[MemoryController], Any]) -> Any:
        """Do something in both; it must come to the same."""
        self.world.last_id = self.twin.last_id = max(self.world.last_id, self.twin.last_id)
        found, expected = (_outcome(do, of) for of in (self.of, self.same))
        assert found == expected
        return found

    def step(self, kind: str, which: int, value: int) -> None:
        if kind == "store":
            tags = ("a", "b")[: value % 3]
            new = to_store(
                f"fact number {len(self.memory_ids)} of the green tea office {value}",
                on_similar=OnSimilar.CREATE,
                tags=tags,
                importance=value / 10,
                agent_id="robot" if value % 2 else None,
                session_id=f"s{value % 4}" if value % 3 else None,
                actor=("Mia", "Leo", None)[value % 3],
                metadata_json=f'{{"team":"{("blue", "red")[value % 2]}"}}' if value else "{}",
                expires_at_ms=self.world.clock.now_ms + 5 * LATER_MS if value == 9 else None,
                sources=_sources(which, value) if value < 6 else (),
            )
            self._keep(self.both(lambda of: of.store(asking(), [new])))
        elif kind == "supersede" and self.memory_ids:
            self.replaced.add(self._id(which))
            new = to_store(f"instead {len(self.memory_ids)} tea", supersedes=self._id(which))
            self._keep(self.both(lambda of: of.store(asking(), [new])))
        elif kind == "again" and self.memory_ids:
            new = to_store(f"fact number {which} of the green tea office {value}", sources=_sources(value, which))
            self._keep(self.both(lambda of: of.store(asking(), [new])))
        elif kind == "forget":
            self.both(lambda of: _forgotten(of, TRANSCRIPTS[which % 3], self.world.clock.now_ms, cascade=value > 4))
        elif kind == "wait":
            self._wait((value + 1) * 1_000)
        elif kind in ("compact", "force"):
            self._wait(LATER_MS)
            self.world.compactor().compact("ana", is_forced=kind == "force")
        elif kind == "sleeper":
            self.sleeper.stats("ana")
        elif kind == "search":
            self.both(lambda of: len(of.search("ana", SearchQuery(text=f"number {which}", k=value + 1)).hits))
        elif self.memory_ids:
            self._change(kind, self._id(which), value)

    def assert_same(self) -> None:
        expected = everything_read(self.same, self.memory_ids)
        for instance in (self.of, self.sleeper, self.world.instance()):
            found = everything_read(instance, self.memory_ids)
            for name, value in expected.items():
                assert found[name] == value, name

    def _change(self, kind: str, memory_id: str, value: int) -> None:
        if kind == "update":
            self.both(lambda of: of.update(asking(), memory_id, Patch({"importance": value / 9, "pinned": value > 5})))
        elif kind == "edit":
            self.both(lambda of: of.update(asking(), memory_id, Patch({"content": f"edited {value} green"})))
        elif kind == "restore":
            self.both(lambda of: of.restore(asking(), memory_id, value % 3 + 1))
        elif kind == "delete" or memory_id not in self.replaced:  # a new instance cannot tell how a purged one was used
            self.both(lambda of: (of.delete if kind == "delete" else of.purge)(asking(), memory_id))

    def _id(self, which: int) -> str:
        return self.memory_ids[which % len(self.memory_ids)]

    def _wait(self, ms: int) -> None:
        for world in (self.world, self.twin):
            world.clock.now_ms += ms

    def _keep(self, outcomes: Any) -> None:
        if isinstance(outcomes, tuple):
            self.memory_ids += [one.memory_id for one in outcomes if one.memory_id not in self.memory_ids]


def _sources(which: int, first: int) -> tuple[Source, ...]:
    return (Source(TRANSCRIPTS[which % 3], first, first + 1),)


def _forgotten(of: MemoryController, transcript_id: str, now_ms: int, *, cascade: bool) -> Forgotten:
    return of.forget_transcript(asking(), transcript_id, cascade=cascade, deadline_ms=now_ms + LATER_MS)


def _outcome(do: Callable[[MemoryController], Any], of: MemoryController) -> Any:
    try:
        return do(of)
    except RecollectError as error:
        return type(error), error.message


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_every_read_answers_as_if_nothing_had_been_compacted(steps: list[Step]) -> None:
    run = Run()
    for step in steps:
        run.step(*step)
    run.assert_same()
    run.step("force", 0, 0)
    run.assert_same()


def test_a_long_history_reads_the_same_through_every_tier() -> None:
    run = Run()
    for number in range(90):
        run.step("store", number, number % 10)
        run.step(
            ("search", "update", "delete", "restore", "supersede", "purge", "edit", "forget")[number % 8],
            number // 2,
            number % 10,
        )
        if number % 3 == 0:
            run.step("compact", 0, 0)
        if number % 30 == 0:
            run.step("sleeper", 0, 0)
    head = run.world.head()

    run.assert_same()
    assert 0 < head.seq - head.compacted_seq < SMALL.fold_entries + 6
    assert len(head.manifest) > 1
    assert max(ref.rows for ref in head.manifest) >= 3 * SMALL.fold_entries
