"""Measures one store with one conversation, in a process of its own: ``… NAME LOCOMO CONVERSATION FOLDER``.

What was measured goes to ``measured.json`` in the folder. What wants to leave this machine is refused, and told.
"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from recollect.embedding.onnx import OnnxEmbedder
from recollect.ports import Embedder
from recollect.scan import Vectors

from tests.eval import locomo
from tests.eval.locomo import Conversation
from tests.eval.metrics import measures
from tests.eval.peers.stores import PEERS, Store
from tests.eval.peers.table import Measured
from tests.eval.run import Asked

FILE = "measured.json"
_HERE = ("127.0.0.1", "::1", "localhost", None)


class Timed:
    """An embedder that knows how long it has embedded."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name = inner.name
        self.dimension = inner.dimension
        self.milliseconds = 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts."""
        started = time.perf_counter()
        vectors = self._inner.embed(texts)
        self.milliseconds += (time.perf_counter() - started) * 1000.0
        return vectors


class Closed:
    """An audit hook (see ``sys.addaudithook``) that keeps a process to this machine and knows what it refused."""

    def __init__(self) -> None:
        self.refused: set[str] = set()

    def __call__(self, event: str, about: tuple[Any, ...]) -> None:
        """Refuse names and addresses of other machines, and programs that might ask in this process's stead."""
        match event, about:
            case "socket.getaddrinfo", (host, *_) if host not in _HERE:
                self._refuse(host)
            case "socket.connect" | "socket.sendto", (_, (host, *_)) if host not in _HERE:
                self._refuse(host)
            case "subprocess.Popen" | "os.system", (program, *_):
                self._refuse(program)

    def _refuse(self, what: object) -> None:
        self.refused.add(str(what))
        raise PermissionError(f"{what} is not of this machine")


def measure(store: Store, conversation: Conversation, timed: Timed) -> Measured:
    """Add the turns one by one, then ask the questions; ``timed`` is what the store embeds with."""
    memory_of: dict[str, str] = {}
    added_ms, embedded_ms = [], []
    for turn in conversation.turns:
        timed.milliseconds = 0.0
        started = time.perf_counter()
        memory_of[turn.turn_id] = store.add(turn)
        added_ms.append((time.perf_counter() - started) * 1000.0)
        embedded_ms.append(timed.milliseconds)
    asked = []
    for question in conversation.questions:
        started = time.perf_counter()
        ranking = store.search(question.text)
        milliseconds = (time.perf_counter() - started) * 1000.0
        measured = measures(ranking, {memory_of[turn_id] for turn_id in question.evidence})
        asked.append(Asked(conversation.conversation_id, question.category, "default", measured, milliseconds))
    return Measured(asked, added_ms, embedded_ms, store.close())


def main(name: str, path: Path, conversation_id: str, folder: Path) -> None:
    """Measure one store with one conversation of a file."""
    closed = Closed()
    sys.addaudithook(closed)
    (conversation,) = (one for one in locomo.load(path) if one.conversation_id == conversation_id)
    timed = Timed(OnnxEmbedder())
    (folder / "store").mkdir()
    measured = measure(PEERS[name].opens(folder / "store", timed), conversation, timed)
    said = {**asdict(measured), "refused": sorted(closed.refused)}
    (folder / FILE).write_text(json.dumps(said), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
