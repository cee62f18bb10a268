"""Where everything is stored, with a watch on all calls; and what is stored can be brought back."""

from copy import copy
from typing import Any

from recollect import keys

from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore
from tests.support.inmemory_reports import InMemoryDueIndex, InMemoryMaintenanceQueue, InMemoryReportStore
from tests.support.inmemory_transcripts import InMemoryTranscriptStore
from tests.support.moments import Watch, Watched


class InMemory:
    """All in this process; see ``nights.Place``."""

    def __init__(self, watch: Watch, now_ms: Any) -> None:
        self._store = InMemoryMemoryStore()
        self._objects = InMemoryObjectStore(now_ms)
        self._queue = InMemoryMaintenanceQueue()
        others = (InMemoryReportStore(self._store), InMemoryTranscriptStore(self._store), InMemoryDueIndex(self._store))
        self.stores: Any = Watched(watch, self._store, self._objects, self._queue, *others)

    def take(self) -> list[str]:
        return self._queue.take()

    def give_back(self, user_id: str) -> None:
        self._queue.batches.append([user_id])

    def texts(self) -> str:
        return repr(vars(self._store)) + repr(vars(self._objects))

    def objects_of(self, user_id: str) -> list[str]:
        return [one.key for one in self._objects.list_objects(keys.objects_of(user_id))]

    def mark(self) -> Any:
        return [_copied(vars(one)) for one in (self._store, self._objects, self._queue)]

    def back(self, mark: Any) -> None:
        for one, kept in zip((self._store, self._objects, self._queue), mark, strict=True):
            vars(one).update(_copied(kept))


def _copied(values: dict[str, Any]) -> dict[str, Any]:
    """Copy dicts and lists, and those in them; what is in those is never changed."""
    return {name: _two_deep(value) if isinstance(value, dict | list) else value for name, value in values.items()}


def _two_deep(value: Any) -> Any:
    if isinstance(value, list):
        return [list(one) for one in value]
    return {key: copy(one) if isinstance(one, dict) else one for key, one in value.items()}
