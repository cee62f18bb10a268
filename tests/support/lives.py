"""Two users, two writers with warm partitions and any number of cold ones on one store, and what must be there.

What the rules of the state machine do their work with: a request is asked, with a fault or a race if so wanted, and
the answer and the log are compared with the user's `Ledger`.
"""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pytest
from recollect import erasing, keys
from recollect.aging import Decay, Expiry
from recollect.commit import Committer, Request
from recollect.compacting import Compactor
from recollect.controller import MemoryController
from recollect.erasure import ErasureState
from recollect.errors import Conflict, NotFound, Unavailable
from recollect.lifecycle import Policy
from recollect.maintenance import Run
from recollect.model import Head
from recollect.partitions import Partitions
from recollect.ports import MemoryStore

from tests.support.builders import BUDGET_BYTES, Clock, asking, controller, surroundings
from tests.support.doing import Answer, Doing, End, answer_of
from tests.support.embedder import HashingEmbedder
from tests.support.faults import DyingStores, Killed, When
from tests.support.histories import everything_kept
from tests.support.inmemory import InMemoryObjectStore
from tests.support.ledger import Ledger
from tests.support.texts import DIMENSION
from tests.support.works import Store, Wish, Work, settled
from tests.support.worlds import SMALL

USERS = ("ana", "ana/b#1")
UNKNOWN = "0" * 26
FAST = Policy(episodic_half_life_days=0.001, semantic_half_life_days=0.002)  # minutes until they fade
COLD = 2  # the number of a writer that is new
ANY, STRANGE = 8, 9  # the last digit of a drawn name that may be of a deleted memory, or is of another user's


@dataclass(frozen=True)
class Fault:
    """At which call of a request to the store something happens: the process dies, or the call fails."""

    at: int | str
    when: When
    error: type[BaseException]

    def happen(self) -> None:
        raise Unavailable("no answer") if self.error is Unavailable else self.error


@dataclass
class Writer:
    """An instance of the service."""

    stores: DyingStores
    of: MemoryController


