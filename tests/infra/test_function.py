from collections.abc import Callable

import pytest
from recollect import lifecycle
from recollect.settings import Settings, variables

from infra.settings import StackSettings
from tests.infra.support import Synthesised

# Beside what the core's settings read: the threads of numpy's library.
_VARIABLES_OF_LIBRARIES = {"OPENBLAS_NUM_THREADS"}


def test_functions_and_layers_are_for_arm64_and_python_3_13(every: Synthesised) -> None:
    for function in every.all("Lambda::Function"):
        assert function["Runtime"] == "python3.13"
        assert function["Architectures"] == ["arm64"]
    for layer in every.all("Lambda::LayerVersion"):
        assert layer["CompatibleRuntimes"] == ["python3.13"]
        assert layer["CompatibleArchitectures"] == ["arm64"]


def test_each_function_logs_json_into_a_group_of_its_own_and_is_traced(every: Synthesised) -> None:
    functions = every.all("Lambda::Function")

    groups = [function["LoggingConfig"]["LogGroup"]["Ref"] for function in functions]
    assert len(groups) == 4
    assert set(groups) <= every.resources("Logs::LogGroup").keys()
    assert len(set(groups)) == len(groups)
    for function in functions:
        assert function["LoggingConfig"]["LogFormat"] == "JSON"
        assert function["TracingConfig"] == {"Mode": "Active"}


def test_each_function_has_a_role_of_its_own(every: Synthesised) -> None:
    roles = [function["Role"]["Fn::GetAtt"][0] for function in every.all("Lambda::Function")]

    assert len(set(roles)) == len(roles)


def test_the_api_function_ends_before_the_gateway_gives_up(every: Synthesised) -> None:
    assert every.function("Api")["Timeout"] < 30


@pytest.mark.parametrize("function", ["Api", "Ingest", "Maintain", "Plan"])
@pytest.mark.parametrize(
    ("deployment", "embedder", "has_model"), [("cognito", "onnx", False), ("bedrock", "bedrock", True)]
)
def test_the_environment_is_exactly_what_the_settings_read(
    synthesise: Callable[[str], Synthesised], deployment: str, embedder: str, has_model: bool, function: str
) -> None:
    environment = synthesise(deployment).function(function)["Environment"]["Variables"]

    wanted = set(variables(embedder, has_extraction_model=has_model))
    assert environment.keys() - _VARIABLES_OF_LIBRARIES == wanted
    assert environment.keys() >= _VARIABLES_OF_LIBRARIES


def test_the_settings_accept_the_environment(synthesise: Callable[[str], Synthesised]) -> None:
    environment = synthesise("bedrock").function("Ingest")["Environment"]["Variables"]

    settings = Settings.from_env({name: str(value) for name, value in environment.items()})

    assert (settings.embedder, settings.bedrock_model_id, settings.bedrock_dimension) == (
        "bedrock",
        "amazon.titan-embed-text-v2:0",
        512,
    )
    assert (settings.extractor, settings.extraction_model_id, settings.extraction_daily_tokens) == (
        "bedrock",
        "amazon.nova-lite-v1:0",
        5_000,
    )


def test_how_memories_age_is_as_the_settings_say_and_else_as_the_core_has_it(
    synthesise: Callable[[str], Synthesised],
) -> None:
    environment = synthesise("prod").function("Maintain")["Environment"]["Variables"]

    settings = Settings.from_env({name: str(value) for name, value in environment.items()})

    assert settings.aging == {"semantic_half_life_days": 90.0, "archive_below": 0.25, "retention_days": 365.0}
    usual, core = StackSettings(), lifecycle.DEFAULT
    assert [usual.episodic_half_life_days, usual.semantic_half_life_days, usual.procedural_half_life_days] == [
        core.episodic_half_life_days,
        core.semantic_half_life_days,
        core.procedural_half_life_days,
    ]
    assert (usual.archive_below_percent / 100, usual.retention_days or None) == (
        core.archive_below,
        core.retention_days,
    )


@pytest.mark.parametrize(("deployment", "count"), [("cognito", 4), ("bedrock", 3)])
def test_the_model_layer_is_there_only_for_the_embedder_that_reads_it(
    synthesise: Callable[[str], Synthesised], deployment: str, count: int
) -> None:
    for function in synthesise(deployment).all("Lambda::Function"):
        assert len(function["Layers"]) == count


def test_every_log_group_has_a_retention(every: Synthesised) -> None:
    groups = every.all("Logs::LogGroup")

    assert len(groups) == 5
    assert all(group["RetentionInDays"] for group in groups)


def test_the_retention_of_the_context_reaches_every_log_group(
    synthesise: Callable[[str], Synthesised],
) -> None:
    assert {group["RetentionInDays"] for group in synthesise("prod").all("Logs::LogGroup")} == {400}
