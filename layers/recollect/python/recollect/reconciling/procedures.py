"""Whether two instructions are for one occasion or goal.

Pure. The goal is the clause that begins with "to", "before", "after", "when", "if" or "for": before a comma when it
comes first, to the end when it comes last.
"""

from recollect.reconciling.tokens import Kind, Reading

_OPENERS = frozenset(
    [
        "to",
        "before",
        "after",
        "when",
        "if",
        "for",
        "um",
        "pour",
        "para",
        "per",
        "avant",
        "après",
        "antes",
        "prima",
        "wenn",
        "nach",
        "vor",
        "on",
        "in",
    ]
)
_GOALS = _OPENERS - {"on", "in"}


def goal(reading: Reading) -> frozenset[str]:
    """Give the content words of what an instruction is for; none when it does not say."""
    tokens = reading.tokens
    comma = next((i for i, token in enumerate(tokens) if token.key == ","), None)
    if tokens and tokens[0].key in _OPENERS:
        end = comma if comma is not None else _shared_end(reading)
        return frozenset(t.key for t in tokens[1:end] if t.kind is not Kind.LINK)
    start = next((i for i, token in enumerate(tokens) if token.key in _GOALS and i > 0), None)
    if start is None:
        return frozenset()
    return frozenset(t.key for t in tokens[start + 1 :] if t.kind is not Kind.LINK)


def are_different(one: Reading, other: Reading) -> bool:
    """Tell whether both say what they are for, and it is not the same."""
    first, second = goal(one), goal(other)
    return bool(first) and bool(second) and not (first <= second or second <= first)


def have_one_goal(one: Reading, other: Reading) -> bool:
    """Tell whether both say what they are for, it is the same, and it comes first."""
    leads = all(r.tokens and r.tokens[0].key in _OPENERS for r in (one, other))
    return leads and goal(one) == goal(other) != frozenset()


def _shared_end(reading: Reading) -> int:
    return min(len(reading.tokens), 3)