class Lives:
    """The lives of two users."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = pytest.MonkeyPatch()
        self.patches.setattr(erasing, "ITEMS_PER_DELETE", 3)
        self.store = self.make_store()
        self.objects = InMemoryObjectStore()
        self.clock = Clock()
        self.numbers = iter(range(1, 1_000_000))
        self.writers = [self._born(), self._born()]
        self.ledgers = {user: self._new_ledger(user) for user in USERS}
        self.erased: dict[str, list[str]] = {user: [] for user in USERS}
        self.sent: list[tuple[str, Work, str]] = []
        self.marks: list[str] = []

    def make_store(self) -> MemoryStore:
        """Make the store that all of this happens on."""
        raise NotImplementedError

    def writer(self, number: int) -> Writer:
        """Give one of the two warm writers, or a cold one."""
        return self._born() if number == COLD else self.writers[number]

    def some(self, wish: Wish) -> bool:
        """Tell whether some memory is as is wished."""
        return any(wish(one) for ledger in self.ledgers.values() for one in ledger.present.values())

    def strangers(self, user: str) -> list[str]:
        """Ids that mean nothing to a user now."""
        others = [one for name in USERS if name != user for one in self.ledgers[name].memory_ids]
        return [*others, *self.erased[user], UNKNOWN]

    def request(self, work: Work, user: str, has_key: bool) -> tuple[Work, Request]:
        """Make a request of a drawn work."""
        number, ledger = next(self.numbers), self.ledgers[user]

        def names(drawn: str, wish: Wish) -> str:
            place, kind = int(drawn[1:]), int(drawn[-1])
            present = [one for one in ledger.memory_ids[::-1] if one in ledger.present]
            wished = [one for one in present if wish(ledger.present[one])] or present
            if kind < ANY and wished:
                return wished[place % len(wished)]
            if kind < STRANGE and ledger.memory_ids:
                return ledger.memory_ids[-1 - place // 10 % len(ledger.memory_ids)]
            return self.strangers(user)[0]

        work = settled(work, names, ledger, f"m{number}", self.clock.now_ms)
        if isinstance(work, Store):
            self.marks += [f"m{number}-{place}" for place in range(len(work.new))]
        return work, asking(user, f"k{number}" if has_key else None, digest(work))

    def write(self, work: Work, user: str, writer: int, has_key: bool = False, fault: Fault | None = None) -> None:
        """Do a drawn work; after a fault, see what was committed and send the same request to another writer."""
        work, request = self.request(work, user, has_key)
        if self.with_fault(writer, fault, lambda of: self._ask(of, request, work)) is not None:
            self._catch_up(Doing(request, work.steps()))
            self.ask(request, work, 1 - writer % 2)
        if request.idempotency_key is not None and not self.ledgers[user].is_being_erased:
            self.sent.append((user, work, request.idempotency_key))

    def ask(self, request: Request, work: Work, writer: int) -> None:
        """Send a request, and compare the answer."""
        self._ask(self.writer(writer).of, request, work)

    def interrupt(self, work: Work, request: Request, at: int | str, when: When, act: Callable[[], object]) -> None:
        """Let something else happen in the middle of a request to the first writer."""
        doing, before = Doing(request, work.steps()), list[Ledger]()
        stores = self.writers[0].stores

        def meanwhile() -> None:
            self._catch_up(doing)
            doing.has_read = "read_log" in (stores.calls[:-1] if when == "before" else stores.calls)
            before.append(self.ledgers[request.user_id].copy())
            act()

        stores.interrupt(at, when, meanwhile)
        answer = answer_of(lambda: work.ask(self.writers[0].of, request))
        stores.interrupt(0, when, meanwhile)
        self._assert_answer(answer, doing, before)

    def erase(self, user: str, writer: int, fault: Fault | None = None) -> bool:
        """Erase a user; tell whether it is left half done."""
        error = self.with_fault(writer, fault, lambda of: _erase(of, user))
        head = self.store.read_head(user)
        kept = [*self.store.items(user, 9), *self.objects.list_versions(keys.objects_of(user), 9)]
        is_empty = head == Head() and kept == []
        assert error is not None or is_empty
        is_erasing = head.erasing_since_ms is not None
        if is_empty:
            self.erased[user] += self.ledgers[user].memory_ids
            self.ledgers[user] = self._new_ledger(user)
        self.ledgers[user].is_being_erased = is_erasing
        if is_empty or is_erasing:
            self.sent = [one for one in self.sent if one[0] != user]
        return is_erasing

    def forget(self, user: str, writer: int, of_what: str, how: tuple[bool, bool], fault: Fault | None) -> None:
        """Let a user's memories forget a transcript; after a fault another writer completes it."""
        cascade, purge = how

        def act(of: MemoryController) -> None:
            until_ms = 2 * self.clock.now_ms
            asked = of.forget_transcript(asking(user), of_what, cascade=cascade, purge=purge, deadline_ms=until_ms)
            assert asked.is_done

        if self.with_fault(writer, fault, act) is not None:
            act(self.writer(1 - writer % 2).of)
        if not self.ledgers[user].is_being_erased:
            self.ledgers[user].forget(of_what, cascade, cascade and purge, self.clock.now_ms)

    def compact(self, user: str, is_forced: bool, at: int | str, when: When, act: Callable[[], object]) -> None:
        """Compact, and let something happen in the middle of it; whatever that is, nothing is to be seen of it."""
        stores = DyingStores(self.store, self.objects)
        partitions = Partitions(
            stores.store, stores.objects, HashingEmbedder("hashing", DIMENSION), self.clock, BUDGET_BYTES
        )
        around = surroundings(self.clock, f"01HG{next(self.numbers):08d}")
        stores.interrupt(at, when, act)
        with suppress(Killed, Unavailable):
            Compactor(stores.store, stores.objects, partitions, around, SMALL).compact(user, is_forced=is_forced)

    def age(self, user: str, at: int | str, when: When, act: Callable[[], object]) -> None:
        """Let what is over expire and what faded be archived, and let something happen in the middle of it."""
        stores = DyingStores(self.store, self.objects)
        partitions = Partitions(
            stores.store, stores.objects, HashingEmbedder("hashing", DIMENSION), self.clock, BUDGET_BYTES
        )
        around = surroundings(self.clock, f"01HG{next(self.numbers):08d}")
        aging = (partitions, Committer(stores.store, partitions, around, "hashing", DIMENSION), around)
        run = Run(epoch=self.store.read_head(user).epoch, deadline_ms=self.clock.now_ms + 1)

        def meanwhile() -> None:
            self._follow_aging(user)
            act()

        stores.interrupt(at, when, meanwhile)
        with suppress(Killed, Unavailable, Conflict):
            for step in (Expiry(*aging), Decay(*aging, FAST)):
                step.run(user, run)
        self._follow_aging(user)

    def _follow_aging(self, user: str) -> None:
        ledger = self.ledgers[user]
        if not ledger.is_being_erased:
            first, last = len(ledger.log) + 1, self.store.read_head(user).seq
            for entry in self.store.read_entries(user, range(first, last + 1)):
                ledger.age(entry, self.clock.now_ms)

    def with_fault(
        self, number: int, fault: Fault | None, act: Callable[[MemoryController], object]
    ) -> BaseException | None:
        """Do something with a writer whose store fails, or who dies; give what it died of."""
        writer = self.writer(number)
        if fault is not None:
            writer.stores.interrupt(fault.at, fault.when, fault.happen)
        try:
            act(writer.of)
        except (Killed, Unavailable) as error:
            assert fault is not None
            if isinstance(error, Killed) and number != COLD:
                self.writers[number] = self._born()
            return error
        finally:
            writer.stores.die(at=0, when="before")
        return None

    def assert_forgotten(self) -> None:
        """Check that nothing is kept of memories but of versions that can be read."""
        readable = [one.metadata_json for ledger in self.ledgers.values() for one in ledger.readable()]
        text, known = everything_kept(self.store) + repr(vars(self.objects)), "".join(readable)
        assert not [mark for mark in self.marks if f'"{mark}"' in text and f'"{mark}"' not in known]

    def _new_ledger(self, user: str) -> Ledger:
        def name_at(seq: int) -> str:
            entries = self.store.read_entries(user, [seq])
            return entries[0].memory_id if entries else "none"

        return Ledger(name_at)

    def _born(self) -> Writer:
        stores = DyingStores(self.store, self.objects)
        embedder = HashingEmbedder(dimension=DIMENSION)
        prefix = f"01HF{next(self.numbers):08d}"
        return Writer(stores, controller(stores.store, embedder, self.clock, prefix, stores.objects))

    def _ask(self, of: MemoryController, request: Request, work: Work) -> None:
        answer = answer_of(lambda: work.ask(of, request))
        if answer is Unavailable:
            raise Unavailable("as it answered")
        self._assert_answer(answer, Doing(request, work.steps()), [])

    def _seen(self, request: Request) -> tuple[int, bool]:
        key = request.idempotency_key
        is_answered = key is not None and self.store.stored_answer(request.user_id, key) is not None
        return self.store.read_head(request.user_id).seq, is_answered

    def _catch_up(self, doing: Doing) -> None:
        ledger = self.ledgers[doing.request.user_id]
        if not ledger.is_being_erased:
            doing.catch_up(ledger, *self._seen(doing.request), self.clock.now_ms)

    def _assert_answer(self, answer: Answer, doing: Doing, before: Sequence[Ledger]) -> None:
        """Check an answer and what was committed, given what the ledger said when somebody else came between."""
        user = doing.request.user_id
        ledger, (seq, _) = self.ledgers[user], self._seen(doing.request)
        if ledger.is_being_erased:
            assert answer in (Conflict, NotFound)
            return
        ends = list(doing.ends(before, ledger, self.clock.now_ms))
        if any(ledger.log[: len(one.log)] != one.log for one in before):  # the user was erased in the middle
            ends = [*doing.ends_of_the_erased(ends), End(Conflict, ledger)]
        told = next((one for one in ends if (one.answer, len(one.ledger.log)) == (answer, seq)), None)
        assert told is not None, (answer, seq, [(one.answer, len(one.ledger.log)) for one in ends])
        self.ledgers[user] = told.ledger


def digest(work: Work) -> str:
    """Give a request's digest, as the edge does of its bytes."""
    return hashlib.sha256(repr(work).encode()).hexdigest()


def _erase(of: MemoryController, user: str) -> None:
    assert of.erase(user).state is ErasureState.ERASED
