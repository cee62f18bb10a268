"""Entries of a log with hostile values, and segments made of them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from recollect.columns import UNKNOWN
from recollect.model import Columns, Entry, MemoryType, Operation, Status
from recollect.segments.building import Use, from_entries
from recollect.segments.dictionaries import text_of
from recollect.segments.layout import About, Arrays, decode, encode
from recollect.segments.postings import BLOCK_BITS, Postings
from recollect.segments.segment import Segment

EMBEDDER = "hashing"
DIM = 70  # more than a word of sign bits, and no multiple of eight
IDS = [
    "00000000000000000000000000",
    "01HF0000000000000000000001",
    "01HF0000000000000000000002",
    "01HFZZZZZZZZZZZZZZZZZZZZZZ",
    "01HG0000000000000000000000",
    "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
]
_TEXTS = st.sampled_from(["", "a", "b", "\x00", "a\x00", "\ud800", "\ud83d\ude00", "😀", "é", "e\u0301"]) | st.text(
    st.characters(), max_size=4
)
_TIMES = st.sampled_from([0, -1, 1_700_000_000_000]) | st.integers(UNKNOWN + 1, 2**63 - 1)
_METADATA = st.dictionaries(_TEXTS, _TEXTS | st.integers() | st.lists(st.none() | st.booleans()), max_size=2)
_VECTORS = st.sampled_from(
    [
        (bytes(range(1, DIM + 1)), EMBEDDER),
        (bytes(range(255, 255 - DIM, -1)), EMBEDDER),
        (b"", ""),
        (bytes(DIM), EMBEDDER),
        (b"\x07" * DIM, "another"),
        (b"\x07" * (DIM + 1), EMBEDDER),
    ]
)
_U32, _U64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)


def _columns(vector: tuple[bytes, str], metadata: Any, **values: Any) -> Columns:
    return Columns(codes=vector[0], embedder=vector[1], metadata_json=json.dumps(metadata), **values)


COLUMNS = st.builds(
    _columns,
    vector=_VECTORS,
    metadata=st.just({}) | _METADATA,
    type=st.sampled_from(MemoryType),
    status=st.sampled_from(Status),
    importance=st.floats(0, 1),
    created_at_ms=_TIMES,
    updated_at_ms=_TIMES,
    occurred_at_ms=st.none() | _TIMES,
    expires_at_ms=st.none() | _TIMES,
    valid_until_ms=st.none() | _TIMES,
    tags=st.lists(_TEXTS, max_size=3, unique=True).map(tuple),
    flags=st.lists(_TEXTS, max_size=1).map(tuple),
    transcripts=st.lists(st.sampled_from(IDS), max_size=2, unique=True).map(tuple),
    agent_id=st.none() | _TEXTS,
    session_id=st.none() | _TEXTS,
    actor=st.none() | _TEXTS,
    pinned=st.booleans(),
    in_conflict=st.booleans(),
    derived_from=st.lists(st.sampled_from(IDS), max_size=2, unique=True).map(tuple),
    consolidated_into=st.none() | st.sampled_from(IDS),
    content_bytes=_U32,
    identity=st.binary(min_size=16, max_size=16),
    text_key=_U64,
    term_counts=st.dictionaries(st.sampled_from([0, 1, 2**32 - 1]) | _U32, st.integers(1, 600), max_size=4),
    supersedes=st.none() | st.sampled_from(IDS),
)


@st.composite
def logs(draw: st.DrawFn) -> list[Entry]:
    """Entries about a few memories: made, changed, deleted, made again; a purge is a memory's last."""
    entries: list[Entry] = []
    purged: set[str] = set()
    for memory_id in draw(st.lists(st.sampled_from(IDS), max_size=10)):
        if memory_id in purged:
            continue
        operation = draw(st.sampled_from([Operation.CREATE, Operation.UPDATE, Operation.DELETE, Operation.PURGE]))
        is_there = operation in (Operation.CREATE, Operation.UPDATE)
        entries.append(entry(len(entries) + 1, memory_id, draw(COLUMNS) if is_there else None, operation))
        if operation is Operation.PURGE:
            purged.add(memory_id)
    return entries


def entry(seq: int, memory_id: str, columns: Columns | None, operation: Operation = Operation.CREATE) -> Entry:
    """Make an entry whose version is its number."""
    return Entry(
        seq=seq,
        operation=operation,
        memory_id=memory_id,
        version=seq,
        at_ms=0,
        by="ana",
        reason="r",
        columns=columns,
    )


