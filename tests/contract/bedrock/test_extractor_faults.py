"""What the extractor by a model does with answers that cannot be used, and without any: which failure is which."""

from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from recollect import telemetry
from recollect.answers import SearchQuery
from recollect.aws.converse import BedrockExtractor
from recollect.errors import ExtractionFailed, Unavailable
from recollect.model import Memory
from recollect.nominating import ToStore

from tests.support import converse
from tests.support.bedrock_server import DENIED, THROTTLED, BedrockServer, Reply, answering, calling
from tests.support.builders import asking, controller
from tests.support.extracting import CLAUDE, NOTHING, PEANUTS, TALK, question, script
from tests.support.passages import passage

pytestmark = pytest.mark.enable_socket
SECRET = "zebra-7319"


def changed(**values: Any) -> dict[str, Any]:
    return converse.remembering([PEANUTS, {**PEANUTS, **values}])


def without(name: str) -> dict[str, Any]:
    return converse.remembering([{key: value for key, value in PEANUTS.items() if key != name}])


REFUSED = {
    "empty": converse.said(""),
    "no content": converse.reply(stop="end_turn"),
    "prose": converse.said("There is nothing to remember. " + SECRET),
    "refusal": converse.said("I can't help with that."),
    "truncated JSON": converse.said(converse.told([PEANUTS])[:-20]),
    "deep JSON": converse.said('{"memories": ' + "[" * 50_000),
    "a list": converse.reply(converse.call([PEANUTS])),
    "null": converse.reply(converse.call(None)),
    "no memories": converse.reply(converse.call({})),
    "memories of text": converse.reply(converse.call({"memories": SECRET})),
    "delete everything": converse.reply(converse.call({"memories": [], "delete": ["*"], SECRET: "all"})),
    "another tool": converse.reply(converse.call({"memories": []}, tool="delete_memories")),
    "two calls": converse.reply(converse.call({"memories": []}), converse.call({"memories": []})),
    "too many": converse.remembering([PEANUTS] * 51),
    "unknown field": changed(pinned=True),
    "no quote": without("quote"),
    "no subject": without("subject"),
    "unknown type": changed(type=SECRET),
    "importance of text": changed(importance="high"),
    "importance above one": changed(importance=7),
    "importance not a number": changed(importance=float("nan")),
    "blank content": changed(content="\u200b "),
    "long content": changed(content="x" * 1_001),
    "broken characters": changed(content="\ud800"),
    "invented quote": changed(quote=f"I love peanuts {SECRET}"),
    "quote of another message": changed(quote="You love dark mode"),
    "message that is only context": changed(message=0, quote="My sister Vera is diabetic"),
    "unknown message": changed(message=3),
    "negative message": changed(message=-1),
    "naive time": changed(occurred_at="2026-05-01T10:00:00"),
    "no such day": changed(occurred_at="2026-02-30"),
    "unknown memory": changed(same_as=1),
    "the assistant's word on the user": changed(message=1, quote="You love dark mode", subject="User"),
    "a sister's illness as the user's": converse.remembering(
        [{**PEANUTS, "content": "The user has a nut allergy.", "message": 2, "quote": "Vera has a nut allergy"}]
    ),
    "malformed by its own account": converse.reply(stop="malformed_tool_use"),
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_used_is_asked_for_once_more_and_then_given_up(
    extractor: BedrockExtractor, server: BedrockServer, body: dict[str, Any]
) -> None:  # cases E3, E5, E6, M5
    script(server, body, body, converse.remembering([PEANUTS]))

    with telemetry.measured() as measures, pytest.raises(ExtractionFailed) as caught:
        extractor.extract(TALK, NOTHING)

    assert len(server.requests) == 2
    assert measures.counts["model_replies_refused"] == 2
    assert caught.value.tokens == {"input": 2_000, "output": 100}
    assert SECRET not in f"{caught.value.message} {caught.value.context}"
    assert question(server, 1).startswith(question(server, 0) + "\nYour first answer to this could not be used:\n- ")
    assert SECRET not in question(server, 1)


@pytest.mark.parametrize(
    "content", [b"", b"not json", b"{}", b'{"output": {}}', b'{"stopReason": null, "usage": null}']
)
def test_an_answer_of_another_form_is_a_reply_that_cannot_be_used(
    extractor: BedrockExtractor, server: BedrockServer, content: bytes
) -> None:
    server.replies.extend([Reply(content=content)] * 2)

    with pytest.raises(ExtractionFailed, match="cannot be used"):
        extractor.extract(TALK, NOTHING)

    assert len(server.requests) == 2


def test_a_good_second_answer_counts_and_both_are_paid(extractor: BedrockExtractor, server: BedrockServer) -> None:
    script(server, changed(quote="I eat anything"), converse.remembering([PEANUTS]))

    extraction = extractor.extract(TALK, NOTHING)

    assert [each.content for each in extraction.memories] == ["The user is allergic to peanuts."]
    assert extraction.tokens == {"input": 2_000, "output": 100}
    assert "- memories.1: quote does not stand in that message" in question(server, 1)


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("max_tokens", "cut off"),
        ("guardrail_intervened", "guardrail"),
        ("content_filtered", "filtered"),
        ("model_context_window_exceeded", "too long"),
        ("zebra", "not known"),
    ],
)
def test_a_model_that_stops_before_the_end_has_failed_whatever_it_has_said(
    extractor: BedrockExtractor, server: BedrockServer, stop: str, reason: str
) -> None:
    script(server, converse.reply(converse.call({"memories": [PEANUTS]}), stop=stop))

    with pytest.raises(ExtractionFailed, match=reason) as caught:
        extractor.extract(TALK, NOTHING)

    assert len(server.requests) == 1
    assert caught.value.tokens == {"input": 1_000, "output": 50}


