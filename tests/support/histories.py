"""Memories with a past, whatever any read shows of them, and all that a store keeps."""

import re
from typing import Any

import boto3
from recollect.answers import SearchQuery
from recollect.changes import Patch
from recollect.controller import MemoryController
from recollect.erasure import Erasure, ErasureState
from recollect.filters import EVERYTHING
from recollect.model import Entry, Head
from recollect.nominating import OnSimilar
from recollect.ports import MemoryStore
from recollect.ranking import Mode

from tests.support.builders import Clock, asking, to_store
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.table import TABLE_NAME

CANARY = "xylophone"
NOTHING: tuple[list[Entry], Head] = ([], Head())


def stored(of: MemoryController, content: str, user_id: str = "ana", **values: Any) -> str:
    return of.store(asking(user_id), [to_store(content, on_similar=OnSimilar.CREATE, **values)])[0].memory_id


def with_history(of: MemoryController, user_id: str = "ana", changes: int = 2) -> str:
    """Store a memory and change it, each time with words of its own."""
    values = {"tags": (CANARY,), "metadata_json": f'{{"x": "{CANARY}"}}', "actor": CANARY, "session_id": CANARY}
    memory_id = stored(of, f"the {CANARY} is in the cellar", user_id, agent_id=CANARY, **values)
    for number in range(changes):
        of.update(asking(user_id), memory_id, Patch({"content": f"{CANARY} number {number}"}))
    return memory_id


def seen_by(of: MemoryController, user_id: str = "ana", query: str = CANARY) -> set[str]:
    """Whatever any read path shows."""
    listed = {one.content for one in of.list_memories(user_id, EVERYTHING, 200).memories}
    found = {
        hit.memory.content
        for mode in Mode
        for hit in of.search(user_id, SearchQuery(text=query, mode=mode, k=100)).hits
    }
    return listed | found | {text for text in context_of(of, user_id, query) if text}


def context_of(of: MemoryController, user_id: str, query: str) -> tuple[str, str]:
    """All text that a prompt would get, in its two parts."""
    block = of.context(user_id, SearchQuery(text=query), 10_000)
    return block.stable.text, block.volatile.text


def everything_kept(store: MemoryStore) -> str:
    """All bytes of a store, as text."""
    if isinstance(store, InMemoryMemoryStore):
        return repr(vars(store))
    items = boto3.client("dynamodb", region_name="us-east-1").scan(TableName=TABLE_NAME)["Items"]
    return repr(items)


def without_head(kept: str) -> str:
    """Leave out what counts in the head how often compactions were fenced off."""
    return re.sub(r"revision\W+(N\W+)?\d+", "", kept)


def erased(of: MemoryController, user_id: str = "ana") -> Erasure:
    """Call until it is done."""
    for _ in range(100):
        erasure = of.erase(user_id)
        if erasure.state is ErasureState.ERASED:
            return erasure
    raise AssertionError("never done")


class Ticking(Clock):
    """A time that goes on by itself, so that budgets come to an end."""

    def __init__(self, step_ms: int) -> None:
        super().__init__()
        self._step_ms = step_ms

    def __call__(self) -> int:
        self.now_ms += self._step_ms
        return self.now_ms
