"""Ranks the rows of a partition for a question, as a search does, where an evaluation needs more than the hits."""

from recollect import named_times, ranking, signs
from recollect.extracting import dates
from recollect.filtering import visible
from recollect.filters import ACTIVE
from recollect.partition import Partition
from recollect.ports import Embedder
from recollect.ranking import DEFAULT_WEIGHTS, SIGNALS, Asked, Mode, Ranked, Signals


def scored(
    partition: Partition,
    text: str,
    embedder: Embedder,
    now_ms: int,
    mode: Mode = Mode.HYBRID,
    signals: Signals = SIGNALS,
) -> Ranked:
    """Score the active memories against a question."""
    asked = Asked(
        text=text,
        vector=embedder.embed([signs.text_to_embed(text, partition)])[0],
        mode=mode,
        weights=DEFAULT_WEIGHTS,
        now_ms=now_ms,
        times=named_times.spans(dates.resolved(text, now_ms), now_ms),
        signals=signals,
    )
    return ranking.score(partition, visible(partition, ACTIVE, now_ms), asked)
