"""Make the layers' trees on this machine, without Docker, and keep them under ``build/layers``.

A tree is named by a hash of all that it is made from (pins or sources, target, bytecode compiler, this code),
so an unchanged one is never made twice, and asset names are the same on every machine with the same tools.
Bytecode is compiled ahead, unchecked: a zip archive changes the times that Python would otherwise compare,
and importing without bytecode takes four to five times as long.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import aws_cdk
import jsii

from infra.pins import LAMBDA_TARGET, Target, UnusablePins, check_installed, is_unused, parse_pins


class BundlingFailed(Exception):
    """A layer could not be made; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A finished layer: a folder that holds ``python/``, and the hash of what it was made from."""

    folder: Path
    key: str

    @property
    def size_bytes(self) -> int:
        """Unzipped size."""
        return size_bytes(self.folder)


@jsii.implements(aws_cdk.ILocalBundling)
class CopyOf:
    """Hands a finished tree to CDK."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def try_bundle(self, output_dir: str, *_: Any, **__: Any) -> bool:
        """Put the tree into CDK's output folder; as links where the file system can, which costs no space."""
        shutil.copytree(self._tree.folder, output_dir, copy_function=_link_or_copy, dirs_exist_ok=True)
        return True


def lambda_or_host(*, emulated: bool) -> Target:
    """Choose the machine that layers are made for: Lambda, or this one, where the local cloud runs."""
    if not emulated:
        return LAMBDA_TARGET
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Target(name=f"{sysconfig.get_platform()}-{sys.implementation.cache_tag}", python=python)


@dataclass(frozen=True, slots=True)
class LayerTrees:
    """The trees of all layers, made when they are asked for.

    Parameters
    ----------
    root : pathlib.Path
        The project's folder.
    target : Target
        The machine that they are for.
    """

    root: Path
    target: Target

    def dependencies(self) -> Tree:
        """Install the pinned third-party packages.

        Raises
        ------
        BundlingFailed
            If they cannot be installed, or are not exactly the pinned ones.
        """
        requirements = self.root / "layers" / "dependencies" / "requirements.txt"
        pins = requirements.read_text()

        def install(python_dir: Path) -> None:
            self._pip_install(requirements, python_dir)
            try:
                check_installed(parse_pins(pins), _installed(python_dir))
            except UnusablePins as error:
                raise BundlingFailed(f"pip did not install what {requirements.name} pins: {error}") from error
            _drop_unused(python_dir)

        return self._made_once("dependencies", pins.encode(), install)

    def core(self) -> Tree:
        """Copy the core."""
        sources = self.root / "layers" / "recollect" / "python"

        def copy(python_dir: Path) -> None:
            shutil.copytree(sources, python_dir, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)

        return self._made_once("recollect", _digest_of_tree(sources), copy)

    def model(self) -> Tree:
        """Have the model's builder make its layer."""
        return self._built("model", "recollect_model")

    def lexicon(self) -> Tree:
        """Have the lexicon's builder make its layer."""
        return self._built("lexicon", "recollect_lexicon")

    def _built(self, name: str, package: str) -> Tree:
        """Run a layer's own builder, which does nothing when the layer is up to date.

        Raises
        ------
        BundlingFailed
            If the builder fails.
        """
        folder = self._cache / name
        command = [sys.executable, str(self.root / "layers" / name / "build.py")]
        done = subprocess.run(command, cwd=self.root, stdout=sys.stderr, check=False)
        if done.returncode or not (folder / "python" / package).is_dir():
            raise BundlingFailed(f"the {name} layer could not be built: see the lines above")
        return Tree(folder, hashlib.sha256(_digest_of_tree(folder)).hexdigest())

    @property
    def _cache(self) -> Path:
        return self.root / "build" / "layers"

    def _made_once(self, name: str, inputs: bytes, fill: Callable[[Path], None]) -> Tree:
        """Find the tree of these inputs, or make it aside and move it into place whole."""
        compiler = _compiler(self.target.python)
        code = [Path(__file__).with_name(file).read_text() for file in ("bundling.py", "pins.py")]
        facts = [name, self.target.name, self.target.pip_arguments, inputs.hex(), bool(compiler), code]
        key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
        tree = Tree(self._cache / f"{name}-{key[:16]}", key)
        if tree.folder.is_dir():
            return tree
        self._cache.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=self._cache, prefix=f".{name}-") as scratch:
            python_dir = Path(scratch, "layer", "python")
            python_dir.mkdir(parents=True)
            _say(f"making the layer {name} for {self.target.name}")
            fill(python_dir)
            _compile(python_dir, compiler, self.target.python)
            try:
                python_dir.parent.rename(tree.folder)
            except OSError:
                if not tree.folder.is_dir():  # otherwise another process was faster, and made the same
                    raise
        return tree

    def _pip_install(self, requirements: Path, python_dir: Path) -> None:
        command = [
            *(sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check"),
            *("--no-deps", "--no-compile", "--only-binary=:all:", *self.target.pip_arguments),
            *("--target", str(python_dir), "--requirement", str(requirements)),
        ]
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
            raise BundlingFailed(
                f"pip could not install the dependencies layer for {self.target.name} (its lines are above):"
                f" check the connection to the package index, and that each pin of"
                f" {requirements.relative_to(self.root)} has such a wheel"
            )


def size_bytes(folder: Path) -> int:
    """Sum the sizes of a folder's files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _installed(python_dir: Path) -> list[tuple[str, str]]:
    return [(each.name, each.version) for each in metadata.distributions(path=[str(python_dir)])]


def _drop_unused(python_dir: Path) -> None:
    for path in sorted(python_dir.rglob("*"), reverse=True):  # a folder comes after what is in it
        if path.is_file() and is_unused(PurePosixPath(path.relative_to(python_dir))):
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def _compiler(python: str) -> str | None:
    """Find a Python of this version that runs: ours, or one on the path."""
    if python == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    found = shutil.which(f"python{python}")
    works = found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0
    return found if works else None


def _compile(python_dir: Path, compiler: str | None, python: str) -> None:
    if compiler is None:
        _say(f"no python{python} on the path: the layer gets no bytecode, and cold starts take longer")
        return
    command = [
        *(compiler, "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"),
        *("-s", str(python_dir.parent), "-p", "/opt", str(python_dir)),
    ]
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
        raise BundlingFailed(f"{compiler} could not compile the layer: see the lines above")


def _digest_of_tree(folder: Path) -> bytes:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()


def _link_or_copy(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)
    return target


def _say(line: str) -> None:
    print(f"layers: {line}", file=sys.stderr)
