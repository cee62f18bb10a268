"""Recollect and its peers behind one interface, each through what it offers to its users.

A store keeps one conversation, which is kindest to the peers that keep all users in one index. What is not set here
is as a peer has it. Its packages are imported when it is opened, so whoever lacks one still has the others.
"""

import pickle
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from io import BytesIO
from pathlib import Path
from tempfile import gettempdir
from types import FunctionType
from typing import Any, Protocol

from recollect import keys
from recollect.answers import SearchQuery
from recollect.aws.items import memory_item
from recollect.aws.log_items import entry_item
from recollect.controller import MemoryController
from recollect.model import Change, Entry
from recollect.ports import Embedder
from recollect.wiring import surroundings

from tests.bench.units import item_bytes
from tests.eval.locomo import Conversation, Turn
from tests.eval.metrics import RANKS
from tests.eval.run import ingest
from tests.support.builders import BUDGET_BYTES
from tests.support.inmemory import InMemoryMemoryStore, InMemoryObjectStore

USER = "user"


class Store(Protocol):
    """What keeps the turns of one conversation and finds them again."""

    def add(self, turn: Turn) -> str:
        """Keep a turn; give the id of its memory."""

    def search(self, text: str) -> Sequence[str]:
        """Find the ids of the best memories for a text, at most ``RANKS``, best first."""

    def close(self) -> int:
        """Let go of what was opened; give the bytes that all memories take."""


class Recollect:
    """The controller on stores in memory. Bytes: of its items, as DynamoDB would count them."""

    def __init__(self, _folder: Path, embedder: Embedder) -> None:
        self._store = InMemoryMemoryStore()
        objects = InMemoryObjectStore()
        self._controller = MemoryController(self._store, objects, embedder, surroundings(), BUDGET_BYTES)

    def add(self, turn: Turn) -> str:
        return ingest(self._controller, Conversation(USER, (turn,), ())).memory_of[turn.turn_id]

    def search(self, text: str) -> Sequence[str]:
        found = self._controller.search(USER, SearchQuery(text=text, k=RANKS, reinforces=False))
        return [hit.memory.memory_id for hit in found.hits]

    def close(self) -> int:
        log, _ = self._store.read_log(USER, 0)
        items = [entry_item(USER, one.seq, _change(one), one.by) for one in log if isinstance(one, Entry)]
        memories = [version.memory for version in self._store.every_version(USER)]
        items += [memory_item(USER, memory, keys.memory(memory.memory_id)) for memory in memories]
        return sum(map(item_bytes, items))


class Mem0:
    """mem0ai with Qdrant and SQLite in files; no model extracts anything. Bytes: of the files."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._folder = folder
        _give_fastembed_stop_words()
        qdrant = {"collection_name": "memories", "path": str(folder / "qdrant"), "on_disk": True}
        self._memory = import_module("mem0").Memory.from_config(
            {
                "embedder": {"provider": "langchain", "config": {"model": langchain_embeddings(embedder)}},
                "vector_store": {
                    "provider": "qdrant",
                    "config": {**qdrant, "embedding_model_dims": embedder.dimension},
                },
                "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": "http://127.0.0.1:9"}},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, turn: Turn) -> str:
        message = {"role": "user", "name": turn.actor, "content": told(turn)}
        (added,) = self._memory.add([message], user_id=USER, metadata={"date": date_of(turn)}, infer=False)["results"]
        return str(added["id"])

    def search(self, text: str) -> Sequence[str]:
        return [one["id"] for one in self._memory.search(text, filters={"user_id": USER}, top_k=RANKS)["results"]]

    def close(self) -> int:
        self._memory.close()
        self._memory.vector_store.client.close()
        return bytes_in(self._folder)


class LangGraph:
    """LangGraph's InMemoryStore with an index over the text. Bytes: of the store when pickled."""

    def __init__(self, _folder: Path, embedder: Embedder) -> None:
        index = {"dims": embedder.dimension, "embed": lists_of(embedder), "fields": ["text"]}
        self._store = import_module("langgraph.store.memory").InMemoryStore(index=index)

    def add(self, turn: Turn) -> str:
        value = {"text": told(turn), "speaker": turn.actor, "date": date_of(turn)}
        self._store.put((USER,), turn.turn_id, value)
        return turn.turn_id

    def search(self, text: str) -> Sequence[str]:
        return [item.key for item in self._store.search((USER,), query=text, limit=RANKS)]

    def close(self) -> int:
        return pickled_bytes(self._store)


