"""The one kind of Lambda function here: every default that functions share is in this file.

A function's role holds the right to write its own log group and to send traces; what else it may do
is granted by whoever owns the resource.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aws_cdk import Acknowledgment, Duration, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.logs import log_group

RUNTIME = lambda_.Runtime.PYTHON_3_13
ARCHITECTURE = lambda_.Architecture.ARM_64


@dataclass(frozen=True, slots=True)
class FunctionSize:
    """How much a function may take: memory in MB, seconds until it is ended, and days that log lines are kept."""

    memory_mb: int
    timeout_s: int
    log_retention_days: int


class Function(Construct):
    """A Python function with its role and its log group.

    Parameters
    ----------
    folder : pathlib.Path
        The function's folder; ``handler.py`` in it holds ``lambda_handler``.
    layers : sequence of ILayerVersion
    environment : mapping of str to str
        The variables that the core's settings read.
    size : FunctionSize
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        folder: Path,
        layers: Sequence[lambda_.ILayerVersion],
        environment: Mapping[str, str],
        size: FunctionSize,
    ) -> None:
        super().__init__(scope, construct_id)
        self.log_group = log_group(self, "Logs", retention_days=size.log_retention_days)
        # A role of our own, because the one that CDK makes has a managed policy that covers every log group.
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        self.log_group.grant_write(self.role)
        # No reserved concurrency: new accounts have 10 in all, and throttling is the work of gateway and queue.
        self.function = lambda_.Function(
            self,
            "Function",
            code=lambda_.Code.from_asset(str(folder), exclude=["**/__pycache__", "**/*.pyc"]),
            handler="handler.lambda_handler",
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            layers=list(layers),
            environment={
                **environment,
                # One thread halves numpy's import time, and the scan gains nothing from two.
                "OPENBLAS_NUM_THREADS": "1",
            },
            memory_size=size.memory_mb,
            timeout=Duration.seconds(size.timeout_s),
            role=self.role,
            log_group=self.log_group,
            logging_format=lambda_.LoggingFormat.JSON,
            application_log_level_v2=lambda_.ApplicationLogLevel.INFO,
            system_log_level_v2=lambda_.SystemLogLevel.INFO,
            tracing=lambda_.Tracing.ACTIVE,
        )
        Validations.of(self.role.node.find_child("DefaultPolicy")).acknowledge(
            Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason="Active tracing: X-Ray's PutTraceSegments and PutTelemetryRecords know no resources.",
            )
        )
        Validations.of(self.function).acknowledge(
            Acknowledgment(
                id="AwsSolutions-L1",
                reason="The layers hold compiled packages for one Python version, 3.13; both move together.",
            )
        )