@pytest.mark.parametrize(
    "reply",
    [
        THROTTLED,
        Reply(500, "InternalServerException", b'{"message":"internal"}'),
        Reply(503, "ServiceUnavailableException", b'{"message":"busy"}'),
        Reply(424, "ModelErrorException", b'{"message":"failed"}'),
        Reply(429, "ModelNotReadyException", b'{"message":"not ready"}'),
        Reply(408, "ModelTimeoutException", b'{"message":"too long"}'),
        Reply(502, "", b"<html>bad gateway</html>"),
        Reply(is_slow=True),
        Reply(content=b'{"output": {"mess', missing_bytes=100),
    ],
    ids=["throttled", "500", "503", "model error", "not ready", "model timeout", "502 without a code", "slow", "cut"],
)
def test_weather_makes_the_model_unavailable(extractor: BedrockExtractor, server: BedrockServer, reply: Reply) -> None:
    server.replies.append(reply)

    with pytest.raises(Unavailable, match="could not ask the model") as caught:
        extractor.extract(TALK, NOTHING)

    assert caught.value.tokens == {}


def test_what_was_paid_before_the_model_became_unavailable_is_told(
    extractor: BedrockExtractor, server: BedrockServer
) -> None:
    script(server, converse.said("prose"))
    server.replies.append(THROTTLED)

    with pytest.raises(Unavailable) as caught:
        extractor.extract(TALK, NOTHING)

    assert caught.value.tokens == {"input": 1_000, "output": 50}


def test_throttling_is_waited_out_by_a_client_that_may(server: BedrockServer) -> None:
    server.replies.append(THROTTLED)
    script(server, converse.remembering([PEANUTS]))

    with calling(server.endpoint_url, attempts=2) as client:
        assert len(BedrockExtractor(client, CLAUDE).extract(TALK, NOTHING).memories) == 1

    assert len(server.requests) == 2


def test_server_errors_without_end_are_given_up(server: BedrockServer) -> None:
    server.replies.extend([Reply(503, "ServiceUnavailableException", b'{"message":"busy"}')] * 9)

    with calling(server.endpoint_url, attempts=2) as client, pytest.raises(Unavailable):
        BedrockExtractor(client, CLAUDE).extract(TALK, NOTHING)

    assert len(server.requests) == 2


def test_a_mistake_of_ours_propagates_as_it_is(extractor: BedrockExtractor, server: BedrockServer) -> None:
    server.replies.append(DENIED)

    with pytest.raises(ClientError):
        extractor.extract(TALK, NOTHING)


def test_five_sessions_that_say_the_same_leave_one_memory_and_bad_replies_change_nothing(
    extractor: BedrockExtractor, server: BedrockServer
) -> None:  # case M5
    of = controller()
    dark = {**PEANUTS, "message": 0, "quote": "I prefer dark mode", "content": "The user prefers dark mode."}
    other = {**dark, "content": "The user likes interfaces in dark mode.", "same_as": 1}
    script(server, *map(converse.remembering, ([dark], [dark], [other], [other], [other])))

    def stored(text: str = "dark mode") -> list[Memory]:
        return [hit.memory for hit in of.search("ana", SearchQuery(text=text, reinforces=False)).hits]

    def ingest(session: int) -> None:
        said = replace(passage(("user", "I prefer dark mode")), transcript_id=f"01HF{session:022d}")
        extraction = extractor.extract(said, stored)
        of.store(asking(), [ToStore(each) for each in extraction.memories])

    for session in range(5):
        ingest(session)
    server.replies.extend(map(answering, list(REFUSED.values())[:10]))
    for session in range(5, 10):
        with pytest.raises(ExtractionFailed):
            ingest(session)

    (one,) = stored()
    assert (one.content, len(one.sources), one.access_count) == ("The user prefers dark mode.", 5, 4)
