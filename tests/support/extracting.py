"""A conversation, what a model finds in it, and how tests tell the stand-in what to reply and see what it was asked."""

from typing import Any

from recollect.extraction import Recall
from recollect.model import Memory

from tests.support.bedrock_server import BedrockServer, answering
from tests.support.passages import passage

CLAUDE = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
TALK = passage(
    ("user", "Hi! My sister Vera is diabetic."),
    ("assistant", "Noted. You love dark mode, right?"),
    ("user", "Yes, and I'm allergic to peanuts. Vera has a nut allergy."),
    first=1,
)
PEANUTS = {
    "content": "The user is allergic to peanuts.",
    "type": "semantic",
    "subject": "user",
    "tags": ["Health", "health"],
    "importance": 0.9,
    "message": 2,
    "quote": "I'm allergic to peanuts",
}


def recalling(*stored: Memory) -> Recall:
    return lambda _: stored


def script(server: BedrockServer, *bodies: dict[str, Any]) -> None:
    server.replies.extend(map(answering, bodies))


def question(server: BedrockServer, number: int = 0) -> str:
    (message,) = server.requests[number][1]["messages"]
    (block,) = message["content"]
    return str(block["text"])


NOTHING = recalling()
