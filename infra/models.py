"""The right to ask models on Amazon Bedrock: these models, and no others.

A foundation model is one ARN of this region. An inference profile (an id with a region's prefix, such as
``us.anthropic.…``) is one ARN too, and passes a call on to the same model in any of its regions.
"""

import re
from collections.abc import Sequence

from aws_cdk import Acknowledgment, Aws, Stack, Validations
from aws_cdk import aws_iam as iam

PROFILE_PREFIX = re.compile(r"(us|eu|apac|jp|au|ca|sa|us-gov|global)\.")


def grant_models(role: iam.Role, model_ids: Sequence[str]) -> None:
    """Allow a role to invoke models; ids that are empty are left out."""
    arns = [arn for model_id in dict.fromkeys(model_ids) if model_id for arn in _arns(Stack.of(role), model_id)]
    if arns:
        iam.Grant.add_to_principal(grantee=role, actions=["bedrock:InvokeModel"], resource_arns=arns)
    for model_id in filter(PROFILE_PREFIX.match, model_ids):
        Validations.of(role.node.find_child("DefaultPolicy")).acknowledge(
            Acknowledgment(
                id=f"AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:bedrock:*::foundation-model/{_model(model_id)}]",
                reason="An inference profile chooses the region; it is one model in all of them.",
            )
        )


def _arns(stack: Stack, model_id: str) -> list[str]:
    if not PROFILE_PREFIX.match(model_id):
        return [f"arn:{Aws.PARTITION}:bedrock:{stack.region}::foundation-model/{model_id}"]
    return [
        f"arn:{Aws.PARTITION}:bedrock:{stack.region}:{stack.account}:inference-profile/{model_id}",
        f"arn:{Aws.PARTITION}:bedrock:*::foundation-model/{_model(model_id)}",
    ]


def _model(model_id: str) -> str:
    return PROFILE_PREFIX.sub("", model_id, count=1)
