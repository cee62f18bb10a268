"""A work that is going on, step by step, and what the service may answer when it was disturbed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from recollect.changes import Outcome
from recollect.commit import Request
from recollect.errors import RecollectError

from tests.support.ledger import Ledger
from tests.support.records import Told
from tests.support.works import Step

Answer = Told | type[RecollectError]


@dataclass
class Doing:
    """A work that is going on: what was told of it so far, and the steps that are left.

    Parameters
    ----------
    has_read : bool
        Whether the service had read the user's log when it was disturbed.
    """

    request: Request
    steps: list[Step]
    told: Told = ()
    has_read: bool = False

    def catch_up(self, ledger: Ledger, seq: int, is_answered: bool, now_ms: int) -> None:
        """Take the steps that were committed: up to an entry of the log, or all, if the answer is kept."""
        while self.steps and (len(ledger.log) < seq or is_answered):
            self.told += self.steps.pop(0)(ledger, now_ms)
        has_key = self.request.idempotency_key is not None
        assert is_answered == (has_key and not self.steps), "the answer is kept with the last of the changes"
        if is_answered:
            ledger.keep_answer(self.request.idempotency_key, self.request.digest, self.told, now_ms)

    def ends(self, before: Sequence[Ledger], ledger: Ledger, now_ms: int) -> Iterator["End"]:
        """Say how it may end, if somebody else came between: what changed nothing may have been decided before that.

        Parameters
        ----------
        before : sequence of Ledger
            What the ledger said before somebody else came, if so.
        """
        yield self._end(self.told, self.steps, ledger.copy(), now_ms)
        for earlier in before:
            told, then = self.told, earlier.copy()
            for number, step in enumerate(self.steps, start=1):
                try:
                    told += step(then, now_ms)
                except RecollectError as error:
                    yield End(type(error), ledger)
                    break
                if len(then.log) > len(earlier.log):
                    break
                yield self._end(told, self.steps[number:], ledger.copy(), now_ms)

    def ends_of_the_erased(self, ends: Sequence["End"]) -> Iterator["End"]:
        """Leave out that a commit which had begun goes over into the next life of an erased user.

        The rest of a batch is a commit of its own, and may.
        """
        may_begin_anew = not self.has_read or not self.steps or self.told or len(self.steps) > 1
        return (one for one in ends if may_begin_anew or not one.ledger.log)

    def _end(self, told: Told, steps: Sequence[Step], ledger: Ledger, now_ms: int) -> "End":
        key, digest = self.request.idempotency_key, self.request.digest
        try:
            kept = ledger.kept_answer(key, digest, now_ms)
            if kept is not None:
                return End(kept, ledger)
            told += tuple(one for step in steps for one in step(ledger, now_ms))
        except RecollectError as error:
            return End(type(error), ledger)
        ledger.keep_answer(key, digest, told, now_ms)
        return End(told, ledger)


@dataclass
class End:
    """What the service may answer, and what the ledger says then."""

    answer: Answer
    ledger: Ledger


def answer_of(ask: Callable[[], Sequence[Outcome]]) -> Answer:
    """Ask, and reduce what the service answers to what a ledger tells."""
    try:
        return tuple((outcome.outcome, outcome.memory_id, outcome.version) for outcome in ask())
    except RecollectError as error:
        return type(error)
