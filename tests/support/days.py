"""Four days that hold all that can happen to memories, each a list of requests; months lie between some of them.

A request knows memories by what was said when they were stored. What else happens, happens at night: see `nights`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recollect.answers import SearchQuery
from recollect.changes import Outcome, Patch
from recollect.commit import Request
from recollect.controller import MemoryController
from recollect.filters import ACTIVE, AllOf, Compare, Operator
from recollect.model import MemoryType, Status
from recollect.nominating import OnSimilar, ToStore
from recollect.ranking import Mode
from recollect.undoing import Resolution

from tests.support.builders import to_store

DAY_MS = 24 * 3600 * 1000
HOUR_MS = 3600 * 1000
DAYS = (0, 1, 200, 201)  # when each is
OLD_OF_HARBOUR = AllOf(
    (Compare(("status",), Operator.EQ, "archived"), Compare(("tags",), Operator.CONTAINS, "harbour"))
)
SECRET = "xylophone"  # a word of all that is purged
Ids = Mapping[str, str]
Act = Callable[[MemoryController, Request, Ids], Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request.

    Parameters
    ----------
    name : str
        Its idempotency key, too.
    act : callable
        Given what of the service to ask, as whom, and the ids of memories by what was said.
    says : tuple of str
        By what the memories of its outcomes are known from then on.
    about : str
        By what the memory is known that it is about.
    has_little_time : bool
        Whether time goes by in seconds, so that what takes several goes is begun and left.
    """

    name: str
    act: Act
    says: tuple[str, ...] = ()
    about: str = ""
    user_id: str = "ana"
    has_little_time: bool = False


def _saying(name: str, *new: ToStore, user_id: str = "ana") -> Asked:
    def act(of: MemoryController, request: Request, _: Ids) -> tuple[Outcome, ...]:
        return of.store(request, new)

    return Asked(name, act, tuple(one.memory.content for one in new), user_id=user_id)


def _about(name: str, said: str, act: Callable[[MemoryController, Request, str], Any]) -> Asked:
    return Asked(name, lambda of, request, ids: act(of, request, ids[said]), about=said)


def _purging(name: str, said: str) -> Asked:
    return _about(name, said, lambda of, request, one: of.purge(request, one))


def _deleting(name: str, said: str) -> Asked:
    return _about(name, said, lambda of, request, one: of.delete(request, one))


def _searching(text: str, mode: Mode = Mode.HYBRID, **more: Any) -> Asked:
    def act(of: MemoryController, request: Request, _: Ids) -> int:
        query = SearchQuery(text=text, mode=mode, k=2, **more)
        return len(of.search(request.user_id, query).hits)

    return Asked(f"search {text}", act)


def _erasing(user_id: str) -> Asked:
    def act(of: MemoryController, request: Request, _: Ids) -> None:
        of.erase(request.user_id)

    return Asked("begin to erase", act, user_id=user_id, has_little_time=True)


def _take_back(of: MemoryController, asked: Request, memory_id: str) -> None:
    of.update(asked, memory_id, Patch({"status": Status.ACTIVE}))


def _note(text: str) -> ToStore:
    return to_store(
        text, tags=(text.split()[-1],), type=MemoryType.EPISODIC, importance=0.2, on_similar=OnSimilar.CREATE
    )


def _ending(of: MemoryController) -> ToStore:
    return to_store("The pool is closed", expires_at_ms=of.workings.surroundings.now_ms() + 3 * HOUR_MS)


def _style(text: str) -> ToStore:
    return to_store(text, tags=("preference",), importance=0.4, on_similar=OnSimilar.CREATE)


_DOG, _PORTO, _LISBON = "The user has a dog", "Ana lives in Porto", "Ana lives in Lisbon"
_HIKES, _SLEEPS = "Mira hikes in old hills", "Mira sleeps in old hills"
_MOVED = "Mira has a sister in Porto"
_RUNS, _RESTS = "Nadia runs in green woods", "Nadia rests in green woods"
_DIARY, _BOOK = f"Ana hides the {SECRET} diary", f"Ana met Tom and the {SECRET} book"
_STYLE = [f"In code style Ana {text}" for text in ("prefers four spaces", "keeps functions short", "likes black")]
_SECRET_STYLE = f"In code style Ana hides {SECRET} jokes"
_RETURNS = "In code style Ana wants early returns"
_NOTES = ("Ana met Rosa in the harbour", "Ana phoned Karl about the boat", "Ana saw Vera near the bakery")
_PIN = "The alarm code is 4711"

FIRST = (
    _saying("say", to_store(_DOG), to_store(_PORTO), to_store(_PIN, pinned=True, importance=0.0)),
    Asked("say what ends", lambda of, asked, _: of.store(asked, [_ending(of)])),
    _saying("tell", *(_note(text) for text in (*_NOTES, _BOOK))),
    _saying("say more", to_store("The user has a dog named Rex")),
    _saying("correct", to_store(_LISBON)),
    _saying("say it again", to_store(_LISBON)),
    _saying("contradict", to_store(_HIKES), to_store(_SLEEPS), to_store(_RUNS), to_store(_RESTS)),
    _saying("prefer", *map(_style, (*_STYLE, _SECRET_STYLE))),
    _saying("hide", to_store(_DIARY)),
    _saying("say of another", to_store("Ben likes tea"), to_store("Ben plays chess"), user_id="ben"),
    _searching("where does Ana live"),
    _about("update", _NOTES[1], lambda of, asked, one: of.update(asked, one, Patch({"tags": ("boats",)}))),
    _about("restore", _NOTES[1], lambda of, asked, one: of.restore(asked, one, 1)),
    _purging("purge", _DIARY),
)
SECOND = (
    _deleting("delete a source", _STYLE[2]),
    _purging("purge a source", _SECRET_STYLE),
    _saying("prefer more", _style(_RETURNS)),
    _about("change one side", _SLEEPS, lambda of, asked, one: of.update(asked, one, Patch({"content": _MOVED}))),
    Asked("resolve", lambda of, asked, ids: of.resolve(asked, ids[_RUNS], ids[_RESTS], Resolution.KEEP_THIS)),
    _about("take apart", _DOG, lambda of, asked, one: of.unmerge(asked, one)),
    _deleting("delete", _BOOK),
    _searching("alarm code", Mode.EXACT, filter=ACTIVE),
)
THIRD = (
    _purging("purge what is deleted", _BOOK),
    _erasing("ben"),
    _saying("tell of today", _note("Ana met Rosa in the library"), _note("Ana sold the boat to Karl")),
    _searching("early returns"),
)
FOURTH = (
    _searching("met Rosa in the harbour", Mode.LEXICAL, filter=OLD_OF_HARBOUR),  # which brings it back, unless it fails
    _about("take back", _NOTES[0], _take_back),
    _saying("say in another language", to_store("Ana drinks green tea"), to_store("The ferry leaves at noon")),
    _searching("green tea"),
)
EMBEDDERS = ("hashing", "hashing", "hashing", "another")  # of each day
SCRIPT = (FIRST, SECOND, THIRD, FOURTH)
