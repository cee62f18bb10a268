from pathlib import Path, PurePosixPath

import pytest

from infra.pins import LAMBDA_TARGET, UnusablePins, check_installed, check_size, is_unused, normalised, parse_pins

_ROOT = Path(__file__).resolve().parents[2]
_REQUIREMENTS = _ROOT / "layers" / "dependencies" / "requirements.txt"


def test_the_layers_pins_are_exact() -> None:
    pins = parse_pins(_REQUIREMENTS.read_text())

    assert {"numpy", "pydantic", "pydantic-core", "botocore", "onnxruntime", "tokenizers"} <= pins.keys()


def test_the_layer_holds_the_versions_that_are_tested_here() -> None:
    lines = [line.split(";")[0].strip() for line in (_ROOT / "requirements.txt").read_text().splitlines()]
    tested = {normalised(name): version for name, _, version in (line.partition("==") for line in lines)}

    pins = parse_pins(_REQUIREMENTS.read_text())

    assert pins == {name: tested.get(name) for name in pins}


@pytest.mark.parametrize("line", ["numpy", "numpy>=2", "-r other.txt", "numpy==2; python_version > '3'", "a==1\nA==1"])
def test_a_line_that_is_not_one_exact_pin_is_refused(line: str) -> None:
    with pytest.raises(UnusablePins, match="not one exact pin"):
        parse_pins(line)


def test_names_are_compared_as_package_indexes_do() -> None:
    check_installed(parse_pins("aws_lambda_powertools==3.37.0"), [("AWS-Lambda.Powertools", "3.37.0")])


def test_every_difference_between_pinned_and_installed_is_told() -> None:
    pins = parse_pins("numpy==2.4.6\npydantic_core==2.50.5\nsix==1.17.0")

    with pytest.raises(UnusablePins) as caught:
        check_installed(pins, [("numpy", "1.26.0"), ("pydantic-core", "2.50.5"), ("stray", "1")])

    assert str(caught.value) == (
        "numpy is 1.26.0, pinned is 2.4.6; six is missing, pinned is 1.17.0; stray is 1, pinned is nothing"
    )


def test_pip_is_told_all_four_platforms() -> None:
    arguments = LAMBDA_TARGET.pip_arguments

    assert [arguments[i + 1] for i, each in enumerate(arguments) if each == "--platform"] == [
        "manylinux_2_28_aarch64",
        "manylinux_2_27_aarch64",
        "manylinux2014_aarch64",
        "manylinux_2_17_aarch64",
    ]


@pytest.mark.parametrize(
    ("path", "unused"),
    [
        ("botocore/data/ec2/2016-11-15/service-2.json.gz", True),
        ("botocore/data/dynamodb/2012-08-10/service-2.json.gz", False),
        ("botocore/data/endpoints.json", False),
        ("numpy/_core/tests/test_umath.py", True),
        ("numpy/testing/__init__.py", False),
        ("numpy/__init__.pyi", True),
        ("onnxruntime/transformers/benchmark.py", True),
        ("onnxruntime/capi/libonnxruntime.so.1.32.0", True),
        ("onnxruntime/capi/onnxruntime_pybind11_state.cpython-313-aarch64-linux-gnu.so", False),
        ("pydantic-2.14.4.dist-info/RECORD", True),
        ("pydantic-2.14.4.dist-info/METADATA", False),
        ("pydantic-2.14.4.dist-info/licenses/LICENSE", False),
        ("bin/f2py", True),
    ],
)
def test_only_what_nothing_reads_is_dropped(path: str, unused: bool) -> None:
    assert is_unused(PurePosixPath(path)) is unused


def test_parts_below_lambdas_limit_pass() -> None:
    check_size({"api": 1, "dependencies": 249 * 2**20})


def test_parts_above_lambdas_limit_are_refused_with_their_sizes() -> None:
    with pytest.raises(UnusablePins, match=r"dependencies 200 MB, model 50 MB"):
        check_size({"dependencies": 200 * 2**20, "model": 50 * 2**20})
