"""What a user says day by day over years, made from a seed: notes, facts that change, notices that run out.

Names in a user's sentences begin with the user's own two letters, so that each sentence tells whose it is, and no two
values of facts are alike. The sentences are such that words alone tell what is close to what: an embedder that counts
words is enough for them, so that two years take seconds.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

from recollect.model import MemoryType
from recollect.storing import OnSimilar, ToStore

from tests.support.builders import to_store
from tests.support.consolidating import STYLE

DAY_MS = 24 * 3600 * 1000
EXPIRING = "notice"  # tags
PROFILE = "preference"
NOTE_EVERY, REMARK_EVERY, FACT_EVERY, CHANGE_EVERY, NOTICE_EVERY = 1, 3, 9, 13, 7  # days
STYLE_EVERY, PIN_EVERY, CLASH_EVERY = 30, 45, 25
_ABOUT = (
    ("{name} lives in {value}", "where does {name} live"),
    ("{name} works at {value}", "where does {name} work"),
    ("The alarm code of the {name} house is {number}", "alarm code of the {name} house"),
    ("{name}'s favourite colour is {value}", "favourite colour of {name}"),
    ("The meeting of team {name} starts at {time}", "when does the meeting of team {name} start"),
)
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_PLACES = ("harbour", "market", "library", "bakery", "garden", "museum", "station", "theatre", "chapel", "stadium")
_DEEDS = ("met", "phoned", "visited", "helped", "thanked", "interviewed", "taught", "painted", "cooked for", "drove")


@dataclass
class Fact:
    """Something that holds until it is said otherwise.

    Parameters
    ----------
    values : list of str
        All that were said, the present one last.
    """

    sentence: str
    question: str
    values: list[str]

    @property
    def content(self) -> str:
        return self.sentence.replace("{value}", self.values[-1])


@dataclass(frozen=True)
class Day:
    """What happens on a day.

    Parameters
    ----------
    says : tuple of ToStore
    pins : tuple of ToStore
        Said as well, and pinned.
    asks : str or None
        A question about a fact.
    """

    says: tuple[ToStore, ...]
    pins: tuple[ToStore, ...] = ()
    asks: str | None = None


@dataclass
class Diary:
    """What one user says.

    Parameters
    ----------
    user_id : str
    seed : int
    facts : list of Fact
        Those that were said so far.
    """

    user_id: str
    seed: int = 1
    facts: list[Fact] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = Random(f"{self.user_id} {self.seed}")
        self._used: set[str] = set()

    @property
    def mark(self) -> str:
        """Give what all names of this user begin with."""
        return self.user_id[:2].capitalize()

    def day(self, number: int, now_ms: int) -> Day:
        """Write the next day; its number counts from 1."""

        def comes(every: int, offset: int = 0) -> bool:
            return number % every == offset

        says = [self._note(now_ms) for _ in range(2)] if comes(NOTE_EVERY) else []
        says += [self._remark()] if comes(REMARK_EVERY) else []
        says += [self._notice(now_ms)] if comes(NOTICE_EVERY) else []
        says += [self._fact()] if comes(FACT_EVERY, 1) else []
        says += [self._change()] if comes(CHANGE_EVERY) and self.facts else []
        says += list(self._clash()) if comes(CLASH_EVERY) else []
        turn, rest = divmod(number, STYLE_EVERY)
        says += [self._style(turn)] if rest == 0 and turn <= len(STYLE) else []
        pins = (to_store(f"{self._name()} must never be forgotten", pinned=True, importance=0.0),)
        asks = self._random.choice(self.facts).question if self.facts else None
        return Day(tuple(says), pins if comes(PIN_EVERY, 2) else (), asks)

    def style(self) -> list[str]:
        """Give the preferences as this user says them."""
        return [text.replace("Ana", self.user_id.capitalize()) for text in STYLE]

    def _note(self, now_ms: int) -> ToStore:
        deed, place = self._random.choice(_DEEDS), self._random.choice(_PLACES)
        text = f"{self._name()} {deed} {self._name()} {self._name()} in the {place}"
        values = {"type": MemoryType.EPISODIC, "importance": 0.2, "occurred_at_ms": now_ms}
        return to_store(text, on_similar=OnSimilar.CREATE, **values)

    def _remark(self) -> ToStore:
        return to_store(f"{self._name()} once owned {self._name()} {self._name()}", importance=0.0)

    def _notice(self, now_ms: int) -> ToStore:
        ends_ms = now_ms + self._random.randint(1, 60) * DAY_MS
        return to_store(f"{self._name()} {self._name()} is closed", tags=(EXPIRING,), expires_at_ms=ends_ms)

    def _fact(self) -> ToStore:
        sentence, question = self._random.choice(_ABOUT)
        name = self._name()
        kind = next(kind for kind in ("value", "number", "time") if f"{{{kind}}}" in sentence)
        sentence = sentence.replace("{name}", name).replace(f"{{{kind}}}", "{value}")
        fact = Fact(sentence, question.replace("{name}", name), [self._value(kind)])
        self.facts.append(fact)
        return to_store(fact.content)

    def _change(self) -> ToStore:
        fact = self._random.choice(self.facts)
        last = fact.values[-1]
        fact.values.append(self._value("time" if ":" in last else "number" if last.isdigit() else "value"))
        return to_store(fact.content)

    def _clash(self) -> Iterator[ToStore]:
        name = self._name()
        yield to_store(f"{name} hikes in old hills")
        yield to_store(f"{name} sleeps in old hills")

    def _style(self, turn: int) -> ToStore:
        return to_store(self.style()[turn - 1], tags=(PROFILE,), importance=0.4)

    def _name(self) -> str:
        return self._new(lambda: self.mark + "".join(self._random.choices(_SYLLABLES, k=3)))

    def _value(self, kind: str) -> str:
        if kind == "time":
            return self._new(lambda: f"{self._random.randint(1, 23)}:{self._random.randint(1, 59):02}")
        return self._new(lambda: str(self._random.randint(10_000, 99_999))) if kind == "number" else self._name()

    def _new(self, make: Callable[[], str]) -> str:
        text = make()
        while text in self._used:
            text = make()
        self._used.add(text)
        return text
