"""``python -m infra.local run``, ``token``, ``compact``, ``replay`` and ``demo``: the local cloud at a terminal."""

import argparse
import contextlib
import json
import shlex
import signal
import sys
import time
from datetime import datetime
from pathlib import Path

from infra.local.client import Client
from infra.local.cloud import LocalCloud, api_url, last_port
from infra.local.compact import compact
from infra.local.demo import demo
from infra.local.emulator import ROOT
from infra.local.errors import LocalCloudError
from infra.local.issuer import Issuer
from infra.local.logs import readable

_DATA_DIR = ROOT / ".recollect"
_PORT = 4566
_SAMPLE_USER = "alice"


def main() -> int:
    """Do what the command line says.

    Returns
    -------
    int
        Exit status: 0, or 1 after one line on standard error.
    """
    arguments = _parser().parse_args()
    try:
        if arguments.command == "run":
            return _run(arguments.data_dir, arguments.port or _PORT)
        port = arguments.port or last_port(arguments.data_dir) or _PORT
        if arguments.command == "replay":
            return _replay(arguments, f"http://127.0.0.1:{port}")
        issuer = Issuer.at(arguments.data_dir, port)
        if arguments.command == "token":
            print(issuer.token(arguments.user, hours=arguments.hours, service=arguments.service))
            return 0
        client = Client(api_url(f"http://127.0.0.1:{port}"), issuer.token(arguments.user), arguments.user)
        if arguments.command == "compact":
            print(compact(client, force=arguments.force, dry_run=arguments.dry_run))
        else:
            for line in demo(client):
                print(line, flush=True)
        return 0
    except LocalCloudError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped")
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.local", description="Recollect on this machine.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="start the local cloud, deploy the app into it, print its log lines")
    token = commands.add_parser("token", help="print a token for a user; nothing needs to run")
    compacting = commands.add_parser("compact", help="compact a user's memories; the service must run")
    showing = commands.add_parser("demo", help="hand over two conversations and ask about them; the service must run")
    replaying = commands.add_parser("replay", help="print a user's memories as they were; the service must run")
    for command in (run, token, compacting, replaying, showing):
        command.add_argument(
            "--port", type=int, help=f"port on loopback (default {_PORT}; but for run: of the last run)"
        )
        command.add_argument("--data-dir", type=Path, default=_DATA_DIR, help="where data is kept (default .recollect)")
    token.add_argument("--user", required=True, help="the user id that the token speaks for")
    token.add_argument("--service", action="store_true", help="give the scope that may act for any user")
    token.add_argument("--hours", type=float, default=12, help="life of the token (default %(default)s)")
    showing.add_argument("--user", default="demo", help="the user whose conversations they are (default %(default)s)")
    compacting.add_argument("--user", required=True, help="the user whose memories are compacted")
    compacting.add_argument("--force", action="store_true", help="fold the log's tail however short it is")
    compacting.add_argument("--dry-run", action="store_true", help="only tell what would be done first")
    replaying.add_argument("--user", required=True, help="the user whose log is replayed")
    replaying.add_argument("--seq", type=int, help="after this entry of the log (default: the last one)")
    replaying.add_argument("--at", help="at this time instead, such as 2026-11-30T09:00:00Z")
    replaying.add_argument("--verify", action="store_true", help="compare the present partition with the log too")
    return parser


def _replay(arguments: argparse.Namespace, url: str) -> int:
    from infra.local import replay  # the core, which nothing else here needs

    found = replay.replay(url, arguments.user, seq=arguments.seq, at=arguments.at, verify=arguments.verify)
    for line in replay.lines(arguments.user, found):
        print(line)
    print(replay.summary(arguments.user, found, verified=arguments.verify), file=sys.stderr)
    return 1 if found.disagreements else 0


def _run(data_dir: Path, port: int) -> int:
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, _interrupt)
    cloud = LocalCloud(data_dir, port, say=_say, on_log=_print_log)
    started = time.monotonic()
    _say("starting the emulator")
    cloud.start()
    try:
        if cloud.emulator.was_killed:
            _say(_loss(cloud.emulator.saved_at))
        _say(f"ready after {time.monotonic() - started:.0f} s")
        print(_welcome(cloud), flush=True)
        while cloud.emulator.is_running():
            time.sleep(0.5)
    finally:
        was_running = cloud.emulator.is_running()
        if was_running:
            print("\nstopping: saving the data", flush=True)
        for stop in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop, signal.SIG_IGN)  # a second Ctrl-C must not interrupt the saving
        cloud.stop()
    raise LocalCloudError(
        f"the emulator ended unexpectedly: start again with `make run` (see {cloud.emulator.log_file})"
    )


def _welcome(cloud: LocalCloud) -> str:
    """Say where the API is and give three commands to paste, each complete in itself."""
    user = f"{cloud.api_url}/v1/users/{_SAMPLE_USER}"
    token = cloud.issuer.token(_SAMPLE_USER)
    store = {"content": "Alice prefers window seats on morning flights", "type": "semantic", "tags": ["preference"]}
    calls = [
        (f"{user}/memories", store),
        (f"{user}/search", {"query": "where does she like to sit on a plane?", "k": 3}),
        (f"{user}/context", {"query": "book a flight for Alice", "token_budget": 500}),
    ]
    lines = [
        "",
        f"API     {cloud.api_url}",
        f"pages   {cloud.api_url}/docs",
        f"user    {_SAMPLE_USER}   (another one: make token USER=bob)",
        f"token   {token}",
        "",
        "store, search, context (paste in another terminal):",
        "",
    ]
    for url, body in calls:
        lines += [
            f"curl -sS {url} -H 'content-type: application/json'"
            f" -d {shlex.quote(json.dumps(body))} -H 'authorization: Bearer {token}'",
            "",
        ]
    return "\n".join([*lines, "Ctrl-C stops it; the data stays. Requests:"])


def _loss(saved_at: float | None) -> str:
    last = datetime.fromtimestamp(saved_at).strftime("%Y-%m-%d %H:%M:%S") if saved_at else "never"
    return f"the last run was killed: changes after its last save ({last}) are lost"


def _say(line: str) -> None:
    print(f"· {line}", flush=True)


def _print_log(line: str) -> None:
    text = readable(line)
    if text is not None:
        with contextlib.suppress(OSError):
            print(text, flush=True)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
