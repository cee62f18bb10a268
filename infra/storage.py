"""Where memories live: the table and the bucket.

Both outlive the stack: they are retained when it is deleted, and the table is protected against deletion.
Only the embedded local cloud gets disposable ones.
"""

from typing import cast

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Stack, Validations
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct, IDependable

# What one commit and one read need: no Scan, and no right on the index or on the table itself.
_COMMIT_AND_READ = (
    "dynamodb:BatchGetItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
)

# The objects of users: read, put, deleted with every version, and listed. All keys of `recollect.keys` begin so.
_USERS = "users/*"
_OBJECTS = ("s3:DeleteObject", "s3:DeleteObjectVersion", "s3:GetObject", "s3:PutObject")
_LISTINGS = ("s3:ListBucket", "s3:ListBucketVersions")


class Storage(Construct):
    """The table of all users and the bucket of their objects.

    Parameters
    ----------
    emulated : bool
        Make both disposable, and let the bucket be used without TLS.
    """

    def __init__(self, scope: Construct, construct_id: str, *, emulated: bool) -> None:
        super().__init__(scope, construct_id)
        removal_policy = RemovalPolicy.DESTROY if emulated else RemovalPolicy.RETAIN
        self.table = self._make_table(removal_policy, is_protected=not emulated)
        self.bucket = self._make_bucket(removal_policy, enforce_ssl=not emulated)

    def grant_commit_and_read(self, grantee: iam.IGrantable) -> None:
        """Allow reading partitions and committing to them, in the table only."""
        iam.Grant.add_to_principal(
            grantee=grantee, actions=list(_COMMIT_AND_READ), resource_arns=[self.table.table_arn]
        )

    def grant_objects(self, role: iam.Role) -> None:
        """Allow listing, reading, putting and deleting the objects of users, in the bucket only."""
        objects_arn = self.bucket.arn_for_objects(_USERS)
        iam.Grant.add_to_principal(grantee=role, actions=list(_OBJECTS), resource_arns=[objects_arn])
        iam.Grant.add_to_principal(
            grantee=role,
            actions=list(_LISTINGS),
            resource_arns=[self.bucket.bucket_arn],
            conditions={"StringLike": {"s3:prefix": _USERS}},
        )
        bucket_name = Stack.of(self).get_logical_id(cast("s3.CfnBucket", self.bucket.node.default_child))
        Validations.of(role.node.find_child("DefaultPolicy")).acknowledge(
            Acknowledgment(
                id=f"AwsSolutions-IAM5[Resource::<{bucket_name}.Arn>/{_USERS}]",
                reason="One function serves all users; every object of theirs is under this prefix.",
            )
        )

    def notify(self, queue_arn: str, *, suffix: str, after: IDependable) -> None:
        """Tell a queue of every object that is put under a key with an ending.

        Set on the resource: the construct would bring a function of its own along.

        Parameters
        ----------
        after : IDependable
            What must be there before: S3 tries the queue when it is told of it.
        """
        bucket = cast("s3.CfnBucket", self.bucket.node.default_child)
        bucket.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            queue_configurations=[
                s3.CfnBucket.QueueConfigurationProperty(
                    event="s3:ObjectCreated:*",
                    queue=queue_arn,
                    filter=s3.CfnBucket.NotificationFilterProperty(
                        s3_key=s3.CfnBucket.S3KeyFilterProperty(
                            rules=[
                                s3.CfnBucket.FilterRuleProperty(name="prefix", value=_USERS.rstrip("*")),
                                s3.CfnBucket.FilterRuleProperty(name="suffix", value=suffix),
                            ]
                        )
                    ),
                )
            ]
        )
        bucket.node.add_dependency(after)

    def _make_table(self, removal_policy: RemovalPolicy, *, is_protected: bool) -> dynamodb.Table:
        table = dynamodb.Table(
            self,
            "Table",
            partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            time_to_live_attribute="ttl",
            deletion_protection=is_protected,
            removal_policy=removal_policy,
        )
        # Sparse: only heads that need maintenance carry these two attributes.
        table.add_global_secondary_index(
            index_name="due",
            partition_key=dynamodb.Attribute(name="due_shard", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="due_at", type=dynamodb.AttributeType.NUMBER),
            projection_type=dynamodb.ProjectionType.KEYS_ONLY,
        )
        return table

    def _make_bucket(self, removal_policy: RemovalPolicy, *, enforce_ssl: bool) -> s3.Bucket:
        # Not versioned: objects are never overwritten, and what is erased must not stay as an old version.
        bucket = s3.Bucket(
            self,
            "Bucket",
            versioned=False,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=enforce_ssl,
            minimum_tls_version=1.2 if enforce_ssl else None,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(id="aborted-uploads", abort_incomplete_multipart_upload_after=Duration.days(1)),
            ],
            removal_policy=removal_policy,
        )
        Validations.of(bucket).acknowledge(
            Acknowledgment(
                id="AwsSolutions-S1",
                reason="Only the functions of this stack touch the bucket; object-level auditing is"
                " CloudTrail data events, which the account's owner switches on and pays for.",
            )
        )
        if not enforce_ssl:
            Validations.of(bucket).acknowledge(
                Acknowledgment(
                    id="AwsSolutions-S10",
                    reason="The embedded local cloud speaks plain HTTP, on loopback only.",
                )
            )
        return bucket
