"""The words of two statements that have a counterpart, the ways in which one finds its own, and what is left.

Pure.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from recollect.reconciling import senses
from recollect.reconciling.tokens import Kind, Reading, Token
from recollect.text import stem

PARTICLE_MAX_STEPS = 4  # "put some money aside"


@dataclass(frozen=True, slots=True)
class Alignment:
    """Corresponding words of two statements.

    Parameters
    ----------
    pairs : tuple of (int, int)
        Positions among the strong tokens of the older and of the newer statement, in the order of the older.
    old, new : tuple of int
        Positions that have no counterpart and say something.
    light_old, light_new : tuple of int
        Positions that have no counterpart and add nothing where all else is equal.
    """

    pairs: tuple[tuple[int, int], ...]
    old: tuple[int, ...]
    new: tuple[int, ...]
    light_old: tuple[int, ...] = ()
    light_new: tuple[int, ...] = ()


class Matcher:
    """Pairs the strong tokens of two statements, step by step; what has a counterpart is not looked at again."""

    def __init__(self, first: tuple[Token, ...], second: tuple[Token, ...], known: Alignment | None = None) -> None:
        self.first, self.second = first, second
        self._old = dict.fromkeys(range(len(first)) if known is None else known.old)
        self._new = dict.fromkeys(range(len(second)) if known is None else known.new)
        self._light_old = dict.fromkeys(() if known is None else known.light_old)
        self._light_new = dict.fromkeys(() if known is None else known.light_new)
        self._pairs: list[tuple[int, int]] = [] if known is None else list(known.pairs)
        self._known = len(self._pairs)

    def found(self) -> Alignment:
        """Give what was paired and what is left."""
        groups = self._old, self._new, self._light_old, self._light_new
        return Alignment(tuple(sorted(self._pairs)), *(tuple(sorted(group)) for group in groups))

    def match(self, corresponds: Callable[[Token, Token], bool]) -> None:
        """Pair each word with the first that corresponds to it."""
        if not self._new:
            return
        for i in tuple(self._old):
            j = next((j for j in self._new if corresponds(self.first[i], self.second[j])), None)
            if j is not None:
                self._pair(i, j)

    def drop(self, light: frozenset[str]) -> None:
        """Leave out words that say nothing; an amount counts where the other statement has another."""
        sides = ((self.first, self._old, self._light_old), (self.second, self._new, self._light_new))
        amounts = [
            any(_is_amount(tokens[at]) and tokens[at].key not in light for at in free) for tokens, free, _ in sides
        ]
        for (tokens, free, dropped), has_amount in zip(sides, reversed(amounts), strict=True):
            for at in tuple(free):
                if tokens[at].key in light and not (has_amount and _is_amount(tokens[at])):
                    del free[at]
                    dropped[at] = None

    def match_phrases(self, corresponds: Callable[[str, str], bool]) -> None:
        """Pair a verb and its particle with one word ("put aside", "save")."""
        for is_old, tokens, mine, others, free in (
            (True, self.first, self._old, self.second, self._new),
            (False, self.second, self._new, self.first, self._old),
        ):
            for at in tuple(mine):
                particle = next((i for i in range(at + 1, at + PARTICLE_MAX_STEPS) if i in mine), None)
                if at not in mine or particle is None:
                    continue
                phrase = f"{tokens[at].word}_{tokens[particle].word}"
                if not senses.look_up(phrase).words:
                    continue
                k = next((k for k in free if others[k].kind is Kind.WORD and corresponds(phrase, others[k].word)), -1)
                if k >= 0:
                    for part in (at, particle):
                        self._pair(*((part, k) if is_old else (k, part)))

    def match_verbs(self, at: tuple[int, int], corresponds: Callable[[Token, Token], bool]) -> None:
        """Pair the main verbs at two positions, of which one may have been left out ("has", "holds")."""
        i, j = at
        is_free = (i in self._old or i in self._light_old) and (j in self._new or j in self._light_new)
        if is_free and corresponds(self.first[i], self.second[j]):
            self._pair(i, j)

    def drop_implied(self, says: Callable[[Token, Token], bool]) -> None:
        """Leave out what is said by a word that has its counterpart: "a married woman" beside "wife".

        What differs is explained by nothing: only one of the statements may have words left.
        """
        if self._old and self._new:
            return
        first, second = (
            [tokens[pair[side]] for pair in self._pairs] for side, tokens in enumerate((self.first, self.second))
        )
        for tokens, mine, others in (
            (self.first, self._old, second),
            (self.first, self._light_old, second),
            (self.second, self._new, first),
            (self.second, self._light_new, first),
        ):
            for at in [at for at in mine if any(says(other, tokens[at]) for other in others)]:
                del mine[at]

    def match_compounds(self, old: Reading, new: Reading) -> None:
        """Pair one word with the two that it is written as in the other statement."""
        if not self._old and not self._new:
            return
        parts = _joined(new), _joined(old)
        for i in tuple(self._old):
            self._match_compound(i, parts[0], self.first, self._new, is_old=True)
        for j in tuple(self._new):
            self._match_compound(j, parts[1], self.second, self._old, is_old=False)

    def match_hyphens(self) -> None:
        """Pair a word with a hyphen with its parts ("hand-washed", "wash by hand")."""
        for is_old, tokens, mine, others, free in (
            (True, self.first, self._old, self.second, self._new),
            (False, self.second, self._new, self.first, self._old),
        ):
            for at in tuple(mine):
                if "-" not in tokens[at].text:
                    continue
                parts = [stem(part) for part in tokens[at].text.casefold().split("-")]
                found = [next((k for k in free if others[k].key == part), -1) for part in parts]
                if -1 not in found and len(set(found)) == len(found):
                    for k in found:
                        self._pair(*((at, k) if is_old else (k, at)))

    def _match_compound(
        self,
        at: int,
        other: dict[str, tuple[int, ...]],
        tokens: tuple[Token, ...],
        free: Iterable[int],
        *,
        is_old: bool,
    ) -> None:
        parts = other.get(tokens[at].key)
        if parts is None or not set(parts) <= set(free):
            return
        for part in parts:
            self._pair(*((at, part) if is_old else (part, at)))

    def _pair(self, i: int, j: int) -> None:
        for group, at in ((self._old, i), (self._light_old, i), (self._new, j), (self._light_new, j)):
            group.pop(at, None)
        self._pairs.append((i, j))


def _joined(reading: Reading) -> dict[str, tuple[int, ...]]:
    # "on stage" as "onstage", "stand up" as "standup", "build again" as "rebuild"
    found: dict[str, tuple[int, ...]] = {}
    at = -1
    before: Token | None = None
    for token in reading.tokens:
        at += token.kind is not Kind.LINK
        if before is not None and token.kind is not Kind.LINK:
            whole = before.key + token.key
            found[whole] = (at,) if before.kind is Kind.LINK else (at - 1, at)
        if reading.is_marked and token.kind is not Kind.LINK:
            found[f"re{token.key}"] = (at,)
        before = token
    return found


def _is_amount(token: Token) -> bool:
    return token.kind is Kind.NUMBER