def newest(entries: Sequence[Entry]) -> dict[str, Entry]:
    """Give the last entry of each memory that is still there, by id."""
    last = {one.memory_id: one for one in entries}
    return {memory_id: last[memory_id] for memory_id in sorted(last) if last[memory_id].columns is not None}


def about(columns: Arrays, older: tuple[str, ...] = ()) -> About:
    """Describe columns with vectors of the usual embedder."""
    rows, dimension = columns["codes"].shape
    return About(embedder=EMBEDDER, dimension=dimension, rows=rows, first_seq=1, last_seq=rows, older=older)


def segment(entries: Sequence[Entry], dimension: int = DIM) -> Segment:
    """Make a segment as a reader gets it: through its bytes."""
    columns = from_entries(entries, EMBEDDER, dimension)
    return Segment(*decode(encode(columns, about(columns)), "k"), "k")


def use_of(of: Segment) -> Use:
    """Give the use that a segment itself tells of."""
    return Use(of.number("access_count"), of.number("last_accessed_at"))


def kept(columns: Columns) -> Columns:
    """Give what a segment keeps of columns."""
    is_comparable = columns.embedder == EMBEDDER and len(columns.codes) == DIM and any(columns.codes)
    return replace(
        columns,
        term_counts={term: min(count, 255) for term, count in columns.term_counts.items()},
        supersedes=None,
        codes=columns.codes if is_comparable else b"",
        embedder=columns.embedder if is_comparable else "",
    )


def assert_same_columns(found: Arrays, expected: Arrays) -> None:
    """Compare names, dtypes and values."""
    assert set(found) == set(expected)
    for name, column in expected.items():
        assert found[name].dtype == column.dtype, name
        np.testing.assert_array_equal(found[name], column, err_msg=name)


def counts_in(postings: Postings, row: int) -> dict[int, int]:
    """Read the terms of one row with their counts, by going through all postings of its block."""
    offsets = postings.offsets[row >> BLOCK_BITS]
    first, end = int(offsets[0]), int(offsets[-1])
    places = first + np.flatnonzero(postings.rows[first:end] == row % 2**BLOCK_BITS)
    terms = postings.terms[np.searchsorted(offsets, places, side="right") - 1]
    return dict(zip(terms.tolist(), postings.counts[places].tolist(), strict=True))


def columns_of(segment: Segment, row: int) -> Columns:
    """Read what is kept of a row's memory.

    Without what is not kept: the memory that it took the place of, counts of a term above 255, and an embedding of
    another embedder.
    """
    columns = segment.columns
    metadata = int(columns["metadata"][row])
    high, low = (int(half[row]) for half in segment.identities)
    codes, embedder = segment.embedding_of(row)
    return Columns(
        type=MemoryType(str(segment.labels("type").at(row))),
        status=Status(str(segment.labels("status").at(row))),
        importance=float(columns["importance"][row]),
        created_at_ms=int(columns["created_at"][row]),
        updated_at_ms=int(columns["updated_at"][row]),
        occurred_at_ms=_time(columns["occurred_at"][row]),
        expires_at_ms=_time(columns["expires_at"][row]),
        valid_until_ms=_time(columns["valid_until"][row]),
        tags=segment.texts("tags").of_row(row),
        flags=segment.texts("flags").of_row(row),
        transcripts=segment.texts("transcripts").of_row(row),
        agent_id=segment.labels("agent_id").at(row),
        session_id=segment.labels("session_id").at(row),
        actor=segment.labels("actor").at(row),
        pinned=bool(columns["pinned"][row]),
        in_conflict=bool(columns["in_conflict"][row]),
        derived_from=segment.texts("derived_from").of_row(row),
        consolidated_into=segment.labels("consolidated_into").at(row),
        metadata_json="{}" if metadata < 0 else text_of(segment.written("metadata")[metadata]),
        content_bytes=int(columns["content_bytes"][row]),
        identity=(high << 64 | low).to_bytes(16, "big"),
        text_key=int(segment.text_keys[row]),
        term_counts=counts_in(segment.lexical, row),
        codes=codes,
        embedder=embedder,
    )


def _time(value: Any) -> int | None:
    return None if int(value) == UNKNOWN else int(value)
