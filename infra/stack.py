"""The stack of one deployment: composes the constructs and defines nothing itself."""

from pathlib import Path

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.api import Api
from infra.authorizer import make_authorizer
from infra.function import Function, FunctionSize
from infra.layers import Layers
from infra.settings import StackSettings
from infra.storage import Storage

_ROOT = Path(__file__).resolve().parent.parent
_API_FOLDER = _ROOT / "functions" / "api"


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
        storage = Storage(self, "Storage", emulated=settings.emulated)
        layers = Layers(self, "Layers", root=_ROOT, settings=settings, function_folder=_API_FOLDER)
        function = Function(
            self,
            "ApiFunction",
            folder=_API_FOLDER,
            layers=layers.versions,
            environment=_environment(settings, storage),
            size=FunctionSize(settings.memory_mb, settings.log_retention_days),
        )
        storage.grant_commit_and_read(function.role)
        storage.grant_objects(function.role)
        if settings.embedder == "bedrock":
            self._grant_embedding(function.role, settings.bedrock_model_id)
        authorizer = make_authorizer(self, settings)
        api = Api(self, "Api", function=function.function, guard=authorizer.guard, settings=settings)
        outputs = {
            "ApiUrl": api.http_api.api_endpoint,
            "ApiId": api.http_api.api_id,
            "TableName": storage.table.table_name,
            "BucketName": storage.bucket.bucket_name,
            "FunctionName": function.function.function_name,
            "FunctionLogGroup": function.log_group.log_group_name,
            "AccessLogGroup": api.access_log_group.log_group_name,
            "Authorizer": settings.authorizer,
            **authorizer.outputs,
        }
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)

    def _grant_embedding(self, grantee: iam.IGrantable, model_id: str) -> None:
        model_arn = f"arn:{self.partition}:bedrock:{self.region}::foundation-model/{model_id}"
        iam.Grant.add_to_principal(grantee=grantee, actions=["bedrock:InvokeModel"], resource_arns=[model_arn])


def _environment(settings: StackSettings, storage: Storage) -> dict[str, str]:
    """Name what the core's settings read, no more and no less."""
    environment = {
        "RECOLLECT_TABLE_NAME": storage.table.table_name,
        "RECOLLECT_BUCKET_NAME": storage.bucket.bucket_name,
        "RECOLLECT_EMBEDDER": settings.embedder,
    }
    if settings.embedder == "bedrock":
        environment["RECOLLECT_BEDROCK_MODEL_ID"] = settings.bedrock_model_id
        environment["RECOLLECT_BEDROCK_DIMENSION"] = str(settings.bedrock_dimension)
    return environment
