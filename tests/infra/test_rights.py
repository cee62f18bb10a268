import json
from collections.abc import Callable
from fnmatch import fnmatchcase

import pytest
from recollect import keys

from tests.infra.support import Properties, Synthesised

# X-Ray has no resources to name; these two are the only rights on "*".
_ON_EVERYTHING = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}

_ON_OBJECTS = {"s3:DeleteObject", "s3:DeleteObjectVersion", "s3:GetObject", "s3:PutObject"}
_SEND = {"sqs:SendMessage"}
_TAKE = {
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
    "sqs:ReceiveMessage",
}
FUNCTIONS = ["Api", "Ingest"]


def _actions(synthesised: Synthesised) -> set[str]:
    return {action for statement in synthesised.statements for action in statement["Action"]}


def test_no_role_may_do_everything(every: Synthesised) -> None:
    assert every.statements
    assert not [action for action in _actions(every) if "*" in action]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_only_traces_go_to_every_resource_and_only_objects_to_a_part_of_one(
    synthesise: Callable[[str], Synthesised], function: str
) -> None:
    wide = [each for each in synthesise("cognito").rights(function) if "*" in json.dumps(each["Resource"])]

    assert [set(each["Action"]) for each in wide if each["Resource"] == ["*"]] == [_ON_EVERYTHING]
    assert [set(each["Action"]) for each in wide if each["Resource"] != ["*"]] == [_ON_OBJECTS]


def test_no_role_has_a_managed_policy(every: Synthesised) -> None:
    assert not [role for role in every.all("IAM::Role") if role.get("ManagedPolicyArns")]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_has_rights_on_the_objects_of_users_only(every: Synthesised, function: str) -> None:
    (bucket,) = every.resources("S3::Bucket")
    arn = {"Fn::GetAtt": [bucket, "Arn"]}

    on_objects, on_bucket = (each for each in every.rights(function) if each["Action"][0].startswith("s3:"))

    assert on_objects == {
        "Action": sorted(_ON_OBJECTS),
        "Effect": "Allow",
        "Resource": [{"Fn::Join": ["", [arn, "/users/*"]]}],
    }
    assert on_bucket == {
        "Action": ["s3:ListBucket", "s3:ListBucketVersions"],
        "Condition": {"StringLike": {"s3:prefix": "users/*"}},
        "Effect": "Allow",
        "Resource": [arn],
    }


def test_every_key_of_an_object_is_one_that_the_function_may_use() -> None:
    assert fnmatchcase(keys.objects_of("ana"), "users/*")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_reads_and_commits_in_the_table_only(every: Synthesised, function: str) -> None:
    (table,) = every.resources("DynamoDB::Table")
    (statement,) = [each for each in every.rights(function) if each["Action"][0].startswith("dynamodb:")]

    assert statement["Resource"] == [{"Fn::GetAtt": [table, "Arn"]}]
    assert set(statement["Action"]) == {
        "dynamodb:BatchGetItem",
        "dynamodb:ConditionCheckItem",
        "dynamodb:DeleteItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
    }


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_writes_its_own_log_group_only(every: Synthesised, function: str) -> None:
    group = every.function(function)["LoggingConfig"]["LogGroup"]["Ref"]
    (statement,) = [each for each in every.rights(function) if each["Action"][0].startswith("logs:")]

    assert statement["Resource"] == [{"Fn::GetAtt": [group, "Arn"]}]
    assert set(statement["Action"]) == {"logs:CreateLogStream", "logs:PutLogEvents"}


@pytest.mark.parametrize(("function", "actions"), [("Api", _SEND), ("Ingest", _SEND | _TAKE)])
def test_both_functions_send_to_the_queue_of_jobs_and_only_the_ingestion_takes_from_it(
    every: Synthesised, function: str, actions: set[str]
) -> None:
    (statement,) = [each for each in every.rights(function) if each["Action"][0].startswith("sqs:")]

    assert statement["Resource"] == [{"Fn::GetAtt": [every.queue, "Arn"]}]
    assert set(statement["Action"]) == actions


@pytest.mark.parametrize("function", FUNCTIONS)
def test_bedrock_gives_the_right_to_invoke_the_models_of_the_context(
    synthesise: Callable[[str], Synthesised], function: str
) -> None:
    (statement,) = _on_models(synthesise("bedrock"), function)

    assert statement["Action"] == ["bedrock:InvokeModel"]
    assert {resource["Fn::Join"][1][-1] for resource in statement["Resource"]} == {
        "::foundation-model/amazon.titan-embed-text-v2:0",
        "::foundation-model/amazon.nova-lite-v1:0",
    }


def test_an_inference_profile_gives_the_right_on_it_and_on_its_model_in_any_region(
    synthesise: Callable[[str], Synthesised],
) -> None:
    (statement,) = _on_models(synthesise("profile"), "Ingest")

    model = "anthropic.claude-haiku-4-5-20251001-v1:0"
    assert [resource["Fn::Join"][1][-1] for resource in statement["Resource"]] == [
        f":inference-profile/us.{model}",
        f":bedrock:*::foundation-model/{model}",
    ]


def test_without_bedrock_there_is_no_right_to_invoke_a_model(
    synthesise: Callable[[str], Synthesised],
) -> None:
    assert not [action for action in _actions(synthesise("cognito")) if action.startswith("bedrock:")]


def test_only_the_gateway_may_invoke_a_function(every: Synthesised) -> None:
    for permission in every.all("Lambda::Permission"):
        assert permission["Principal"] == "apigateway.amazonaws.com"
        assert "execute-api" in json.dumps(permission["SourceArn"])
        assert permission["FunctionName"]["Fn::GetAtt"][0].startswith("ApiFunction")


def _on_models(synthesised: Synthesised, function: str) -> list[Properties]:
    return [each for each in synthesised.rights(function) if each["Action"][0].startswith("bedrock:")]
