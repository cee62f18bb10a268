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
FUNCTIONS = ["Api", "Ingest", "Maintain"]  # those that work on memories


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


@pytest.mark.parametrize(
    ("function", "queue", "actions"),
    [
        ("Api", "Ingestion", _SEND),
        ("Ingest", "Ingestion", _SEND | _TAKE),
        ("Maintain", "Maintenance", _TAKE),
        ("Plan", "Maintenance", _SEND | {"sqs:GetQueueAttributes"}),
    ],
)
def test_a_function_has_rights_on_the_one_queue_that_it_needs(
    every: Synthesised, function: str, queue: str, actions: set[str]
) -> None:
    statements = [each for each in every.rights(function) if each["Action"][0].startswith("sqs:")]

    for statement in statements:
        assert statement["Resource"] == [{"Fn::GetAtt": [every.queue_of(queue), "Arn"]}]
    assert {action for statement in statements for action in statement["Action"]} == actions


def test_the_plan_asks_the_index_who_is_due_and_has_no_right_on_the_table_or_on_an_object(every: Synthesised) -> None:
    (table,) = every.resources("DynamoDB::Table")
    services = {action.split(":")[0] for each in every.rights("Plan") for action in each["Action"]}
    (statement,) = [each for each in every.rights("Plan") if each["Action"][0].startswith("dynamodb:")]

    assert services == {"dynamodb", "logs", "sqs", "xray"}
    assert statement["Action"] == ["dynamodb:Query"]
    assert statement["Resource"] == [{"Fn::Join": ["", [{"Fn::GetAtt": [table, "Arn"]}, "/index/due"]]}]


def test_the_schedule_may_start_the_plan_and_nothing_else(every: Synthesised) -> None:
    target = every.one("Scheduler::Schedule")["Target"]
    (policy,) = [
        each for each in every.all("IAM::Policy") if each["Roles"] == [{"Ref": target["RoleArn"]["Fn::GetAtt"][0]}]
    ]
    role = every.resources("IAM::Role")[target["RoleArn"]["Fn::GetAtt"][0]]["Properties"]
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]

    assert target["Arn"]["Fn::GetAtt"][0].startswith("PlanFunction")
    assert policy["PolicyDocument"]["Statement"] == [
        {"Action": "lambda:InvokeFunction", "Effect": "Allow", "Resource": target["Arn"]}
    ]
    assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


@pytest.mark.parametrize(("deployment", "rate"), [("cognito", "rate(15 minutes)"), ("prod", "rate(1 minute)")])
def test_the_schedule_is_that_of_the_context(
    synthesise: Callable[[str], Synthesised], deployment: str, rate: str
) -> None:
    assert synthesise(deployment).one("Scheduler::Schedule")["ScheduleExpression"] == rate


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
