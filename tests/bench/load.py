"""Cold loads: from the bytes of a user's segments to the first search, in a process of its own.

Segments are what compactions leave, their bytes come from files (S3's part is in `costs`). ``decode`` checks and views
the bytes; ``ready`` makes the partition, with the tail; ``first_search`` also makes what is made when it is first
asked for. Memory is the growth of the process, bytes of the segments included.
"""

import json
import pickle
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from recollect.segments import layout

from tests.bench.compaction import run
from tests.bench.generated import User

SIZES = (10_000, 100_000, 1_000_000)
ROUNDS = 5


def figures(*, is_quick: bool = False) -> dict[str, float]:
    """Measure.

    Returns
    -------
    dict of str to float
        ``segment.bytes_per_memory`` (100,000 memories, all segments), and ``load.<n>.decode_ms``, ``.ready_ms``,
        ``.first_search_ms``, ``.bytes_per_memory_in_memory``, ``.bytes_per_memory_counted`` (what the cache takes it
        for), ``.peak_rss_mb``; the last of the biggest in each process.
    """
    found: dict[str, float] = {}
    for size in SIZES[:2] if is_quick else SIZES:
        with TemporaryDirectory() as folder:
            stored = write(size, Path(folder))
            rounds = [_in_child(Path(folder)) for _ in range(2 if is_quick or size > 100_000 else ROUNDS)]
        print(f"  {size:,} memories in {len(run(size).segments)} segments, {stored / 2**20:.0f} MB", flush=True)
        for name in rounds[0]:
            found[f"load.{size}.{name}"] = sorted(one[name] for one in rounds)[len(rounds) // 2]
        if size == 100_000:
            found["segment.bytes_per_memory"] = stored / sum(run(size).segments)
    return found


def write(size: int, folder: Path) -> int:
    """Write the segments and the tail of a user to files; give the bytes of all segments."""
    user = User(size)
    shape = run(size)
    total = 0
    for number, rows in enumerate(shape.segments):
        segment = user.segment(rows)
        total += (folder / f"{number:04d}.seg").write_bytes(layout.encode(segment.columns, segment.about))
    tail, query = user.entries(shape.tail), user.query(np.random.default_rng(size))
    (folder / "rest.pickle").write_bytes(pickle.dumps((tail, query)))
    return total


def _in_child(folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.loading", str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))
