"""The demo: its conversations give what it is to show, and its answers are told plainly."""

from typing import Any

from recollect.conversation import Message, Passage, Role
from recollect.model import MemoryType
from recollect.reconcile import Candidate, Statement, reconcile

from infra.local import demo
from tests.support.talks import TRANSCRIPT_ID, at_ms, extracted


def contents(conversation: dict[str, Any]) -> list[str]:
    messages = tuple(
        Message(index=index, role=Role(sent["role"]), text=sent["content"], name=sent.get("name"))
        for index, sent in enumerate(conversation["messages"])
    )
    occurred_at_ms = at_ms(conversation["occurred_at"][:10])
    read = Passage(
        transcript_id=TRANSCRIPT_ID,
        session_id=conversation["session_id"],
        agent_id=conversation["agent_id"],
        occurred_at_ms=occurred_at_ms,
        messages=messages,
        first=0,
    )
    return [memory.content for memory in extracted(read)]


def test_the_demos_conversations_become_facts_of_which_the_later_ones_correct_the_earlier() -> None:
    spring, autumn = (contents(conversation) for conversation in demo.CONVERSATIONS)

    assert spring == [
        "Alice lives in Berlin",
        "Alice and their husband are flying to Lisbon in April 2026",
        "Alice is allergic to peanuts",
        "Alice's sister is diabetic",
        "Alice prefers morning flights",
        "Always keep your answers short",
    ]
    assert autumn == [
        "Alice moved to Hamburg in August 2026",
        "Alice works at Bosch as an engineer",
        "Alice has a dentist appointment on 2026-09-22 at 9:30",
        "Alice prefers evening flights now",
        "Alice is allergic to peanuts",
    ]
    for old, new in ((spring[0], autumn[0]), (spring[4], autumn[3])):
        decided = reconcile(
            Statement(new, MemoryType.SEMANTIC), [Candidate("old", old, MemoryType.SEMANTIC, cosine=0.7)]
        )
        assert decided.outcome == "superseded"


def fact(memory_id: str, content: str, superseded_by: str | None, said: int) -> dict[str, Any]:
    return {
        "memory_id": memory_id,
        "content": content,
        "tags": ["home"],
        "superseded_by": superseded_by,
        "sources": [{}] * said,
    }


def test_what_holds_is_told_before_what_was_replaced() -> None:
    old, new = fact("1", "Ana lives in Rome", "2", 1), fact("2", "Ana moved to Bari", None, 2)

    assert list(demo.known([old, new])) == [
        "  • Ana moved to Bari  (home; said in 2 conversations)",
        "  ✗ Ana lives in Rome  (home)\n      replaced by: Ana moved to Bari",
    ]


def test_a_source_is_marked_among_its_neighbours() -> None:
    messages = [
        {"name": None, "role": "assistant", "text": "Where to?", "is_source": False},
        {"name": "Ana", "role": "user", "text": "To Bari", "is_source": True},
    ]

    told = list(demo.quoted({"sources": [{"session_id": "s", "first": 3, "messages": messages}]}))

    assert told == ["  s, message 3:", "    assistant: Where to?", "  → Ana: To Bari"]
