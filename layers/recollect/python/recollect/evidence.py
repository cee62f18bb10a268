"""What has settled a conflict between two memories since a store linked them. Pure; `settling` asks and commits.

In this order:

- One side is not active any more (superseded, archived, expired, deleted): there is nothing left to decide.
- A store said one side again, and nothing changed about either since: that side holds. The newer one takes the older
  one's place; an older one that is confirmed has the newer one archived. What is said again within `REPEAT_MS` is no
  evidence: it may be a request that was sent again because it was answered late, or not at all.
- The rules of a store, asked about the two as they are now, see no contradiction, or that the newer one adds nothing;
  or, if neither was changed since they were linked, that it takes the other's place.

Everything else stays, for the caller to settle; so does what would retire a pinned memory, or one that outlasts the
other. Use by searches is no evidence: they return both sides. The rules must say the same whether the two are close or
not, so that vectors decide nothing here, not even those that are pending. All of it can be undone: nothing is deleted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from recollect.changes import Decision, change_of, next_version
from recollect.model import Change, Memory, Operation, Status, is_expired, outlasts
from recollect.partition import Partition
from recollect.reconcile import Candidate, Statement, reconcile
from recollect.undoing import Resolution, resolve

REPEAT_MS = 3600 * 1000
FAR, CLOSE = 0.0, 0.95  # cosines
GONE = "the other side of the conflict is not active any more"
SAID_AGAIN = "a store said one side of the conflict again"
NO_CONFLICT = "by the rules of a store the two do not contradict each other"
ADDS_NOTHING = "by the rules of a store the newer one says the same"
REPLACED = "by the rules of a store the newer one takes the other's place"
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a conflict is to be settled.

    Parameters
    ----------
    this, other : Memory
        As `Resolution` speaks of them.
    """

    this: Memory
    other: Memory
    resolution: Resolution
    reason: str

    @property
    def is_too_much(self) -> bool:
        """Whether a memory would not be active any more that is pinned, or that outlasts the one in its place."""
        is_kept = self.other.pinned or outlasts(self.other, self.this)
        return self.resolution is not Resolution.KEEP_BOTH and is_kept


def pairs(memories: Mapping[str, Memory]) -> list[Pair]:
    """Name the pairs that are linked as conflicts, each once; one side of a pair may be gone."""
    linked = ((one.memory_id, other) for one in memories.values() for other in one.conflicts_with)
    return sorted({(min(pair), max(pair)) for pair in linked})


def settle(partition: Partition, memories: Mapping[str, Memory], pair: Pair, now_ms: int) -> Decision:
    """Decide what becomes of a conflict; nothing unless something has settled it.

    Parameters
    ----------
    memories : mapping of str to Memory
        The two, as far as they are there, those whose place they took, and so on.
    """
    there = [one for one in map(memories.get, pair) if one is not None and not is_expired(one.expires_at_ms, now_ms)]
    linked = [one for one in there if set(pair) & set(one.conflicts_with)]
    if len(linked) < len(pair) or any(one.status is not Status.ACTIVE for one in linked):
        return Decision((), tuple(_unlinked(partition, one, pair, now_ms) for one in linked))
    found = settlement(partition, *linked)
    if found is None or found.is_too_much:
        return Decision(())
    decision = resolve(partition, memories, found.this, found.other, found.resolution, now_ms)
    return Decision((), tuple(replace(change, reason=found.reason) for change in decision.changes))


def settlement(partition: Partition, one: Memory, other: Memory) -> Settlement | None:
    """Find what has settled a conflict between two active memories."""
    older, newer = sorted((one, other), key=lambda memory: (memory.created_at_ms, memory.memory_id))
    confirmed = [memory for memory in (older, newer) if _is_confirmed(partition, memory, (older, newer))]
    if len(confirmed) == 1:
        return _kept(older, newer, confirmed[0])
    outcome = _outcome(older, newer, FAR)
    if outcome == "conflict" or outcome != _outcome(older, newer, CLOSE):
        return None
    match outcome:
        case "created" | "merged":
            return Settlement(newer, older, Resolution.KEEP_BOTH, NO_CONFLICT)
        case "unchanged":
            return Settlement(older, newer, Resolution.KEEP_THIS, ADDS_NOTHING)
        case "superseded" if (newer.version, newer.seq) == (
            1,
            older.seq + 1,
        ):  # as the commit that linked them left them
            return Settlement(newer, older, Resolution.SUPERSEDE, REPLACED)
    return None


def _kept(older: Memory, newer: Memory, confirmed: Memory) -> Settlement:
    if confirmed is newer:
        return Settlement(newer, older, Resolution.SUPERSEDE, SAID_AGAIN)
    return Settlement(older, newer, Resolution.KEEP_THIS, SAID_AGAIN)


def _is_confirmed(partition: Partition, memory: Memory, both: tuple[Memory, Memory]) -> bool:
    said = partition.said_again(memory.memory_id)
    if said is None:
        return False
    return all(said.seq >= one.seq and said.at_ms >= one.updated_at_ms + REPEAT_MS for one in both)


def _outcome(older: Memory, newer: Memory, cosine: float) -> str:
    return reconcile(Statement.of(newer), [Candidate.of(older, cosine)]).outcome


def _unlinked(partition: Partition, memory: Memory, pair: Pair, now_ms: int) -> Change:
    left = tuple(one for one in memory.conflicts_with if one not in pair)
    after = replace(next_version(memory, now_ms), conflicts_with=left)
    return change_of(Operation.LINK, memory, after, partition.embedding_of(memory.memory_id), GONE)
