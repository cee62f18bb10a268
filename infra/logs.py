"""The one way to make a log group: with an end to what it keeps, and gone when the stack goes."""

from typing import cast

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct


def log_group(scope: Construct, construct_id: str, *, retention_days: int) -> logs.LogGroup:
    """Make a log group that keeps lines for a number of days that CloudWatch knows."""
    group = logs.LogGroup(scope, construct_id, removal_policy=RemovalPolicy.DESTROY)
    # Set on the resource: the construct takes an enum, and an operator writes a number.
    cast("logs.CfnLogGroup", group.node.default_child).retention_in_days = retention_days
    return group
