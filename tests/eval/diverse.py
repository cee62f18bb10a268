"""What it brings and costs to thin what is alike: with every turn told once, and with every turn told twice.

Told twice, a turn is a second time in the memory, in other words by rule; who has found it once gains nothing from its
copy, which takes a place all the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.diversity import varied
from recollect.partition import Partition
from recollect.ports import Embedder
from recollect.ranking import Ranked

from tests.eval import robust
from tests.eval.locomo import Conversation
from tests.eval.metrics import RANKS, mean, measures
from tests.eval.ranked import scored
from tests.eval.run import Ingested

DIVERSITIES = (0.0, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation in a memory of its own.

    Parameters
    ----------
    copies : dict of str to str
        Memories that say what others say, to those.
    """

    conversation: Conversation
    ingested: Ingested
    partition: Partition
    copies: Mapping[str, str]


def again(conversation: Conversation) -> Conversation:
    """Tell it in other words, in sessions of its own."""
    told = robust.paraphrased(conversation)
    return replace(told, turns=tuple(replace(turn, session_id=f"{turn.session_id} again") for turn in told.turns))


def figures(prefix: str, stored: Sequence[Told], embedder: Embedder, now_ms: int) -> dict[str, float]:
    """Measure.

    Returns
    -------
    dict of str to float
        ``<prefix>.<diversity in hundredths>.<measure>``.
    """
    ranked = [
        (told, scored(told.partition, question.text, embedder, now_ms), told.ingested.answering(question))
        for told in stored
        for question in told.conversation.questions
    ]
    found: dict[str, float] = {}
    for diversity in DIVERSITIES:
        measured = [measures(list(_found(told, one, diversity)), relevant) for told, one, relevant in ranked]
        found |= {f"{prefix}.{round(100 * diversity)}.{name}": value for name, value in mean(measured).items()}
    return found


def _found(told: Told, ranked: Ranked, diversity: float) -> Iterator[str]:
    seen: set[str] = set()
    for row in varied(told.partition, ranked, RANKS, 0.0, diversity).rows:
        memory_id = told.partition.memory_id(int(row))
        original = told.copies.get(memory_id, memory_id)
        yield f"copy {memory_id}" if original in seen else original
        seen.add(original)