class AgentRecall:
    """agentrecall-db with semantic search, in one SQLite file. Bytes: of the file."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        if not hasattr(sqlite3.Connection, "enable_load_extension"):
            sys.modules["sqlite3"] = import_module("pysqlite3")  # this Python's own cannot load sqlite-vec
        self._folder = folder
        embeds = _Embeds(embedder.dimension, lists_of(embedder))
        self._memory = import_module("agentrecall").Memory(folder / "agent.db", embeddings=True, embedder=embeds)

    def add(self, turn: Turn) -> str:
        return str(self._memory.add(told(turn), metadata={"speaker": turn.actor, "date": date_of(turn)}).id)

    def search(self, text: str) -> Sequence[str]:
        return [str(hit.id) for hit in self._memory.search(text, k=RANKS)]

    def close(self) -> int:
        self._memory.close()
        return bytes_in(self._folder)


@dataclass(frozen=True, slots=True)
class Peer:
    """One of those that are compared.

    Parameters
    ----------
    packages : tuple of str
        Distributions whose versions matter, its own first; it cannot do without them.
    """

    opens: Callable[[Path, Embedder], Store]
    packages: tuple[str, ...]


PEERS: Mapping[str, Peer] = {
    "recollect": Peer(Recollect, ()),
    "mem0": Peer(Mem0, ("mem0ai", "qdrant-client", "fastembed", "langchain")),
    "langgraph": Peer(LangGraph, ("langgraph", "langgraph-checkpoint")),
    "agentrecall": Peer(AgentRecall, ("agentrecall-db", "sqlite-vec")),
}


@dataclass(frozen=True, slots=True)
class _Embeds:
    """The embedder as agentrecall asks for it."""

    dim: int
    embed: Callable[[Sequence[str]], list[list[float]]]


def told(turn: Turn) -> str:
    """Write a turn out for peers, who rank by the text alone: of the forms tried, they find most in this one."""
    return f"{turn.actor} ({date_of(turn)}): {turn.content}"


def date_of(turn: Turn) -> str:
    """Write out when a turn was said, as the data set does."""
    at_ms = turn.occurred_at_ms
    return "" if at_ms is None else f"{datetime.fromtimestamp(at_ms / 1000, UTC):%-I:%M %p on %-d %B, %Y}"


def lists_of(embedder: Embedder) -> Callable[[Sequence[str]], list[list[float]]]:
    """Embed into lists, as peers ask for."""

    def embed(texts: Sequence[str]) -> list[list[float]]:
        vectors: list[list[float]] = embedder.embed(texts).tolist()
        return vectors

    return embed


def langchain_embeddings(embedder: Embedder) -> Any:
    """Make the embedder one of LangChain's."""
    embed = lists_of(embedder)
    methods: dict[str, Any] = {
        "embed_documents": lambda _, texts: embed(texts),
        "embed_query": lambda _, text: embed([text])[0],
    }
    return type("Embeddings", (import_module("langchain_core.embeddings").Embeddings,), methods)()


def _give_fastembed_stop_words() -> None:
    """Put stop words where fastembed looks for those of its BM25, which it would download."""
    folder = Path(gettempdir()) / "fastembed_cache" / "bm25"
    folder.mkdir(parents=True, exist_ok=True)
    words = import_module("stop_words").get_stop_words("english")
    (folder / "english.txt").write_text("\n".join(words), encoding="utf-8")


def bytes_in(folder: Path) -> int:
    """Add up the files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def pickled_bytes(kept: object) -> int:
    """Give the size of an object when pickled, without its functions and what embeds for it."""
    out = BytesIO()
    _DataPickler(out, protocol=5).dump(kept)
    return out.tell()


class _DataPickler(pickle.Pickler):
    def persistent_id(self, one: object) -> str | None:
        return "not data" if isinstance(one, FunctionType) or hasattr(one, "embed_query") else None


def _change(entry: Entry) -> Change:
    return Change(
        operation=entry.operation,
        memory_id=entry.memory_id,
        version=entry.version,
        at_ms=entry.at_ms,
        reason=entry.reason,
        columns=entry.columns,
    )
