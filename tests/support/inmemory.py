"""A memory store in memory that keeps the port's promises; for tests and evaluation."""

from collections.abc import Mapping, Sequence
from threading import Lock

from recollect.errors import Conflict
from recollect.model import Change, Entry, Head, Memory
from recollect.ports import StoredAnswer


class InMemoryMemoryStore:
    """Users' logs, heads, memories, earlier versions and stored answers, in dicts."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._logs: dict[str, list[Entry]] = {}
        self._heads: dict[str, Head] = {}
        self._memories: dict[tuple[str, str], Memory] = {}
        self._answers: dict[tuple[str, str], StoredAnswer] = {}
        self._versions: dict[tuple[str, str, int], Memory] = {}

    def read_log(self, user_id: str, after_seq: int) -> tuple[list[Entry], Head]:
        with self._lock:
            return self._logs.get(user_id, [])[after_seq:], self._heads.get(user_id, Head())

    def append(
        self,
        user_id: str,
        head: Head,
        seen: Head,
        changes: Sequence[Change],
        by: str,
        answer: StoredAnswer | None,
    ) -> None:
        with self._lock:
            present = self._heads.get(user_id, Head())
            if (present.seq, present.epoch) != (seen.seq, seen.epoch):
                raise Conflict("somebody else came first")
            if answer is not None:
                self._keep_answer(user_id, answer)
            log = self._logs.setdefault(user_id, [])
            for change in changes:
                log.append(_entry(len(log) + 1, change, by))
                self._follow(user_id, change)
            if changes:
                self._heads[user_id] = head

    def fetch(self, user_id: str, memory_ids: Sequence[str]) -> Mapping[str, Memory]:
        with self._lock:
            keys = [(user_id, memory_id) for memory_id in memory_ids]
            return {key[1]: self._memories[key] for key in keys if key in self._memories}

    def versions(self, user_id: str, memory_id: str) -> Sequence[Memory]:
        with self._lock:
            keys = sorted(key for key in self._versions if key[:2] == (user_id, memory_id))
            return [self._versions[key] for key in keys]

    def stored_answer(self, user_id: str, key: str) -> StoredAnswer | None:
        with self._lock:
            return self._answers.get((user_id, key))

    def _keep_answer(self, user_id: str, answer: StoredAnswer) -> None:
        earlier = self._answers.get((user_id, answer.key))
        if earlier is not None and earlier.expires_at_s > answer.created_at_s:
            raise Conflict("an answer is there under this key")
        self._answers[user_id, answer.key] = answer

    def _follow(self, user_id: str, change: Change) -> None:
        key = (user_id, change.memory_id)
        if change.before is not None:
            self._versions[(*key, change.before.version)] = change.before
        if change.after is not None:
            self._memories[key] = change.after
        else:
            del self._memories[key]


def _entry(seq: int, change: Change, by: str) -> Entry:
    return Entry(
        seq=seq,
        operation=change.operation,
        memory_id=change.memory_id,
        version=change.version,
        at_ms=change.at_ms,
        by=by,
        reason=change.reason,
        columns=change.columns,
    )
