"""What a purge takes with it: text lives on in what was made of it, and in the versions of that."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recollect.changes import Decision, Embeddings
from recollect.chunks import fits
from recollect.consolidating.deriving import replaced
from recollect.model import Change, Memory, Operation
from recollect.partition import Partition


@dataclass(frozen=True, slots=True)
class Doomed:
    """What a purge takes.

    Parameters
    ----------
    derived : tuple of str
        Memories that were made of one of `own`, deleted ones too.
    own : tuple of str
        The memory that is to be purged, last; before it what that was made of.
    """

    derived: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.derived, *self.own)


@dataclass(frozen=True, slots=True)
class Purging:
    """On what a purge is decided.

    Parameters
    ----------
    memories : mapping of str to Memory
        The ``deriving.family`` of `doomed`.
    new_id : callable
        Gives the id of a memory to be.
    """

    partition: Partition
    memories: Mapping[str, Memory]
    doomed: Doomed
    embeddings: Embeddings
    new_id: Callable[[], str]
    now_ms: int

    def with_all(self, primary: Decision) -> Decision:
        """Add to the decision to purge a memory what goes with it, as far as one transaction holds it.

        Returns
        -------
        Decision
            Without outcomes if the memory itself is still to be purged.

        Raises
        ------
        NotEmbedded
            If `embeddings` does.
        """
        if not primary.changes:
            return primary
        reason = primary.changes[0].reason
        changes: list[Change] = []
        own = [change for one in self.doomed.own[:-1] for change in self._purged(one, reason)]
        for more in (*(self._withdrawn(one, reason) for one in self.doomed.derived), [*own, *primary.changes]):
            if changes and not fits([*changes, *more]):
                return Decision((), tuple(changes))
            changes += more
        return Decision(primary.outcomes, tuple(changes))

    def _withdrawn(self, memory_id: str, reason: str) -> list[Change]:
        derived = self.memories.get(memory_id)
        gone = self._purged(memory_id, reason)
        if derived is None:
            return gone
        held = [
            one
            for one in self.memories.values()
            if one.consolidated_into == memory_id and one.memory_id not in self.doomed.own
        ]
        return gone + replaced(self.partition, derived, held, self.embeddings, self.new_id(), self.now_ms)

    def _purged(self, memory_id: str, reason: str) -> list[Change]:
        last = self.partition.last_version_of(memory_id)
        if last is None or self.partition.is_purged(memory_id):
            return []
        memory = self.memories.get(memory_id)
        return [
            Change(
                operation=Operation.PURGE,
                memory_id=memory_id,
                version=last + 1,
                at_ms=self.now_ms,
                reason=reason,
                columns=None,
                before=memory,
            )
        ]
