"""What there is of one user, in plain dicts: the memories, their past, the log, the kept answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from recollect.commit import ANSWER_TTL_S
from recollect.errors import InvalidInput, NotFound
from recollect.model import Memory, Operation, Status

Told = tuple[tuple[str, str, int], ...]  # of each outcome: what, which memory, its version


@dataclass(frozen=True)
class Kept:
    """An answer under an idempotency key."""

    digest: str
    told: Told
    until_ms: int


class Records:
    """One user's memories, from the first to the next erasure.

    Parameters
    ----------
    name_at : callable
        Given the number of a log entry, tells which memory it is about: the service chooses the ids of new ones.
    """

    def __init__(self, name_at: Callable[[int], str]) -> None:
        self._name_at = name_at
        self.present: dict[str, Memory] = {}
        self.past: dict[str, dict[int, Memory]] = {}
        self.purged: set[str] = set()
        self.log: list[tuple[Operation, str, int]] = []
        self.answers: dict[str, Kept] = {}
        self.is_being_erased = False

    def copy(self) -> Self:
        """Make another one that says the same."""
        other = type(self)(self._name_at)
        other.present, other.purged, other.log = dict(self.present), set(self.purged), list(self.log)
        other.past = {memory_id: dict(versions) for memory_id, versions in self.past.items()}
        other.answers, other.is_being_erased = dict(self.answers), self.is_being_erased
        return other

    @property
    def memory_ids(self) -> list[str]:
        """All memories that there ever were, oldest first."""
        return list(dict.fromkeys(memory_id for _, memory_id, _ in self.log))

    def visible(self, now_ms: int) -> list[Memory]:
        """Whatever a read may show, newest first."""
        shown = [] if self.is_being_erased else [one for one in self.present.values() if is_valid(one, now_ms)]
        return sorted(shown, key=lambda one: (one.created_at_ms, one.memory_id), reverse=True)

    def active(self, now_ms: int) -> list[Memory]:
        """What is searched unless more is asked for."""
        return [one for one in self.visible(now_ms) if one.status is Status.ACTIVE]

    def last_version(self, memory_id: str) -> int | None:
        """The last version number that a memory had, deleted or not."""
        return max((version for _, of, version in self.log if of == memory_id), default=None)

    def versions(self, memory_id: str, now_ms: int) -> list[Memory]:
        """All versions of a memory, newest first; of a purged one as they were."""
        if self.is_being_erased or self.last_version(memory_id) is None:
            raise NotFound
        found = self.all_versions(memory_id)
        if not is_valid(found[0], now_ms) and memory_id not in self.purged:
            raise NotFound
        return found

    def readable(self) -> list[Memory]:
        """Every version that anybody could still read, or could if it had not expired."""
        versions = [one for of, numbers in self.past.items() if of not in self.purged for one in numbers.values()]
        return versions + list(self.present.values())

    def kept_answer(self, key: str | None, digest: str, now_ms: int) -> Told | None:
        """What was told under this key before."""
        kept = self.answers.get(key or "")
        if kept is None or kept.until_ms <= now_ms:
            return None
        if kept.digest != digest:
            raise InvalidInput("another request")
        return kept.told

    def keep_answer(self, key: str | None, digest: str, told: Told, now_ms: int) -> None:
        """Keep what was told under a key, if there is one."""
        if key is not None:
            self.answers[key] = Kept(digest, told, (now_ms // 1000 + ANSWER_TTL_S) * 1000)

    def all_versions(self, memory_id: str) -> list[Memory]:
        """All versions of a memory, newest first, whoever may read them."""
        present, past = self.present.get(memory_id), self.past.get(memory_id, {})
        return ([] if present is None else [present]) + [past[number] for number in sorted(past, reverse=True)]


def is_valid(memory: Memory, now_ms: int) -> bool:
    """Tell whether a memory has not expired."""
    return memory.expires_at_ms is None or memory.expires_at_ms > now_ms
