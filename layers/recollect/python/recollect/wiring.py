"""Puts the parts together: the only place that knows every concrete class."""

import random
import time

from recollect.aws import clients
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.aws.objects import S3ObjectStore
from recollect.commit import Surroundings
from recollect.controller import MemoryController
from recollect.ports import Embedder
from recollect.settings import Settings


def memory_controller(settings: Settings) -> MemoryController:
    """Make the controller of a function."""
    store = DynamoDBMemoryStore(clients.dynamodb_client(), settings.table_name)
    objects = S3ObjectStore(clients.s3_client, settings.bucket_name)
    return MemoryController(store, objects, embedder(settings), surroundings(), settings.partitions_bytes)


def embedder(settings: Settings) -> Embedder:
    """Make the embedder that the settings name."""
    if settings.embedder == "bedrock":
        from recollect.aws.bedrock import BedrockEmbedder

        return BedrockEmbedder(clients.bedrock_client(), settings.bedrock_model_id, settings.bedrock_dimension)
    from recollect.embedding.onnx import OnnxEmbedder

    return OnnxEmbedder()


def surroundings() -> Surroundings:
    """Give the real clock, ids, randomness and waiting."""
    from ulid import ULID

    return Surroundings(
        now_ms=lambda: time.time_ns() // 1_000_000,
        new_id=lambda: str(ULID()),
        random=random.random,
        sleep=time.sleep,
    )
