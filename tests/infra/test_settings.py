from dataclasses import fields
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.settings import AUTHORIZERS, EMBEDDERS, EXTRACTORS, InvalidSettings, StackSettings

_JWT = {"authorizer": "jwt", "jwt_issuer": "https://issuer.example.org", "jwt_audience": "agents"}
_BEDROCK = {
    "embedder": "bedrock",
    "bedrock_model_id": "cohere.embed-multilingual-v3",
    "bedrock_dimension": "1024",
}


def test_without_context_the_defaults_hold() -> None:
    assert StackSettings.from_context({}) == StackSettings()


def test_values_of_the_command_line_and_of_json_are_read_alike() -> None:
    from_text = StackSettings.from_context({"memory_mb": "2048", "emulated": "true"})

    from_json = StackSettings.from_context({"memory_mb": 2048, "emulated": True})

    assert from_text == from_json == StackSettings(memory_mb=2048, emulated=True)


def test_keys_of_cdk_are_left_alone() -> None:
    context = {"aws:cdk:bundling-stacks": [], "@aws-cdk/aws-iam:minimizePolicies": True, "cli-telemetry": False}

    assert StackSettings.from_context(context) == StackSettings()


def test_several_audiences_can_be_named() -> None:
    settings = StackSettings.from_context({**_JWT, "jwt_audience": "agents, people,"})

    assert settings.jwt_audiences == ["agents", "people"]


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(InvalidSettings) as caught:
        StackSettings.from_context({"memory_mb": "plenty", "emulated": "perhaps", "stge": "prod", "Stage": "x"})

    message = str(caught.value)
    assert message.startswith("there is no setting Stage, stge (there are stage, authorizer, ")
    assert "memory_mb must be a whole number, not 'plenty'" in message
    assert "emulated must be true or false, not 'perhaps'" in message


def test_all_unusable_values_are_told_at_once() -> None:
    with pytest.raises(InvalidSettings) as caught:
        StackSettings.from_context({"authorizer": "none", "embedder": "magic", "stage": "A", "memory_mb": 1})

    message = str(caught.value)
    for key in ("authorizer", "embedder", "stage", "memory_mb"):
        assert f"{key} must be" in message


@pytest.mark.parametrize(
    ("context", "problem"),
    [
        ({"stage": ""}, "stage must be"),
        ({"stage": "a" * 21}, "stage must be"),
        ({"stage": "prod\n"}, None),
        ({"stage": "my-aws"}, "stage must not contain aws"),
        ({"stage": "my-aws", "authorizer": "iam"}, None),
        ({"stage": 7}, "stage must be text"),
        ({"memory_mb": 511}, "memory_mb must be 512 to 10240"),
        ({"memory_mb": 10_241}, "memory_mb must be 512 to 10240"),
        ({"memory_mb": True}, "memory_mb must be a whole number"),
        ({"memory_mb": "1.5"}, "memory_mb must be a whole number"),
        ({"memory_mb": "٣٣٣٣"}, "memory_mb must be a whole number"),
        ({"throttle_rate": 0}, "throttle_rate must be"),
        ({"throttle_burst": 5_001}, "throttle_burst must be"),
        ({"log_retention_days": 31}, "log_retention_days must be one of 1, 3, 5"),
        ({**_JWT, "jwt_issuer": ""}, "jwt_issuer is needed with authorizer=jwt"),
        ({**_JWT, "jwt_audience": " , "}, "jwt_audience is needed with authorizer=jwt"),
        ({**_JWT, "jwt_issuer": "http://issuer.example.org"}, "jwt_issuer must be an https:// address"),
        ({**_JWT, "jwt_issuer": "http://127.0.0.1:4566", "emulated": "true"}, None),
        ({"jwt_issuer": "https://issuer.example.org"}, "jwt_issuer needs authorizer=jwt"),
        (_JWT, None),
        (_BEDROCK, None),
        ({**_BEDROCK, "bedrock_dimension": "0"}, "bedrock_dimension is needed with embedder=bedrock"),
        ({**_BEDROCK, "bedrock_dimension": "5000"}, "bedrock_dimension must be 1 to 4096"),
        ({**_BEDROCK, "bedrock_model_id": "us.cohere.embed-v4:0"}, "must be the id of a foundation model"),
        ({**_BEDROCK, "bedrock_model_id": "cohere.*"}, "must be the id of a foundation model"),
        ({"extractor": "magic"}, "extractor must be one of rules, bedrock"),
        ({"extractor": "bedrock"}, "extraction_model_id is needed with extractor=bedrock"),
        ({"extraction_model_id": "amazon.nova-lite-v1:0"}, None),
        ({"extraction_model_id": "us.anthropic.claude-haiku-4-5-20251001-v1:0", "extractor": "bedrock"}, None),
        ({"extraction_model_id": "arn:aws:bedrock:us-east-1::foundation-model/x.y"}, "extraction_model_id must be"),
        ({"extraction_daily_tokens": "0"}, "extraction_daily_tokens must be 1 to"),
        ({"bedrock_dimension": "256"}, "bedrock_dimension needs embedder=bedrock"),
    ],
)
def test_settings_are_checked(context: dict[str, object], problem: str | None) -> None:
    if problem is None:
        StackSettings.from_context(context)
    else:
        with pytest.raises(InvalidSettings, match=problem.replace("*", r"\*")):
            StackSettings.from_context(context)


@given(st.dictionaries(st.sampled_from([field.name for field in fields(StackSettings)]), st.text() | st.integers()))
def test_any_context_gives_settings_or_one_clear_error(context: dict[str, object]) -> None:
    try:
        settings = StackSettings.from_context(context)
    except InvalidSettings:
        return

    assert settings.authorizer in AUTHORIZERS
    assert settings.embedder in EMBEDDERS


def test_the_choices_are_those_of_the_types() -> None:
    kinds = {field.name: field.type for field in fields(StackSettings)}

    assert get_args(kinds["authorizer"]) == AUTHORIZERS
    assert get_args(kinds["embedder"]) == EMBEDDERS
    assert get_args(kinds["extractor"]) == EXTRACTORS
