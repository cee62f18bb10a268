"""What every embedder promises: the same cases over the model in this process and over Bedrock's stand-in."""

import importlib
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from recollect.aws.bedrock import BedrockEmbedder
from recollect.embedding.onnx import OnnxEmbedder
from recollect.ports import Embedder

from tests.support.bedrock_server import calling, serving

pytestmark = pytest.mark.enable_socket

TEXTS = ["The user prefers dark mode.", "Ola lives in Gdańsk", "今天天气很好。", "x", "😀", "a\x00b\ud800"]


@pytest.fixture(scope="module")
def onnx_embedder() -> OnnxEmbedder:
    subprocess.run([sys.executable, "layers/model/build.py"], check=True)
    importlib.invalidate_caches()
    return OnnxEmbedder()


@pytest.fixture(scope="module")
def bedrock_embedder() -> Iterator[BedrockEmbedder]:
    with serving() as server, calling(server.endpoint_url) as client:
        yield BedrockEmbedder(client, "amazon.titan-embed-text-v2:0", 1024)


@pytest.fixture(params=["onnx", "bedrock"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    embedder: Embedder = request.getfixturevalue(f"{request.param}_embedder")
    return embedder


def test_an_embedder_says_its_name_and_dimension(embedder: Embedder) -> None:
    assert embedder.name in {"all-minilm-l6-v2-int8", "amazon.titan-embed-text-v2:0@1024"}
    assert embedder.embed(["a text"]).shape == (1, embedder.dimension)


def test_vectors_are_unit_rows_in_float32(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)

    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_nothing_to_embed_makes_no_rows(embedder: Embedder) -> None:
    vectors = embedder.embed([])

    assert vectors.shape == (0, embedder.dimension)
    assert vectors.dtype == np.float32


def test_a_vector_depends_on_its_text_alone(embedder: Embedder) -> None:
    together = embedder.embed([*TEXTS, "word " * 3_000])

    for text, vector in zip(TEXTS, together, strict=False):
        np.testing.assert_array_equal(embedder.embed([text])[0], vector)


def test_close_texts_score_higher_than_unrelated_ones(embedder: Embedder) -> None:
    query, close, unrelated = embedder.embed(
        ["the user prefers dark mode", "the user likes dark mode", "PostgreSQL 15 runs in production"]
    )

    assert query @ close > 0.5 > query @ unrelated


@pytest.mark.parametrize("text", ["The quick brown fox. ", "字", "a"])
def test_the_longest_texts_are_embedded(embedder: Embedder, text: str) -> None:
    vectors = embedder.embed([(text * 16_000)[:16_000]])

    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_the_end_of_a_long_text_counts(embedder: Embedder) -> None:
    filler = "Nothing happened on that day. " * 200
    end = "PostgreSQL runs in production. " * 200

    vectors = embedder.embed([filler, filler + end, "PostgreSQL runs in production."])

    assert vectors[1] @ vectors[2] > vectors[0] @ vectors[2] + 0.1


def test_special_tokens_in_a_text_are_only_text(onnx_embedder: OnnxEmbedder) -> None:
    with_token, without = onnx_embedder.embed(["my cat [PAD] [PAD] [SEP]", "my cat"])

    assert with_token @ without < 0.95


@pytest.mark.parametrize(
    ("first", "second", "cosine"),
    [
        ("A man with a hard hat is dancing.", "A man wearing a hard hat is dancing.", 0.993),
        ("A young child is riding a horse.", "A child is riding a horse.", 0.954),
        ("A man is playing a guitar.", "The sky is full of clouds.", 0.005),
    ],
)
def test_scores_are_those_of_the_model_in_float32(
    onnx_embedder: OnnxEmbedder, first: str, second: str, cosine: float
) -> None:
    vectors = onnx_embedder.embed([first, second])

    assert vectors[0] @ vectors[1] == pytest.approx(cosine, abs=0.02)


def test_the_embedder_is_imported_without_what_only_its_use_needs() -> None:
    code = "import sys, recollect.embedding.onnx; print({'onnxruntime', 'tokenizers'} & set(sys.modules))"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, 'layers/recollect/python'); {code}"]

    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == "set()"
