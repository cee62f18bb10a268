"""What a cold start loads is decided by imports; looked at in fresh processes, without a clock."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATHS = [
    str(ROOT / part)
    for part in ("functions/api", "layers/recollect/python", "build/layers/model/python", "build/layers/lexicon/python")
]
PURE = [
    "recollect.controller",
    "recollect.ranking",
    "recollect.partition",
    "recollect.changes",
    "recollect.context",
    "recollect.embedding.windows",
    "recollect.extracting.reading",
]
ENVIRONMENT = {"AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


def loaded_by(code: str) -> set[str]:
    program = f"import sys, json; sys.path[:0] = {PATHS!r}; {code}; print(json.dumps(list(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


@pytest.mark.parametrize("module", PURE)
def test_a_pure_module_loads_no_aws_no_powertools_and_no_pydantic(module: str) -> None:
    loaded = loaded_by(f"import {module}")

    assert loaded.isdisjoint({"boto3", "botocore", "aws_lambda_powertools", "pydantic", "onnxruntime", "tokenizers"})


def wired(embedder: str) -> set[str]:
    settings = f"Settings('memories', 'objects', {embedder!r}, 'amazon.titan-embed-text-v2:0', 256)"
    make = f"from recollect.settings import Settings; handler.wiring.memory_controller({settings})"
    return loaded_by(f"import handler; {make}")


def test_the_handler_loads_the_embedder_that_it_uses_and_no_other() -> None:
    assert {"onnxruntime", "tokenizers"} <= wired("onnx")
    assert "recollect.aws.bedrock" not in wired("onnx")
    assert wired("bedrock").isdisjoint({"onnxruntime", "tokenizers", "recollect.embedding.onnx"})


def test_the_handler_loads_nothing_that_a_request_does_not_need() -> None:
    unused = {
        "boto3",
        "s3transfer",
        "aws_xray_sdk",
        "requests",
        "moto",
        "onnx",
        "torch",
        "huggingface_hub",
        "recollect_model",
    }

    assert wired("onnx").isdisjoint(unused)


def test_the_patterns_of_the_rules_are_compiled_when_something_is_extracted_and_not_before() -> None:
    assert "recollect.extracting.reading" not in loaded_by("import recollect.extracting.rules")
