"""An embedder without a model: words hashed into a few dimensions, so that shared words mean similar vectors."""

import zlib
from collections.abc import Sequence

import numpy as np
from recollect.errors import Unavailable
from recollect.scan import Vectors

from tests.support.vectors import unit_rows


class HashingEmbedder:
    """Deterministic; can be told to fail, as a model that does not answer."""

    def __init__(self, name: str = "hashing", dimension: int = 64) -> None:
        self.name = name
        self.dimension = dimension
        self.is_down = False
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.is_down:
            raise Unavailable("the model does not answer")
        self.texts += texts
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.casefold().split() or [text]:
                vectors[row, zlib.crc32(word.encode()) % self.dimension] += 1.0
        return unit_rows(vectors)
