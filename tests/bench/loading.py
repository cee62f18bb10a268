"""The child process of `load`: loads what is in a folder, searches once, and prints what it took as JSON."""

import gc
import json
import pickle
import resource
import sys
import time
from pathlib import Path

import numpy as np
from recollect import ranking
from recollect.filtering import visible
from recollect.filters import ACTIVE
from recollect.model import Head, SegmentRef
from recollect.partition import Partition
from recollect.ranking import DEFAULT_WEIGHTS, Asked, Mode
from recollect.segments.segment import Segment

from tests.bench.generated import DIMENSION, EMBEDDER, NOW_MS, sentence


def main(folder: Path) -> None:
    """Load and search."""
    tail, vector = pickle.loads((folder / "rest.pickle").read_bytes())
    query = Asked(
        text=sentence(8, np.random.default_rng(1)),
        vector=vector,
        mode=Mode.HYBRID,
        weights=DEFAULT_WEIGHTS,
        now_ms=NOW_MS,
    )
    before = _resident_bytes()
    data = [path.read_bytes() for path in sorted(folder.glob("*.seg"))]
    started = time.perf_counter()
    segments = [Segment.decode(one, str(number)) for number, one in enumerate(data)]
    decoded = time.perf_counter()
    refs = tuple(SegmentRef(str(n), one.row_count, len(data[n])) for n, one in enumerate(segments))
    compacted = segments[-1].about.last_seq if segments else 0
    partition = Partition(EMBEDDER, DIMENSION, Head(compacted_seq=compacted, manifest=refs), segments)
    partition.apply(tail, Head(seq=compacted + len(tail), compacted_seq=compacted, manifest=refs))
    ready = time.perf_counter()
    mask = visible(partition, ACTIVE, NOW_MS)
    best = ranking.best(ranking.score(partition, mask, query), 10, 0.0)
    partition.known([partition.memory_id(int(row)) for row in best.rows])
    searched = time.perf_counter()
    del data, mask, best
    gc.collect()
    grown = _resident_bytes() - before
    rows = partition.row_count
    json.dump(
        {
            "decode_ms": (decoded - started) * 1000.0,
            "ready_ms": (ready - decoded) * 1000.0,
            "first_search_ms": (searched - ready) * 1000.0,
            "bytes_per_memory_in_memory": grown / rows,
            "bytes_per_memory_counted": partition.nbytes / rows,
            "peak_rss_mb": _peak_kb() / 1024.0,
        },
        sys.stdout,
    )


def _peak_kb() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0])  # getrusage tells of the parent too


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
