"""A stand-in for Bedrock's runtime on a loopback port: the real wire format, limits and errors; toy vectors.

InvokeModel embeds; Converse finds nothing, unless a test says what it replies. A text's vector is the sum of one random
direction per word, so texts that share words are close, as they should. Tokens are counted as bytes, the most that a
tokenizer can make of a text.
"""

import hashlib
import json
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import botocore.session
import numpy as np
from botocore.config import Config

from tests.support import converse

SLOW_S = 5.0
READ_TIMEOUT_S = 3.0  # a busy machine may take one
_SESSION = botocore.session.Session()


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to give instead of the right one."""

    status: int = 200
    error: str = ""
    content: bytes = b"{}"
    is_slow: bool = False
    missing_bytes: int = 0


THROTTLED = Reply(429, "ThrottlingException", b'{"message":"Too many requests, please wait before trying again."}')
DENIED = Reply(403, "AccessDeniedException", b'{"message":"not authorized to perform: bedrock:InvokeModel"}')


@dataclass(slots=True)
class BedrockServer:
    """What tests see of the stand-in."""

    endpoint_url: str = ""
    replies: deque[Reply] = field(default_factory=deque)
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving() -> Iterator[BedrockServer]:
    """Run a stand-in while the block runs."""
    state = BedrockServer()
    server = _Server(("127.0.0.1", 0), _handler(state))
    state.endpoint_url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def calling(endpoint_url: str, attempts: int = 1) -> Iterator[Any]:
    """Make a client that gives up soon."""
    client = _SESSION.create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=endpoint_url,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(
            connect_timeout=1,
            read_timeout=READ_TIMEOUT_S,
            retries={"mode": "standard", "total_max_attempts": attempts},
            proxies={},
        ),
    )
    try:
        yield client
    finally:
        client.close()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that gave up is what some tests want."""


def _handler(state: BedrockServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = SLOW_S

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            _, _, model_id, operation = map(unquote, self.path.split("/"))
            state.requests.append((model_id, body))
            right = _converse(model_id, body) if operation == "converse" else _invoke(model_id, body)
            reply = state.replies.popleft() if state.replies and right.status == 200 else right
            if reply.is_slow:
                state.closing.wait(SLOW_S)
            self.send_response(reply.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply.content) + reply.missing_bytes))
            if reply.error:
                self.send_header("x-amzn-ErrorType", reply.error)
            if reply.missing_bytes:
                self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(reply.content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
            """Say nothing."""

    return Handler


def _invoke(model_id: str, body: dict[str, Any]) -> Reply:
    if "amazon.titan-embed-text-v2" in model_id:
        return _titan(body)
    if "cohere.embed" in model_id:
        return _cohere(body, is_v4="embed-v4" in model_id)
    return _invalid("The provided model identifier is invalid.")


def _converse(model_id: str, body: dict[str, Any]) -> Reply:
    mistake = converse.mistake(model_id, body)
    return answering(converse.remembering([])) if mistake is None else _invalid(mistake)


def _titan(body: dict[str, Any]) -> Reply:
    text, dimension = body["inputText"], body.get("dimensions", 1024)
    if set(body) - {"inputText", "dimensions", "normalize", "embeddingTypes"} or dimension not in (256, 512, 1024):
        return _invalid("Malformed input request, please reformat your input and try again.")
    token_count = len(text.encode())
    if not 1 <= token_count <= 8192:
        return _invalid(f"400 Bad Request: Too many input tokens. Max input tokens: 8192, request: {token_count}")
    vector = _vector(text, dimension)
    return answering({"embedding": vector, "embeddingsByType": {"float": vector}, "inputTextTokenCount": token_count})


def _cohere(body: dict[str, Any], *, is_v4: bool) -> Reply:
    texts: Sequence[str] = body["texts"]
    known = {"texts", "input_type", "truncate", "embedding_types"} | ({"output_dimension"} if is_v4 else set())
    truncations = {"NONE", "LEFT", "RIGHT"} if is_v4 else {"NONE", "START", "END"}
    dimension = body.get("output_dimension", 1536 if is_v4 else 1024)
    is_valid = (
        set(body) <= known
        and body["input_type"] in {"search_document", "search_query", "classification", "clustering"}
        and body.get("truncate", "NONE") in truncations
        and dimension in (256, 512, 1024, 1536)
        and 1 <= len(texts) <= 96
        and (is_v4 or all(len(text) <= 2048 for text in texts))
    )
    if not is_valid:
        return _invalid("Malformed input request, please reformat your input and try again.")
    vectors = [_vector(text, dimension) for text in texts]
    answer: dict[str, Any]
    if "embedding_types" in body:
        answer = {"embeddings": {"float": vectors}, "response_type": "embeddings_by_type"}
    else:
        answer = {"embeddings": vectors, "response_type": "embeddings_floats"}
    return answering({"id": "1", "texts": texts, **answer})


def _vector(text: str, dimension: int) -> list[float]:
    summed = np.zeros(dimension)
    for word in text.lower().split() or [""]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
        summed += np.random.default_rng(seed).standard_normal(dimension)
    return [float(component) for component in summed / np.linalg.norm(summed)]


def answering(body: dict[str, Any]) -> Reply:
    """Make the reply with this body."""
    return Reply(content=json.dumps(body).encode())


def _invalid(message: str) -> Reply:
    return Reply(400, "ValidationException", json.dumps({"message": message}).encode())
