"""Whole conversations (``data/conversations.json``), and each memory that is made of them: no more, no less."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recollect.extracting.turns import turns_of
from recollect.model import MemoryType, NewMemory, Source

from tests.support.talks import TRANSCRIPT_ID, at_ms, extracted, facts, passage, turns

CONVERSATIONS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "conversations.json").read_text(encoding="utf-8")
)
NAMES = [conversation["name"] for conversation in CONVERSATIONS]


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=NAMES)
def test_the_facts_of_a_conversation_are_found_and_nothing_else(conversation: dict[str, Any]) -> None:
    assert facts(*conversation["said"]) == conversation["facts"]


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=NAMES)
def test_every_turn_but_chatter_is_kept_as_it_was_said(conversation: dict[str, Any]) -> None:
    assert turns(*conversation["said"]) == conversation["turns"]


def test_a_fact_has_the_scopes_time_and_source_of_its_message() -> None:
    read = passage("assistant: Anything I should know?", "Maya: I'm allergic to nuts.", day="2026-02-28")
    assert extracted(read) == (
        NewMemory(
            content="Maya is allergic to nuts",
            type=MemoryType.SEMANTIC,
            tags=("health", "identity"),
            importance=0.9,
            agent_id="helper",
            session_id="chat",
            actor="Maya",
            occurred_at_ms=at_ms("2026-02-28"),
            sources=(Source(TRANSCRIPT_ID, 1, 1),),
        ),
    )


def test_a_turn_has_the_scopes_time_and_source_of_its_message() -> None:
    read = passage("assistant: When do you fly?", "user: On 2 June.")
    late = replace(read, messages=(read.messages[0], replace(read.messages[1], at_ms=at_ms("2026-05-06"))), first=1)
    assert turns_of(late) == (
        NewMemory(
            content="On 2 June. [in answer to: When do you fly?]",
            type=MemoryType.EPISODIC,
            importance=0.4,
            agent_id="helper",
            session_id="chat",
            actor="user",
            occurred_at_ms=at_ms("2026-05-06"),
            sources=(Source(TRANSCRIPT_ID, 0, 1),),
        ),
    )


def test_only_new_messages_give_memories() -> None:
    said = ("user: I live in Rome.", "user: I prefer tea.")
    read = passage(*said, first=1)
    assert [memory.content for memory in extracted(read)] == ["The user prefers tea"]
    assert [memory.content for memory in turns_of(read)] == ["I prefer tea."]
