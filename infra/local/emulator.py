"""Starts and stops the emulator's process, and says in one line why it cannot.

It decides nothing about what is deployed. The process listens on loopback only, has an environment of its
own, and is gone, with everything that it started, when `stop` returns or when the runner dies.
"""

import contextlib
import fcntl
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO

from infra.local.errors import LocalCloudError

ROOT = Path(__file__).resolve().parents[2]
REGION = "us-east-1"
ACCOUNT = "000000000000"
TEST_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}

DOCUMENTS_VARIABLE = "RECOLLECT_LOCAL_DOCUMENTS"
RUNNING_MARK_VARIABLE = "RECOLLECT_LOCAL_RUNNING_MARK"
_NEEDED = ("ministack", "cryptography")  # without the latter the gateway refuses every token
_START_S = 60
_STOP_S = 60
_INHERITED = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH")


class Emulator:
    """One emulated AWS account whose state lives in a directory.

    Parameters
    ----------
    data_dir : Path
        Where its state is kept; made when missing; used by one emulator at a time.
    port : int
        On loopback.
    enforce_auth : bool
        Check signatures and IAM policies, as AWS does.
    documents : dict
        JSON text by path that it serves itself.
    on_log : callable
        Gets each line that a function logs, from a thread.
    """

    def __init__(
        self,
        data_dir: Path,
        port: int,
        *,
        enforce_auth: bool = False,
        documents: dict[str, str] | None = None,
        on_log: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.data_dir = data_dir.resolve()
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.was_killed = False
        self._enforce_auth = enforce_auth
        self._documents = documents or {}
        self._on_log = on_log
        self._reader: threading.Thread | None = None
        self._process: subprocess.Popen[str] | None = None
        self._lock: IO[str] | None = None

    @property
    def log_file(self) -> Path:
        """What the emulator itself prints."""
        return self.data_dir / "emulator.log"

    @property
    def saved_at(self) -> float | None:
        """When the database was last saved, epoch seconds; None when it never was."""
        state = self.data_dir / "state" / "dynamodb.json"
        return state.stat().st_mtime if state.exists() else None

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises
        ------
        LocalCloudError
            If the port or the directory is in use, or if it does not come up.
        """
        _require_packages()
        self.data_dir.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(self.data_dir)
        try:
            _require_free(self.port)
            self.was_killed = (self.data_dir / "running").exists()
            self._empty_scratch()
            (self.data_dir / "documents.json").write_text(json.dumps(self._documents))
            self._spawn()
            self._wait_until_healthy()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Let it save its state, then end it and everything that it started. Does nothing when stopped."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_STOP_S)
            self._end_group(process)
            self._empty_scratch()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def kill(self) -> None:
        """End it as a crash would, without saving. For tests of what is lost then."""
        process, self._process = self._process, None
        if process is not None:
            self._end_group(process)
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def is_running(self) -> bool:
        """Whether its process is alive."""
        return self._process is not None and self._process.poll() is None

    def _spawn(self) -> None:
        state = {
            "TMPDIR": self._scratch,
            "STATE_DIR": self.data_dir / "state",
            "S3_DATA_DIR": self.data_dir / "s3",
            DOCUMENTS_VARIABLE: self.data_dir / "documents.json",
            RUNNING_MARK_VARIABLE: self.data_dir / "running",
        }
        environment = {
            **{name: os.environ[name] for name in _INHERITED if name in os.environ},
            **{name: str(path) for name, path in state.items()},
            **TEST_CREDENTIALS,
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(self.port),
            "PERSIST_STATE": "1",
            "S3_PERSIST": "1",
            "AUTH": "true" if self._enforce_auth else "false",
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "LOG_LEVEL": "WARNING",
            "DOCKER_HOST": "unix:///nonexistent",
            "PYTHONUNBUFFERED": "1",
        }
        with self.log_file.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "infra.local.child"],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                errors="replace",
                start_new_session=True,  # Ctrl-C reaches the runner alone, which then stops this in order
            )
        self._reader = threading.Thread(target=self._pass_logs_on, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def _wait_until_healthy(self) -> None:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            if not self.is_running():
                raise LocalCloudError(f"the emulator did not start: see {self.log_file}")
            if _answers(f"{self.url}/_ministack/health"):
                return
            time.sleep(0.05)
        raise LocalCloudError(f"the emulator did not answer within {_START_S} s: see {self.log_file}")

    def _pass_logs_on(self, lines: IO[str]) -> None:
        for line in lines:
            self._on_log(line.rstrip("\n"))

    def _end_group(self, process: "subprocess.Popen[str]") -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if self._reader is not None:
            self._reader.join()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    @property
    def _scratch(self) -> Path:
        return self.data_dir / "tmp"

    def _empty_scratch(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir(parents=True)


def _require_packages() -> None:
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise LocalCloudError(f"not installed: {', '.join(missing)}; `make run` installs what it needs")


def _lock(data_dir: Path) -> IO[str]:
    lock = (data_dir / "lock").open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise LocalCloudError(
            f"another local cloud already runs on {data_dir}: stop it, or choose another --data-dir"
        ) from None
    return lock


def _require_free(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise LocalCloudError(
                f"port {port} is taken by another program: stop it, or choose another port (make run PORT={port + 1})"
            ) from None


def _answers(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=2) as response:
            return bool(response.status == 200)
    except OSError:
        return False
