"""Which memories of a cluster can be told together: about the same one, of one matter, and no contradiction.

Labels must be the same too: by tags and metadata others filter, and what is told together has one set of them.
"""

from collections.abc import Callable, Iterator, Sequence

from recollect.consolidating.clusters import CLUSTER_MIN_COUNT
from recollect.consolidating.composing import compose
from recollect.model import Memory, MemoryType
from recollect.reconcile import Candidate, Statement, reconcile
from recollect.reconciling import lexicon
from recollect.reconciling.reading import read
from recollect.reconciling.sentences import sentences
from recollect.reconciling.subjects import Subjects, compare, subject
from recollect.reconciling.tokens import Kind, Reading
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
    if not kept:
        return []
    of_first, about = matter(kept[0]), _opening(kept[0])
    for one in members[1:]:
        if not _is_labelled_alike(one, kept[0]) or matter(one).isdisjoint(of_first):
            continue
        if _is_about_the_same(one, about) and _has_room(one, kept) and not _is_contradiction(one, kept, cosine):
            kept.append(one)
    return kept if len(kept) >= (2 if is_extension else CLUSTER_MIN_COUNT) else []


def matter(memory: Memory) -> set[str]:
    """Give the terms that tell what a memory is about, beside whom it is about and when that was."""
    found = {term for sentence in sentences(memory.content) for term in _matter(read(sentence))}
    return found - set(terms(memory.actor or "")) - LIGHT


def _matter(reading: Reading) -> Iterator[str]:
    about = subject(reading)
    named = [one.text for one in reading.tokens if one.kind in (Kind.WORD, Kind.NAME) and one not in about]
    return terms(" ".join(named))


def _is_labelled_alike(one: Memory, first: Memory) -> bool:
    return one.metadata_json == first.metadata_json and set(one.tags) == set(first.tags)


def _opening(memory: Memory) -> Reading:
    return read(next(iter(sentences(memory.content)), ""))


def _is_about_the_same(one: Memory, about: Reading) -> bool:
    """Tell whether a memory does not differ from another one in whom it is about; instructions are about nobody."""
    return one.type is MemoryType.PROCEDURAL or compare(_opening(one), about) is not Subjects.DIFFERENT


def _has_room(one: Memory, kept: Sequence[Memory]) -> bool:
    return len(compose([each.content for each in (*kept, one)])) <= TOGETHER_MAX_CHARS


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
