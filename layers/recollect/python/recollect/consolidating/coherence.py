"""Which memories of a cluster can be told together: of one matter, with the same metadata, and no contradiction."""

from collections.abc import Callable, Sequence

from recollect.consolidating.clusters import CLUSTER_MIN_COUNT
from recollect.consolidating.composing import compose
from recollect.model import TAG_MAX_COUNT, Memory
from recollect.reconcile import Candidate, Statement, reconcile
from recollect.reconciling import lexicon
from recollect.text import stem, terms

TOGETHER_MAX_CHARS = 2_000
Cosine = Callable[[str, str], float]
LIGHT = frozenset(
    stem(word)
    for words in (
        *(lexicon.ARTICLES, lexicon.COPULAS, lexicon.AUXILIARIES, lexicon.FILLERS, lexicon.PERFECT, lexicon.SELF),
        *(lexicon.MY, lexicon.THEIR, lexicon.LINKS, lexicon.MARKERS, lexicon.LIGHT, lexicon.VERB_FORMS),
        *(lexicon.VERBS, {"not", "no", "never", "always", "it", "that", "this", "s", "t"}),
    )
    for word in words
)


def coherent(members: Sequence[Memory], cosine: Cosine, *, is_extension: bool) -> list[Memory]:
    """Take from a cluster what can be told together with its first memory; nothing if that is too little.

    Parameters
    ----------
    members : sequence of Memory
        The first one is the one that all others are close to.
    cosine : callable
        Of the embeddings of two memories, by their ids.
    is_extension : bool
        Whether the first one was made of others.
    """
    kept = list(members[:1])
    for one in members[1:]:
        if _goes_with(one, kept) and not _is_contradiction(one, kept, cosine):
            kept.append(one)
    return kept if len(kept) >= (2 if is_extension else CLUSTER_MIN_COUNT) else []


def matter(text: str) -> set[str]:
    """Give the terms of a text that tell what it is about."""
    return set(terms(text)) - LIGHT


def _goes_with(one: Memory, kept: Sequence[Memory]) -> bool:
    first, together = kept[0], [*kept, one]
    return (
        one.metadata_json == first.metadata_json
        and not matter(one.content).isdisjoint(matter(first.content))
        and len({tag for each in together for tag in each.tags}) <= TAG_MAX_COUNT
        and len(compose([each.content for each in together])) <= TOGETHER_MAX_CHARS
    )


def _is_contradiction(one: Memory, kept: Sequence[Memory], cosine: Cosine) -> bool:
    """Tell whether by the rules of a store one would take the place of another.

    Where those are not sure, the two are linked as a conflict, and not here; or somebody has decided that both hold.
    """
    for other in kept:
        older, newer = sorted((one, other), key=lambda memory: (memory.created_at_ms, memory.memory_id))
        candidate = Candidate.of(older, cosine(older.memory_id, newer.memory_id))
        if reconcile(Statement.of(newer), [candidate]).outcome == "superseded":
            return True
    return False
