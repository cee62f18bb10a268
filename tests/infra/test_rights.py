import json
from collections.abc import Callable
from fnmatch import fnmatchcase

from recollect import keys

from tests.infra.support import Synthesised

# X-Ray has no resources to name; these two are the only rights on "*".
_ON_EVERYTHING = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}

_ON_OBJECTS = {"s3:DeleteObject", "s3:DeleteObjectVersion", "s3:GetObject", "s3:PutObject"}


def _actions(synthesised: Synthesised) -> set[str]:
    return {action for statement in synthesised.statements for action in statement["Action"]}


def test_no_role_may_do_everything(every: Synthesised) -> None:
    assert every.statements
    assert not [action for action in _actions(every) if "*" in action]


def test_only_traces_go_to_every_resource_and_only_objects_to_a_part_of_one(every: Synthesised) -> None:
    wide = [each for each in every.statements if "*" in json.dumps(each["Resource"])]

    assert [set(each["Action"]) for each in wide if each["Resource"] == ["*"]] == [_ON_EVERYTHING]
    assert [set(each["Action"]) for each in wide if each["Resource"] != ["*"]] == [_ON_OBJECTS]


def test_no_role_has_a_managed_policy(every: Synthesised) -> None:
    assert not [role for role in every.all("IAM::Role") if role.get("ManagedPolicyArns")]


def test_the_api_function_has_rights_on_the_objects_of_users_only(every: Synthesised) -> None:
    (bucket,) = every.resources("S3::Bucket")
    arn = {"Fn::GetAtt": [bucket, "Arn"]}

    on_objects, on_bucket = (each for each in every.statements if each["Action"][0].startswith("s3:"))

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


def test_the_api_function_reads_and_commits_in_the_table_only(every: Synthesised) -> None:
    (table,) = every.resources("DynamoDB::Table")
    (statement,) = [each for each in every.statements if each["Action"][0].startswith("dynamodb:")]

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


def test_the_api_function_writes_its_own_log_group_only(every: Synthesised) -> None:
    group = every.one("Lambda::Function")["LoggingConfig"]["LogGroup"]["Ref"]
    (statement,) = [each for each in every.statements if each["Action"][0].startswith("logs:")]

    assert statement["Resource"] == [{"Fn::GetAtt": [group, "Arn"]}]
    assert set(statement["Action"]) == {"logs:CreateLogStream", "logs:PutLogEvents"}


def test_bedrock_gives_the_right_to_invoke_one_model(synthesise: Callable[[str], Synthesised]) -> None:
    statements = synthesise("bedrock").statements
    (statement,) = [each for each in statements if each["Action"][0].startswith("bedrock:")]

    assert statement["Action"] == ["bedrock:InvokeModel"]
    (resource,) = statement["Resource"]
    assert resource["Fn::Join"][1][-1] == "::foundation-model/amazon.titan-embed-text-v2:0"


def test_without_bedrock_there_is_no_right_to_invoke_a_model(
    synthesise: Callable[[str], Synthesised],
) -> None:
    assert not [action for action in _actions(synthesise("cognito")) if action.startswith("bedrock:")]


def test_only_the_gateway_may_invoke_the_function(every: Synthesised) -> None:
    for permission in every.all("Lambda::Permission"):
        assert permission["Principal"] == "apigateway.amazonaws.com"
        assert "execute-api" in json.dumps(permission["SourceArn"])
