import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from recollect.changes import columns_for
from recollect.errors import CorruptData, CorruptSegment, NewerSchema
from recollect.segments import layout
from recollect.segments.building import from_entries
from recollect.segments.layout import ALIGNMENT, MAGIC, About, Arrays, decode, encode
from recollect.segments.segment import Segment

from tests.support.builders import memory
from tests.support.segments import EMBEDDER, IDS, about, entry

PREFIX = struct.Struct("<8sIIQ")
ABOUT = About(embedder="x" * 300, dimension=2, rows=3, first_seq=4, last_seq=5, older=("A", "B"))
COLUMNS: dict[str, npt.NDArray[Any]] = {
    "a": np.array([1, 2, 3], dtype=np.uint16),
    "b": np.arange(6, dtype=np.float64).reshape(2, 3),
    "c": np.zeros(0, dtype=np.int64),
}
DATA = encode(COLUMNS, ABOUT)


def sealed(body: bytes) -> bytes:
    """Give bytes the checksum that belongs to them."""
    return body + struct.pack("<I", zlib.crc32(body))


def forged(change: Callable[[dict[str, Any]], Any]) -> bytes:
    """Give a segment another header, all else as it must be."""
    length = PREFIX.unpack_from(DATA)[2]
    header = json.loads(DATA[PREFIX.size : PREFIX.size + length])
    changed = change(header)
    written = changed if isinstance(changed, bytes) else json.dumps(header).encode()
    room = min(at for _, _, at in json.loads(DATA[PREFIX.size : PREFIX.size + length])["columns"].values())
    total = max(len(DATA), PREFIX.size + len(written) + 4)
    head = PREFIX.pack(MAGIC, 1, len(written), total) + written
    return sealed(head + bytes(max(0, room - len(head))) + DATA[max(room, len(head)) : -4])


def reason_of(data: bytes) -> str:
    with pytest.raises(CorruptSegment) as caught:
        decode(data, "users/u/1.seg")
    assert caught.value.context["key"] == "users/u/1.seg"
    return str(caught.value.context["reason"])


def saying(name: str, said: Any) -> Callable[[dict[str, Any]], None]:
    def change(header: dict[str, Any]) -> None:
        header["about"]["embedder"] = ""
        header["columns"][name] = said

    return change


def told(**said: Any) -> Callable[[dict[str, Any]], None]:
    return lambda header: header["about"].update({"embedder": "", **said})


def test_what_is_written_is_read() -> None:
    columns, said = decode(DATA, "k")

    assert said == ABOUT
    assert set(columns) == set(COLUMNS)
    for name, expected in COLUMNS.items():
        assert columns[name].dtype == expected.dtype
        np.testing.assert_array_equal(columns[name], expected)


def test_a_segment_without_columns_is_read() -> None:
    assert decode(encode({}, ABOUT), "k") == ({}, ABOUT)


def test_columns_are_read_only_views_whatever_they_were_read_from() -> None:
    for data in (DATA, memoryview(bytearray(DATA))):
        columns, _ = decode(data, "k")
        for read in columns.values():
            assert not read.flags.writeable
            assert not read.flags.owndata


def test_columns_begin_at_multiples_of_the_alignment() -> None:
    length = PREFIX.unpack_from(DATA)[2]
    described = json.loads(DATA[PREFIX.size : PREFIX.size + length])["columns"]

    assert all(at % ALIGNMENT == 0 for _, _, at in described.values())
    for name, (_, _, at) in described.items():
        assert DATA[at : at + COLUMNS[name].nbytes] == COLUMNS[name].tobytes()


def test_columns_that_are_not_contiguous_are_written_in_order() -> None:
    transposed = {"b": COLUMNS["b"].T, "a": COLUMNS["a"][::-1]}

    columns, _ = decode(encode(transposed, ABOUT), "k")

    np.testing.assert_array_equal(columns["b"], COLUMNS["b"].T)
    assert columns["a"].tolist() == [3, 2, 1]


@pytest.mark.parametrize(
    "column", [np.zeros(2, dtype=np.bool_), np.zeros(2, dtype=object), np.zeros((1, 1, 1)), np.zeros(())]
)
def test_a_column_that_could_not_be_read_is_not_written(column: npt.NDArray[Any]) -> None:
    with pytest.raises(TypeError):
        encode({"a": column}, ABOUT)


def test_every_flipped_byte_and_every_truncation_is_refused() -> None:
    columns = from_entries(
        [entry(1, IDS[1], columns_for(memory("tea", tags=("a",)), (bytes(range(8)), EMBEDDER)))], EMBEDDER, 8
    )
    data = encode(columns, about(columns))
    assert Segment.decode(data, "k").row_count == 1

    for place in range(len(data)):
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[place] ^= flip
            reason_of(bytes(damaged))
        reason_of(data[:place])
    reason_of(data + b"\0")


