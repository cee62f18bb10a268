r"""The bytes of a segment: named arrays behind a header, so that reading is a view and no work for each row.

All integers are little-endian. From the first byte on:

====== =========== ==================================================================================================
offset bytes       what
====== =========== ==================================================================================================
0      8           magic, ``RCLSEGM\n``
8      4           format version, u32: 1; magic, version, length and checksum are in their places in every version
12     4           length of the header, u32
16     8           length of the whole, u64
24     the header  JSON, ASCII: ``{"about": {…}, "columns": {name: [dtype, shape, offset], …}}`` with sorted names;
                   offsets count from the first byte
…      the columns each C-contiguous at a multiple of 64, in the order of their names, zeros in between
end-4  4           CRC-32 (zlib's) of everything before it, u32
====== =========== ==================================================================================================

dtypes are ``|i1 |u1 <u2 <u4 <i4 <u8 <i8 <f4 <f8``. The same columns always give the same bytes.

The checksum finds damage, it is no defence against an author. CRC-32 was the fastest of the standard library on 70 MB
in one thread: 2.1 GB/s (33 ms), where Adler-32 did 2.0, SHA-1 1.0, SHA-256 .96 (with the CPU's SHA instructions),
SHA-512 .87, BLAKE2b .48, MD5 .39, BLAKE2s .27. Damage within four neighbouring bytes is certain to be found, any other
but for one chance in 2**32.
"""

import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from recollect.errors import CorruptSegment, NewerSchema

Arrays = Mapping[str, npt.NDArray[Any]]

