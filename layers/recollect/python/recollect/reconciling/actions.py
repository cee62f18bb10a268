"""What a statement says is going on, and whether two statements tell of one action.

Pure.
"""

from recollect.reconciling.tokens import Reading
from recollect.reconciling.wordlists import words

_NO_ACTIONS = words("spring string king ring thing something nothing anything morning evening wedding building ceiling")


def have_one_action(one: Reading, other: Reading) -> bool:
    """Tell whether neither statement says what is going on, or both say the same ("is learning", "learns")."""
    if not is_progressive(one) and not is_progressive(other):
        return True
    actions = [r.tokens[r.head].key if is_progressive(r) else r.verb for r in (one, other)]
    return actions[0] == actions[1]


def is_progressive(reading: Reading) -> bool:
    """Tell whether a statement says what is going on ("is running"), which another such statement does not replace."""
    following = reading.tokens[reading.head : reading.head + 1]
    word = following[0].text.casefold() if following else ""
    return reading.verb == "be" and word.endswith("ing") and word not in _NO_ACTIONS
