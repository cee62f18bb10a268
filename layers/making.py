"""Makes the folder of a layer that holds files and no code: what the builders of such layers share.

For build time only. The same inputs give the same bytes, so that a layer is deployed again only when it differs.
"""

import argparse
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def asked(description: str, name: str) -> tuple[Path, Path]:
    """Read from the command line where the layer `name` goes and where downloads are kept."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "layers" / name)
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "cache")
    options = parser.parse_args()
    return options.out, options.cache


def make(out: Path, package: str, inputs: Sequence[Path], files: Callable[[], Mapping[str, bytes]]) -> None:
    """Write a layer's files below `out`.

    Parameters
    ----------
    out : Path
        Replaced as a whole, unless it was made from the same inputs before. A file next to it, ``<out>.inputs``,
        remembers them.
    package : str
        The layer's one package, in which the files lie.
    inputs : sequence of Path
        Files that decide what is made.
    files : callable
        Gives the content of each file by its name, ``__init__.py`` among them.
    """
    stamp = out.with_name(out.name + ".inputs")
    digest = _digest(Path(__file__), *inputs)
    if stamp.is_file() and stamp.read_text() == digest and (out / "python" / package / "__init__.py").is_file():
        return
    print(f"building the {out.name} layer", file=sys.stderr)
    made_of = files()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        layer = Path(scratch, "layer")
        folder = layer / "python" / package
        folder.mkdir(parents=True)
        for name, content in made_of.items():
            (folder / name).write_bytes(content)
        stamp.unlink(missing_ok=True)
        shutil.rmtree(out, ignore_errors=True)
        layer.rename(out)
    stamp.write_text(digest)


def checked(download: Path, sha256: str) -> Path:
    """Give a download back if it is what was pinned.

    Raises
    ------
    SystemExit
        If it is not.
    """
    if hashlib.sha256(download.read_bytes()).hexdigest() != sha256:
        raise SystemExit(f"{download} is not the file that is pinned; delete it and build again")
    return download


def _digest(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
