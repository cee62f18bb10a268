"""Measures one peer over the arrays of ``tests.bench.scanning``: ``python peers.py NAME FOLDER``, figures on stdout.

Runs in a Python that has the peers and numpy and nothing of this project, on one core. numpy in float32 is measured
beside it, since another moment may be a noisier one.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

K = 10
SECONDS = 10.0  # for each filter
FEWEST_QUERIES = 3
FILTERS = ("filter_10pct", "filter_1pct", "filter_0_1pct")
BATCH = 5_000
Rows = dict[str, Any]  # the rows that pass, by the name of the filter


class Search(Protocol):
    def __call__(self, query: Any, name: str) -> Sequence[int]:
        """Find the best rows for a query among those that pass the named filter; no name, no filter."""


def faiss_flat(vectors: Any, rows: Rows) -> Search:
    faiss = import_module("faiss")
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    passing = {name: faiss.SearchParameters(sel=faiss.IDSelectorBatch(of)) for name, of in rows.items()}

    def search(query: Any, name: str) -> Sequence[int]:
        return list(index.search(query[None, :], K, params=passing.get(name))[1][0].tolist())

    return search


def usearch_exact(vectors: Any, rows: Rows) -> Search:
    index = import_module("usearch.index")

    def search(query: Any, name: str) -> Sequence[int]:
        some = vectors[rows[name]] if name else vectors
        keys = index.search(some, query[None, :], min(K, len(some)), index.MetricKind.IP, exact=True, threads=1).keys
        found = np.asarray(keys, dtype=np.int64).ravel()
        return list((rows[name][found] if name else found).tolist())

    return search


def hnswlib(vectors: Any, rows: Rows) -> Search:
    index = import_module("hnswlib").Index(space="ip", dim=vectors.shape[1])
    index.init_index(max_elements=len(vectors), ef_construction=200, M=16)
    index.set_num_threads(1)
    index.add_items(vectors)
    index.set_ef(64)
    passing = {name: set(of.tolist()) for name, of in rows.items()}

    def search(query: Any, name: str) -> Sequence[int]:
        passes = passing[name].__contains__ if name else None
        k = min(K, len(passing[name])) if name else K
        try:
            return list(index.knn_query(query[None, :], k=k, filter=passes)[0][0].tolist())
        except RuntimeError:  # fewer than k were met
            return []

    return search


def sqlite_vec(vectors: Any, rows: Rows) -> Search:
    of = import_module("sqlite_vec")
    database = import_module("apsw").Connection(":memory:")  # Python's own sqlite3 may not load extensions
    database.enable_load_extension(True)
    database.load_extension(of.loadable_path())
    flags = _flags(len(vectors), rows)
    columns = "".join(f", {name} boolean" for name in flags)
    dimension = vectors.shape[1]
    database.execute(f"create virtual table stored using vec0(v float[{dimension}] distance_metric=cosine{columns})")
    places = ", ".join("?" * (len(flags) + 2))
    database.executemany(
        f"insert into stored(rowid, v{''.join(f', {name}' for name in flags)}) values ({places})",
        ((row, vector.tobytes(), *marks) for row, (vector, *marks) in enumerate(_zipped(vectors, flags))),
    )

    def search(query: Any, name: str) -> Sequence[int]:
        condition = f" and {name} = 1" if name else ""
        sql = f"select rowid from stored where v match ? and k = {K}{condition}"
        return [row for (row,) in database.execute(sql, (query.tobytes(),))]

    return search


def chromadb(vectors: Any, rows: Rows) -> Search:
    of = import_module("chromadb")
    client = of.EphemeralClient(of.config.Settings(anonymized_telemetry=False))
    collection = client.create_collection("stored", embedding_function=None, metadata={"hnsw:space": "ip"})
    flags = _flags(len(vectors), rows)
    for start in range(0, len(vectors), BATCH):
        part = range(start, min(start + BATCH, len(vectors)))
        marks = [{name: bool(of[row]) for name, of in flags.items()} or {"all": True} for row in part]
        collection.add([str(row) for row in part], embeddings=vectors[part.start : part.stop], metadatas=marks)

    def search(query: Any, name: str) -> Sequence[int]:
        where = {name: True} if name else None
        found = collection.query(query_embeddings=[query], n_results=K, where=where, include=[])
        return [int(row) for row in found["ids"][0]]

    return search


def lancedb_flat(vectors: Any, rows: Rows) -> Search:
    pyarrow = import_module("pyarrow")
    values = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.ravel()), vectors.shape[1])
    columns = {"row": np.arange(len(vectors)), "vector": values, **_flags(len(vectors), rows)}
    table = import_module("lancedb").connect("stored.lance").create_table("stored", pyarrow.table(columns))

    def search(query: Any, name: str) -> Sequence[int]:
        asked = table.search(query).distance_type("dot").limit(K).select(["row"])
        asked = asked.where(name, prefilter=True) if name else asked
        return list(asked.to_arrow()["row"].to_pylist())

    return search


def qdrant_local(vectors: Any, rows: Rows) -> Search:
    of = import_module("qdrant_client")
    client = of.QdrantClient(":memory:")
    params = of.models.VectorParams(size=vectors.shape[1], distance=of.models.Distance.DOT)
    client.create_collection("stored", vectors_config=params)
    flags = _flags(len(vectors), rows)
    payload = [{name: bool(flag[row]) for name, flag in flags.items()} for row in range(len(vectors))]
    client.upload_collection("stored", vectors=vectors, payload=payload, ids=range(len(vectors)))

    def search(query: Any, name: str) -> Sequence[int]:
        match = of.models.FieldCondition(key=name, match=of.models.MatchValue(value=True))
        passing = of.models.Filter(must=[match]) if name else None
        return [point.id for point in client.query_points("stored", query, query_filter=passing, limit=K).points]

    return search


PEERS = {
    of.__name__: of for of in (faiss_flat, usearch_exact, hnswlib, sqlite_vec, chromadb, lancedb_flat, qdrant_local)
}


def main(name: str, folder: Path) -> None:
    """Fill the peer, ask it with and without filters, and print the figures as one line of JSON."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    vectors, queries = np.load(folder / "vectors.npy"), np.load(folder / "queries.npy")
    rows = {of: np.load(folder / f"{of}.rows.npy") for of in FILTERS if (folder / f"{of}.rows.npy").exists()}
    started = time.perf_counter()
    search = PEERS[name](vectors, rows)
    found = {"build_s": time.perf_counter() - started}
    numpy_ms = statistics.median(_times(lambda query: np.argpartition(vectors @ query, -K), queries)[0])
    for of in ("", *rows):
        prefix = f"{of}." if of else ""
        times, answers = _times(partial(search, name=of), queries)
        best = np.load(folder / f"{prefix}best.npy")[: len(answers)]
        hits = sum(len(set(wanted.tolist()).intersection(answer)) for wanted, answer in zip(best, answers, strict=True))
        found |= {f"{prefix}ms": statistics.median(times), f"{prefix}recall_at_10": hits / best.size}
    found["speedup_over_numpy_fp32"] = numpy_ms / found["ms"]
    print(json.dumps(found))


def _times(ask: Callable[[Any], Any], queries: Any) -> tuple[list[float], list[Any]]:
    ask(queries[0])
    times, answers = [], []
    until = time.perf_counter() + SECONDS
    for query in queries:
        started = time.perf_counter()
        answers.append(ask(query))
        times.append((time.perf_counter() - started) * 1000)
        if time.perf_counter() > until and len(times) >= FEWEST_QUERIES:
            break
    return times, answers


def _flags(count: int, rows: Rows) -> Rows:
    flags = {name: np.zeros(count, dtype=np.bool_) for name in rows}
    for name, flag in flags.items():
        flag[rows[name]] = True
    return flags


def _zipped(vectors: Any, flags: Rows) -> Any:
    return zip(vectors, *(flag.tolist() for flag in flags.values()), strict=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
