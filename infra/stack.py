"""The stack of one deployment: composes the constructs and defines nothing itself."""

from pathlib import Path

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from infra.api import Api
from infra.authorizer import make_authorizer
from infra.function import Function, FunctionSize
from infra.layers import Layers
from infra.models import grant_models
from infra.queue import INGEST_TIMEOUT_S, Queue
from infra.settings import StackSettings
from infra.storage import Storage

_ROOT = Path(__file__).resolve().parent.parent
_FUNCTIONS = _ROOT / "functions"
_API, _INGEST = "api", "ingest"
# API Gateway gives up after 30 s; the function ends first, so that its own log line tells why.
_API_TIMEOUT_S = 29


class RecollectStack(Stack):
    """Everything that one deployment needs, in one stack.

    Parameters
    ----------
    settings : StackSettings
    """

    def __init__(self, scope: Construct, *, settings: StackSettings) -> None:
        super().__init__(
            scope,
            f"Recollect-{settings.stage}",
            description=f"Recollect, long-term memory for AI agents (stage {settings.stage})",
        )
        self._settings = settings
        self._storage = Storage(self, "Storage", emulated=settings.emulated)
        self._queue = Queue(self, "Ingestion", emulated=settings.emulated)
        self._queue.take_uploads(self._storage, settings.stage)
        folders = [_FUNCTIONS / _API, _FUNCTIONS / _INGEST]
        self._layers = Layers(self, "Layers", root=_ROOT, settings=settings, function_folders=folders)
        function = self._function("ApiFunction", _API, _API_TIMEOUT_S)
        ingest = self._function("IngestFunction", _INGEST, INGEST_TIMEOUT_S)
        self._queue.feed(ingest.function)
        authorizer = make_authorizer(self, settings)
        api = Api(self, "Api", function=function.function, guard=authorizer.guard, settings=settings)
        outputs = {
            "ApiUrl": api.http_api.api_endpoint,
            "ApiId": api.http_api.api_id,
            "TableName": self._storage.table.table_name,
            "BucketName": self._storage.bucket.bucket_name,
            "QueueUrl": self._queue.queue.queue_url,
            "DeadLetterQueueUrl": self._queue.dead_letters.queue_url,
            "FunctionName": function.function.function_name,
            "FunctionLogGroup": function.log_group.log_group_name,
            "IngestFunctionName": ingest.function.function_name,
            "IngestLogGroup": ingest.log_group.log_group_name,
            "AccessLogGroup": api.access_log_group.log_group_name,
            "Authorizer": settings.authorizer,
            **authorizer.outputs,
        }
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)

    def _function(self, construct_id: str, folder: str, timeout_s: int) -> Function:
        """Make a function that may do what storing memories of a conversation takes: both do, the API when it waits."""
        settings = self._settings
        function = Function(
            self,
            construct_id,
            folder=_FUNCTIONS / folder,
            layers=self._layers.versions,
            environment=_environment(settings, self._storage, self._queue),
            size=FunctionSize(settings.memory_mb, timeout_s, settings.log_retention_days),
        )
        self._storage.grant_commit_and_read(function.role)
        self._storage.grant_objects(function.role)  # deleting too: a segment that it made anew may come too late
        self._queue.grant_send(function.role)
        grant_models(function.role, [settings.bedrock_model_id, settings.extraction_model_id])
        return function


def _environment(settings: StackSettings, storage: Storage, queue: Queue) -> dict[str, str]:
    """Name what the core's settings read, no more and no less."""
    environment = {
        "RECOLLECT_TABLE_NAME": storage.table.table_name,
        "RECOLLECT_BUCKET_NAME": storage.bucket.bucket_name,
        "RECOLLECT_QUEUE_URL": queue.queue.queue_url,
        "RECOLLECT_EMBEDDER": settings.embedder,
        "RECOLLECT_EXTRACTOR": settings.extractor,
    }
    if settings.embedder == "bedrock":
        environment["RECOLLECT_BEDROCK_MODEL_ID"] = settings.bedrock_model_id
        environment["RECOLLECT_BEDROCK_DIMENSION"] = str(settings.bedrock_dimension)
    if settings.extraction_model_id:
        environment["RECOLLECT_EXTRACTION_MODEL_ID"] = settings.extraction_model_id
        environment["RECOLLECT_EXTRACTION_DAILY_TOKENS"] = str(settings.extraction_daily_tokens)
    return environment
