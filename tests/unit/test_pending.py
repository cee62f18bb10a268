"""Which memories are embedded next, and what becomes of them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from recollect import chunks, pending
from recollect.changes import NOT_EMBEDDED, Embedded, columns_for
from recollect.model import Entry, Head, Memory, Operation, Status
from recollect.partition import Partition

from tests.support.builders import NOW_MS, memory
from tests.support.embedder import HashingEmbedder
from tests.support.segments import entry

EMBEDDER = HashingEmbedder()


def partition(memories: Sequence[Memory], embedded: Sequence[Memory] = ()) -> Partition:
    def of(number: int, one: Memory) -> Entry:
        made = _embedded(one) if one in embedded else NOT_EMBEDDED
        return replace(entry(number, one.memory_id, columns_for(one, made)), version=one.version)

    made = Partition(EMBEDDER.name, EMBEDDER.dimension)
    made.apply([of(number, one) for number, one in enumerate(memories, 1)], Head(seq=len(memories), epoch="E"))
    return made


def _embedded(one: Memory) -> Embedded:
    return Embedded(EMBEDDER.embed([one.content])[0], EMBEDDER.name)


def some(count: int, content: str = "tea {}") -> list[Memory]:
    return [memory(content.format(number), memory_id=f"{number:026d}") for number in range(count)]


def test_active_memories_come_first_and_those_with_a_vector_or_expired_or_tried_never() -> None:
    retired, vector, expired, tried, *rest = some(6)
    retired = replace(retired, status=Status.SUPERSEDED)
    expired = replace(expired, expires_at_ms=NOW_MS)
    of = partition([retired, vector, expired, tried, *rest], [vector])

    assert pending.batch(of, {tried.memory_id}, NOW_MS) == [*(one.memory_id for one in rest), retired.memory_id]


def test_a_batch_is_bounded_by_number_and_by_bytes_and_holds_one_at_least() -> None:
    long = "é" * 8_000

    assert len(pending.batch(partition(some(40)), (), NOW_MS)) == pending.BATCH_MAX_COUNT
    assert len(pending.batch(partition(some(4, "{} " + long)), (), NOW_MS)) == 1
    assert len(pending.batch(partition(some(4, "{} " + "x" * 10_000)), (), NOW_MS)) == 3


def test_only_what_is_pending_at_the_version_that_was_read_gets_an_embedding() -> None:
    good, changed, done, missing = some(4)
    of = partition([good, replace(changed, version=2), done, missing], [done])
    ready = {one.memory_id: (one, _embedded(one)) for one in (good, changed, done)}

    decision = pending.embed(of, [one.memory_id for one in (good, changed, done, missing)], ready, NOW_MS + 5)

    assert [outcome.outcome for outcome in decision.outcomes] == ["embedded", "skipped", "skipped", "skipped"]
    [change] = decision.changes
    assert (change.operation, change.memory_id, change.version) == (Operation.EMBED, good.memory_id, 1)
    assert (change.before, change.after, change.columns) == (None, None, columns_for(good, _embedded(good)))


def test_what_does_not_fit_one_transaction_is_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "COMMIT_MAX_BYTES", 20_000)
    memories = some(5)
    ready = {one.memory_id: (one, _embedded(one)) for one in memories}

    decision = pending.embed(partition(memories), [one.memory_id for one in memories], ready, NOW_MS)

    assert [outcome.memory_id for outcome in decision.outcomes] == [one.memory_id for one in memories[:2]]
    assert len(decision.changes) == 2
