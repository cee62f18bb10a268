"""The whole service on a recorded account, with one user of so many memories: as the API's function runs it."""

import io
import json
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from recollect import keys, wiring
from recollect.aws.attributes import Item
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.aws.items import memory_item
from recollect.aws.log_items import entry_item, head_values, manifest_values
from recollect.aws.objects import S3ObjectStore
from recollect.compaction import DEFAULT
from recollect.controller import MemoryController
from recollect.http.entrypoint import lambda_entrypoint
from recollect.model import Change, Entry, Head, Memory, MemoryType, SegmentRef
from recollect.scan import Vectors
from recollect.segments import layout

from functions.api import handler
from tests.bench.account import Account, Meter
from tests.bench.compaction import run
from tests.bench.generated import DIMENSION, EMBEDDER, NOW_MS, WORDS, User, sentence
from tests.bench.units import item_bytes
from tests.support.builders import event
from tests.support.transcribers import transcriber

USER_ID = "ana"
EPOCH = "01K70000000000000000000000"
BUDGET_BYTES = 2**31
TAIL = DEFAULT.fold_entries // 2  # entries that are not folded, on average


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored of a user, as compactions that keep up leave it.

    Parameters
    ----------
    segments : sequence of bytes
        Oldest first.
    """

    user: User
    segments: Sequence[bytes]
    head: Head
    tail: Sequence[Entry]


@cache
def stored(total: int) -> Stored:
    """Make a user with so many memories, give or take a hundred; memories to come are of as many subjects."""
    user = User(max(total, 10_000))
    shape = run(total)
    tail = TAIL if total else 0
    seq = sum(shape.segments) + tail
    segments = [user.segment(rows) for rows in shape.segments]
    written = [layout.encode(segment.columns, segment.about) for segment in segments]
    manifest = tuple(
        SegmentRef(f"{EPOCH[:-4]}{number:04d}", rows, len(data))
        for number, (rows, data) in enumerate(zip(shape.segments, written, strict=True))
    )
    head = Head(
        seq=seq,
        epoch=EPOCH,
        embedder=EMBEDDER,
        dimension=DIMENSION,
        compacted_seq=seq - tail,
        manifest=manifest,
    )
    return Stored(user, written, head if total else Head(), user.entries(tail))


def account_of(what: Stored) -> Account:
    """Make an account that holds it; memories are made up when they are asked for."""
    account = Account(_recorded_memory)
    partition = account.partitions[keys.log_partition(USER_ID)]
    if what.head.seq:
        place = {"pk": {"S": keys.log_partition(USER_ID)}, "sk": {"S": keys.HEAD}}
        partition[keys.HEAD] = {**place, **head_values(what.head), **manifest_values(what.head)}
    partition |= {
        keys.entry(entry.seq): entry_item(USER_ID, entry.seq, _change(entry), entry.by) for entry in what.tail
    }
    for ref, data in zip(what.head.manifest, what.segments, strict=True):
        account.objects[keys.segment(USER_ID, EPOCH, ref.segment_id)] = data
    return account


def _change(entry: Entry) -> Change:
    return Change(
        operation=entry.operation,
        memory_id=entry.memory_id,
        version=entry.version,
        at_ms=entry.at_ms,
        reason=entry.reason,
        columns=entry.columns,
    )


def _recorded_memory(partition: str, sort: str) -> Item | None:
    if partition != keys.user_partition(USER_ID) or not sort.startswith(keys.memories()):
        return None
    memory = Memory(
        memory_id=sort.removeprefix(keys.memories()),
        content=sentence(WORDS, np.random.default_rng(zlib.crc32(sort.encode()))),
        type=MemoryType.SEMANTIC,
        tags=("tag-001", "tag-017"),
        session_id="session-000001",
        agent_id="agent-000001",
        created_at_ms=NOW_MS,
        updated_at_ms=NOW_MS,
    )
    return memory_item(USER_ID, memory, sort)


def memory_of(content: str) -> dict[str, Any]:
    """Make the body of a store."""
    return {"content": content, "tags": ["tag-001", "tag-017"], "session_id": "session-000001", "actor": "Ana"}


class Embedder:
    """Gives a text a vector near some of the user's memories, and counts its time."""

    name = EMBEDDER
    dimension = DIMENSION

    def __init__(self, user: User) -> None:
        self._user = user
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        started = time.perf_counter()
        rngs = [np.random.default_rng(zlib.crc32(text.encode())) for text in texts]
        vectors = np.stack([self._user.query(rng) for rng in rngs])
        self.seconds += time.perf_counter() - started
        return vectors


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was answered.

    Parameters
    ----------
    own_ms : float
        Without the account's and the embedder's time.
    stages_ms : Counter
        Own time by stage; ``rest`` is what no stage has.
    """

    answer: dict[str, Any]
    own_ms: float
    stages_ms: Counter[str]
    meter: Meter


_WAITS = {
    "refresh": ("dynamodb.Query",),
    "fetch": ("dynamodb.BatchGetItem",),
    "commit": ("dynamodb.TransactWriteItems",),
}


class Service:
    """The API's handler with everything below it."""

    def __init__(self, what: Stored) -> None:
        self.account = account_of(what)
        self._user = what.user
        self._embedder = Embedder(what.user)
        self._log = io.StringIO()
        self.controller = MemoryController(
            DynamoDBMemoryStore(self.account.dynamodb, "memories"),
            S3ObjectStore(lambda: self.account.s3, "objects"),
            self._embedder,
            wiring.surroundings(),
            BUDGET_BYTES,
        )
        with redirect_stdout(self._log):
            self._handle = lambda_entrypoint(
                f"bench-{id(self)}",
                lambda report: handler.create_app(self.controller, transcriber(self.controller), report),
            )
            self._handle(event("GET", "/health"), None)

    def call(self, method: str, path: str, body: Any) -> Call:
        """Send a request."""
        asked = event(method, f"/v1/users/{USER_ID}{path}", body)
        self.account.reset()
        self._embedder.seconds = 0.0
        self._log.seek(0)
        self._log.truncate()
        with redirect_stdout(self._log):
            started = time.perf_counter()
            answer = self._handle(asked, None)
            taken = time.perf_counter() - started
        meter = self.account.reset()
        if answer["statusCode"] >= 300:
            raise RuntimeError(answer["body"])
        own_ms = (taken - meter.seconds.total() - self._embedder.seconds) * 1000.0
        return Call(answer, own_ms, self._stages_ms(own_ms, meter), meter)

    def search(self, query: str, **more: Any) -> Call:
        """Search, and let what it counted as used be forgotten, as if seconds went by until the next one."""
        call = self.call("POST", "/search", {"query": query, **more})
        log = self.account.partitions[keys.log_partition(USER_ID)]
        for sort in [sort for sort in log if keys.is_touch(sort)]:
            del log[sort]
        return call

    def store(self, content: str) -> Call:
        """Store a memory."""
        return self.call("POST", "/memories", memory_of(content))

    def append(self, count: int) -> None:
        """Let the log grow by the entries of new memories, without a request."""
        log = self.account.partitions[keys.log_partition(USER_ID)]
        entries = self._user.entries(count)
        log |= {keys.entry(entry.seq): entry_item(USER_ID, entry.seq, _change(entry), entry.by) for entry in entries}
        log[keys.HEAD] = log[keys.HEAD] | {"seq": {"N": str(entries[-1].seq)}}

    def log_bytes(self) -> int:
        """Give the size of the newest entry of the log."""
        log = self.account.partitions[keys.log_partition(USER_ID)]
        return item_bytes(log[max(sort for sort in log if sort != keys.HEAD and not keys.is_touch(sort))])

    def _stages_ms(self, own_ms: float, meter: Meter) -> Counter[str]:
        lines = [json.loads(line) for line in self._log.getvalue().splitlines() if '"stages_ms"' in line]
        logged: dict[str, float] = lines[-1]["stages_ms"]
        stages: Counter[str] = Counter()
        for name in logged.keys() - {"route", "embed", "load"}:
            waited = sum(meter.seconds[request] for request in _WAITS.get(name, ()))
            stages[name] = logged[name] - waited * 1000.0  # type: ignore[assignment]
        stages["rest"] = own_ms - stages.total()  # type: ignore[assignment]
        return stages
