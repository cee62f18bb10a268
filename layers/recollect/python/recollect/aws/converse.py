"""Asks models on Amazon Bedrock through the Converse API, whatever family they are of.

An answer is one call of a tool. One that cannot be used is asked for once more, with what was wrong; it is told beside
the question and not in a dialogue, so that nothing that a model said comes back to it as its own word, and any model
takes it. Sampling is left to the model: newer ones refuse to be told a temperature.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from botocore.parsers import ResponseParserError

from recollect import telemetry
from recollect.aws.errors import translating
from recollect.consolidating.composing import in_order
from recollect.consolidating.summary import Summary
from recollect.conversation import Passage
from recollect.errors import ExtractionFailed, Unavailable
from recollect.extraction import Extraction, Recall
from recollect.model import QUERY_MAX_CHARS, Memory, NewMemory
from recollect.prompting import found, told
from recollect.prompting.rendering import candidates, render, windows
from recollect.prompting.replies import InvalidReply, Problem, arguments
from recollect.prompting.tasks import Task

TRY_COUNT = 2
OUTPUT_MAX_TOKENS = 4_096
# Which models can be made to call the tool, by what their ids contain; the others decide by themselves.
FORCING: tuple[tuple[str, Callable[[str], dict[str, Any]]], ...] = (
    ("anthropic.claude", lambda tool: {"tool": {"name": tool}}),
    ("amazon.nova", lambda tool: {"tool": {"name": tool}}),
    ("mistral.mistral-large", lambda _: {"any": {}}),
)
COMPLETE = frozenset({"tool_use", "end_turn", "stop_sequence"})
MALFORMED = frozenset({"malformed_model_output", "malformed_tool_use"})
STOPPED: Mapping[str, str] = {
    "max_tokens": "the model's reply was cut off at its limit of tokens",
    "guardrail_intervened": "a guardrail stopped the model",
    "content_filtered": "the model's reply was filtered",
    "model_context_window_exceeded": "the passage is too long for the model",
}

_MALFORMED = Problem("malformed_reply", "the reply was malformed")

Answer = TypeVar("Answer")


class ConverseModel:
    """A model that is asked one thing at a time; safe to share between threads.

    Parameters
    ----------
    client : Bedrock runtime client
        Retries what throttling and the network spoil, within its own limits.
    model_id : str
        Id of a model or of an inference profile, or the ARN of one.
    """

    def __init__(self, client: Any, model_id: str) -> None:
        self._client = client
        self._model_id = model_id
        self._choice = next((choice for marker, choice in FORCING if marker in model_id), None)

    def ask(self, task: Task, question: str, read: Callable[[object], Answer], spent: Counter[str]) -> Answer:
        """Ask, and ask once more if the reply cannot be used.

        Parameters
        ----------
        read : callable
            Makes the answer of the arguments that the model gave; raises ``InvalidReply``.
        spent : Counter
            The tokens that the model takes are added, ``input`` and ``output``.

        Raises
        ------
        Unavailable
            If the model is busy or does not answer.
        ExtractionFailed
            If it stops before the end, or neither reply can be used.
        """
        text, kinds = question, ""
        for _ in range(TRY_COUNT):
            try:
                return read(arguments(self._reply(task, text, spent), task.tool))
            except InvalidReply as error:
                telemetry.count("model_replies_refused")
                text, kinds = f"{question}\n{error.correction}", str(error)
        raise ExtractionFailed(f"the model's replies cannot be used: {kinds}", tokens=dict(spent))

    def _reply(self, task: Task, text: str, spent: Counter[str]) -> Sequence[Mapping[str, Any]]:
        try:
            with translating("ask the model"):
                reply = self._client.converse(**self._request(task, text))
        except Unavailable as error:
            error.tokens = dict(spent)
            raise
        except ResponseParserError:
            raise InvalidReply([_MALFORMED]) from None
        self._count(reply.get("usage") or {}, spent)
        stop = reply.get("stopReason")
        if stop in MALFORMED:
            raise InvalidReply([_MALFORMED])
        if stop in STOPPED:
            raise ExtractionFailed(STOPPED[stop], tokens=dict(spent))
        if stop is not None and stop not in COMPLETE:
            raise ExtractionFailed("the model stopped for a reason that is not known", tokens=dict(spent))
        content: Sequence[Mapping[str, Any]] = ((reply.get("output") or {}).get("message") or {}).get("content") or ()
        return content

    def _request(self, task: Task, text: str) -> dict[str, Any]:
        tool = {"toolSpec": {"name": task.tool, "inputSchema": {"json": task.schema}}}
        choice = {"toolChoice": self._choice(task.tool)} if self._choice else {}
        return {
            "modelId": self._model_id,
            "system": [{"text": task.system}],
            "messages": [{"role": "user", "content": [{"text": text}]}],
            "inferenceConfig": {"maxTokens": OUTPUT_MAX_TOKENS},
            "toolConfig": {"tools": [tool], **choice},
        }

    @staticmethod
    def _count(usage: Mapping[str, int], spent: Counter[str]) -> None:
        for name in ("input", "output"):
            tokens = usage.get(f"{name}Tokens") or 0
            spent[name] += tokens
            telemetry.count(f"model_{name}_tokens", tokens)


class BedrockExtractor:
    """Extractor that asks a model on Bedrock; safe to share between threads.

    Parameters
    ----------
    client : Bedrock runtime client
        See ``clients.converse_client``.
    model_id : str
        Id of a model or of an inference profile, or the ARN of one.
    """

    name = "bedrock"
    costs_tokens = True

    def __init__(self, client: Any, model_id: str) -> None:
        self._model = ConverseModel(client, model_id)
        self._task = found.task()

    def extract(self, passage: Passage, recall: Recall) -> Extraction:
        """Find the memories in a passage; see ``Extractor.extract``.

        Raises
        ------
        Unavailable
            If the model is busy or does not answer.
        ExtractionFailed
            If its reply is cut off, or cannot be used, nor can a second one.
        """
        spent: Counter[str] = Counter()
        memories: list[NewMemory] = []
        for window in windows(passage):
            stored = candidates(recall(each.text[:QUERY_MAX_CHARS]) for each in window.new if each.is_citable)
            read = partial(found.read, window=window, stored=stored)
            answer = self._model.ask(self._task, render(window, stored), read, spent)
            for each in sorted(answer, key=lambda one: one.message):
                new = found.new_memory(each, passage, window)
                same = None if each.same_as is None else stored[each.same_as - 1]
                memories.append(new if same is None else _or_again(new, same, recall))
        return Extraction(tuple(memories), dict(spent))


class BedrockSummariser:
    """Summariser that asks a model on Bedrock; safe to share between threads.

    Parameters
    ----------
    client : Bedrock runtime client
        See ``clients.converse_client``.
    model_id : str
        Id of a model or of an inference profile, or the ARN of one.
    """

    def __init__(self, client: Any, model_id: str) -> None:
        self._model = ConverseModel(client, model_id)
        self._task = told.task()

    def summarise(self, memories: Sequence[Memory]) -> tuple[Summary, dict[str, int]]:
        """Tell memories in one; see ``Summariser.summarise``.

        Raises
        ------
        Unavailable
            If the model is busy or does not answer.
        ExtractionFailed
            If its reply is cut off, or cannot be used, nor can a second one.
        """
        spent: Counter[str] = Counter()
        ordered = in_order(memories)
        read = partial(told.read, memories=ordered)
        return self._model.ask(self._task, told.render(ordered), read, spent), dict(spent)


def _or_again(new: NewMemory, same: Memory, recall: Recall) -> NewMemory:
    """Say again what is stored, if it is still there: what was deleted while the model was thinking stays deleted."""
    is_there = any((each.memory_id, each.content) == (same.memory_id, same.content) for each in recall(same.content))
    return found.said_again(same, new) if is_there and found.is_repeat(new, same) else new
