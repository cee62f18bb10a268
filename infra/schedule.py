"""A schedule: starts a function every so many minutes, and may do nothing else."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct


class Schedule(Construct):
    """Starts a function again and again.

    One start that fails is not repeated: the next one comes.

    Parameters
    ----------
    function : lambda_.Function
    minutes : int
    """

    def __init__(self, scope: Construct, construct_id: str, *, function: lambda_.Function, minutes: int) -> None:
        super().__init__(scope, construct_id)
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
            ),
        )
        iam.Grant.add_to_principal(
            grantee=role, actions=["lambda:InvokeFunction"], resource_arns=[function.function_arn]
        )
        schedule = scheduler.CfnSchedule(
            self,
            "Schedule",
            schedule_expression=f"rate({minutes} minute{'' if minutes == 1 else 's'})",
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=function.function_arn,
                role_arn=role.role_arn,
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(maximum_retry_attempts=0),
            ),
        )
        schedule.node.add_dependency(role)
