"""Measures the scan of one size in a process of its own, with one thread: ``python -m tests.bench.scanning``.

Beside it numpy: all vectors as float32, one matrix-vector product and ``argpartition``, with a filter over the rows
that pass. Both get the same rows and the same vectors, which are the stored ones, decoded. They take turns, a round
of all queries each, so that a noisy moment meets both.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from recollect.scan import EXACT_ROWS, Quantised, Rows, Vector, Vectors, exact, top_k

from tests.bench import texts
from tests.bench.measuring import milliseconds
from tests.support.vectors import Sample, clustered, decode, filled, quantised, shortlist, unit_rows

K = 10
QUERIES = 50
SENTENCES = 10_000
SHARES = {"": 1.0, "filter_10pct.": 0.1, "filter_1pct.": 0.01, "filter_0_1pct.": 0.001}
SECONDS = 12.0  # of rounds, for each filter
MOST_ROUNDS = 20
Find = Callable[[Vector], Rows]


@dataclass(slots=True)
class Taken:
    """Milliseconds of one way to find rows: all, and the median of each round."""

    times: list[float]
    rounds: list[float]


def main() -> None:
    """Measure, and write the figures and what peers need."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.scanning", description=__doc__)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--kind", choices=("clustered", "real"), required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where figures.json goes")
    parser.add_argument("--for-peers", action="store_true", help="write the arrays too")
    options = parser.parse_args()
    sample = clustered(options.rows, 1, QUERIES) if options.kind == "clustered" else real(options.rows)
    values = decoded(sample.vectors)
    bandwidth = read_bandwidth()
    found = {"memory_bandwidth_gb_s": bandwidth}
    for prefix, share in SHARES.items():
        rows = np.flatnonzero(np.random.default_rng(2).random(options.rows) < share)
        if not rows.size:
            continue
        measured, best = measure(sample, values, rows)
        found |= {f"{prefix}{name}": value for name, value in measured.items()}
        if options.for_peers:
            np.save(options.folder / f"{prefix}rows.npy", rows)
            np.save(options.folder / f"{prefix}best.npy", best)
    found["bandwidth_share"] = bytes_read(sample, found["shortlist_rows"]) / found["p50_ms"] / bandwidth / 1e6
    found["numpy_fp32.bandwidth_share"] = values.nbytes / found["numpy_fp32.p50_ms"] / bandwidth / 1e6
    if options.for_peers:
        np.save(options.folder / "vectors.npy", values)
        np.save(options.folder / "queries.npy", sample.queries)
    (options.folder / "figures.json").write_text(json.dumps(found))


def real(rows: int) -> Sample:
    """Take embedded sentences; above their number, each row is a mix of two of them, mostly of one."""
    sentences = texts.vectors(SENTENCES + QUERIES)
    queries, stored = sentences[:QUERIES], sentences[QUERIES:]
    rng = np.random.default_rng(3)
    taken = 0

    def make(count: int) -> Vectors:
        nonlocal taken
        if rows <= SENTENCES:
            taken += count
            return stored[taken - count : taken]
        part = rng.uniform(0.0, 0.5, (count, 1)).astype(np.float32)
        one, other = (stored[rng.integers(0, SENTENCES, count)] for _ in range(2))
        return np.asarray(one * (np.float32(1.0) - part) + other * part)

    return Sample(quantised(filled(rows, sentences.shape[1], make)), unit_rows(queries))


def decoded(vectors: Quantised) -> Vectors:
    """Give the stored vectors as unit rows, a part at a time."""
    values = np.empty(vectors.codes.shape, dtype=np.float32)
    for start in range(0, len(values), 16_384):
        values[start : start + 16_384] = decode(vectors.codes[start : start + 16_384])
    return values


def read_bandwidth() -> float:
    """Measure how fast one thread reads memory, in GB/s: the best of some dot products that fit no cache."""
    one, other = np.ones(64_000_000, dtype=np.float32), np.ones(64_000_000, dtype=np.float32)
    best = min(milliseconds(lambda: one @ other) for _ in range(12))
    return (one.nbytes + other.nbytes) / best / 1e6


def bytes_read(sample: Sample, shortlist_rows: float) -> float:
    """Count what the scan must read: the bits of all rows and the codes of some, or all codes if rows are few."""
    bits, codes = sample.vectors.bits, sample.vectors.codes
    if bits is None or len(codes) <= EXACT_ROWS:
        return float(codes.nbytes)
    return float(bits.nbytes + shortlist_rows * codes.shape[1])


def measure(sample: Sample, values: Vectors, rows: Rows) -> tuple[dict[str, float], Rows]:
    """Compare the scan with numpy over some rows.

    Returns
    -------
    dict of str to float
    ndarray of shape (queries, K or fewer), int64
        The best rows, as numpy finds them.
    """
    k = min(K, rows.size)
    sizes = []

    def two_stages(query: Vector) -> Rows:
        short = shortlist(query, sample.vectors, rows, k)
        sizes.append(short.size)
        return short[top_k(exact(query, sample.vectors, short), k)]

    def numpy_fp32(query: Vector) -> Rows:
        scores = values @ query if rows.size == len(values) else values[rows] @ query
        best = np.argpartition(scores, scores.size - k)[scores.size - k :]
        return rows[best[np.argsort(-scores[best], kind="stable")]]

    best = np.stack([numpy_fp32(query) for query in sample.queries])
    recall = sum(np.intersect1d(two_stages(query), of).size for query, of in zip(sample.queries, best, strict=True))
    ours, theirs = in_turns(two_stages, numpy_fp32, sample.queries)
    ratios = [their / our for our, their in zip(ours.rounds, theirs.rounds, strict=True)]
    return {
        "p50_ms": statistics.median(ours.times),
        "p95_ms": float(np.quantile(ours.times, 0.95)),
        "numpy_fp32.p50_ms": statistics.median(theirs.times),
        "numpy_fp32.p95_ms": float(np.quantile(theirs.times, 0.95)),
        "speedup_over_numpy_fp32": statistics.median(ratios),
        "speedup_over_numpy_fp32.lowest": min(ratios),
        "speedup_over_numpy_fp32.highest": max(ratios),
        "recall_at_10": recall / best.size,
        "shortlist_rows": statistics.mean(sizes),
    }, best


def in_turns(one: Find, other: Find, queries: Vectors) -> tuple[Taken, Taken]:
    """Time two ways to find rows in turn until the time is up; three rounds at least."""
    taken = Taken([], []), Taken([], [])
    started = time.perf_counter()
    while len(taken[0].rounds) < 3 or (time.perf_counter() - started < SECONDS and len(taken[0].rounds) < MOST_ROUNDS):
        for find, of in zip((one, other), taken, strict=True):
            times = [milliseconds(lambda query=query, find=find: find(query)) for query in queries]  # type: ignore[misc]
            of.times += times
            of.rounds.append(statistics.median(times))
    return taken


if __name__ == "__main__":
    main()
