"""Memories that overlap, and the step that makes one of them."""

from typing import Any

from recollect.consolidation import Consolidation, Telling
from recollect.controller import MemoryController
from recollect.filters import EVERYTHING
from recollect.maintenance import StepReport
from recollect.model import Memory, Status
from recollect.ports import MemoryStore

from tests.support.histories import stored
from tests.support.worlds import World

STYLE = (
    "In code style Ana prefers four spaces",
    "In code style Ana keeps functions short",
    "In code style Ana wants early returns",
    "In code style Ana likes black",
    "In code style Ana avoids abbreviations",
)
DAY_MS = 24 * 3600 * 1000


def style(world: World, *contents: str, **values: Any) -> list[str]:
    """Store preferences over months."""
    ids = []
    for content in contents or STYLE:
        ids.append(stored(world.instance(), content, tags=("preference",), **values))
        world.clock.now_ms += 30 * DAY_MS
    return ids


def step(world: World, store: MemoryStore | None = None, telling: Telling | None = None) -> Consolidation:
    """Make the step in a process of its own, on a store that may fail."""
    partitions, committer, around = world.aging(store)
    return Consolidation(store or world.store, partitions, committer, world.embedder, around, telling)


def consolidate(world: World, telling: Telling | None = None, **told: Any) -> StepReport:
    """Run the step once."""
    return step(world, telling=telling).run("ana", world.due(**told))


def made(of: MemoryController) -> list[Memory]:
    """Give the active memories that were made of others."""
    return [one for one in active(of) if one.derived_from]


def active(of: MemoryController) -> list[Memory]:
    """Give the active memories."""
    return [one for one in present(of) if one.status is Status.ACTIVE]


def present(of: MemoryController) -> list[Memory]:
    """Give all memories, of every status."""
    return list(of.list_memories("ana", EVERYTHING, 200).memories)
