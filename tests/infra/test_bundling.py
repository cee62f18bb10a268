import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from infra.bundling import BundlingFailed, CopyOf, LayerTrees, Tree, lambda_or_host
from infra.pins import LAMBDA_TARGET, Target

_HOST = lambda_or_host(emulated=True)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project whose one dependency lies in a folder beside it; pip looks nowhere else."""
    root = tmp_path / "project"
    for folder in ("layers/dependencies", "layers/model", "layers/lexicon", "layers/recollect/python/recollect"):
        (root / folder).mkdir(parents=True)
    (root / "layers/dependencies/requirements.txt").write_text("tiny==1.0\n")
    (root / "layers/recollect/python/recollect/__init__.py").write_text("NAME = 'core'\n")
    _make_wheel(tmp_path / "wheels", "tiny", "1.0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    return root


def _make_wheel(folder: Path, name: str, version: str) -> None:
    folder.mkdir(exist_ok=True)
    notes = f"{name}-{version}.dist-info"
    with ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "VALUE = 1\n")
        wheel.writestr(f"{name}/__init__.pyi", "VALUE: int\n")
        wheel.writestr(f"{name}/tests/test_it.py", "")
        wheel.writestr(f"{notes}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{notes}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{notes}/RECORD", "")


def _files(tree: Tree) -> set[str]:
    return {str(path.relative_to(tree.folder)) for path in tree.folder.rglob("*") if path.is_file()}


def test_dependencies_are_installed_without_what_nothing_reads(root: Path) -> None:
    tree = LayerTrees(root, _HOST).dependencies()

    assert _files(tree) == {
        "python/tiny/__init__.py",
        f"python/tiny/__pycache__/__init__.{sys.implementation.cache_tag}.pyc",
        "python/tiny-1.0.dist-info/METADATA",
        "python/tiny-1.0.dist-info/WHEEL",
    }


def test_an_unchanged_layer_is_not_made_again(root: Path, tmp_path: Path) -> None:
    first = LayerTrees(root, _HOST).dependencies()
    for wheel in (tmp_path / "wheels").iterdir():
        wheel.unlink()

    assert LayerTrees(root, _HOST).dependencies() == first


def test_another_pin_or_machine_is_another_layer(root: Path, tmp_path: Path) -> None:
    first = LayerTrees(root, _HOST).dependencies()
    other_machine = LayerTrees(root, LAMBDA_TARGET).dependencies()
    _make_wheel(tmp_path / "wheels", "tiny", "1.1")
    (root / "layers/dependencies/requirements.txt").write_text("tiny==1.1\n")
    other_pin = LayerTrees(root, _HOST).dependencies()

    assert len({first.key, other_machine.key, other_pin.key}) == 3


def test_a_package_that_cannot_be_had_is_told_and_leaves_nothing(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "layers/dependencies/requirements.txt").write_text("absent==1.0\n")

    with pytest.raises(BundlingFailed, match="pip could not install the dependencies layer"):
        LayerTrees(root, _HOST).dependencies()

    assert "absent" in capfd.readouterr().err
    assert not list((root / "build/layers").iterdir())


def test_bytecode_stays_valid_when_an_archive_changes_the_times_of_files(root: Path, tmp_path: Path) -> None:
    tree = LayerTrees(root, _HOST).core()
    source = tree.folder / "python/recollect/__init__.py"
    source.write_text("NAME = 'changed, and must not be looked at'\n")

    command = [sys.executable, "-c", "import recollect; print(recollect.NAME)"]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(source.parent.parent)}, cwd=tmp_path, capture_output=True, check=True
    )

    assert done.stdout == b"core\n"


def test_without_the_right_python_a_layer_has_no_bytecode_and_another_key(
    root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(root))
    target = Target(name=_HOST.name, python="3.0")

    tree = LayerTrees(root, target).core()

    assert _files(tree) == {"python/recollect/__init__.py"}
    assert "no python3.0 on the path" in capfd.readouterr().err
    assert tree.key != LayerTrees(root, _HOST).core().key


def test_the_core_has_the_files_that_its_code_reads(root: Path) -> None:
    (root / "layers/recollect/python/recollect/prompt.md").write_text("Find what is worth remembering.\n")

    assert "python/recollect/prompt.md" in _files(LayerTrees(root, _HOST).core())


def test_a_change_of_the_core_is_another_layer(root: Path) -> None:
    first = LayerTrees(root, _HOST).core()
    (root / "layers/recollect/python/recollect/more.py").write_text("")

    assert LayerTrees(root, _HOST).core().key != first.key


@pytest.mark.parametrize(("name", "package"), [("model", "recollect_model"), ("lexicon", "recollect_lexicon")])
def test_a_layer_with_a_builder_is_made_by_it(root: Path, name: str, package: str) -> None:
    (root / f"layers/{name}/build.py").write_text(
        "from pathlib import Path\n"
        f"folder = Path('build/layers/{name}/python/{package}')\n"
        "folder.mkdir(parents=True, exist_ok=True)\n"
        "(folder / 'file').write_bytes(b'content')\n"
    )

    first, again = (getattr(LayerTrees(root, _HOST), name)() for _ in range(2))

    assert first == again
    assert _files(first) == {f"python/{package}/file"}


@pytest.mark.parametrize("name", ["model", "lexicon"])
def test_a_layer_that_cannot_be_built_is_told(root: Path, name: str) -> None:
    (root / f"layers/{name}/build.py").write_text("raise SystemExit('nothing to build it from')\n")

    with pytest.raises(BundlingFailed, match=f"the {name} layer could not be built"):
        getattr(LayerTrees(root, _HOST), name)()


def test_cdk_gets_the_whole_tree(root: Path, tmp_path: Path) -> None:
    tree = LayerTrees(root, _HOST).core()
    output = tmp_path / "output"
    output.mkdir()

    assert CopyOf(tree).try_bundle(str(output))

    assert _files(Tree(output, "")) == _files(tree)
