"""What maintenance of a user takes: a first run after a year without any but compaction, and a run with nothing to do.

Of 10,000 memories most are notes of single days, which fade and are archived; every fifth is one of five sayings on one
matter, which become one. Real adapters on a recorded account, so units are counted as DynamoDB counts them, and are the
same on every machine; seconds are this machine's, with what the account takes to answer.
"""

import time
from random import Random

from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.aws.objects import S3ObjectStore
from recollect.aws.reports import DynamoDBReportStore
from recollect.controller import MemoryController
from recollect.maintaining import Maintainer
from recollect.maintenance import Report
from recollect.model import MemoryType
from recollect.nominating import OnSimilar, ToStore
from recollect.steps import steps_of

from tests.bench.account import Account, Meter
from tests.bench.generated import NOW_MS, word
from tests.bench.service import BUDGET_BYTES, USER_ID
from tests.support.builders import Clock, asking, surroundings, to_store
from tests.support.embedder import HashingEmbedder
from tests.support.inmemory import InMemoryMemoryStore
from tests.support.inmemory_transcripts import InMemoryTranscriptStore

SIZE, QUICK_SIZE = 10_000, 2_000
BATCH = 25
SAYINGS = 5  # of a batch, on one matter
DAY_MS = 24 * 3600 * 1000
WORDS = 20_000
DIMENSION = 384


class Kept:
    """A user on a recorded account, with what maintains."""

    def __init__(self) -> None:
        self.clock = Clock(NOW_MS - 365 * DAY_MS)
        self.account = Account()
        store = DynamoDBMemoryStore(self.account.dynamodb, "memories")
        objects = S3ObjectStore(lambda: self.account.s3, "objects")
        around = surroundings(self.clock)
        self.of = MemoryController(store, objects, HashingEmbedder(dimension=DIMENSION), around, BUDGET_BYTES)
        steps = steps_of(self.of, InMemoryTranscriptStore(InMemoryMemoryStore()))
        reports = DynamoDBReportStore(self.account.dynamodb, "memories")
        self.maintainer = Maintainer(store, reports, steps, around, _raise)

    def fill(self, size: int) -> None:
        """Store memories over a year, and compact as they come."""
        random = Random(1)
        batches = size // BATCH
        for _ in range(batches):
            self.clock.now_ms += 365 * DAY_MS // batches
            self.of.store(asking(USER_ID), [*_sayings(random), *_notes(random, self.clock.now_ms)])
            self.of.workings.compactor.compact(USER_ID)

    def run(self) -> tuple[Report, Meter, float]:
        """Maintain once; tell what was done, asked of AWS, and how many seconds it took."""
        self.clock.now_ms += DAY_MS
        self.account.reset()
        started = time.perf_counter()
        report = self.maintainer.run(USER_ID, self.clock.now_ms + DAY_MS)
        return report, self.account.reset(), time.perf_counter() - started


def figures(*, is_quick: bool = False) -> dict[str, float]:
    """Measure.

    Returns
    -------
    dict of str to float
        ``maintenance.first`` and ``maintenance.idle``, for 10,000 memories each: ``.seconds``, ``.read_units``,
        ``.write_units``, ``.s3_gets``, ``.s3_puts``, and ``.changed`` memories, entries and objects.
    """
    size = QUICK_SIZE if is_quick else SIZE
    kept = Kept()
    kept.fill(size)
    found = _of("maintenance.first", *kept.run(), size)
    for _ in range(100):
        if not _changed(kept.run()[0]):
            break
    return found | _of("maintenance.idle", *kept.run(), size)


def _of(name: str, report: Report, meter: Meter, seconds: float, size: int) -> dict[str, float]:
    each = {step.value: done.changed for step, done in report.steps.items() if done.changed}
    print(f"  {name}: {seconds:.2f} s, {meter.read_units} + {meter.write_units} units, {each}", flush=True)
    counted = {
        "seconds": seconds,
        "read_units": meter.read_units,
        "write_units": meter.write_units,
        "s3_gets": meter.requests["s3.GetObject"],
        "s3_puts": meter.requests["s3.PutObject"],
        "changed": _changed(report),
    }
    return {f"{name}.{what}": value * SIZE / size for what, value in counted.items()}


def _changed(report: Report) -> int:
    return sum(step.changed for step in report.steps.values())


def _sayings(random: Random) -> list[ToStore]:
    matter, person = (word(random.randrange(WORDS)) for _ in range(2))
    texts = [f"In {matter} style {person} wants {word(random.randrange(WORDS))}" for _ in range(SAYINGS)]
    return [to_store(text, on_similar=OnSimilar.CREATE, tags=("preference",)) for text in texts]


def _notes(random: Random, now_ms: int) -> list[ToStore]:
    return [
        to_store(
            " ".join(word(random.randrange(WORDS)) for _ in range(12)),
            on_similar=OnSimilar.CREATE,
            type=MemoryType.EPISODIC,
            importance=0.2,
            occurred_at_ms=now_ms,
        )
        for _ in range(BATCH - SAYINGS)
    ]


def _raise(_: object, error: Exception) -> None:
    raise error
