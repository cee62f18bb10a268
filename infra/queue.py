"""How conversations get to the ingestion: a queue of work, and one for what cannot be worked on.

The API sends jobs, the bucket tells of uploads, the ingest function takes both. What fails three times waits two
weeks in the dead-letter queue, and the alarm says so.
"""

from typing import Any

from aws_cdk import Acknowledgment, Aws, Duration, Validations
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.storage import Storage

INGEST_TIMEOUT_S = 480  # half of it is kept for the last passage: see ENDING_MS of the function
MAX_RECEIVES = 3
_RETENTION = Duration.days(14)  # the longest there is
# AWS asks for six times the function's timeout, so that no message is taken again while it is worked on.
_VISIBILITY = Duration.seconds(6 * INGEST_TIMEOUT_S)
_BATCH = 5
# New accounts may run ten functions at once: half of them stay for the API.
_FUNCTIONS_AT_ONCE = 5
_UPLOADS = ".upload"  # the end of the keys of uploads; all keys of `recollect.keys` that begin a job end so
# A bucket's name begins with the stack's name in lower case, which CloudFormation may cut.
_STAGE_CHARACTERS = 10


class Queue(Construct):
    """The queue of work and its dead-letter queue.

    Parameters
    ----------
    emulated : bool
        Let them be used without TLS.
    """

    def __init__(self, scope: Construct, construct_id: str, *, emulated: bool) -> None:
        super().__init__(scope, construct_id)
        self.dead_letters = self._make("DeadLetters", emulated=emulated)
        self.queue = self._make(
            "Queue",
            emulated=emulated,
            visibility_timeout=_VISIBILITY,
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=MAX_RECEIVES),
        )
        cloudwatch.Alarm(
            self,
            "Alarm",
            alarm_description="Some transcripts could not be ingested: see their status, then redrive them.",
            metric=self.dead_letters.metric_approximate_number_of_messages_visible(
                period=Duration.minutes(5), statistic="max"
            ),
            threshold=1,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )

    def grant_send(self, grantee: iam.IGrantable) -> None:
        """Allow sending jobs, and nothing else."""
        iam.Grant.add_to_principal(grantee=grantee, actions=["sqs:SendMessage"], resource_arns=[self.queue.queue_arn])

    def feed(self, function: lambda_.Function) -> None:
        """Give batches of messages to a function, which tells one by one which of them failed."""
        function.add_event_source(
            event_sources.SqsEventSource(
                self.queue,
                batch_size=_BATCH,
                max_concurrency=_FUNCTIONS_AT_ONCE,
                report_batch_item_failures=True,
            )
        )

    def take_uploads(self, storage: Storage, stage: str) -> None:
        """Let the bucket of this stack tell of every upload.

        The policy cannot name the bucket, which needs the policy first: it names the account, and how the names of
        the stack's buckets begin.
        """
        source = f"arn:{Aws.PARTITION}:s3:::recollect-{stage[:_STAGE_CHARACTERS]}*"
        self.queue.add_to_resource_policy(
            iam.PolicyStatement(
                actions=["sqs:SendMessage"],
                principals=[iam.ServicePrincipal("s3.amazonaws.com")],
                resources=[self.queue.queue_arn],
                conditions={
                    "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                    "ArnLike": {"aws:SourceArn": source},
                },
            )
        )
        storage.notify(self.queue.queue_arn, suffix=_UPLOADS, after=self.queue.node.find_child("Policy"))

    def _make(self, construct_id: str, *, emulated: bool, **values: Any) -> sqs.Queue:
        queue = sqs.Queue(
            self,
            construct_id,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=not emulated,
            retention_period=_RETENTION,
            **values,
        )
        if emulated:
            Validations.of(queue).acknowledge(
                Acknowledgment(
                    id="AwsSolutions-SQS4", reason="The embedded local cloud speaks plain HTTP, on loopback only."
                )
            )
        return queue
