"""The stack of one deployment: composes the constructs and defines nothing itself."""

from pathlib import Path

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from infra.api import Api
from infra.authorizer import make_authorizer
from infra.function import Function, FunctionSize
from infra.layers import Layers
from infra.models import grant_models
from infra.queue import Queue, Work
from infra.schedule import Schedule
from infra.settings import StackSettings
from infra.storage import Storage

_ROOT = Path(__file__).resolve().parent.parent
_FUNCTIONS = _ROOT / "functions"
_API, _INGEST, _MAINTAIN, _PLAN = "api", "ingest", "maintain", "plan"
# API Gateway gives up after 30 s; the function ends first, so that its own log line tells why.
_API_TIMEOUT_S = 29
_PLAN_TIMEOUT_S = 120
_PLAN_MEMORY_MB = 512
# Half of the ingestion's time is kept for its last passage: see ENDING_MS of its function. Of the ten functions
# that a new account may run at once, half stay for the API.
_INGESTION = Work(480, 5, 3, "Some transcripts could not be ingested: see their status, then redrive them.")
_MAINTENANCE = Work(300, 1, 2, "Some users could not be maintained: see the log of the maintain function.")


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
        self._queue = Queue(self, "Ingestion", work=_INGESTION, emulated=settings.emulated)
        self._maintenance = Queue(self, "Maintenance", work=_MAINTENANCE, emulated=settings.emulated)
        self._queue.take_uploads(self._storage, settings.stage)
        folders = [_FUNCTIONS / name for name in (_API, _INGEST, _MAINTAIN, _PLAN)]
        self._layers = Layers(self, "Layers", root=_ROOT, settings=settings, function_folders=folders)
        function = self._working_function("ApiFunction", _API, _API_TIMEOUT_S)
        ingest = self._working_function("IngestFunction", _INGEST, _INGESTION.timeout_s)
        for sender in (function, ingest):
            self._queue.grant_send(sender.role)
        self._queue.feed(ingest.function)
        maintain = self._working_function("MaintainFunction", _MAINTAIN, _MAINTENANCE.timeout_s)
        self._maintenance.feed(maintain.function)
        plan = self._planning_function()
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
            "MaintainFunctionName": maintain.function.function_name,
            "MaintainLogGroup": maintain.log_group.log_group_name,
            "PlanFunctionName": plan.function.function_name,
            "PlanLogGroup": plan.log_group.log_group_name,
            "MaintenanceQueueUrl": self._maintenance.queue.queue_url,
            "MaintenanceDeadLetterQueueUrl": self._maintenance.dead_letters.queue_url,
            "AccessLogGroup": api.access_log_group.log_group_name,
            "Authorizer": settings.authorizer,
            **authorizer.outputs,
        }
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)

    def _working_function(self, construct_id: str, folder: str, timeout_s: int) -> Function:
        """Make a function that may do whatever is done to memories: the API does it, or leaves it to the others."""
        settings = self._settings
        function = self._function(construct_id, folder, timeout_s, settings.memory_mb)
        self._storage.grant_commit_and_read(function.role)
        self._storage.grant_objects(function.role)  # deleting too: a segment that it made anew may come too late
        grant_models(function.role, [settings.bedrock_model_id, settings.extraction_model_id])
        return function

    def _planning_function(self) -> Function:
        """Make the function that may ask who is due and queue them, and nothing else; let it be started."""
        plan = self._function("PlanFunction", _PLAN, _PLAN_TIMEOUT_S, _PLAN_MEMORY_MB)
        self._storage.grant_who_is_due(plan.role)
        self._maintenance.grant_send_and_count(plan.role)
        Schedule(self, "Schedule", function=plan.function, minutes=self._settings.maintenance_minutes)
        return plan

    def _function(self, construct_id: str, folder: str, timeout_s: int, memory_mb: int) -> Function:
        return Function(
            self,
            construct_id,
            folder=_FUNCTIONS / folder,
            layers=self._layers.versions,
            environment=_environment(self._settings, self._storage, self._queue, self._maintenance),
            size=FunctionSize(memory_mb, timeout_s, self._settings.log_retention_days),
        )


def _environment(settings: StackSettings, storage: Storage, queue: Queue, maintenance: Queue) -> dict[str, str]:
    """Name what the core's settings read, no more and no less."""
    environment = {
        "RECOLLECT_TABLE_NAME": storage.table.table_name,
        "RECOLLECT_BUCKET_NAME": storage.bucket.bucket_name,
        "RECOLLECT_QUEUE_URL": queue.queue.queue_url,
        "RECOLLECT_MAINTENANCE_QUEUE_URL": maintenance.queue.queue_url,
        "RECOLLECT_EMBEDDER": settings.embedder,
        "RECOLLECT_EXTRACTOR": settings.extractor,
    }
    if settings.embedder == "bedrock":
        environment["RECOLLECT_BEDROCK_MODEL_ID"] = settings.bedrock_model_id
        environment["RECOLLECT_BEDROCK_DIMENSION"] = str(settings.bedrock_dimension)
    if settings.extraction_model_id:
        environment["RECOLLECT_EXTRACTION_MODEL_ID"] = settings.extraction_model_id
        environment["RECOLLECT_EXTRACTION_DAILY_TOKENS"] = str(settings.extraction_daily_tokens)
    return environment | _aging(settings)


def _aging(settings: StackSettings) -> dict[str, str]:
    """Name what is set of how memories age; the rest is as the core has it."""
    usual = StackSettings()
    days = ("episodic_half_life_days", "semantic_half_life_days", "procedural_half_life_days", "retention_days")
    values = {name: str(getattr(settings, name)) for name in days if getattr(settings, name) != getattr(usual, name)}
    if settings.archive_below_percent != usual.archive_below_percent:
        values["archive_below"] = str(settings.archive_below_percent / 100)
    return {f"RECOLLECT_{name.upper()}": value for name, value in values.items()}
