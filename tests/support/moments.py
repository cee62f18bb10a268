"""Every moment at which a piece of work can fail: a rehearsal counts its calls, and each of them is struck in turn.

A moment is named by the call as the rehearsal saw it, "the third `append`", and by what happens there. Up to it a
piece of work that begins in the same state is the same; what comes after it may be other calls, since the work, or
what is left of it, is done again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock
from typing import Any

from recollect.errors import Conflict, Unavailable

from tests.support.faults import Killed

Call = tuple[str, int]  # its name, and how many of that name there were with it


class Kind(StrEnum):
    """What happens at a call."""

    DEATH_BEFORE = "the process dies, and the call has no effect"
    DEATH_AFTER = "the process dies, and the call has its effect"
    REFUSED = "the call is refused"
    LOST = "the call has its effect, and its answer is lost"
    ECHO = "the call has its effect, its answer is lost, and sent again it is told that it came too late"


OF_READS = (Kind.DEATH_AFTER, Kind.REFUSED)  # nothing tells afterwards whether a read took place
OF_WRITES = (Kind.DEATH_BEFORE, Kind.DEATH_AFTER, Kind.REFUSED, Kind.LOST)
CONDITIONAL = frozenset(("begin_erasure", "commit_manifest", "end_erasure", "put_new", "schedule"))  # no transactions
AWS_WRITES = frozenset(
    (
        *("dynamodb.PutItem", "dynamodb.UpdateItem", "dynamodb.DeleteItem", "dynamodb.TransactWriteItems"),
        *("s3.PutObject", "s3.DeleteObjects", "sqs.SendMessageBatch"),
    )
)
WRITES = frozenset(
    (
        *("append", "touch", "drop_items", "redact_version", "redact_entry", "erase_items", "keep", "save", "drop"),
        *("delete", "delete_versions", "send", *CONDITIONAL, *AWS_WRITES),
    )
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A call of a piece of work, and what happens there."""

    call: Call
    kind: Kind


def moments_of(calls: Sequence[Call]) -> list[Moment]:
    """Name all moments of a piece of work that made these calls on stores."""
    return [Moment(call, kind) for call in calls for kind in _kinds_of(call[0])]


def _kinds_of(name: str) -> Iterator[Kind]:
    is_aws = "." in name
    if name in WRITES:
        yield from OF_WRITES
    else:
        yield from OF_READS[is_aws:]  # to die there is to die at the call of the store
    if name in CONDITIONAL | AWS_WRITES:
        yield Kind.ECHO


class Watch:
    """Counts the calls of the present piece of work, and lets one of them fail.

    Parameters
    ----------
    calls : list of Call
        Those so far.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._moment: Moment | None = None
        self._counts: Counter[str] = Counter()
        self.calls: list[Call] = []

    def begin(self, moment: Moment | None = None) -> None:
        """Begin a piece of work, with what is to happen in it, once."""
        self._moment = moment
        self._counts.clear()
        self.calls = []

    @property
    def has_struck(self) -> bool:
        """Whether what was to happen has happened."""
        return self._moment is None

    def reached(self, name: str) -> Kind | None:
        """Count a call; tell what happens at it."""
        with self._lock:
            self._counts[name] += 1
            self.calls.append((name, self._counts[name]))
            if self._moment is None or self._moment.call != self.calls[-1]:
                return None
            kind = self._moment.kind
            self._moment = None
        return kind

    def around(self, name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        """Give a call that is counted, and fails when its time has come."""

        def call(*args: Any, **kwargs: Any) -> Any:
            kind = self.reached(name)
            if kind is Kind.DEATH_BEFORE:
                raise Killed
            if kind is Kind.REFUSED:
                raise Unavailable("the service does not answer")
            value = run(*args, **kwargs)
            if kind is None:
                return value
            errors = {Kind.LOST: Unavailable("no answer in time"), Kind.ECHO: Conflict("somebody else came first")}
            raise errors.get(kind) or Killed

        return call


class Watched:
    """Several stores as one, whose calls are watched; no two of their methods that are used have one name."""

    def __init__(self, watch: Watch, *stores: Any) -> None:
        self._watch = watch
        self._stores = stores

    def __getattr__(self, name: str) -> Any:
        store = next(one for one in self._stores if hasattr(one, name))
        return self._watch.around(name, getattr(store, name))
