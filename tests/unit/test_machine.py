"""Whole lives of two users, at random: two writers with warm partitions and cold ones, faults and races, and a model.

After every request the service must show what a `Ledger`, a model in plain dicts, says. Reconciling free text would
make the model as complex as the service, so the texts are chosen: either they share at most one word of two, under an
embedder that gives every word a dimension of its own, so that none is ever close to another; or what the rules say of
the pair is in a table. The first test holds the texts to that.
"""

import sys
from itertools import product
from typing import Any

import boto3
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from moto import mock_aws
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.filters import EVERYTHING
from recollect.model import MemoryType
from recollect.ordering import Order, OrderBy
from recollect.ports import MemoryStore
from recollect.reconcile import NOMINATION_MIN_COSINE, Candidate, Statement, reconcile

from tests.support.audit import assert_audited, assert_found, assert_listed, assert_pages, assert_sound
from tests.support.builders import TRANSCRIPTS, asking, to_store
from tests.support.drawn import (
    ANY_WORK,
    DEEP_FAULTS,
    FAULTS,
    HOW,
    KNOWN_FILTERS,
    LONG_MOMENTS,
    MOMENTS,
    ORDERS,
    WHO,
    WORKS,
)
from tests.support.embedder import HashingEmbedder
from tests.support.faults import Killed, When
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.lives import COLD, USERS, Fault, Lives, digest
from tests.support.records import is_valid
from tests.support.table import TABLE_NAME, create_table
from tests.support.texts import CONTENTS, DIMENSION, QUERIES, VERDICTS
from tests.support.works import Store, Work

HOUR_MS = 3_600_000
Works = list[Work | None]  # None: the same again
MEANWHILE = st.lists(ANY_WORK, min_size=1, max_size=2) | st.just([None])


def test_the_texts_mean_to_each_other_what_the_model_says() -> None:
    embedder = HashingEmbedder(dimension=DIMENSION)
    words = {word for content in CONTENTS for word in content.casefold().split()}
    assert len({vector.argmax() for vector in embedder.embed(sorted(words))}) == len(words)
    for old, new in product(CONTENTS, CONTENTS):
        one, other = embedder.embed([old, new])
        candidate = Candidate("old", old, MemoryType.SEMANTIC, float(one @ other))
        if (old, new) in VERDICTS:
            assert candidate.cosine > NOMINATION_MIN_COSINE
            verdict = reconcile(Statement(new, MemoryType.SEMANTIC), [candidate])
            assert (verdict.outcome, verdict.content or new) == (VERDICTS[old, new], new)
        elif old != new:
            assert candidate.cosine < NOMINATION_MIN_COSINE - 0.01


