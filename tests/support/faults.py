"""Death at a chosen call: wraps a store, an AWS client or whatever else is called, and dies before or after a call.

>>> store = DyingStore(InMemoryMemoryStore())
>>> store.die(at=3, when="after")          # the third call from now takes effect, and then the process is gone
>>> with pytest.raises(Killed):
...     controller(store.port).store(asking(), [NewMemory(content="tea")])
"""

from collections.abc import Callable
from typing import Any, Literal, cast

from recollect.object_store import ObjectStore
from recollect.ports import MemoryStore

When = Literal["before", "after"]


class Killed(BaseException):
    """The process is gone. Not an `Exception`, so that nothing in the service can catch it and go on."""


class Dying:
    """Whatever `inner` is, with its calls counted and one of them deadly.

    Parameters
    ----------
    inner : object
        Its methods are counted, from the last `die` or `interrupt` on; other attributes are handed through.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self._moment: tuple[int | str, When] | None = None
        self._action: Callable[[], Any] = _die
        self.calls: list[str] = []

    def die(self, at: int, when: When) -> None:
        """Die at the n-th call from now on (1, 2, …), once."""
        self.interrupt(at, when, _die)

    def interrupt(self, at: int | str, when: When, action: Callable[[], Any]) -> None:
        """Let something else happen at the n-th call from now on, or at the first of a name, once.

        It is what another process does meanwhile.
        """
        self.calls = []
        self._moment = (at, when)
        self._action = action

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.inner, name)
        return self._counted(name, value) if callable(value) else value

    def _counted(self, name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(name)
            here = (len(self.calls), name)
            self._reached(here, "before")
            value = run(*args, **kwargs)
            self._reached(here, "after")
            return value

        return call

    def _reached(self, here: tuple[int, str], when: When) -> None:
        if self._moment in [(at, when) for at in here]:
            self._moment = None
            self._action()


def _die() -> None:
    raise Killed


class DyingStore(Dying):
    """A memory store that dies at a chosen call."""

    @property
    def port(self) -> MemoryStore:
        """The same, as the type that a controller takes."""
        return cast("MemoryStore", self)


class DyingStores(Dying):
    """A memory store and an object store, in one count of calls, that die at a chosen call."""

    def __init__(self, store: MemoryStore, objects: ObjectStore) -> None:
        super().__init__(store)
        self._objects = objects

    @property
    def store(self) -> MemoryStore:
        """The one, as the type that a controller takes."""
        return cast("MemoryStore", self)

    @property
    def objects(self) -> ObjectStore:
        """The other one; no method of theirs has the same name."""
        return cast("ObjectStore", self)

    def __getattr__(self, name: str) -> Any:
        if hasattr(self._objects, name):
            return self._counted(name, getattr(self._objects, name))
        return super().__getattr__(name)


def deaths(rehearse: Callable[[Dying], Any], dying: Dying) -> list[tuple[int, When]]:
    """Name every way to die in a piece of work: before and after each call that it makes on `dying`.

    Parameters
    ----------
    rehearse : callable
        Does the work once, to its end.
    """
    dying.die(at=0, when="before")
    rehearse(dying)
    moments: tuple[When, ...] = ("before", "after")
    return [(number, when) for number in range(1, len(dying.calls) + 1) for when in moments]
