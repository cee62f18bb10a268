"""Which memories of a cluster can be told together: of one matter, with the same metadata, and no contradiction."""

from collections.abc import Sequence

from recollect.consolidating.clusters import CLUSTER_MIN_COUNT
from recollect.consolidating.composing import compose
from recollect.model import TAG_MAX_COUNT, Memory
from recollect.reconciling import lexicon
from recollect.reconciling.pair import Candidate, Statement
from recollect.reconciling.verdict import judge
from recollect.text import stem, terms

TOGETHER_MAX_CHARS = 2_000
CLOSE, NOT_CLOSE = 0.95, 0.5
_LIGHT = frozenset(
    stem(word)
    for words in (
        *(lexicon.ARTICLES, lexicon.COPULAS, lexicon.AUXILIARIES, lexicon.FILLERS, lexicon.PERFECT, lexicon.SELF),
        *(lexicon.MY, lexicon.THEIR, lexicon.LINKS, lexicon.MARKERS, lexicon.LIGHT, lexicon.VERB_FORMS),
        *(lexicon.VERBS, {"not", "no", "never", "always", "it", "that", "this", "s", "t"}),
    )
    for word in words
)


def coherent(members: Sequence[Memory], *, is_extension: bool) -> list[Memory]:
    """Take from a cluster what can be told together with its first memory; nothing if that is too little.

    Parameters
    ----------
    members : sequence of Memory
        The first one is the one that all others are close to.
    is_extension : bool
        Whether the first one was made of others.
    """
    kept = list(members[:1])
    for one in members[1:]:
        if _goes_with(one, kept, is_extension=is_extension):
            kept.append(one)
    return kept if len(kept) >= (2 if is_extension else CLUSTER_MIN_COUNT) else []


def matter(text: str) -> set[str]:
    """Give the terms of a text that tell what it is about."""
    return set(terms(text)) - _LIGHT


def _goes_with(one: Memory, kept: Sequence[Memory], *, is_extension: bool) -> bool:
    first, together = kept[0], [*kept, one]
    return (
        one.metadata_json == first.metadata_json
        and not matter(one.content).isdisjoint(matter(first.content))
        and len({tag for each in together for tag in each.tags}) <= TAG_MAX_COUNT
        and len(compose([each.content for each in together])) <= TOGETHER_MAX_CHARS
        and not any(_is_contradiction(one, each) for each in kept[is_extension:])
        and not (is_extension and _outcome(first, one, CLOSE) == "superseded")
    )


def _is_contradiction(one: Memory, other: Memory) -> bool:
    """Tell whether one may retire the other by the rules of a store, or they are in conflict though not close."""
    older, newer = sorted((one, other), key=lambda memory: (memory.created_at_ms, memory.memory_id))
    return _outcome(older, newer, CLOSE) == "superseded" or _outcome(older, newer, NOT_CLOSE) == "conflict"


def _outcome(older: Memory, newer: Memory, cosine: float) -> str:
    return judge(Statement.of(newer), Candidate.of(older, cosine)).outcome
