"""English sentences that every checkout has: those of the service descriptions inside botocore, which is pinned."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import botocore
import numpy as np
from recollect.embedding.onnx import OnnxEmbedder
from recollect.scan import Vectors

from tests.bench.measuring import BUILD

_EVERY = 8  # of the services, which are hundreds
_OF_A_SERVICE = 300
_LENGTHS = range(30, 160)


def vectors(count: int) -> Vectors:
    """Embed sentences, none twice; they are kept in build/cache, since that takes a minute.

    Returns
    -------
    ndarray of shape (count, dim), float32, unit rows
    """
    embedder = OnnxEmbedder()
    path = BUILD / "cache" / f"bench-{embedder.name}-botocore-{botocore.__version__}-{count}.npy"
    if not path.exists():
        print(f"embedding {count} sentences …", flush=True)
        found = list(dict.fromkeys(_sentences()))
        chosen = np.random.default_rng(0).permutation(len(found))[:count]
        if len(chosen) < count:
            raise ValueError(f"there are only {len(found)} sentences")
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, embedder.embed([found[number] for number in chosen]))
    kept: Vectors = np.load(path)
    return kept


def _sentences() -> Iterator[str]:
    services = sorted(Path(botocore.__file__).parent.glob("data/*/*/service-2.json.gz"))
    for path in services[::_EVERY]:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            texts = dict.fromkeys(_documentation(json.load(file)))
        found = [sentence for text in texts for sentence in re.split(r"(?<=[.!?])\s+", text)]
        yield from [sentence for sentence in found if len(sentence) in _LENGTHS][:_OF_A_SERVICE]


def _documentation(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(text := node.get("documentation"), str):
            yield " ".join(re.sub(r"<[^>]+>", " ", text).split())
        for child in node.values():
            yield from _documentation(child)
    elif isinstance(node, list):
        for child in node:
            yield from _documentation(child)
