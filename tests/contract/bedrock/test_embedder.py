"""What only the Bedrock embedder promises: the wire format of each model family, and which failure is which."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from botocore.exceptions import ClientError
from recollect import telemetry
from recollect.aws.bedrock import BedrockEmbedder
from recollect.errors import CorruptData, Unavailable
from recollect.settings import InvalidSettings

from tests.support.bedrock_server import DENIED, THROTTLED, BedrockServer, Reply, calling

pytestmark = pytest.mark.enable_socket

TITAN = "amazon.titan-embed-text-v2:0"
COHERE_3 = "cohere.embed-multilingual-v3"
COHERE_4 = "cohere.embed-v4:0"
MODELS = pytest.mark.parametrize(("model_id", "dimension"), [(TITAN, 512), (COHERE_3, 1024), (COHERE_4, 256)])

MakeEmbedder = Callable[..., BedrockEmbedder]


@pytest.fixture
def make(client: Any) -> MakeEmbedder:
    def make(model_id: str = TITAN, dimension: int = 256) -> BedrockEmbedder:
        return BedrockEmbedder(client, model_id, dimension)

    return make


@pytest.mark.parametrize(
    "model_id",
    [
        TITAN,
        "us." + TITAN,
        "arn:aws:bedrock:us-east-1::foundation-model/" + TITAN,
        "eu." + COHERE_4,
        "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/global." + COHERE_4,
        "cohere.embed-english-v3",
    ],
)
def test_a_model_is_known_by_its_id_whatever_stands_around_it(
    make: MakeEmbedder, server: BedrockServer, model_id: str
) -> None:
    embedder = make(model_id, 1024)

    assert embedder.embed(["a text"]).shape == (1, 1024)
    assert embedder.name == f"{model_id}@1024"
    assert server.requests[0][0] == model_id


@pytest.mark.parametrize("model_id", ["amazon.titan-embed-text-v1", "cohere.command-r-v1:0", ""])
def test_an_unknown_model_is_refused_at_once(make: MakeEmbedder, model_id: str) -> None:
    with pytest.raises(InvalidSettings, match="it must contain one of"):
        make(model_id)


def test_titan_gets_one_text_a_call_and_rows_keep_the_order(make: MakeEmbedder, server: BedrockServer) -> None:
    texts = [f"text number {i}" for i in range(30)]
    embedder = make()

    vectors = embedder.embed(texts)

    assert sorted(body["inputText"] for _, body in server.requests) == sorted(texts)
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_array_equal(embedder.embed([text])[0], vector)


def test_titan_is_asked_for_the_dimension(make: MakeEmbedder, server: BedrockServer) -> None:
    make(TITAN, 512).embed(["a text"])

    assert server.requests == [(TITAN, {"inputText": "a text", "dimensions": 512, "normalize": True})]


@pytest.mark.parametrize(("model_id", "dimension"), [(COHERE_3, 1024), (COHERE_4, 1536)])
def test_cohere_gets_96_texts_a_call(make: MakeEmbedder, server: BedrockServer, model_id: str, dimension: int) -> None:
    texts = [f"text number {i}" for i in range(100)]
    embedder = make(model_id, dimension)

    vectors = embedder.embed(texts)

    assert sorted(len(body["texts"]) for _, body in server.requests) == [4, 96]
    np.testing.assert_array_equal(embedder.embed(texts[-1:])[0], vectors[-1])


@MODELS
@pytest.mark.parametrize("character", ["a ", "字", "😀"])
def test_a_long_text_is_sent_in_pieces_inside_the_limits(
    make: MakeEmbedder, server: BedrockServer, model_id: str, dimension: int, character: str
) -> None:
    text = (character * 16_000)[:16_000]

    vectors = make(model_id, dimension).embed(["short", text, "short"])

    sent = [piece for _, body in server.requests for piece in body.get("texts", [body.get("inputText")])]
    assert sum(map(len, sent)) == len(text) + 2 * len("short")
    np.testing.assert_array_equal(vectors[0], vectors[2])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_a_throttled_call_is_repeated_by_a_client_that_may(server: BedrockServer) -> None:
    server.replies.append(THROTTLED)

    with calling(server.endpoint_url, attempts=2) as client:
        vectors = BedrockEmbedder(client, TITAN, 256).embed(["a text"])

    assert vectors.shape == (1, 256)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "reply",
    [
        THROTTLED,
        Reply(500, "InternalServerException", b'{"message":"internal"}'),
        Reply(503, "ServiceUnavailableException", b'{"message":"busy"}'),
        Reply(429, "ModelNotReadyException", b'{"message":"not ready"}'),
        Reply(408, "ModelTimeoutException", b'{"message":"too long"}'),
        Reply(502, "", b"<html>bad gateway</html>"),
        Reply(is_slow=True),
        Reply(content=b'{"embedding": [0.1', missing_bytes=100),
    ],
    ids=["throttled", "500", "503", "not ready", "model timeout", "502 without a code", "slow", "cut off"],
)
def test_weather_makes_the_model_unavailable(
    make: MakeEmbedder, server: BedrockServer, reply: Reply
) -> None:  # case M12
    server.replies.append(reply)

    with pytest.raises(Unavailable, match="could not embed texts"):
        make().embed(["a text"])


def test_one_failed_call_of_a_batch_fails_the_batch(make: MakeEmbedder, server: BedrockServer) -> None:
    server.replies.append(THROTTLED)

    with pytest.raises(Unavailable):
        make().embed([f"text number {i}" for i in range(30)])


def test_nobody_listening_makes_the_model_unavailable() -> None:
    with calling("http://127.0.0.1:9") as client, pytest.raises(Unavailable):
        BedrockEmbedder(client, TITAN, 256).embed(["a text"])


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (DENIED, "AccessDeniedException"),
        (Reply(400, "ValidationException", b'{"message":"malformed"}'), "ValidationException"),
        (Reply(404, "ResourceNotFoundException", b'{"message":"no such model"}'), "ResourceNotFoundException"),
    ],
)
def test_a_mistake_of_ours_propagates_as_it_is(
    make: MakeEmbedder, server: BedrockServer, reply: Reply, code: str
) -> None:
    server.replies.append(reply)

    with pytest.raises(ClientError) as caught:
        make().embed(["a text"])

    assert caught.value.response["Error"]["Code"] == code


@MODELS
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{}",
        b'{"embedding": null, "embeddings": null}',
        b'{"embedding": [0.5, 0.5], "embeddings": [[0.5, 0.5]]}',
        b'{"embedding": "text", "embeddings": "text"}',
        b'{"embedding": [], "embeddings": {"float": []}}',
        b'{"embedding": {"a": 1}, "embeddings": {"int8": [[1, 2]]}}',
    ],
)
def test_an_answer_of_another_form_is_corrupt(
    make: MakeEmbedder, server: BedrockServer, model_id: str, dimension: int, content: bytes
) -> None:
    server.replies.append(Reply(content=content))

    with pytest.raises(CorruptData):
        make(model_id, dimension).embed(["a text"])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "0.0"])
def test_a_vector_without_a_direction_is_corrupt(make: MakeEmbedder, server: BedrockServer, number: str) -> None:
    server.replies.append(Reply(content=f'{{"embedding": [{", ".join([number] * 256)}]}}'.encode()))

    with pytest.raises(CorruptData):
        make().embed(["a text"])


def test_nothing_to_embed_calls_nobody(make: MakeEmbedder, server: BedrockServer) -> None:
    assert make().embed([]).shape == (0, 256)
    assert server.requests == []


def test_the_calls_of_a_batch_are_counted_for_its_request(server: BedrockServer) -> None:
    with calling(server.endpoint_url) as client, telemetry.measured() as measures:
        client.meta.events.register("before-call", lambda **_: telemetry.count("calls"))
        BedrockEmbedder(client, TITAN, 256).embed([f"text number {i}" for i in range(30)])

    assert measures.counts["calls"] == 30
