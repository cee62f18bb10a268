"""Memories as users have them, made from a seed by the hundred thousand: columns of segments, without a loop over rows.

Vectors in clusters, words by Zipf's law (27 a memory), some tags, sessions of about 40, a few actors and agents. Rows
ascend in time, as those of a log do. The columns are those that a compaction of the same memories would make.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from recollect.columns import UNKNOWN
from recollect.model import Entry, MemoryType, Operation
from recollect.scan import Rows, Vector, Vectors, norms_of, sign_bits
from recollect.segments import dictionaries, ids, postings, ragged, schema
from recollect.segments.layout import About
from recollect.segments.segment import Segment
from recollect.text import term_counts

from tests.support.segments import columns_of
from tests.support.vectors import around, directions, encoded, unit_rows

EMBEDDER = "bench"
DIMENSION = 384
NOW_MS = 1_760_000_000_000
WORDS = 27  # of a memory
VOCABULARY = 50_000
NOISE = 0.8  # members of a cluster have a cosine of about 0.6
MEMORIES_OF_A_CLUSTER = 100
MEMORIES_OF_A_SESSION = 40
TAGS = 200
_SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprtvz" for vowel in "aiou"]
_YEAR_MS = 365 * 24 * 3600 * 1000

Columns = dict[str, npt.NDArray[Any]]


def word(number: int) -> str:
    """Give the word of a rank; the first is the commonest. Stems of words are the words."""
    text = ""
    rest = number + len(_SYLLABLES)  # at least two syllables
    while rest:
        rest, place = divmod(rest, len(_SYLLABLES))
        text += _SYLLABLES[place]
    return text


@cache
def term_hashes() -> npt.NDArray[np.uint32]:
    """Hash every word as the engine does."""
    return np.array([next(iter(term_counts(word(number)))) for number in range(VOCABULARY)], dtype=np.uint32)


@cache
def _cumulative() -> npt.NDArray[np.float64]:
    shares = 1.0 / (np.arange(VOCABULARY) + 2.7)
    return np.asarray(np.cumsum(shares / shares.sum()))


def word_numbers(count: int, rng: np.random.Generator) -> Rows:
    """Draw words by their frequency."""
    return np.minimum(np.searchsorted(_cumulative(), rng.random(count)), VOCABULARY - 1)


def sentence(count: int, rng: np.random.Generator) -> str:
    """Draw a sentence of some words."""
    return " ".join(word(number) for number in word_numbers(count, rng).tolist())


class User:
    """One user's memories, as many as will be.

    Parameters
    ----------
    total : int
        How many there will be in all.
    """

    def __init__(self, total: int, seed: int = 1) -> None:
        self.total = total
        self._rng = np.random.default_rng(seed)
        self._centres = directions(max(1, total // MEMORIES_OF_A_CLUSTER), DIMENSION, self._rng)
        self._made = 0

    def segment(self, rows: int) -> Segment:
        """Make a segment of the next memories."""
        columns = self._columns(rows)
        about = About(
            embedder=EMBEDDER, dimension=DIMENSION, rows=rows, first_seq=self._made + 1, last_seq=self._made + rows
        )
        self._made += rows
        return Segment(columns, about)

    def entries(self, rows: int) -> list[Entry]:
        """Make log entries of the next memories."""
        return entries_of(self.segment(rows)) if rows else []

    def query(self, rng: np.random.Generator) -> Vector:
        """Make a query that is near a cluster."""
        return np.asarray(unit_rows(self._near(1, rng))[0])

    def _near(self, count: int, rng: np.random.Generator) -> Vectors:
        return around(self._centres, rng.integers(0, len(self._centres), count), NOISE, rng)

    def _columns(self, rows: int) -> Columns:
        rng = self._rng
        step = _YEAR_MS // self.total
        created_at = NOW_MS - _YEAR_MS + (self._made + np.arange(rows, dtype=np.int64)) * step
        codes = encoded(self._near(rows, rng))
        return {
            "id_hi": created_at.astype(np.uint64) << np.uint64(16) | _random_u64(rows, rng) >> np.uint64(48),
            "id_lo": _random_u64(rows, rng),
            "seq": np.arange(self._made + 1, self._made + 1 + rows, dtype=np.uint64),
            "version": np.ones(rows, dtype=np.uint32),
            "identity_hi": _random_u64(rows, rng),
            "identity_lo": _random_u64(rows, rng),
            "text_key": _random_u64(rows, rng),
            **{"codes": codes, "norms": norms_of(codes), "bits": sign_bits(codes)},
            **_numbers(created_at, rng),
            **_labels(rows, self.total, rng),
            **_lists(rows, rng),
            **_words(rows, rng),
            **{name: np.zeros(0, dtype=dtype) for name, dtype in schema.GONE.items()},
        }


def entries_of(segment: Segment) -> list[Entry]:
    """Make the log entries that a segment may have been folded from."""
    return [
        Entry(
            seq=int(segment.columns["seq"][row]),
            operation=Operation.CREATE,
            memory_id=memory_id.decode(),
            version=1,
            at_ms=int(segment.columns["created_at"][row]),
            by="bench",
            reason="nothing stored says the same",
            columns=columns_of(segment, row),
        )
        for row, memory_id in enumerate(ids.ids_of(segment.columns["id_hi"], segment.columns["id_lo"]).tolist())
    ]


def _random_u64(rows: int, rng: np.random.Generator) -> npt.NDArray[np.uint64]:
    return rng.integers(0, 2**64, rows, dtype=np.uint64)


def _numbers(created_at: npt.NDArray[np.int64], rng: np.random.Generator) -> Columns:
    rows = created_at.size
    nowhere = np.full(rows, UNKNOWN, dtype=np.int64)
    return {
        "type": rng.choice(len(MemoryType), rows, p=[0.3, 0.6, 0.1]).astype(np.uint8),
        **{name: np.zeros(rows, dtype=np.uint8) for name in ("status", "succeeds")},
        "pinned": (rng.random(rows) < 0.01).astype(np.uint8),
        "in_conflict": np.zeros(rows, dtype=np.uint8),
        "importance": rng.integers(0, 11, rows) / 10.0,
        "created_at": created_at,
        "updated_at": created_at,
        "occurred_at": np.where(rng.random(rows) < 0.5, created_at - 1_000, UNKNOWN),
        "expires_at": np.where(rng.random(rows) < 0.05, NOW_MS + 2 * _YEAR_MS, UNKNOWN),
        **{"valid_until": nowhere, "last_accessed_at": nowhere},
        "access_count": np.zeros(rows, dtype=np.uint32),
        "content_bytes": rng.integers(120, 220, rows, dtype=np.uint32),
    }


def _labels(rows: int, total: int, rng: np.random.Generator) -> Columns:
    sessions = max(1, total // MEMORIES_OF_A_SESSION)
    numbers = {
        "agent_id": ("agent", rng.integers(0, 3, rows)),
        "session_id": ("session", rng.integers(0, sessions, rows)),
        "actor": ("Ana", rng.integers(-1, 5, rows)),
        "consolidated_into": ("", np.full(rows, -1)),
        "metadata": ("", np.where(rng.random(rows) < 0.1, rng.integers(0, 1_000, rows), -1)),
    }
    columns: Columns = {}
    for name, (prefix, wanted) in numbers.items():
        codes, texts = _dictionary(wanted, '{"source": "chat-%06d"}' if name == "metadata" else f"{prefix}-%06d")
        columns |= {name: codes, **dictionaries.packed(name, texts)}
    return columns


def _dictionary(numbers: Rows, pattern: str) -> tuple[dictionaries.Codes, list[bytes]]:
    """Number the texts that are there anew, in their order; -1 stays."""
    there = np.unique(numbers[numbers >= 0])
    codes = np.where(numbers >= 0, np.searchsorted(there, numbers), dictionaries.NONE)
    return codes.astype(np.int32), [(pattern % number).encode() for number in there.tolist()]


def _lists(rows: int, rng: np.random.Generator) -> Columns:
    sizes = rng.integers(0, 4, rows)
    first = np.minimum((TAGS ** rng.random(rows) - 1).astype(np.int64), TAGS - 1)  # few tags are common
    places = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    codes, texts = _dictionary((np.repeat(first, sizes) + 7 * places) % TAGS, "tag-%03d")
    return {
        "tags.values": codes,
        "tags.offsets": ragged.offsets_of(sizes),
        **dictionaries.packed("tags", texts),
        "flags.values": np.zeros(0, dtype=np.int32),
        "flags.offsets": np.zeros(rows + 1, dtype=np.uint32),
        **dictionaries.packed("flags", []),
        **_empty_lists("transcripts", rows),
        **_empty_lists("derived_from", rows),
    }


def _empty_lists(name: str, rows: int) -> Columns:
    nothing = {f"{name}.values": np.zeros(0, dtype=np.int32), f"{name}.offsets": np.zeros(rows + 1, dtype=np.uint32)}
    return {**nothing, **dictionaries.packed(name, [])}


def _words(rows: int, rng: np.random.Generator) -> Columns:
    numbers = word_numbers(rows * WORDS, rng).astype(np.uint64)
    pairs = np.repeat(np.arange(rows, dtype=np.uint64), WORDS) << np.uint64(32) | numbers
    different, counts = np.unique(pairs, return_counts=True)
    terms = term_hashes()[(different & np.uint64(2**32 - 1)).astype(np.int64)]
    of_rows = (different >> np.uint64(32)).astype(np.int64)
    return {
        "lengths": np.full(rows, WORDS, dtype=np.uint32),
        **postings.packed(terms, of_rows, counts.astype(np.uint8), rows),
    }


def layout_of(rows: Sequence[int]) -> str:
    """Tell sizes of segments in few words."""
    return ", ".join(f"{rows.count(size)} of {size:,}" for size in sorted(set(rows), reverse=True))
