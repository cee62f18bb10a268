"""The Converse operation for the stand-in of Bedrock: which requests it refuses, and what its replies look like."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

USAGE = {"inputTokens": 1_000, "outputTokens": 50, "totalTokens": 1_050}
FORCED = {"anthropic.claude": "tool", "amazon.nova": "tool", "mistral.mistral-large": "any"}
_MODEL_ID = re.compile(r"[a-zA-Z0-9-:.]+|arn:aws[^:]*:bedrock:[a-z0-9-]+:[0-9]*:[a-z-]+/[a-zA-Z0-9-:.]+")
_FIELDS = {"messages", "system", "inferenceConfig", "toolConfig"}

Block = dict[str, Any]


def mistake(model_id: str, body: Mapping[str, Any]) -> str | None:
    """Say what Bedrock would refuse a request for."""
    choices = body["toolConfig"].get("toolChoice", {"auto": {}})
    forcible = next((choice for marker, choice in FORCED.items() if marker in model_id), "auto")
    texts = [block["text"] for message in body["messages"] for block in message["content"]]
    checks = {
        "The provided model identifier is invalid.": not _MODEL_ID.fullmatch(model_id),
        "extraneous key is not permitted": set(body) - _FIELDS,
        "temperature is deprecated for this model.": set(body["inferenceConfig"]) - {"maxTokens"},
        "A conversation must alternate between user and assistant roles.": [m["role"] for m in body["messages"]]
        != ["user"],
        "The text field in the ContentBlock object is blank.": not all(text.strip() for text in texts),
        "This model doesn't support the toolConfig.toolChoice field.": set(choices) - {"auto", forcible},
        "The tool's schema must be an object.": any(
            tool["toolSpec"]["inputSchema"]["json"]["type"] != "object" for tool in body["toolConfig"]["tools"]
        ),
    }
    return next((told for told, is_wrong in checks.items() if is_wrong), None)


def reply(*blocks: Block, stop: str = "tool_use", usage: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Make the body of an answer."""
    return {
        "metrics": {"latencyMs": 551},
        "output": {"message": {"content": list(blocks), "role": "assistant"}},
        "stopReason": stop,
        "usage": dict(usage or USAGE),
    }


def call(arguments: Any, tool: str = "remember") -> Block:
    """Make a use of a tool."""
    return {"toolUse": {"input": arguments, "name": tool, "toolUseId": "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q"}}


def remembering(memories: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Make the body of an answer that gives memories."""
    return reply(call({"memories": list(memories)}))


def said(text: str, stop: str = "end_turn") -> dict[str, Any]:
    """Make the body of an answer in text."""
    return reply({"text": text}, stop=stop)


def told(memories: Sequence[Mapping[str, Any]]) -> str:
    """Write memories as a model does that says them in text."""
    return json.dumps({"memories": list(memories)}, indent=2)
