"""What each signal of the ranking adds: the same questions with one signal left out at a time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recollect import ranking
from recollect.partition import Partition
from recollect.ports import Embedder
from recollect.ranking import SIGNALS, Signals

from tests.eval.locomo import Conversation
from tests.eval.metrics import RANKS, mean, measures
from tests.eval.ranked import scored
from tests.eval.run import Ingested

WITHOUT: Mapping[str, Signals] = {
    "nothing": SIGNALS,
    "semantic": replace(SIGNALS, semantic=0.0),
    "lexical": replace(SIGNALS, semantic=1.0),
    **{name: replace(SIGNALS, **{name: 0.0}) for name in ("asking", "context", "time", "actor")},
    "all_but_semantic_and_lexical": Signals(SIGNALS.semantic, 0.0, 0.0, 0.0, 0.0),
}
Stored = tuple[Conversation, Ingested, Partition]


def figures(stored: Sequence[Stored], embedder: Embedder, now_ms: int) -> dict[str, float]:
    """Measure.

    Returns
    -------
    dict of str to float
        ``ablation.without_<signal>.<measure>``.
    """
    found: dict[str, float] = {}
    for name, signals in WITHOUT.items():
        measured = [one for each in stored for one in _measured(*each, embedder, signals, now_ms)]
        found |= {f"ablation.without_{name}.{measure}": value for measure, value in mean(measured).items()}
    return found


def _measured(
    conversation: Conversation,
    ingested: Ingested,
    partition: Partition,
    embedder: Embedder,
    signals: Signals,
    now_ms: int,
) -> Iterator[Mapping[str, float]]:
    for question in conversation.questions:
        best = ranking.best(scored(partition, question.text, embedder, now_ms, signals=signals), RANKS, 0.0)
        found = [partition.memory_id(int(row)) for row in best.rows]
        yield measures(found, ingested.answering(question))
