"""Compares Recollect with its peers on LoCoMo, prints a table and keeps the figures: ``python -m tests.eval.peers``.

Needs a Python that has tests/eval/requirements.txt; a peer that is not there, or fails, is left out. All get the same
turns, one by one, and the same questions, and embed with the same embedder. A conversation goes through all of them
before the next one does, so that no noisy moment of the machine is one peer's alone. Files are kept in memory where
that can be, as our stores are: nobody waits for a disk or a network.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.eval import locomo, report
from tests.eval.locomo import Conversation
from tests.eval.peers.measuring import FILE
from tests.eval.peers.stores import PEERS
from tests.eval.peers.table import Measured, figures, read, table

ROOT = Path(__file__).resolve().parents[3]
IN_MEMORY = Path("/dev/shm")  # of Linux


def main() -> None:
    """Measure whoever is there."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval.peers", description=__doc__)
    parser.add_argument("--locomo", type=Path, default=locomo.DEFAULT_PATH, help="path of locomo10.json")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "eval.json", help="file of figures")
    options = parser.parse_args()
    if not options.locomo.is_file():
        parser.error(f"there is no file {options.locomo}; give one with --locomo")
    titles = dict(_titles())
    measured: dict[str, list[Measured]] = {name: [] for name in titles}
    for conversation in locomo.held_out(locomo.load(options.locomo)):
        for name in list(measured):
            try:
                measured[name].append(_measured(name, options.locomo, conversation))
            except RuntimeError as error:
                del measured[name]
                print(f"{name} is left out, it failed: {error}", flush=True)
    found: dict[str, float] = {}
    for name, parts in measured.items():
        found |= figures(f"peer.{name}", parts)
    print(f"\n{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, the held-out conversations:")
    print(table({f"peer.{name}": titles[name] for name in measured}, found))
    report.write(options.output, report.merged(report.read(options.output), "peer", found))
    print(f"figures are in {options.output}")


def _titles() -> Iterator[tuple[str, str]]:
    """Name those that are there, with their versions; say which are not."""
    for name, peer in PEERS.items():
        try:
            yield name, ", ".join(f"{package} {version(package)}" for package in peer.packages) or "Recollect"
        except PackageNotFoundError as error:
            print(f"{name} is left out: there is no package {error.name}")


def _measured(name: str, path: Path, conversation: Conversation) -> Measured:
    started = time.perf_counter()
    with TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as place:
        folder = Path(place)
        which = (name, str(path), conversation.conversation_id, place)
        command = [sys.executable, "-m", "tests.eval.peers.measuring", *which]
        done = subprocess.run(command, env=_environment(folder), capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().rpartition("\n")[2])
        measured = read(json.loads((folder / FILE).read_text(encoding="utf-8")))
    print(
        f"{conversation.conversation_id} {name}: {len(conversation.turns)} turns, {len(conversation.questions)} "
        f"questions, {time.perf_counter() - started:.0f} s"
        + "".join(f"; wanted {what}, refused" for what in measured.refused),
        flush=True,
    )
    return measured


def _environment(folder: Path) -> dict[str, str]:
    """Give all that a process may know of this one; it computes on one core, reports nothing and downloads nothing."""
    return {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "MEM0_TELEMETRY": "False",
        "LANGSMITH_TRACING": "false",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


if __name__ == "__main__":
    main()
