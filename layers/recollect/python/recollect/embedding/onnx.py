"""Embeds on the function's own CPU: all-MiniLM-L6-v2 in int8, from the files of the model layer.

Texts go through the model one at a time, so a vector depends on its text alone, and memory on one window. Nothing
is downloaded and nothing is written to disk. Heavy packages are imported when an embedder is made, not before.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from recollect.embedding.windows import mean_direction, spans, unit_vectors, well_formed
from recollect.scan import Vector, Vectors

MODEL_PACKAGE = "recollect_model"
_SPECIAL_TOKENS = 2
_ERRORS_ONLY = 3


class OnnxEmbedder:
    """Embedder that runs an ONNX model in this process; safe to share between threads.

    Parameters
    ----------
    folder : Path, optional
        Holds ``model.onnx`` and ``tokenizer.json``; the model layer's unless given.

    Raises
    ------
    ModuleNotFoundError
        If there is no model layer.
    """

    def __init__(self, folder: Path | None = None) -> None:
        from tokenizers import Tokenizer

        folder = model_folder() if folder is None else folder
        self._session = _session(folder / "model.onnx")
        said = self._session.get_modelmeta().custom_metadata_map
        self._name = str(said["name"])
        self._window = int(said["window"]) - _SPECIAL_TOKENS
        self._dimension = int(self._session.get_outputs()[0].shape[1])
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.encode_special_tokens = True  # "[SEP]" in a text is five characters, not a command
        self._begin = self._tokenizer.token_to_id("[CLS]")
        self._end = self._tokenizer.token_to_id("[SEP]")

    @property
    def name(self) -> str:
        """Name of weights and precision, as the model file says it."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see ``Embedder.embed``.

        Notes
        -----
        A text longer than the window is embedded in parts. Time and memory grow with its length only: each part
        costs the same.
        """
        vectors = np.empty((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._embed_one(text)
        return vectors

    def _embed_one(self, text: str) -> Vector:
        ids = self._tokenizer.encode(well_formed(text), add_special_tokens=False).ids
        parts = [ids[span] for span in spans(len(ids), self._window)]
        answers = np.concatenate([self._run(part) for part in parts])
        return mean_direction(unit_vectors(answers, len(parts), self._dimension), [len(part) for part in parts])

    def _run(self, ids: list[int]) -> Vectors:
        row = np.array([[self._begin, *ids, self._end]], dtype=np.int32)
        vectors: Vectors = self._session.run(None, {"input_ids": row})[0]
        return vectors


def model_folder() -> Path:
    """Find the files of the model layer, without importing anything.

    Raises
    ------
    ModuleNotFoundError
        If there is no model layer.
    """
    spec = find_spec(MODEL_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            f"no package {MODEL_PACKAGE}: add the model layer to the function, or build it with"
            " 'python layers/model/build.py'",
            name=MODEL_PACKAGE,
        )
    return Path(spec.submodule_search_locations[0])


def _session(model: Path) -> Any:
    """Load the model for one core: a second thread gains nothing on short texts, and waits by spinning."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # an arena keeps what the longest text ever needed
    options.enable_mem_pattern = False
    options.log_severity_level = _ERRORS_ONLY
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
