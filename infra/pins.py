"""What a layer of third-party packages must hold: which versions, for which machine, and which files not.

Decides only: it reads no disk and runs nothing (``bundling`` does). What was installed is what was pinned,
no package more and none fewer, or it is refused.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

# Lambda refuses a function whose code and layers, unzipped, come to more.
UNZIPPED_LIMIT_BYTES = 250 * 1024 * 1024

# Models of the AWS services that functions call; botocore carries 400 more, 25 MB. A client for another one
# fails with UnknownServiceError: name it here. botocore itself needs `sts` for some kinds of credentials.
AWS_SERVICES = frozenset({"bedrock-runtime", "dynamodb", "s3", "sqs", "sts"})

# Folders that nothing imports at run time: converters and trainers, headers, a compiler's front end.
_UNUSED_FOLDERS = (
    "bin",
    "numpy/_core/include",
    "numpy/f2py",
    "onnxruntime/backend",
    "onnxruntime/datasets",
    "onnxruntime/quantization",
    "onnxruntime/tools",
    "onnxruntime/transformers",
)
# onnxruntime for programs in C, 27 MB; the Python module has all of it inside.
_UNUSED_LIBRARY = "onnxruntime/capi/libonnxruntime.so.*"
_UNUSED_SUFFIXES = frozenset({".a", ".h", ".pxd", ".pyi", ".pyx"})
# Installers' notes, some of which hold paths of this machine. METADATA and licences stay.
_INSTALLER_NOTES = frozenset({"INSTALLER", "RECORD", "REQUESTED", "direct_url.json"})

_PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[A-Za-z0-9][A-Za-z0-9._+!-]*)")


class UnusablePins(Exception):
    """The pins cannot be read, or something else was installed; the message names every package."""


@dataclass(frozen=True, slots=True)
class Target:
    """The machine that packages are installed for.

    Parameters
    ----------
    name : str
        Short and stable; part of the cache key.
    python : str
        Python's major and minor version, like ``"3.13"``.
    pip_arguments : tuple of str
        What tells pip to choose wheels for that machine; empty for the machine that pip runs on.
    """

    name: str
    python: str
    pip_arguments: tuple[str, ...] = ()


# One platform tag alone picks an old numpy or a placeholder pydantic-core, or does not find onnxruntime.
_MANYLINUX = ("manylinux_2_28", "manylinux_2_27", "manylinux2014", "manylinux_2_17")
LAMBDA_PYTHON = "3.13"
LAMBDA_TARGET = Target(
    name=f"aarch64-cp{LAMBDA_PYTHON.replace('.', '')}",
    python=LAMBDA_PYTHON,
    pip_arguments=(
        *(argument for tag in _MANYLINUX for argument in ("--platform", f"{tag}_aarch64")),
        "--implementation",
        "cp",
        "--python-version",
        LAMBDA_PYTHON,
    ),
)


def parse_pins(text: str) -> dict[str, str]:
    """Read exact pins, one a line; comments are allowed, markers and options are not.

    Returns
    -------
    dict of str to str
        Normalised package name to version.

    Raises
    ------
    UnusablePins
        If a line is not ``name==version`` or a name comes twice.
    """
    pins: dict[str, str] = {}
    problems = []
    for line in (line.split("#")[0].strip() for line in text.splitlines()):
        match = _PIN.fullmatch(line)
        if match and normalised(match["name"]) not in pins:
            pins[normalised(match["name"])] = match["version"]
        elif line:
            problems.append(f"{line!r} is not one exact pin of a package (name==version, once)")
    if problems:
        raise UnusablePins("; ".join(problems))
    return pins


def normalised(name: str) -> str:
    """Spell a package's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def check_installed(pins: Mapping[str, str], installed: Iterable[tuple[str, str]]) -> None:
    """Compare what was installed with what was pinned.

    Parameters
    ----------
    pins : mapping of str to str
        Normalised name to version.
    installed : iterable of (name, version)
        As the installed packages' own metadata say.

    Raises
    ------
    UnusablePins
        If a package is missing, was not asked for, or has another version.
    """
    found = {normalised(name): version for name, version in installed}
    problems = [
        f"{name} is {found.get(name, 'missing')}, pinned is {pins.get(name, 'nothing')}"
        for name in sorted(pins.keys() | found.keys())
        if pins.get(name) != found.get(name)
    ]
    if problems:
        raise UnusablePins("; ".join(problems))


def is_unused(path: PurePosixPath) -> bool:
    """Tell whether a file of the installed tree is never read at run time.

    Parameters
    ----------
    path : pathlib.PurePosixPath
        Relative to the folder that packages are installed in.
    """
    if path.parts[:2] == ("botocore", "data") and len(path.parts) > 3:
        return path.parts[2] not in AWS_SERVICES
    return (
        path.suffix in _UNUSED_SUFFIXES
        or "tests" in path.parts[:-1]
        or "__pycache__" in path.parts
        or path.match(_UNUSED_LIBRARY)
        or any(path.is_relative_to(folder) for folder in _UNUSED_FOLDERS)
        or (path.parent.suffix == ".dist-info" and path.name in _INSTALLER_NOTES)
    )


def check_size(sizes: Mapping[str, int]) -> None:
    """Refuse parts of a function that are too large together.

    Parameters
    ----------
    sizes : mapping of str to int
        Unzipped bytes of the function and of each layer, by name.

    Raises
    ------
    UnusablePins
        If Lambda would refuse the sum.
    """
    if sum(sizes.values()) >= UNZIPPED_LIMIT_BYTES:
        parts = ", ".join(f"{name} {size / 2**20:.0f} MB" for name, size in sizes.items())
        raise UnusablePins(f"function and layers come to more than 250 MB unzipped ({parts}): take something out")
