from dataclasses import fields, replace

import pytest
from recollect.lifecycle import DEFAULT, Policy
from recollect.settings import AGING, InvalidSettings, Settings, is_in_lambda, variables

ONNX = {
    "RECOLLECT_TABLE_NAME": "memories",
    "RECOLLECT_BUCKET_NAME": "objects",
    "RECOLLECT_QUEUE_URL": "https://sqs.example.org/1/jobs",
    "RECOLLECT_EMBEDDER": "onnx",
    "RECOLLECT_EXTRACTOR": "rules",
}
BEDROCK = {
    **ONNX,
    "RECOLLECT_EMBEDDER": "bedrock",
    "RECOLLECT_BEDROCK_MODEL_ID": "amazon.titan-embed-text-v2:0",
    "RECOLLECT_BEDROCK_DIMENSION": "512",
}
WITH_MODEL = {
    **ONNX,
    "RECOLLECT_EXTRACTION_MODEL_ID": "amazon.nova-lite-v1:0",
    "RECOLLECT_EXTRACTION_DAILY_TOKENS": "5000",
}
READ = Settings("memories", "objects", "onnx", queue_url="https://sqs.example.org/1/jobs")


def test_both_embedders_are_read() -> None:
    assert Settings.from_env(ONNX) == READ
    assert Settings.from_env(BEDROCK) == replace(
        READ, embedder="bedrock", bedrock_model_id="amazon.titan-embed-text-v2:0", bedrock_dimension=512
    )


def test_a_model_that_finds_facts_is_read_whether_or_not_it_is_the_default() -> None:
    with_model = replace(READ, extraction_model_id="amazon.nova-lite-v1:0", extraction_daily_tokens=5000)

    assert Settings.from_env(WITH_MODEL) == with_model
    assert Settings.from_env({**WITH_MODEL, "RECOLLECT_EXTRACTOR": "bedrock"}) == replace(
        with_model, extractor="bedrock"
    )


def test_an_extractor_that_is_a_model_needs_one() -> None:
    with pytest.raises(InvalidSettings, match=r"EXTRACTION_MODEL_ID is not set.*DAILY_TOKENS is not set"):
        Settings.from_env({**ONNX, "RECOLLECT_EXTRACTOR": "bedrock"})


def test_the_variables_that_are_named_are_the_ones_that_are_read() -> None:
    assert set(variables("onnx")) == set(ONNX)
    assert set(variables("bedrock")) == set(BEDROCK)
    assert set(variables("onnx", has_extraction_model=True)) == set(WITH_MODEL)


def test_everything_that_is_missing_is_named_at_once() -> None:
    with pytest.raises(InvalidSettings, match=r"TABLE_NAME.*BUCKET_NAME.*MODEL_ID.*DIMENSION"):
        Settings.from_env({"RECOLLECT_EMBEDDER": "bedrock"})
    with pytest.raises(InvalidSettings, match=r"TABLE_NAME.*BUCKET_NAME.*EMBEDDER"):
        Settings.from_env({})


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5"])
def test_a_number_that_is_no_count_is_refused(number: str) -> None:
    with pytest.raises(InvalidSettings, match="DIMENSION"):
        Settings.from_env({**BEDROCK, "RECOLLECT_BEDROCK_DIMENSION": number})
    with pytest.raises(InvalidSettings, match="DAILY_TOKENS"):
        Settings.from_env({**WITH_MODEL, "RECOLLECT_EXTRACTION_DAILY_TOKENS": number})


def test_how_memories_age_is_set_by_as_many_values_as_one_likes() -> None:
    aging = {
        "RECOLLECT_EPISODIC_HALF_LIFE_DAYS": "7.5",
        "RECOLLECT_RETENTION_DAYS": "90",
        "RECOLLECT_ARCHIVE_BELOW": "",
    }
    settings = Settings.from_env({**ONNX, **aging})

    assert Policy(**settings.aging) == replace(DEFAULT, episodic_half_life_days=7.5, retention_days=90)
    assert set(AGING) == {field.name for field in fields(Policy)}


@pytest.mark.parametrize(
    ("name", "value"),
    [("ARCHIVE_BELOW", "1"), ("ARCHIVE_BELOW", "nan"), ("RETENTION_DAYS", "0"), ("SEMANTIC_HALF_LIFE_DAYS", "long")],
)
def test_an_age_that_cannot_be_is_refused(name: str, value: str) -> None:
    with pytest.raises(InvalidSettings, match=name):
        Settings.from_env({**ONNX, f"RECOLLECT_{name}": value})


def test_an_unknown_embedder_is_refused() -> None:
    with pytest.raises(InvalidSettings, match="onnx, bedrock"):
        Settings.from_env({**ONNX, "RECOLLECT_EMBEDDER": "word2vec"})
    with pytest.raises(InvalidSettings, match="rules, bedrock"):
        Settings.from_env({**ONNX, "RECOLLECT_EXTRACTOR": "tea leaves"})


def test_lambda_is_known_by_its_runtime_api() -> None:
    assert is_in_lambda({"AWS_LAMBDA_RUNTIME_API": "127.0.0.1:9001"})
    assert not is_in_lambda({})
