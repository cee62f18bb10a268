"""Decides whether a deploy can be skipped: one number for everything that goes into the stack.

A change of any file that the app reads, of a pin, of the interpreter or of the context changes the
number. It reads files and remembers nothing.
"""

import hashlib
import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_FILES = ("app.py", "cdk.json", "requirements.txt")
_FOLDERS = ("infra", "functions", "layers")
_NOT_IN_THE_STACK = ("infra/local/",)


def fingerprint(root: Path, context: Mapping[str, str]) -> str:
    """Hash what the stack is made of.

    Parameters
    ----------
    root : Path
        The project.
    context : mapping
        CDK context of the deploy.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    total = hashlib.sha256()
    for part in (platform.machine(), sys.version, *(f"{name}={context[name]}" for name in sorted(context))):
        total.update(f"{part}\0".encode())
    for path in sorted(_sources(root)):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(root).as_posix()}\0{content}\0".encode())
    return total.hexdigest()


def _sources(root: Path) -> Iterator[Path]:
    for name in _FILES:
        if (root / name).is_file():
            yield root / name
    for folder in _FOLDERS:
        for path in (root / folder).rglob("*"):
            relative = path.relative_to(root).as_posix()
            is_generated = "__pycache__" in path.parts or path.suffix == ".pyc"
            if path.is_file() and not is_generated and not relative.startswith(_NOT_IN_THE_STACK):
                yield path
