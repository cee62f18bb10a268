"""The bytes of format version 1, kept in a file: what was written once must stay readable, and be written the same."""

from pathlib import Path

import numpy as np
from recollect.changes import columns_for
from recollect.columns import UNKNOWN
from recollect.model import MemoryType, Operation, Source, Status
from recollect.segments.building import from_entries, telling
from recollect.segments.layout import About, encode
from recollect.segments.segment import Changed, Last, Segment
from recollect.text import term_counts

from tests.support.builders import NOW_MS, memory
from tests.support.segments import EMBEDDER, IDS, columns_of, entry

GOLDEN = Path(__file__).parent / "data" / "segment-v1.bin"
CODES = bytes([127, 0, 129, 1, 0, 0, 0, 3])  # 127, 0, -127, 1, 0, 0, 0, 3
TEA = memory(
    "green tea, green tea",
    type=MemoryType.EPISODIC,
    tags=("drinks", "é"),
    flags=("instruction",),
    importance=0.25,
    metadata_json='{"a": {"b": 2}}',
    agent_id="agent",
    session_id="s-1",
    actor="Mia",
    occurred_at_ms=NOW_MS - 5,
    pinned=True,
    supersedes=IDS[4],
    sources=(Source(IDS[5], 0, 3), Source(IDS[4], 7, 7)),
    derived_from=(IDS[1], IDS[0]),
)
OLD = memory("the office", status=Status.SUPERSEDED, valid_until_ms=NOW_MS + 7, tags=("é",), consolidated_into=IDS[2])
ABOUT = About(embedder=EMBEDDER, dimension=8, rows=2, first_seq=1, last_seq=3, older=("01HE",))
CHANGED = Changed(
    "01HE",
    dead=np.array([3, 5], dtype=np.uint32),
    used=np.array([4], dtype=np.uint32),
    access_count=np.array([9], dtype=np.uint32),
    last_accessed_at=np.array([NOW_MS], dtype=np.int64),
)


def golden() -> bytes:
    entries = [
        entry(1, IDS[2], columns_for(TEA, (CODES, EMBEDDER))),
        entry(2, IDS[1], columns_for(OLD, (b"", ""))),
        entry(3, IDS[3], None, Operation.DELETE),
    ]
    return encode({**from_entries(entries, EMBEDDER, 8), **telling([CHANGED])}, ABOUT)


def test_the_same_rows_give_the_bytes_of_the_file() -> None:
    assert golden() == GOLDEN.read_bytes()


def test_the_file_is_read_to_what_was_written() -> None:
    read = Segment.decode(GOLDEN.read_bytes(), "k")

    assert read.about == ABOUT
    assert read.memory_ids.tolist() == [IDS[1].encode(), IDS[2].encode()]
    assert read.number("seq").tolist() == [2, 1]
    assert read.number("version").tolist() == [2, 1]
    assert read.number("valid_until").tolist() == [NOW_MS + 7, UNKNOWN]
    assert read.number("pinned").tolist() == [False, True]
    assert read.number("succeeds").tolist() == [False, True]
    assert read.vectors.codes.tolist() == [[0] * 8, [127, 0, -127, 1, 0, 0, 0, 3]]
    np.testing.assert_allclose(read.vectors.norms, [0, (127**2 * 2 + 1 + 9) ** 0.5], rtol=1e-6)
    assert read.vectors.bits is not None
    assert read.vectors.bits.tolist() == [[0, 0b10001001]]
    assert [read.texts("tags").of_row(row) for row in (0, 1)] == [("é",), ("drinks", "é")]
    assert [read.texts("transcripts").of_row(row) for row in (0, 1)] == [(), (IDS[5], IDS[4])]
    assert [read.texts("derived_from").of_row(row) for row in (0, 1)] == [(), (IDS[1], IDS[0])]
    assert [read.labels("consolidated_into").at(row) for row in (0, 1)] == [IDS[2], None]
    assert columns_of(read, 1).metadata_json == '{"a": {"b": 2}}'
    assert columns_of(read, 1).term_counts == term_counts("green tea green tea mia 14 november 2023")
    assert read.lexical.lengths.tolist() == [2, 8]


def test_the_file_tells_of_deleted_memories_and_of_older_rows() -> None:
    read = Segment.decode(GOLDEN.read_bytes(), "k")

    assert read.gone_ids.tolist() == [IDS[3].encode()]
    assert read.gone_of(IDS[3]) == Last(3, 3)
    (changed,) = read.changed
    assert (changed.segment_id, changed.dead.tolist(), changed.used.tolist()) == ("01HE", [3, 5], [4])
    assert (changed.access_count.tolist(), changed.last_accessed_at.tolist()) == ([9], [NOW_MS])