MAGIC: Final = b"RCLSEGM\n"
UPGRADES: Final[Sequence[Callable[[Arrays], Arrays]]] = ()  # the first makes columns of version 2 of those of version 1
VERSION: Final = 1 + len(UPGRADES)
ALIGNMENT: Final = 64
_PREFIX: Final = struct.Struct("<8sIIQ")
_CHECKSUM: Final = struct.Struct("<I")
_DTYPES: Final = frozenset({"|i1", "|u1", "<u2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8"})
_AXES: Final = (1, 2)
_AXIS_MAX: Final = 2**32 - 1  # of a shape; more is no array
_NUMBER_MAX: Final = 2**64 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a segment says of itself.

    Parameters
    ----------
    embedder : str
        Whose vectors it holds; memories with vectors of another one are pending in it.
    dimension : int
        Length of its vectors.
    rows : int
        How many memories.
    first_seq, last_seq : int
        The log entries that were folded in.
    older : tuple of str
        Ids of older segments that it knows changes of.
    """

    embedder: str
    dimension: int
    rows: int
    first_seq: int
    last_seq: int
    older: tuple[str, ...] = ()


def encode(columns: Arrays, about: About) -> bytes:
    """Write columns one after the other.

    Parameters
    ----------
    columns : mapping of str to ndarray
        One or two axes; not modified.

    Raises
    ------
    TypeError
        If a column could not be read again.
    """
    arrays = [(name, _little(columns[name])) for name in sorted(columns)]
    header, gaps = _header(arrays, about)
    parts: list[bytes | memoryview] = [header]
    for (_, array), gap in zip(arrays, gaps, strict=True):
        parts += [bytes(gap), array.data]
    checksum = reduce(lambda so_far, part: zlib.crc32(part, so_far), parts, 0)
    return b"".join([*parts, _CHECKSUM.pack(checksum)])


def decode(data: bytes | memoryview, key: str) -> tuple[Arrays, About]:
    """Give the columns of a segment as views into its bytes.

    Parameters
    ----------
    data : bytes or memoryview
        All bytes of the segment; must stay as they are while the columns are in use.
    key : str
        Where they were read from.

    Returns
    -------
    columns : mapping of str to ndarray
        Read-only, with the dtypes and shapes that the header gives.
    about : About

    Raises
    ------
    CorruptSegment
        If the magic, the length, the checksum, the version or the header is not what it must be; looked at in this
        order.
    NewerSchema
        If it is whole, and of a version that is not known.
    """
    view = memoryview(data).cast("B").toreadonly()
    version, header = _checked(view, key)
    end = len(view) - _CHECKSUM.size
    try:
        described = json.loads(bytes(header))
        about = _about(**described["about"])
        raw = np.frombuffer(view, dtype=np.uint8)
        first = _PREFIX.size + len(header)
        columns = {name: _column(raw[:end], first, *said) for name, said in described["columns"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CorruptSegment(key, "its header has another form") from error
    for upgrade in UPGRADES[version - 1 :]:
        columns = dict(upgrade(columns))
    return columns, about


def _little(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if little.dtype.str not in _DTYPES or array.ndim not in _AXES:
        raise TypeError("a column of a segment has another form")
    return little


def _header(arrays: list[tuple[str, npt.NDArray[Any]]], about: About) -> tuple[bytes, list[int]]:
    """Make everything before the columns, and the number of zeros before each of them."""
    room = 0
    while True:  # a longer header moves the columns, which may make their offsets longer
        places = list(_places(arrays, room))
        described = {
            "about": asdict(about),
            "columns": {
                name: [array.dtype.str, array.shape, offset]
                for (name, array), offset in zip(arrays, places, strict=True)
            },
        }
        header = json.dumps(described, separators=(",", ":")).encode("ascii")
        if _PREFIX.size + len(header) <= room:
            break
        room = _aligned(_PREFIX.size + len(header))
    ends = [_PREFIX.size + len(header), *(at + a.nbytes for at, (_, a) in zip(places, arrays, strict=True))]
    total = ends[-1] + _CHECKSUM.size
    gaps = [at - end for at, end in zip(places, ends[:-1], strict=True)]
    return _PREFIX.pack(MAGIC, VERSION, len(header), total) + header, gaps


def _places(arrays: list[tuple[str, npt.NDArray[Any]]], room: int) -> Iterator[int]:
    offset = room
    for _, array in arrays:
        yield offset
        offset = _aligned(offset + array.nbytes)


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _checked(view: memoryview, key: str) -> tuple[int, memoryview]:
    """Give the version and the header's bytes once everything before and around them is as it must be."""
    if len(view) < _PREFIX.size + _CHECKSUM.size:
        raise CorruptSegment(key, "it is too short")
    magic, version, header_length, total = _PREFIX.unpack_from(view)
    if magic != MAGIC:
        raise CorruptSegment(key, "it does not begin as a segment does")
    if total != len(view):
        raise CorruptSegment(key, f"it has {len(view)} bytes where it must have {total}")
    end = total - _CHECKSUM.size
    if zlib.crc32(view[:end]) != _CHECKSUM.unpack_from(view, end)[0]:
        raise CorruptSegment(key, "its checksum is another one")
    if version > VERSION:
        raise NewerSchema("segment", version)
    if version < 1:
        raise CorruptSegment(key, "its format version is none")
    if header_length > end - _PREFIX.size:
        raise CorruptSegment(key, "its header is longer than the whole")
    return version, view[_PREFIX.size : _PREFIX.size + header_length]


def _about(*, embedder: object, older: object, **numbers: object) -> About:
    if not isinstance(embedder, str) or not isinstance(older, list):
        raise TypeError
    if not all(isinstance(segment_id, str) for segment_id in older):
        raise TypeError
    return About(embedder=embedder, older=tuple(older), **{name: _natural(n) for name, n in numbers.items()})


def _column(raw: npt.NDArray[np.uint8], first: int, dtype: str, shape: list[object], at: object) -> npt.NDArray[Any]:
    axes, offset = [_natural(length, _AXIS_MAX) for length in shape], _natural(at)
    if dtype not in _DTYPES or len(axes) not in _AXES or offset % ALIGNMENT or offset < first:
        raise ValueError
    size = prod(axes) * np.dtype(dtype).itemsize
    if offset + size > len(raw):
        raise ValueError
    return raw[offset : offset + size].view(dtype).reshape(axes)


def _natural(number: object, limit: int = _NUMBER_MAX) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= limit:
        raise ValueError
    return number
