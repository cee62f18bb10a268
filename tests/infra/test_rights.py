import json
from collections.abc import Callable

from tests.infra.support import Synthesised

# X-Ray has no resources to name; these two are the only rights on "*".
_ON_EVERYTHING = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}


def _actions(synthesised: Synthesised) -> set[str]:
    return {action for statement in synthesised.statements for action in statement["Action"]}


def test_no_role_may_do_everything(every: Synthesised) -> None:
    assert every.statements
    assert not [action for action in _actions(every) if "*" in action]


def test_only_traces_go_to_every_resource(every: Synthesised) -> None:
    for statement in every.statements:
        if "*" in json.dumps(statement["Resource"]):
            assert statement["Resource"] == ["*"]
            assert set(statement["Action"]) == _ON_EVERYTHING


def test_no_role_has_a_managed_policy(every: Synthesised) -> None:
    assert not [role for role in every.all("IAM::Role") if role.get("ManagedPolicyArns")]


def test_the_api_function_has_no_right_on_objects(every: Synthesised) -> None:
    assert not [action for action in _actions(every) if action.startswith("s3:")]


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
