"""The scan against numpy in float32 and, if a Python with them is given, against peers; one thread, 384 dimensions."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.measuring import ROOT

SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = SIZES[:2]
PEERS = {
    "faiss_flat": 1_000_000,
    "usearch_exact": 1_000_000,
    "hnswlib": 100_000,
    "sqlite_vec": 100_000,
    "chromadb": 100_000,
    "lancedb_flat": 100_000,
    "qdrant_local": 100_000,
}  # up to how many rows each is asked
PEER_MAX_S = 450
ENVIRONMENT = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS", "LANCE_CPU_THREADS"), "1"),
    "ANONYMIZED_TELEMETRY": "False",
    "PYTHONPATH": ":".join(
        str(ROOT / part)
        for part in (".", "layers/recollect/python", "build/layers/model/python", "build/layers/lexicon/python")
    ),
}


def figures(sizes: Sequence[int] = SIZES, peers: Path | None = None) -> dict[str, float]:
    """Measure each size with groups of similar vectors and with those of real sentences.

    Parameters
    ----------
    peers : Path, optional
        A Python that has what tests/bench/requirements.txt names.

    Returns
    -------
    dict of str to float
        ``scan.<rows>.<measure>`` over the groups, ``scan.<rows>.real.<measure>`` over the sentences, and
        ``scan.<rows>.peer.<name>.<measure>`` over the groups; ``filter_10pct.``, ``filter_1pct.`` or
        ``filter_0_1pct.`` before the measure where a filter lets pass so many rows. ``bandwidth_share``: of
        ``scan.memory_bandwidth_gb_s``, which one thread can read; above 1 where the vectors fit a cache.
    """
    if peers is None:
        print("scan: peers are left out; set them up with: make bench PEERS=1", flush=True)
    found: dict[str, float] = {}
    for rows in sizes:
        for kind, prefix in (("clustered", f"scan.{rows}."), ("real", f"scan.{rows}.real.")):
            print(f"scan: {rows} {kind} vectors …", flush=True)
            with TemporaryDirectory() as folder:
                asked = peers is not None and kind == "clustered"
                measured = _measured(rows, kind, Path(folder), for_peers=asked)
                found["scan.memory_bandwidth_gb_s"] = measured.pop("memory_bandwidth_gb_s")
                found |= {f"{prefix}{name}": value for name, value in measured.items()}
                if peers is not None and asked:
                    found |= _of_peers(peers, rows, Path(folder))
    return found


def _measured(rows: int, kind: str, folder: Path, *, for_peers: bool) -> dict[str, float]:
    options = ["--rows", str(rows), "--kind", kind, "--folder", str(folder), *["--for-peers"] * for_peers]
    subprocess.run([sys.executable, "-m", "tests.bench.scanning", *options], env=ENVIRONMENT, cwd=ROOT, check=True)
    return dict(json.loads((folder / "figures.json").read_text()))


def _of_peers(python: Path, rows: int, folder: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, most in PEERS.items():
        if rows > most:
            print(f"scan: {name} is left out at {rows} rows: too slow", flush=True)
            continue
        command = [str(python), str(Path(__file__).parent / "peers.py"), name, str(folder)]
        try:
            ran = subprocess.run(
                command, env=ENVIRONMENT, cwd=folder, timeout=PEER_MAX_S, capture_output=True, text=True, check=True
            )
        except subprocess.TimeoutExpired:
            print(f"scan: {name} is left out at {rows} rows: it took more than {PEER_MAX_S} s", flush=True)
        except subprocess.CalledProcessError as error:
            reason = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
            print(f"scan: {name} is left out at {rows} rows: {reason}", flush=True)
        else:
            measured = json.loads(ran.stdout.splitlines()[-1])
            print(f"scan: {name} at {rows} rows: {measured['ms']:.2f} ms", flush=True)
            found |= {f"scan.{rows}.peer.{name}.{measure}": value for measure, value in measured.items()}
    return found
