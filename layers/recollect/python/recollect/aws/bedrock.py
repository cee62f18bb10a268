"""Embeds with a model on Amazon Bedrock: Titan Text Embeddings V2, or Cohere Embed v3 and v4.

Decides how a text is put to each model family and what counts as a good answer; retries and timeouts belong to
the client that it is given. Which family it is, is read from the model id, whatever stands around it (a region
prefix, an inference profile's ARN).
"""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

import numpy as np

from recollect.aws.errors import translating
from recollect.embedding.windows import mean_direction, pieces, unit_vectors, well_formed
from recollect.errors import CorruptData
from recollect.scan import Vectors
from recollect.settings import InvalidSettings

# Calls under way at once for one batch; below the client's pool of connections.
CALLS_AT_ONCE = 8

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Family:
    """How to speak to one family of models.

    Parameters
    ----------
    marker : str
        What a model id of this family contains.
    texts_per_call : int
    text_max_bytes : int
        Longest text in UTF-8 bytes; longer ones are embedded in pieces.
    request : callable
        Makes the request body from the texts of one call and the dimension.
    vectors : callable
        Takes the vectors out of the answer's body; may fail in any way when that has another form.
    """

    marker: str
    texts_per_call: int
    text_max_bytes: int
    request: Callable[[Sequence[str], int], Body]
    vectors: Callable[[Body], Any]


class BedrockEmbedder:
    """Embedder that calls a Bedrock model; safe to share between threads.

    Parameters
    ----------
    client : Bedrock runtime client
    model_id : str
        Id of a model or of an inference profile, or an ARN that holds one.
    dimension : int
        Asked of the model, or, of Cohere Embed v3, known of it.

    Raises
    ------
    InvalidSettings
        If the model id names no family that is known.
    """

    def __init__(self, client: Any, model_id: str, dimension: int) -> None:
        self._client = client
        self._model_id = model_id
        self._dimension = dimension
        self._family = _family(model_id)

    @property
    def name(self) -> str:
        """Model id and dimension."""
        return f"{self._model_id}@{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see ``Embedder.embed``.

        Raises
        ------
        Unavailable
            If the model is busy or does not answer.
        CorruptData
            If it answers something other than finite vectors of the dimension.
        """
        parts = [pieces(well_formed(text), self._family.text_max_bytes) for text in texts]
        answers = self._embed_all([piece for pieces_of_text in parts for piece in pieces_of_text])
        vectors = np.empty((len(texts), self._dimension), dtype=np.float32)
        begin = 0
        for row, pieces_of_text in enumerate(parts):
            end = begin + len(pieces_of_text)
            vectors[row] = mean_direction(answers[begin:end], [len(piece) for piece in pieces_of_text])
            begin = end
        return vectors

    def _embed_all(self, texts: Sequence[str]) -> Vectors:
        size = self._family.texts_per_call
        calls = [texts[begin : begin + size] for begin in range(0, len(texts), size)]
        if not calls:
            return np.empty((0, self._dimension), dtype=np.float32)
        if len(calls) == 1:
            return self._call(calls[0])
        with ThreadPoolExecutor(min(CALLS_AT_ONCE, len(calls))) as pool:
            # Each thread gets the request's context, so that its calls are counted there.
            futures = [pool.submit(copy_context().run, self._call, call) for call in calls]
            try:
                return np.concatenate([future.result() for future in futures])
            finally:
                pool.shutdown(cancel_futures=True)

    def _call(self, texts: Sequence[str]) -> Vectors:
        request = json.dumps(self._family.request(texts, self._dimension))
        with translating("embed texts"):
            answer = self._client.invoke_model(
                modelId=self._model_id, body=request, contentType="application/json", accept="application/json"
            )
            content = answer["body"].read()
        try:
            found = self._family.vectors(json.loads(content))
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptData("the embedding model's answer has another form", model_id=self._model_id) from error
        return unit_vectors(found, len(texts), self._dimension)


def _family(model_id: str) -> Family:
    for family in FAMILIES:
        if family.marker in model_id:
            return family
    known = ", ".join(family.marker for family in FAMILIES)
    raise InvalidSettings(f"no known embedding model in the Bedrock model id; it must contain one of: {known}")


def _titan_request(texts: Sequence[str], dimension: int) -> Body:
    return {"inputText": texts[0], "dimensions": dimension, "normalize": True}


def _titan_vectors(body: Body) -> Any:
    return [body["embedding"]]


def _cohere_v3_request(texts: Sequence[str], _: int) -> Body:
    return {"texts": list(texts), "input_type": "search_document", "truncate": "END"}


def _cohere_v4_request(texts: Sequence[str], dimension: int) -> Body:
    return {
        "texts": list(texts),
        "input_type": "search_document",
        "embedding_types": ["float"],
        "output_dimension": dimension,
        "truncate": "RIGHT",
    }


def _cohere_vectors(body: Body) -> Any:
    vectors = body["embeddings"]
    return vectors["float"] if isinstance(vectors, dict) else vectors


# Limits: Titan V2 8,192 tokens; Cohere v3 512 tokens and 2,048 characters; v4 128,000 tokens.
FAMILIES = (
    Family("amazon.titan-embed-text-v2", 1, 8_000, _titan_request, _titan_vectors),
    Family("cohere.embed-v4", 96, 100_000, _cohere_v4_request, _cohere_vectors),
    Family("cohere.embed-english-v3", 96, 2_000, _cohere_v3_request, _cohere_vectors),
    Family("cohere.embed-multilingual-v3", 96, 2_000, _cohere_v3_request, _cohere_vectors),
)
