"""Death at a chosen call: wraps a store, an AWS client or whatever else is called, and dies before or after a call.

>>> store = DyingStore(InMemoryMemoryStore())
>>> store.die(at=3, when="after")          # the third call from now takes effect, and then the process is gone
>>> with pytest.raises(Killed):
...     controller(store.port).store(asking(), [NewMemory(content="tea")])
"""

from collections.abc import Callable
from typing import Any, Literal, cast

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
        self._inner = inner
        self._moment: tuple[int, When] | None = None
        self._action: Callable[[], Any] = _die
        self.calls: list[str] = []

    def die(self, at: int, when: When) -> None:
        """Die at the n-th call from now on (1, 2, …), once."""
        self.interrupt(at, when, _die)

    def interrupt(self, at: int, when: When, action: Callable[[], Any]) -> None:
        """Let something else happen at the n-th call from now on, once: what another process does meanwhile."""
        self.calls = []
        self._moment = (at, when)
        self._action = action

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        return self._counted(name, value) if callable(value) else value

    def _counted(self, name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(name)
            number = len(self.calls)
            self._reached(number, "before")
            value = run(*args, **kwargs)
            self._reached(number, "after")
            return value

        return call

    def _reached(self, number: int, when: When) -> None:
        if self._moment == (number, when):
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
