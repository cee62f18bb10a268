"""Puts the parts together: the only place that knows every concrete class."""

import random
import time

from recollect.aws import clients
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.aws.objects import S3ObjectStore
from recollect.aws.queue import SqsIngestionQueue, SqsMaintenanceQueue
from recollect.aws.reports import DynamoDBDueIndex, DynamoDBReportStore
from recollect.aws.token_counts import DynamoDBTokenCounts
from recollect.aws.transcripts import DynamoDBTranscriptStore
from recollect.budget import TokenBudget
from recollect.commit import Surroundings
from recollect.consolidation import Telling
from recollect.controller import MemoryController
from recollect.extracting.rules import RulesExtractor
from recollect.extraction import Extractor
from recollect.finding import Finding
from recollect.ingesting import Ingestion
from recollect.lifecycle import Policy
from recollect.maintaining import Maintainer, Tell
from recollect.planning import Planner
from recollect.ports import Embedder
from recollect.recording import Recorder
from recollect.settings import Settings
from recollect.steps import steps_of
from recollect.transcribing import TranscriptController


def memory_controller(settings: Settings) -> MemoryController:
    """Make the controller of a function."""
    store = DynamoDBMemoryStore(clients.dynamodb_client(), settings.table_name)
    objects = S3ObjectStore(clients.s3_client, settings.bucket_name)
    return MemoryController(store, objects, embedder(settings), surroundings(), settings.partitions_bytes)


def ingestion(settings: Settings, controller: MemoryController) -> Ingestion:
    """Make the ingestion of a function, which stores through its controller."""
    client = clients.dynamodb_client()
    around = surroundings()
    return Ingestion(
        DynamoDBTranscriptStore(client, settings.table_name),
        S3ObjectStore(clients.s3_client, settings.bucket_name),
        queue(settings),
        controller,
        Finding(extractors(settings), _budget(settings), controller),
        around,
    )


def maintainer(settings: Settings, controller: MemoryController, tell: Tell) -> Maintainer:
    """Make what maintains users, beside the controller of a function."""
    client = clients.dynamodb_client()
    transcripts = DynamoDBTranscriptStore(client, settings.table_name)
    steps = steps_of(controller, transcripts, Policy(**settings.aging), telling=_telling(settings))
    reports = DynamoDBReportStore(client, settings.table_name)
    return Maintainer(controller.workings.store, reports, steps, surroundings(), tell)


def _telling(settings: Settings) -> Telling | None:
    """Make what writes consolidated memories, if the settings let a model do such things unless said otherwise."""
    if settings.extractor != "bedrock":
        return None
    from recollect.aws.converse import BedrockSummariser

    return Telling(BedrockSummariser(clients.converse_client(), settings.extraction_model_id), _budget(settings))


def _budget(settings: Settings) -> TokenBudget:
    counts = DynamoDBTokenCounts(clients.dynamodb_client(), settings.table_name)
    return TokenBudget(counts, settings.extraction_daily_tokens, surroundings().now_ms)


def planner(settings: Settings) -> Planner:
    """Make what plans the maintenance of those who are due."""
    index = DynamoDBDueIndex(clients.dynamodb_client(), settings.table_name)
    waiting = SqsMaintenanceQueue(clients.sqs_client(), settings.maintenance_queue_url)
    return Planner(index, waiting, surroundings().now_ms)


def transcript_controller(settings: Settings, controller: MemoryController) -> TranscriptController:
    """Make the controller of transcripts, beside that of memories."""
    others = sorted(extractor for extractor in extractors(settings) if extractor != settings.extractor)
    return TranscriptController(
        controller,
        recorder(settings),
        DynamoDBTranscriptStore(clients.dynamodb_client(), settings.table_name),
        S3ObjectStore(clients.s3_client, settings.bucket_name),
        queue(settings),
        ingestion(settings, controller),
        surroundings(),
        (settings.extractor, *others),
    )


def recorder(settings: Settings) -> Recorder:
    """Make what keeps the messages of transcripts."""
    client = clients.dynamodb_client()
    return Recorder(
        DynamoDBMemoryStore(client, settings.table_name),
        DynamoDBTranscriptStore(client, settings.table_name),
        S3ObjectStore(clients.s3_client, settings.bucket_name),
        surroundings(),
    )


def queue(settings: Settings) -> SqsIngestionQueue:
    """Make the queue of the ingestion."""
    return SqsIngestionQueue(clients.sqs_client, settings.queue_url)


def extractors(settings: Settings) -> dict[str, Extractor]:
    """Make the extractors that requests may name: the rules, and a model if there is one."""
    found: dict[str, Extractor] = {"rules": RulesExtractor()}
    if settings.extraction_model_id:
        from recollect.aws.converse import BedrockExtractor

        found["bedrock"] = BedrockExtractor(clients.converse_client(), settings.extraction_model_id)
    return found


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
