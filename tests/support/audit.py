"""Compares every read path of a controller with a `Ledger`."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any, Protocol, TypeVar

import pytest
from recollect.answers import SearchQuery
from recollect.controller import MemoryController
from recollect.errors import NotFound
from recollect.filters import EVERYTHING, within_reach
from recollect.maintenance import BY
from recollect.model import Entry, Memory, Status
from recollect.ordering import NEWEST_FIRST, Order, OrderBy
from recollect.ranking import Mode
from recollect.schemas.filters import FilterInput

from tests.support.filters import lets_through, mentions_status
from tests.support.histories import context_of
from tests.support.ledger import Ledger, statement
from tests.support.texts import QUERIES

_NOT_COMPARED = {"access_count", "last_accessed_at_ms", "seq"}  # depend on who has searched, and on the log
Facts = dict[str, Any]


def facts(memory: Memory) -> Facts:
    """Whatever a ledger knows of a memory."""
    return {field.name: getattr(memory, field.name) for field in fields(Memory) if field.name not in _NOT_COMPARED}


def assert_listed(of: MemoryController, user_id: str, ledger: Ledger, now_ms: int) -> list[Memory]:
    """Compare the listing of all memories, deleted ones apart."""
    listed = list(of.list_memories(user_id, EVERYTHING, 200).memories)
    assert [facts(one) for one in listed] == [facts(one) for one in ledger.visible(now_ms)]
    return listed


def assert_sound(memories: Sequence[Memory]) -> None:
    """Check what holds for any memories of one user, whatever was done."""
    active = [one for one in memories if one.status is Status.ACTIVE]
    assert max(Counter(map(statement, active)).values(), default=0) <= 1, "two active memories say the same"
    known = {one.memory_id: one for one in memories}
    for one in memories:
        assert (one.status is Status.SUPERSEDED) == (one.valid_until_ms is not None) == (one.superseded_by is not None)
        for other_id, backwards in ((one.supersedes, "superseded_by"), (one.superseded_by, "supersedes")):
            assert other_id not in known or getattr(known[other_id], backwards) == one.memory_id, "a link of one end"
        assert all(one.memory_id in known[other].conflicts_with for other in one.conflicts_with if other in known)
        head = _head_of(one, known)
        assert head is None or head.status is not Status.SUPERSEDED


def _head_of(memory: Memory, known: dict[str, Memory]) -> Memory | None:
    """Go from a memory to the one that has its place now; ``None`` if that was deleted."""
    here: Memory | None = memory
    passed: set[str] = set()
    while here is not None and here.superseded_by is not None:
        assert here.memory_id not in passed, "memories retire each other in a circle"
        passed.add(here.memory_id)
        here = known.get(here.superseded_by)
    return here


def assert_audited(of: MemoryController, user_id: str, ledger: Ledger, strangers: Iterable[str], now_ms: int) -> None:
    """Compare all that can be read of one user.

    Parameters
    ----------
    strangers : iterable of str
        Ids of other users' memories and of earlier lives of this user.
    """
    for memory_id in (*ledger.memory_ids, *strangers):
        _assert_one(of, user_id, ledger, memory_id, now_ms)
    _assert_events(of, user_id, ledger)
    _assert_stats(of, user_id, ledger, now_ms)
    for query in QUERIES:
        assert_found(of, user_id, ledger, query, now_ms)


def assert_found(of: MemoryController, user_id: str, ledger: Ledger, query: str, now_ms: int) -> None:
    """Compare searches in every mode, and the context, with the active memories: first those that share a word."""
    words = set(query.casefold().split())
    active = ledger.active(now_ms)
    wanted = {one.memory_id: facts(one) for one in active if words & set(one.content.casefold().split())}
    same = {one.memory_id for one in active if one.content == query}
    for mode in (Mode.HYBRID, Mode.LEXICAL, Mode.SEMANTIC):
        hits = of.search(user_id, SearchQuery(text=query, mode=mode, k=100)).hits
        assert {hit.memory.memory_id: facts(hit.memory) for hit in hits[: len(wanted)]} == wanted
        rest = {hit.memory.memory_id for hit in hits[len(wanted) :]}
        assert rest == (set() if mode is Mode.LEXICAL else {one.memory_id for one in active} - wanted.keys())
        assert {hit.memory.memory_id for hit in hits[: len(same)]} == same
        assert all(hit.score == 1.0 for hit in hits[: len(same)])
    exact = of.search(user_id, SearchQuery(text=query, mode=Mode.EXACT, k=100)).hits
    assert [facts(hit.memory) for hit in exact] == [facts(one) for one in active]
    shown = re.findall(r"^- \[(\w+)\]", "\n".join(context_of(of, user_id, query)), re.MULTILINE)
    assert sorted(shown) == sorted(one.memory_id for one in active)


def assert_pages(of: MemoryController, user_id: str, ledger: Ledger, asked: Any, order: Order, now_ms: int) -> None:
    """Compare the pages of a filtered listing."""
    wanted = within_reach(FilterInput.model_validate(asked).to_filter())
    reach = ledger.visible(now_ms) if mentions_status(asked) else ledger.active(now_ms)
    expected = in_order([one for one in reach if lets_through(asked, one)], order)
    pages = _pages(lambda cursor: of.list_memories(user_id, wanted, 2, cursor, order))
    assert [facts(one) for page in pages for one in page.memories] == [facts(one) for one in expected]
    assert all(len(page.memories) == 2 for page in pages[:-1])
    exact = SearchQuery(text="", mode=Mode.EXACT, k=100, filter=wanted, order=order, reinforces=False)
    assert [facts(hit.memory) for hit in of.search(user_id, exact).hits] == [facts(one) for one in expected]


def in_order(memories: Iterable[Memory], order: Order = NEWEST_FIRST) -> list[Memory]:
    """Sort memories; those that lack the value come last."""

    def place(one: Memory) -> tuple[bool, float, str]:
        value = one.importance if order.by is OrderBy.IMPORTANCE else getattr(one, f"{order.by}_ms")
        return (value is None) != order.is_descending, value or 0, one.memory_id

    return sorted(memories, key=place, reverse=order.is_descending)


class _HasCursor(Protocol):
    @property
    def cursor(self) -> str | None: ...


P = TypeVar("P", bound=_HasCursor)


def _pages(read: Callable[[str | None], P]) -> list[P]:
    pages = [read(None)]
    while pages[-1].cursor is not None:
        pages.append(read(pages[-1].cursor))
    return pages


def _assert_one(of: MemoryController, user_id: str, ledger: Ledger, memory_id: str, now_ms: int) -> None:
    visible = {one.memory_id: one for one in ledger.visible(now_ms)}
    if memory_id in visible:
        assert facts(of.get(user_id, memory_id)) == facts(visible[memory_id])
    else:
        with pytest.raises(NotFound):
            of.get(user_id, memory_id)
    try:
        expected = ledger.versions(memory_id, now_ms)
    except NotFound:
        with pytest.raises(NotFound):
            of.versions(user_id, memory_id, 2)
        return
    pages = _pages(lambda cursor: of.versions(user_id, memory_id, 2, cursor))
    found = [version for page in pages for version in page.versions]
    is_purged = memory_id in ledger.purged
    assert [(one.memory.version, one.memory.status, one.content_hash is not None) for one in found] == [
        (one.version, one.status, is_purged) for one in expected
    ]
    assert [one.memory.content for one in found] == ["" if is_purged else one.content for one in expected]
    if not is_purged:
        assert [facts(one.memory) for one in found] == [facts(one) for one in expected]
    for one in expected:
        assert of.version(user_id, memory_id, one.version).memory in [version.memory for version in found]


def _assert_events(of: MemoryController, user_id: str, ledger: Ledger) -> None:
    expected = [] if ledger.is_being_erased else list(enumerate(ledger.log, start=1))
    for is_descending in (False, True):
        entries = _events(of, user_id, None, is_descending)
        found = [(entry.seq, (entry.operation, entry.memory_id, entry.version)) for entry in entries]
        assert found == (expected[::-1] if is_descending else expected)
        assert {entry.by for entry in entries} <= {user_id, BY}
        assert not any(entry.columns for entry in entries if entry.memory_id in ledger.purged)
    for memory_id in ledger.memory_ids:
        seqs = [entry.seq for entry in _events(of, user_id, memory_id, True)]
        assert seqs == [seq for seq, (_, one, _) in expected[::-1] if one == memory_id]


def _events(of: MemoryController, user_id: str, memory_id: str | None, is_descending: bool) -> list[Entry]:
    pages = _pages(lambda cursor: of.events(user_id, 3, cursor, memory_id, is_descending=is_descending))
    return [entry for page in pages for entry in page.entries]


def _assert_stats(of: MemoryController, user_id: str, ledger: Ledger, now_ms: int) -> None:
    stats, kept = of.stats(user_id), ledger.visible(now_ms)
    assert stats.total == len(kept)
    assert stats.by_status == Counter(one.status for one in kept)
    assert stats.by_type == Counter(one.type for one in kept)
    assert stats.by_tag == Counter(tag for one in kept for tag in one.tags)
    assert stats.text_bytes == sum(len(one.content) + len(one.metadata_json) for one in kept)
    assert stats.seq == (0 if ledger.is_being_erased else len(ledger.log))
    assert stats.pending_embeddings == 0
