"""What a new statement means beside the memories that are close to it: the one decision of reconciling.

Pure: no clock, no randomness, no I/O. The caller nominates by cosine and handles word-for-word repeats; the rules
(``reconciling``) decide, and say why. No memory is retired without a structured reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.reconciling.pair import Candidate, Finding, Statement
from recollect.reconciling.reading import read
from recollect.reconciling.verdict import RULED_MAX_CHARS, judge

NOMINATION_MIN_COSINE = 0.52  # measured: duplicates from .77, added detail from .58, most of what is unrelated below .4
NOMINATION_MAX_COUNT = 10
_ORDER = ("unchanged", "superseded", "merged", "conflict", "created")

__all__ = ["NOMINATION_MAX_COUNT", "NOMINATION_MIN_COSINE", "Candidate", "Statement", "Verdict", "reconcile"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a new statement.

    Parameters
    ----------
    outcome : str
        ``created``, ``unchanged``, ``merged``, ``superseded`` or ``conflict``.
    target : str or None
        The memory concerned; ``None`` for ``created``.
    reason : str
        What decided, in words.
    content : str or None
        For ``merged``: a text that holds what both say.
    """

    outcome: str
    target: str | None
    reason: str
    content: str | None = None


def reconcile(new: Statement, candidates: Sequence[Candidate]) -> Verdict:
    """Decide what a new statement means beside the memories that are close to it.

    The order of the candidates does not matter: the most telling outcome holds, then the higher cosine, then the
    smaller id.
    """
    if not candidates:
        return Verdict("created", None, "nothing close is stored")
    reading = read(new.content[:RULED_MAX_CHARS])
    judged = [(judge(new, reading, candidate), candidate) for candidate in candidates]
    finding, candidate = min(judged, key=lambda one: _rank(*one))
    if finding.outcome == "created":
        return Verdict("created", None, finding.reason)
    return Verdict(finding.outcome, candidate.memory_id, finding.reason, finding.content)


def _rank(finding: Finding, candidate: Candidate) -> tuple[int, float, str]:
    return _ORDER.index(finding.outcome), -candidate.cosine, candidate.memory_id
