"""The emulator's own process: ministack, and around its ASGI application what it lacks for a local cloud.

Run as ``python -m infra.local.child`` by ``emulator.py``, which sets its environment. It serves the issuer's
documents, passes the functions' log lines on to its standard output, saves state while it runs, and ends
when its standard input does: that is, with the runner, however that one ends. This is the only file that
knows ministack's inside, whose version is pinned.
"""

import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, TextIO

from ministack import app as ministack_app
from ministack.core import iam_actions, persistence
from ministack.services import cloudwatch_logs, dynamodb, lambda_svc

from infra.local.emulator import DOCUMENTS_VARIABLE, RUNNING_MARK_VARIABLE
from infra.local.snapshots import Snapshots

_LOG_STREAMS_KEPT = 500

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


class LocalApplication:
    """ministack's application, with documents of our own in front and snapshots behind.

    Parameters
    ----------
    inner : ASGI application
        ministack's.
    documents : dict
        JSON text by path.
    snapshots : Snapshots
        Told of every request.
    """

    def __init__(self, inner: Application, documents: dict[str, str], snapshots: Snapshots) -> None:
        self._inner = inner
        self._documents = documents
        self._snapshots = snapshots

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "lifespan":
            async with self._serving(receive) as watched:
                await self._inner(scope, watched, send)
        elif scope["type"] == "http" and scope["path"] in self._documents:
            await _send_json(send, self._documents[scope["path"]])
        else:
            await self._inner(scope, receive, send)
            if scope["type"] == "http":
                self._snapshots.note(scope["method"], scope["path"], dict(scope["headers"]))

    @contextlib.asynccontextmanager
    async def _serving(self, receive: Receive) -> AsyncIterator[Receive]:
        """Save between start and stop: before ministack saves for the last time, the writer is gone."""
        stack = contextlib.AsyncExitStack()

        async def watched() -> Message:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await stack.enter_async_context(self._snapshots.running())
            elif message["type"] == "lifespan.shutdown":
                await stack.aclose()
            return message

        async with stack:
            yield watched


async def _send_json(send: Send, text: str) -> None:
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


class _FastJson:
    """The json module as ministack's persistence uses it, with the encoder in C: four times as fast."""

    JSONDecodeError = json.JSONDecodeError
    load = staticmethod(json.load)

    @staticmethod
    def dump(value: object, file: TextIO, *, default: Callable[[Any], Any]) -> None:
        file.write(json.dumps(value, default=default))


def _save(everything: bool) -> None:
    services = ministack_app._build_persistence_save_dict()
    persistence.save_all(services if everything else {"dynamodb": services["dynamodb"]})


def _forward_logs() -> None:
    """Print what functions log, and keep the emulated log groups (and so the saved state) short."""
    emit = lambda_svc._emit_lambda_logs

    def emit_and_print(func: Any, request_id: str, log_text: str, *args: Any, **kwargs: Any) -> None:
        emit(func, request_id, log_text, *args, **kwargs)
        if log_text:
            with contextlib.suppress(OSError):  # the runner is gone; so are we, in a moment
                sys.stdout.write(log_text.rstrip("\n") + "\n")
                sys.stdout.flush()
        for *_, group in list(cloudwatch_logs._log_groups.all_items()):
            for name in list(group["streams"])[:-_LOG_STREAMS_KEPT]:
                group["streams"].pop(name, None)

    lambda_svc._emit_lambda_logs = emit_and_print


def _parse_key_conditions_once() -> None:
    """Parse a Query's key condition once, not once for each item: with many items five times as fast."""
    evaluate = dynamodb._evaluate_condition
    parsed: dict[str, Any] = {}

    def evaluate_parsed(expression: str, item: Any, values: Any, names: Any, slot: str = "ConditionExpression") -> bool:
        if slot != "KeyConditionExpression":
            return bool(evaluate(expression, item, values, names, slot))
        if expression not in parsed:
            evaluate(expression, item, values, names, slot)  # refuses what cannot be parsed
            parsed[expression] = dynamodb._tokenize(expression)
        return bool(dynamodb._ExprEval(parsed[expression], item, values, names).evaluate())

    dynamodb._evaluate_condition = evaluate_parsed


def _name_rights_on_batches() -> None:
    """Check a batch of messages under the right on one, as SQS does: it knows no other."""
    extract = iam_actions.extract_iam_action

    def extract_for_one(*args: Any, **kwargs: Any) -> str | None:
        action: str | None = extract(*args, **kwargs)
        return action.removesuffix("Batch") if action is not None and action.startswith("sqs:") else action

    iam_actions.extract_iam_action = extract_for_one


def _end_with_parent() -> None:
    """Stop as on SIGTERM when standard input ends: the runner holds the other side of the pipe."""

    def wait() -> None:
        os.read(0, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="end-with-parent", daemon=True).start()


def main() -> None:
    """Serve until SIGTERM or until the runner is gone."""
    os.environ.pop("LOG_LEVEL")  # ministack has read it; functions would inherit it and log nothing
    documents = json.loads(Path(os.environ[DOCUMENTS_VARIABLE]).read_text())
    persistence.json = _FastJson
    _forward_logs()
    _parse_key_conditions_once()
    _name_rights_on_batches()
    _end_with_parent()
    ministack_app.app = LocalApplication(ministack_app.app, documents, Snapshots(_save))
    sys.argv = sys.argv[:1]
    # Removed after a clean stop only: found at the next start, it tells that this process was killed.
    mark = Path(os.environ[RUNNING_MARK_VARIABLE])
    mark.touch()
    ministack_app.main()
    mark.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