class Machine(Lives, RuleBasedStateMachine):
    """What may happen, in any order."""

    def make_store(self) -> MemoryStore:
        return InMemoryMemoryStore()

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None:  # otherwise what went wrong is known
                for user in USERS:
                    self.everything_is_audited(user, COLD)
        finally:
            self.patches.undo()

    @initialize(works=st.lists(st.tuples(WHO["user"], WORKS["store"]), min_size=1, max_size=3))
    def begin(self, works: list[tuple[str, Work]]) -> None:
        for user, work in works:
            self.write(work, user, 0)

    # --- writes -----------------------------------------------------------------------------------------------------

    @rule(work=WORKS["store"], **HOW)
    def store_some(self, work: Work, user: str, writer: int, has_key: bool, fault: Fault | None) -> None:
        self.write(work, user, writer, has_key, fault)

    @rule(pair=st.sampled_from(list(VERDICTS)), **HOW)
    def say_two(self, pair: tuple[str, str], user: str, writer: int, has_key: bool, fault: Fault | None) -> None:
        for text in pair:
            self.write(Store((to_store(text),)), user, writer, has_key, fault)

    @rule(work=WORKS["update"], **HOW)
    def update(self, work: Work, user: str, writer: int, has_key: bool, fault: Fault | None) -> None:
        self.write(work, user, writer, has_key, fault)

    @rule(work=WORKS["delete"] | WORKS["purge"], **HOW)
    def remove(self, work: Work, user: str, writer: int, has_key: bool, fault: Fault | None) -> None:
        self.write(work, user, writer, has_key, fault)

    @rule(work=WORKS["restore"], **HOW)
    def restore(self, work: Work, user: str, writer: int, has_key: bool, fault: Fault | None) -> None:
        self.write(work, user, writer, has_key, fault)

    @precondition(lambda self: self.some(lambda one: one.merged_content is not None or one.conflicts_with != ()))
    @rule(work=WORKS["unmerge"] | WORKS["resolve"], **HOW)
    def undo(self, work: Work, user: str, writer: int, has_key: bool, fault: Fault | None) -> None:
        self.write(work, user, writer, has_key, fault)

    @precondition(lambda self: self.some(lambda one: one.sources != ()))
    @rule(of_what=st.sampled_from(TRANSCRIPTS), how=st.tuples(st.booleans(), st.booleans()), fault=FAULTS, **WHO)
    def forget_a_transcript(
        self, of_what: str, how: tuple[bool, bool], fault: Fault | None, user: str, writer: int
    ) -> None:
        self.forget(user, writer, of_what, how, fault)

    @precondition(lambda self: self.sent)
    @rule(number=st.integers(0, 9), other=st.none() | ANY_WORK, writer=WHO["writer"])
    def send_again(self, number: int, other: Work | None, writer: int) -> None:
        """Send a request with a key again, however long ago it was; or another one under its key."""
        user, work, key = self.sent[number % len(self.sent)]
        if other is not None:
            work, _ = self.request(other, user, has_key=False)
        self.ask(asking(user, key, digest(work)), work, writer)

    @rule(work=ANY_WORK, others=MEANWHILE, user=WHO["user"], has_key=st.booleans(), **MOMENTS)
    def race(self, work: Work, others: Works, user: str, has_key: bool, at: int | str, when: When) -> None:
        """Let the other writer do something in the middle of a request; the same, if the client was impatient."""
        work, request = self.request(work, user, has_key)

        def meanwhile() -> None:
            for other in others:
                if other is None:
                    self.ask(request, work, 1)
                else:
                    self.write(other, user, 1)

        self.interrupt(work, request, at, when, meanwhile)

    @rule(work=ANY_WORK, others=MEANWHILE, user=WHO["user"], has_key=st.booleans())
    def come_first(self, work: Work, others: Works, user: str, has_key: bool) -> None:
        """Let the other writer do something between a decision and its commit."""
        self.race(work, others, user, has_key, "append", "before")

    @rule(work=ANY_WORK, user=WHO["user"], has_key=st.booleans(), **MOMENTS)
    def erase_in_the_middle(self, work: Work, user: str, has_key: bool, at: int, when: When) -> None:
        work, request = self.request(work, user, has_key)
        self.interrupt(work, request, at, when, lambda: self.erase(user, 1))

    @precondition(lambda self: any(len(one.log) > 6 or one.is_being_erased for one in self.ledgers.values()))
    @rule(fault=DEEP_FAULTS, is_continued=st.booleans(), **WHO)
    def erase_a_user(self, user: str, writer: int, fault: Fault | None, is_continued: bool) -> None:
        is_half_done = self.erase(user, writer, fault)
        if is_half_done and is_continued:
            assert not self.erase(user, 1 - writer % 2)
        self.assert_forgotten()

    @rule(is_forced=st.booleans(), fault=FAULTS, user=WHO["user"])
    def compact_a_user(self, user: str, is_forced: bool, fault: Fault | None) -> None:
        fault = fault or Fault(0, "before", Killed)  # no call is the 0th
        self.compact(user, is_forced, fault.at, fault.when, fault.happen)

    @rule(works=MEANWHILE, is_forced=st.booleans(), user=WHO["user"], **LONG_MOMENTS)
    def compact_while_others_write(self, works: Works, user: str, is_forced: bool, at: int, when: When) -> None:
        """Let others write in the middle of a compaction, or erase the user."""

        self.compact(user, is_forced, at, when, lambda: self._write_or_erase(works, user))

    @rule(work=ANY_WORK, is_forced=st.booleans(), user=WHO["user"], has_key=st.booleans(), **MOMENTS)
    def compact_in_the_middle(self, work: Work, user: str, has_key: bool, is_forced: bool, at: int, when: When) -> None:
        work, request = self.request(work, user, has_key)
        self.interrupt(work, request, at, when, lambda: self.compact(user, is_forced, 0, "before", lambda: None))

    @rule(works=MEANWHILE, user=WHO["user"], **LONG_MOMENTS)
    def age_while_others_write(self, works: Works, user: str, at: int, when: When) -> None:
        """Let memories age, and others write or the user be erased in the middle of it."""
        self.age(user, at, when, lambda: self._write_or_erase(works, user))

    @rule(fault=FAULTS, user=WHO["user"])
    def age_a_user(self, user: str, fault: Fault | None) -> None:
        fault = fault or Fault(0, "before", Killed)
        self.age(user, fault.at, fault.when, fault.happen)
        ledger = self.ledgers[user]
        if fault.at == 0 and not ledger.is_being_erased:
            assert all(is_valid(one, self.clock.now_ms) for one in ledger.present.values())

    @rule(hours=st.sampled_from([0.001, 1, 1, 1, 25]))
    def time_passes(self, hours: float) -> None:
        self.clock.now_ms += int(hours * HOUR_MS)

    # --- reads ------------------------------------------------------------------------------------------------------

    @rule(query=st.sampled_from([*CONTENTS, *QUERIES]), fault=FAULTS, **WHO)
    def search(self, query: str, fault: Fault | None, user: str, writer: int) -> None:
        ledger, now_ms = self.ledgers[user], self.clock.now_ms
        self.with_fault(writer, fault, lambda of: assert_found(of, user, ledger, query, now_ms))

    @rule(asked=KNOWN_FILTERS, order=ORDERS, **WHO)
    def list_by_a_filter(self, asked: Any, order: Order, user: str, writer: int) -> None:
        assert_pages(self.writer(writer).of, user, self.ledgers[user], asked, order, self.clock.now_ms)

    @rule(works=st.lists(ANY_WORK, max_size=3), order=ORDERS, user=WHO["user"])
    def list_while_others_write(self, works: list[Work], order: Order, user: str) -> None:
        """Every memory that stays where it is in the order is listed once."""
        listed: list[str] = []
        steady = self._places(user, order)
        cursor: str | None = ""
        while cursor is not None:
            page = self.writers[0].of.list_memories(user, EVERYTHING, 2, cursor or None, order)
            listed += [one.memory_id for one in page.memories]
            cursor = page.cursor
            if works and cursor is not None:
                self.write(works.pop(), user, 1)
                steady &= self._places(user, order)
        stayed = {memory_id for memory_id, _ in steady}
        assert sorted(one for one in listed if one in stayed) == sorted(stayed)

    @rule(**WHO)
    def everything_is_audited(self, user: str, writer: int) -> None:
        of, ledger = self.writer(writer).of, self.ledgers[user]
        assert_audited(of, user, ledger, self.strangers(user), self.clock.now_ms)
        self.assert_forgotten()

    @invariant()
    def both_writers_list_what_the_model_says(self) -> None:
        for writer, (user, ledger) in product(self.writers, self.ledgers.items()):
            assert_sound(assert_listed(writer.of, user, ledger, self.clock.now_ms))

    def _write_or_erase(self, works: Works, user: str) -> None:
        for work in works:
            if work is None:
                self.erase(user, 1)
            else:
                self.write(work, user, 1)

    def _places(self, user: str, order: Order) -> set[tuple[str, Any]]:
        name = order.by.value if order.by is OrderBy.IMPORTANCE else f"{order.by.value}_ms"
        return {(one.memory_id, getattr(one, name)) for one in self.ledgers[user].visible(self.clock.now_ms)}


class DynamoDBMachine(Machine):
    """The same on DynamoDB, as moto has it."""

    def make_store(self) -> MemoryStore:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            self.patches.setenv(name, "test")
        self.patches.delenv("AWS_CA_BUNDLE", raising=False)
        self.cloud = mock_aws()
        self.cloud.start()
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_table(client)
        return DynamoDBMemoryStore(client, TABLE_NAME)

    def teardown(self) -> None:
        try:
            super().teardown()
        finally:
            self.cloud.stop()


TestLivesInMemory = Machine.TestCase
TestLivesInMemory.settings = settings(max_examples=60, stateful_step_count=30)
TestLivesOnDynamoDB = DynamoDBMachine.TestCase
TestLivesOnDynamoDB.settings = settings(max_examples=3, stateful_step_count=20)
