"""A memory and a new statement side by side: what goes into the rules, and what comes out of them.

Pure values.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from recollect.model import Memory, MemoryType
from recollect.reconciling import lexicon
from recollect.reconciling.aligning import align, align_loosely
from recollect.reconciling.announcing import announces
from recollect.reconciling.matching import Alignment
from recollect.reconciling.subjects import Subjects, compare
from recollect.reconciling.tokens import Kind, Reading

CLOSE_MIN_COSINE = 0.65
SAYING_LITTLE = frozenset({"i", "my", "their", "be", "have", "like", "dislike", "prefer", "want", "need"})
_DOERS = ("er", "or", "ist", "ian")
_SINCE = frozenset({"since", "seit", "depuis", "desde", "dal"})
CHANGED_MIN_COSINE = 0.5
APART_MIN_SHARE = 2 / 3
CLOSE_MIN_SHARE = 0.5  # of the content words of the shorter statement


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with what says who made it, where and when.

    Parameters
    ----------
    occurred_at_ms : int or None
        Epoch milliseconds; ``None`` when it is not known.
    """

    content: str
    type: MemoryType
    actor: str | None = None
    session_id: str | None = None
    occurred_at_ms: int | None = None

    @classmethod
    def of(cls, memory: Memory) -> Self:
        """Take what counts of a memory to be."""
        return cls(memory.content, memory.type, memory.actor, memory.session_id, memory.occurred_at_ms)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that is close by its embedding.

    Parameters
    ----------
    cosine : float
        Of its embedding and that of the new statement, in [-1, 1].
    """

    memory_id: str
    content: str
    type: MemoryType
    cosine: float
    actor: str | None = None
    session_id: str | None = None
    occurred_at_ms: int | None = None

    @classmethod
    def of(cls, memory: Memory, cosine: float) -> Self:
        """Take what counts of a memory that is there."""
        scopes = (memory.actor, memory.session_id, memory.occurred_at_ms)
        return cls(memory.memory_id, memory.content, memory.type, cosine, *scopes)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule found: an outcome, why, and the merged text if there is one."""

    outcome: str
    reason: str
    content: str | None = None


@dataclass(frozen=True)
class Pair:
    """A memory and a new statement, read."""

    old: Reading
    new: Reading
    cosine: float
    is_procedure: bool
    aligned: Alignment

    @classmethod
    def of(cls, old: Reading, new: Reading, cosine: float, *, is_procedure: bool) -> Self:
        """Put two readings side by side and align their words."""
        return cls(old, new, cosine, is_procedure, align(old, new, is_procedure=is_procedure))

    @cached_property
    def loosely_aligned(self) -> Alignment:
        """What corresponds further where one word says what the other says."""
        return align_loosely(self.old, self.new, self.aligned, is_procedure=self.is_procedure)

    @property
    def has_common_words(self) -> bool:
        """Whether words correspond that say more than who it is about."""
        return any(self.old.strong[i].key not in SAYING_LITTLE for i, _ in self.aligned.pairs)

    @property
    def is_close(self) -> bool:
        """Whether the two are close in meaning and share wording, so that a person should look.

        What announces a change of what the other is about need not share its wording.
        """
        if announces(self.new) and compare(self.old, self.new) is not Subjects.DIFFERENT:
            return self.cosine >= CHANGED_MIN_COSINE
        return self._shares_most(CLOSE_MIN_SHARE)

    @property
    def unified(self) -> Reading:
        """The new statement with the older one's words for what corresponds."""
        keys = {id(self.new.strong[j]): self.old.strong[i].key for i, j in self.aligned.pairs}
        tokens = tuple(replace(token, key=keys.get(id(token), token.key)) for token in self.new.tokens)
        verb = tokens[self.new.head].key if self.new.tokens[self.new.head : self.new.head + 1] else self.new.verb
        return replace(self.new, tokens=tokens, verb=verb if self.new.verb != "be" else "be")

    @property
    def has_other_tense(self) -> bool:
        """Whether one tells of the past, of a wish or of a guess, and the other does not."""
        old, new = self.old, self.new
        if old.intents == new.intents and self._names_the_doer():
            return False
        if old.intents == new.intents and all(_SINCE & {t.key for t in r.tokens} for r in (old, new)):
            return False  # "has lived there since" is so today
        return old.intents != new.intents or (old.is_past != new.is_past and "" not in (old.verb, new.verb))

    def _names_the_doer(self) -> bool:
        # "founded Lumen", "is the founder of Lumen"
        pairs = [(self.old.strong[i], self.new.strong[j]) for i, j in self.aligned.pairs]
        return {self.old.verb == "be", self.new.verb == "be"} == {True, False} and any(
            (one.key == self.old.verb and other.word.endswith(_DOERS))
            or (other.key == self.new.verb and one.word.endswith(_DOERS))
            for one, other in pairs
        )

    def apart(self, reason: str) -> Finding:
        """Give something else; a conflict when so many words correspond that who it is about may be misread."""
        left = [self.old.strong[i] for i in self.aligned.old], [self.new.strong[j] for j in self.aligned.new]
        is_told_of_others = any(one.key in lexicon.PEOPLE for side in left for one in side) or all(
            any(one.kind is Kind.NAME for one in side) for side in left
        )
        is_unsure = self._shares_most(APART_MIN_SHARE) and not is_told_of_others
        return Finding("conflict" if is_unsure else "created", reason)

    def _shares_most(self, least: float) -> bool:
        said = [sum(token.key not in SAYING_LITTLE for token in reading.strong) for reading in (self.old, self.new)]
        shared = sum(self.old.strong[i].key not in SAYING_LITTLE for i, _ in self.aligned.pairs)
        return self.cosine >= CLOSE_MIN_COSINE and shared >= max(1, least * min(said))

    def unsure(self, reason: str) -> Finding:
        """Give a conflict when the two are close, else something else."""
        return Finding("conflict" if self.is_close else "created", reason)


def scope(new: Statement, candidate: Candidate) -> Finding | None:
    """Keep apart what differs in type or speaker, and episodes that differ in time or session."""
    if new.type is not candidate.type:
        return Finding("created", f"a memory of type {new.type} leaves one of type {candidate.type} as it is")
    if new.actor != candidate.actor:
        return Finding("created", "somebody else says it")
    if new.type is MemoryType.EPISODIC and (new.session_id, new.occurred_at_ms) != (
        candidate.session_id,
        candidate.occurred_at_ms,
    ):
        return Finding("created", "an episode at another time or in another session")
    return None
