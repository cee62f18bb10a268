"""The columns that a segment must have, with their dtypes and shapes.

Rows are memories, n of them, ascending by id:

- ``id_hi``, ``id_lo``: the ULID's 128 bits; ``identity_hi``, ``identity_lo``: those of ``model.identity``, its first
  byte highest; ``seq``, ``version``: of the entry that the row is from
- ``codes`` (n, dim): as ``scan.encode`` gives them, zeros in a pending row; ``norms``: their Euclidean norms, 0 in a
  pending row; ``bits`` (ceil(dim / 64), n): see ``scan.sign_bits``
- ``type``, ``status``: place in the enum; ``pinned``, ``in_conflict``, ``succeeds``: 0 or 1, the last for a memory
  that took another one's place
- times in epoch milliseconds, ``columns.UNKNOWN`` where there is none
- ``agent_id``, ``session_id``, ``actor``, ``consolidated_into``, ``metadata``: number of a text of the dictionary
  ``<name>.texts.offsets``, ``<name>.texts.bytes``; -1 for none, for metadata for ``{}``
- ``<name>.offsets`` (n + 1) and ``<name>.values`` of ``tags``, ``flags``, ``transcripts`` and ``derived_from``: numbers
  of texts, row after row
- ``lengths``: terms of the row, repeats counted; ``terms``, ``postings.*``: see ``postings.Postings``

Of memories that were deleted, ascending by id: ``gone.id_hi``, ``gone.id_lo``, ``gone.seq`` and ``gone.version`` (their
last ones), ``gone.purged`` (0 or 1). Of rows of the older segment number i in ``About.older``: ``dead.<i>``, rows that
are not the newest of their memory any more; ``used.<i>.rows`` with ``used.<i>.access_count`` and
``used.<i>.last_accessed_at``.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from recollect.errors import CorruptSegment
from recollect.segments.layout import About, Arrays
from recollect.segments.postings import blocks_of

TIMES: Final = ("created_at", "updated_at", "occurred_at", "expires_at", "valid_until", "last_accessed_at")
LABELS: Final = ("agent_id", "session_id", "actor", "consolidated_into")
FLAGS: Final = ("pinned", "in_conflict", "succeeds")
TEXTS: Final = ("tags", "flags", "transcripts", "derived_from")
SCALARS: Final = {
    **dict.fromkeys(("id_hi", "id_lo", "seq", "identity_hi", "identity_lo", "text_key"), "<u8"),
    **dict.fromkeys(("version", "access_count", "content_bytes", "lengths"), "<u4"),
    **dict.fromkeys(("type", "status", *FLAGS), "|u1"),
    **dict.fromkeys(TIMES, "<i8"),
    **dict.fromkeys((*LABELS, "metadata"), "<i4"),
    "norms": "<f4",
    "importance": "<f8",
}
GONE: Final = {
    **dict.fromkeys(("gone.id_hi", "gone.id_lo", "gone.seq"), "<u8"),
    "gone.version": "<u4",
    "gone.purged": "|u1",
}
USED: Final = {"rows": "<u4", "access_count": "<u4", "last_accessed_at": "<i8"}
_RAGGED: Final = {  # offsets: values
    **{f"{name}.offsets": (f"{name}.values", "<i4") for name in TEXTS},
    **{f"{name}.texts.offsets": (f"{name}.texts.bytes", "|u1") for name in (*LABELS, *TEXTS, "metadata")},
}


def check(columns: Arrays, about: About, key: str) -> None:
    """Refuse columns that are missing or have another form; their values are the checksum's work.

    Raises
    ------
    CorruptSegment
        Naming `key`.
    """
    try:
        faults = _faults(columns, about)
    except KeyError as error:
        raise CorruptSegment(key, "a column is missing") from error
    if faults:
        raise CorruptSegment(key, f"other columns than its rows need: {', '.join(faults)}")


def _faults(columns: Arrays, about: About) -> list[str]:
    shapes = _shapes(columns, about)
    faults = [
        name
        for name, (dtype, shape) in shapes.items()
        if columns[name].dtype.str != dtype or columns[name].shape != shape
    ]
    if faults:
        return faults
    ragged = {name: values for name, (values, _) in _RAGGED.items()} | {"postings.offsets": "postings.rows"}
    return [name for name, values in ragged.items() if not _spans(columns[name].ravel(), columns[values].size)]


def _spans(offsets: npt.NDArray[np.uint32], total: int) -> bool:
    return int(offsets[0]) == 0 and int(offsets[-1]) == total


def _shapes(columns: Arrays, about: About) -> dict[str, tuple[str, tuple[int, ...]]]:
    rows = about.rows
    shapes: dict[str, tuple[str, tuple[int, ...]]] = {name: (dtype, (rows,)) for name, dtype in SCALARS.items()}
    shapes["codes"] = "|i1", (rows, about.dimension)
    shapes["bits"] = "<u8", (-(-about.dimension // 64), rows)
    for name, (values, dtype) in _RAGGED.items():
        shapes[name] = "<u4", (max(1, columns[name].size),)
        shapes[values] = dtype, (columns[values].size,)
    for name in TEXTS:
        shapes[f"{name}.offsets"] = "<u4", (rows + 1,)
    shapes["terms"] = "<u4", (columns["terms"].size,)
    shapes["postings.offsets"] = "<u4", (blocks_of(rows), columns["terms"].size + 1)
    shapes["postings.rows"] = "<u2", (columns["postings.counts"].size,)
    shapes["postings.counts"] = "|u1", (columns["postings.counts"].size,)
    for name, dtype in GONE.items():
        shapes[name] = dtype, (columns["gone.id_hi"].size,)
    for number in range(len(about.older)):
        shapes[f"dead.{number}"] = "<u4", (columns[f"dead.{number}"].size,)
        for part, dtype in USED.items():
            shapes[f"used.{number}.{part}"] = dtype, (columns[f"used.{number}.rows"].size,)
    return shapes
