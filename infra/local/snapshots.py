"""Saves the emulator's state while it runs, so that a killed emulator loses seconds and not a session.

The emulator itself saves on a clean stop only. Here a fork of its process writes the state: the fork has
a frozen copy of the memory, so requests go on meanwhile, and every file is replaced at once. It decides
when a request may have changed something and how often to save; it never changes state.
"""

import asyncio
import contextlib
import logging
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping

SaveState = Callable[[bool], None]
"""Writes the state to disk: only the database (False), or all services (True)."""

_PAUSE_S = 2.0
_MAX_SAVE_S = 120
_READS = frozenset({"GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"})
_QUIET_PATHS = ("/_aws/execute-api/", "/_ministack/", "/_recollect/")


class Snapshots:
    """Forks a writer whenever something changed, never two at once.

    Parameters
    ----------
    save : callable
        Writes the state; called in the fork.
    """

    def __init__(self, save: SaveState) -> None:
        self._save = save
        self.is_data_dirty = False
        self.is_all_dirty = False
        self._writer: int | None = None

    def note(self, method: str, path: str, headers: Mapping[bytes, bytes]) -> None:
        """Remember what a request may have changed.

        Parameters
        ----------
        method, path : str
            Of the request.
        headers : mapping
            Names in lower case.
        """
        if method in {"GET", "HEAD", "OPTIONS"} or path.startswith(_QUIET_PATHS):
            return
        service, _, action = headers.get(b"x-amz-target", b"").decode("latin-1").partition(".")
        if not service.startswith("DynamoDB"):
            self.is_all_dirty = True
        elif action not in _READS:
            self.is_data_dirty = True

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Save in the background until left; no writer is alive afterwards."""
        task = asyncio.create_task(self._loop())
        try:
            yield
        finally:
            task.cancel()
            self._end_writer()

    async def _loop(self) -> None:
        while True:
            await asyncio.sleep(_PAUSE_S)
            if not (self.is_data_dirty or self.is_all_dirty):
                continue
            started = time.monotonic()
            self._fork_writer()
            while self._writer is not None:
                await asyncio.sleep(0.05)
                self._reap_writer()
            # A large state is saved less often: at most a quarter of one core goes into saving.
            await asyncio.sleep(3 * (time.monotonic() - started))

    def _fork_writer(self) -> None:
        everything, self.is_all_dirty, self.is_data_dirty = self.is_all_dirty, False, False
        pid = os.fork()
        if pid == 0:
            self._write_and_leave(everything)
        self._writer = pid

    def _write_and_leave(self, everything: bool) -> None:
        # Only this thread exists in the fork; another one may have held a lock. The alarm ends a writer
        # that waits for it, and the next round tries again.
        try:
            signal.alarm(_MAX_SAVE_S)
            logging.disable(logging.CRITICAL)
            os.closerange(3, 4096)
            self._save(everything)
        finally:
            os._exit(0)

    def _reap_writer(self) -> None:
        if self._writer is None:
            return
        pid, _ = os.waitpid(self._writer, os.WNOHANG)
        if pid:
            self._writer = None

    def _end_writer(self) -> None:
        if self._writer is None:
            return
        os.kill(self._writer, signal.SIGKILL)
        os.waitpid(self._writer, 0)
        self._writer = None
