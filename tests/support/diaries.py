"""What a user says session by session over years, made from a seed: notes, facts that change, notices that run out.

Names in a user's sentences begin with the user's own two letters, so that each sentence tells whose it is, and no two
values of facts are alike. The sentences are such that words alone tell what is close to what: an embedder that counts
words is enough for them, so that two years take seconds.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from recollect.model import MemoryType
from recollect.nominating import OnSimilar, ToStore

from tests.support.builders import to_store

DAY_MS = 24 * 3600 * 1000
PROFILE = "preference"  # a tag
REMARK_EVERY, FACT_EVERY, CHANGE_EVERY, NOTICE_EVERY = 4, 9, 13, 7  # sessions
STYLE_EVERY, PIN_EVERY, CLASH_EVERY = 15, 45, 40
_ABOUT = (
    ("{name} lives in {value}", "where does {name} live"),
    ("{name} works at {value}", "where does {name} work"),
    ("The alarm code of the {name} house is {number}", "alarm code of the {name} house"),
    ("{name}'s favourite colour is {value}", "favourite colour of {name}"),
    ("The meeting of team {name} starts at {time}", "when does the meeting of team {name} start"),
    ("{name} drives a {value}", "which car does {name} drive"),
    ("{name} studies {value}", "what does {name} study"),
    ("The door of {name}'s cottage needs key {number}", "key for the door of {name}'s cottage"),
    ("{name} plays the {value}", "which instrument does {name} play"),
)
STYLE = ("prefers four spaces", "keeps functions short", "wants early returns", "likes black", "writes long names")
_SINGLE = 5  # the first of them
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
    is_single : bool
        Whether the sentence itself says that it holds for one value at a time; otherwise whoever says it anew names
        the memory that is over.
    memory_id : str
        Of the memory that says it now.
    """

    sentence: str
    question: str
    values: list[str]
    is_single: bool
    memory_id: str = ""

    @property
    def content(self) -> str:
        return self.sentence.replace("{value}", self.values[-1])


@dataclass(frozen=True)
class Session:
    """What happens in a session.

    Parameters
    ----------
    says : tuple of ToStore
    pins : tuple of ToStore
        Said as well, and pinned.
    tells : tuple of Fact
        Said for the first time, or with another value.
    asks : str or None
        A question about a fact.
    """

    says: tuple[ToStore, ...]
    pins: tuple[ToStore, ...] = ()
    tells: tuple[Fact, ...] = ()
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
    notices : dict of str to int
        When those that were said so far run out, epoch milliseconds.
    """

    user_id: str
    seed: int = 1
    facts: list[Fact] = field(default_factory=list)
    notices: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = Random(f"{self.user_id} {self.seed}")
        self._used: set[str] = set()

    @property
    def mark(self) -> str:
        """Give what all names of this user begin with."""
        return self.user_id[:2].capitalize()

    def session(self, number: int, now_ms: int) -> Session:
        """Write the next session; its number counts from 1."""

        def comes(every: int, offset: int = 0) -> bool:
            return number % every == offset

        says = [self._note(now_ms) for _ in range(2)]
        says += [self._remark()] if comes(REMARK_EVERY) else []
        says += [self._notice(now_ms)] if comes(NOTICE_EVERY) else []
        tells = (*([self._fact()] if comes(FACT_EVERY, 1) else []), *([self._change()] if comes(CHANGE_EVERY) else []))
        says += list(self._clash()) if comes(CLASH_EVERY) else []
        turn, rest = divmod(number, STYLE_EVERY)
        says += [self._style(turn)] if rest == 0 and turn <= len(STYLE) else []
        pins = (to_store(f"{self._name()} must never be forgotten", pinned=True, importance=0.0),)
        asks = self._random.choice(self.facts).question if self.facts else None
        return Session(tuple(says), pins if comes(PIN_EVERY, 2) else (), tells, asks)

    def style(self) -> list[str]:
        """Give the preferences as this user says them."""
        return [f"In code style {self.user_id.capitalize()} {text}" for text in STYLE]

    def _note(self, now_ms: int) -> ToStore:
        deed, place = self._random.choice(_DEEDS), self._random.choice(_PLACES)
        text = f"{self._name()} {deed} {self._name()} {self._name()} in the {place}"
        values: dict[str, Any] = {"type": MemoryType.EPISODIC, "importance": 0.2, "occurred_at_ms": now_ms}
        return to_store(text, on_similar=OnSimilar.CREATE, **values)

    def _remark(self) -> ToStore:
        names = " ".join(self._name() for _ in range(3))
        return to_store(f"{self._name()} {self._random.choice(_DEEDS)} {names}", importance=0.0)

    def _notice(self, now_ms: int) -> ToStore:
        text = f"{self._name()} {self._name()} is closed"
        self.notices[text] = now_ms + self._random.randint(1, 60) * DAY_MS
        return to_store(text, expires_at_ms=self.notices[text])

    def _fact(self) -> Fact:
        number = self._random.randrange(len(_ABOUT))
        sentence, question = _ABOUT[number]
        name = self._name()
        kind = next(kind for kind in ("value", "number", "time") if f"{{{kind}}}" in sentence)
        sentence = sentence.replace("{name}", name).replace(f"{{{kind}}}", "{value}")
        fact = Fact(sentence, question.replace("{name}", name), [self._value(kind)], number < _SINGLE)
        self.facts.append(fact)
        return fact

    def _change(self) -> Fact:
        fact = self._random.choice(self.facts)
        last = fact.values[-1]
        fact.values.append(self._value("time" if ":" in last else "number" if last.isdigit() else "value"))
        return fact

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
