"""An embedder whose packages are in another Python, so that what is only compared with is never installed here.

That Python runs a script with the texts as a JSON list on its standard input; rows of little-endian float32 come back.
"""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from recollect.scan import Vectors

MULTILINGUAL = Path(__file__).parent / "multilingual.py"


class Elsewhere:
    """Embedder that runs a script for each batch of texts.

    Parameters
    ----------
    python : Path
        An interpreter that has what the script imports.
    script : Path
        Its name is that of the embedder.
    """

    def __init__(self, python: Path, script: Path, dimension: int) -> None:
        self._command = (str(python), str(script))
        self.name = script.stem
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts."""
        sent = json.dumps(list(texts)).encode()
        done = subprocess.run(self._command, input=sent, stdout=subprocess.PIPE, check=True)
        vectors = np.frombuffer(done.stdout, dtype="<f4").reshape(len(texts), self.dimension).astype(np.float32)
        return np.ascontiguousarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