def test_the_first_fault_is_told() -> None:
    _, _, length, total = PREFIX.unpack_from(DATA)
    rest = DATA[PREFIX.size :]

    assert reason_of(b"") == "it is too short"
    assert reason_of(PREFIX.pack(b"PNG.....", 9, 0, 0) + rest) == "it does not begin as a segment does"
    assert reason_of(DATA[:-1]) == f"it has {total - 1} bytes where it must have {total}"
    assert reason_of(DATA[:-1] + bytes([DATA[-1] ^ 1])) == "its checksum is another one"
    assert reason_of(PREFIX.pack(MAGIC, 9, length, total) + rest) == "its checksum is another one"
    assert reason_of(sealed(PREFIX.pack(MAGIC, 0, length, total) + rest[:-4])) == "its format version is none"
    too_long = sealed(PREFIX.pack(MAGIC, 1, total - PREFIX.size - 3, total) + rest[:-4])
    assert reason_of(too_long) == "its header is longer than the whole"


def test_a_segment_of_newer_code_is_known_from_a_damaged_one() -> None:
    _, _, length, total = PREFIX.unpack_from(DATA)

    with pytest.raises(NewerSchema, match="segment has schema version 2"):
        decode(sealed(PREFIX.pack(MAGIC, 2, length, total) + DATA[PREFIX.size : -4]), "k")


def test_columns_of_older_versions_are_upgraded_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def renamed(columns: Arrays) -> Arrays:
        return {f"{name}2": column for name, column in columns.items()}

    monkeypatch.setattr(layout, "UPGRADES", (renamed, renamed))
    monkeypatch.setattr(layout, "VERSION", 3)
    _, _, length, total = PREFIX.unpack_from(DATA)
    second = sealed(PREFIX.pack(MAGIC, 2, length, total) + DATA[PREFIX.size : -4])

    assert set(decode(DATA, "k")[0]) == {f"{name}22" for name in COLUMNS}
    assert set(decode(second, "k")[0]) == {f"{name}2" for name in COLUMNS}


def test_a_forged_header_is_refused_for_its_change_only() -> None:
    columns, said = decode(forged(told(last_seq=7)), "k")

    assert (said.last_seq, said.rows) == (7, 3)
    np.testing.assert_array_equal(columns["b"], COLUMNS["b"])
    columns, _ = decode(forged(saying("a", ["<u2", [3], 576])), "k")
    assert columns["a"].tobytes() == COLUMNS["b"].tobytes()[:6]


@pytest.mark.parametrize(
    "change",
    [
        saying("a", ["<u2", [3], 64 * 10_000]),
        saying("a", ["<u2", [10_000], 576]),
        saying("a", ["<u2", [0], 64 * 10_000]),
        saying("a", ["<u2", [3], 0]),
        saying("a", ["<u2", [3], 577]),
        saying("a", ["<u2", [3], 584]),
        saying("a", ["<u2", [3], -64]),
        saying("a", ["<u2", [-3], 576]),
        saying("a", ["<u2", [True], 576]),
        saying("a", ["<u2", [1.0], 576]),
        saying("a", ["<u2", ["3"], 576]),
        saying("a", ["<u2", [0, 2**70], 576]),
        saying("a", ["<u2", [0, 2**63], 576]),
        saying("a", ["<u2", [2**40, 2**40], 576]),
        saying("a", ["<u2", [], 576]),
        saying("a", ["<u2", [1, 1, 1], 576]),
        saying("a", ["<u2", 3, 576]),
        saying("a", ["|O", [1], 576]),
        saying("a", ["|V8", [1], 576]),
        saying("a", [["<u2"], [1], 576]),
        saying("a", ["<u2", [3]]),
        saying("a", None),
        told(rows=-1),
        told(rows="3"),
        told(rows=True),
        told(rows=None),
        told(embedder=None),
        told(older="AB"),
        told(older=[1]),
        told(another=1),
        lambda header: header["about"].pop("rows"),
        lambda header: header.pop("about"),
        lambda header: header.update(columns=[]),
        lambda _: b"",
        lambda _: b"[]",
        lambda _: b"{",
        lambda _: b"\xff\xfe",
        lambda _: b"[" * 100_000,
    ],
)
def test_a_header_that_makes_no_sense_is_refused(change: Callable[[dict[str, Any]], Any]) -> None:
    assert reason_of(forged(change)) == "its header has another form"


def test_a_damaged_segment_is_corrupt_data_and_its_key_is_not_shown() -> None:
    error = CorruptSegment("users/u/1.seg", "why")

    assert isinstance(error, CorruptData)
    assert "users" not in error.message
