"""Hands LoCoMo's conversations over through the API, one transcript for each session, and counts what comes of it.

In process on stores in memory, or to a service that runs (``--api``, ``--token``): the requests are the same.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from tests.eval.locomo import Conversation, Turn
from tests.support.api_client import ApiClient
from tests.support.app import SERVICE, App

WAIT_S = 20
Call = Callable[[str, str, Any], tuple[int, Any]]


@dataclass
class HandedOver:
    """What became of conversations.

    Parameters
    ----------
    turns, sessions : int
        That were handed over and are done.
    faults : list of str
        What was answered otherwise than it should.
    kinds : Counter
        Memories of the users afterwards, by type.
    outcomes : Counter
        Memories of the users afterwards, by status.
    seconds : float
        Until everything was done.
    """

    turns: int = 0
    sessions: int = 0
    faults: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def figures(self) -> dict[str, float]:
        """By name."""
        return {
            "ingest.turns": self.turns,
            "ingest.sessions": self.sessions,
            "ingest.faults": len(self.faults),
            "ingest.turns_per_s": self.turns / self.seconds if self.seconds else 0.0,
            **{f"ingest.memories.{name}": count for name, count in sorted((self.kinds + self.outcomes).items())},
        }


def in_process(app: App) -> Call:
    """Call the API's handler, and let its queue be worked off after each request."""

    def call(method: str, path: str, body: Any) -> tuple[int, Any]:
        status, answer, _ = app(method, path, body, claims=SERVICE)
        app.work()
        return status, answer

    return call


def over_http(url: str, token: str) -> Call:
    """Call a service that runs; the token must let it reach any user."""
    client = ApiClient(url, token)

    def call(method: str, path: str, body: Any) -> tuple[int, Any]:
        answer = client.request(method, path, body)
        return answer.status, answer.body

    return call


def hand_over(call: Call, conversations: Sequence[Conversation]) -> HandedOver:
    """Hand over every session of conversations, each conversation a user's; wait until all is done, then count."""
    done = HandedOver()
    started = time.perf_counter()
    for conversation in conversations:
        users = f"/v1/users/locomo-{conversation.conversation_id}"
        for session_id, turns in _sessions(conversation):
            _hand_over_session(call, users, session_id, turns, done)
        done.seconds = time.perf_counter() - started
        _, stats = call("GET", f"{users}/stats", None)
        done.kinds.update(stats["by_type"])
        done.outcomes.update(stats["by_status"])
        print(
            f"ingest {conversation.conversation_id}: {done.turns} turns in {done.sessions} sessions, "
            f"{done.seconds:.0f} s, {sum(done.kinds.values())} memories, {len(done.faults)} faults",
            flush=True,
        )
    return done


def _hand_over_session(call: Call, users: str, session_id: str, turns: Sequence[Turn], done: HandedOver) -> None:
    started_ms = turns[0].occurred_at_ms
    at = None if started_ms is None else datetime.fromtimestamp(started_ms / 1000, UTC).isoformat()
    messages = [{"role": "user", "name": turn.actor, "content": turn.content, "id": turn.turn_id} for turn in turns]
    body = {"session_id": session_id, "occurred_at": at, "messages": messages, "wait": WAIT_S}
    status, answer = call("POST", f"{users}/transcripts", body)
    while status == 202 and answer["status"] == "queued":
        time.sleep(0.2)
        _, answer = call("GET", f"{users}/transcripts/{answer['transcript_id']}", None)
    if status not in (200, 202) or (answer["status"], answer["message_count"]) != ("done", len(turns)):
        done.faults.append(f"{users} {session_id}: {status} {answer.get('status')} {answer.get('failure')}")
        return
    done.turns += len(turns)
    done.sessions += 1


def _sessions(conversation: Conversation) -> Iterator[tuple[str, list[Turn]]]:
    for session_id, turns in groupby(conversation.turns, key=lambda turn: turn.session_id):
        yield session_id, list(turns)
