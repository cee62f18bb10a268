"""Shows in a minute what the service is for: two conversations in, memories out, questions answered.

Running it again changes nothing: what was handed over before is known.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.local.client import Client
from infra.local.errors import LocalCloudError

CONVERSATIONS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "demo.json").read_text(encoding="utf-8"))
QUESTIONS = (
    "Where does Alice live?",
    "Which illnesses and allergies must we think of when we cook?",
    "At which time of day does Alice like to fly?",
    "When is the dentist's appointment?",
)
FACTS = {"field": "type", "in": ["semantic", "procedural"]}
MIN_SCORE = 0.15
PROMPT = "Find a flight for Alice and a restaurant for her family."
WAIT_S = 20
_RULE = "─" * 100


def demo(client: Client) -> Iterator[str]:
    """Hand over the conversations, ask, and yield lines to print.

    Raises
    ------
    LocalCloudError
        If the service does not answer, or has not made the memories in time.
    """
    for number, conversation in enumerate(CONVERSATIONS, start=1):
        yield from _title(f"Conversation {number}, {conversation['occurred_at'][:10]}: handed over as it is")
        yield from (
            f"  {message.get('name', message['role']):>9}: {message['content']}" for message in conversation["messages"]
        )
        receipt = client.call("POST", "/transcripts", conversation | {"wait": WAIT_S})
        if receipt["status"] != "done":
            raise LocalCloudError(f"the transcript is {receipt['status']}: look at the service's log")
        yield f"\n  {receipt['new_messages']} of {len(conversation['messages'])} messages are new to the service."
        yield from _title("What the service knows now")
        yield from known(_facts(client))
    yield from _title("Questions, and the facts that are found")
    hits: list[Mapping[str, Any]] = []
    for question in QUESTIONS:
        wanted = {"query": question, "k": 2, "min_score": MIN_SCORE, "filter": FACTS}
        hits = client.call("POST", "/search", wanted)["hits"]
        yield from found(question, hits)
    if not hits:
        raise LocalCloudError("the service found nothing: has somebody deleted the demo's memories?")
    memory = hits[0]["memory"]
    yield from _title(f'From a memory back to the conversation: "{memory["content"]}"')
    yield from quoted(client.call("GET", f"/memories/{memory['memory_id']}/source?around=1"))
    yield from _title(f'The block for the prompt "{PROMPT}": put it before the prompt of any model')
    yield client.call("POST", "/context", {"query": PROMPT, "token_budget": 500, "filter": FACTS})["context"]


def known(memories: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Write facts as lines: those that hold, then those that were replaced and by what."""
    contents = {memory["memory_id"]: memory["content"] for memory in memories}
    for memory in sorted(memories, key=lambda memory: bool(memory["superseded_by"])):
        count = len(memory["sources"])
        times = f"; said in {count} conversations" if count > 1 else ""
        told = f"{memory['content']}  ({', '.join(memory['tags'])}{times})"
        successor = contents.get(memory["superseded_by"])
        yield f"  ✗ {told}\n      replaced by: {successor}" if successor else f"  • {told}"


def found(question: str, hits: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Write a question and the memories that were found."""
    yield f"\n  {question}"
    for hit in hits:
        memory = hit["memory"]
        day = (memory["occurred_at"] or "")[:10]
        yield f"    {hit['score']:.2f}  {memory['content']}  ({memory['type']}, {day})"


def quoted(source: Mapping[str, Any]) -> Iterator[str]:
    """Write the messages that a memory is from, marked, among their neighbours."""
    for quote in source["sources"]:
        yield f"  {quote['session_id']}, message {quote['first']}:"
        for message in quote["messages"]:
            mark = "→" if message["is_source"] else " "
            yield f"  {mark} {message['name'] or message['role']}: {message['text']}"


def _facts(client: Client) -> list[Mapping[str, Any]]:
    path = "/memories?type=semantic&type=procedural&status=active&status=superseded&direction=asc&limit=100"
    memories: list[Mapping[str, Any]] = client.call("GET", path)["memories"]
    return memories


def _title(text: str) -> Iterator[str]:
    yield f"\n{_RULE}\n{text}\n{_RULE}"
