import pytest
from recollect.settings import InvalidSettings, Settings, is_in_lambda, variables

ONNX = {"RECOLLECT_TABLE_NAME": "memories", "RECOLLECT_BUCKET_NAME": "objects", "RECOLLECT_EMBEDDER": "onnx"}
BEDROCK = {
    "RECOLLECT_TABLE_NAME": "memories",
    "RECOLLECT_BUCKET_NAME": "objects",
    "RECOLLECT_EMBEDDER": "bedrock",
    "RECOLLECT_BEDROCK_MODEL_ID": "amazon.titan-embed-text-v2:0",
    "RECOLLECT_BEDROCK_DIMENSION": "512",
}


def test_both_embedders_are_read() -> None:
    assert Settings.from_env(ONNX) == Settings("memories", "objects", "onnx")
    assert Settings.from_env(BEDROCK) == Settings("memories", "objects", "bedrock", "amazon.titan-embed-text-v2:0", 512)


def test_the_variables_that_are_named_are_the_ones_that_are_read() -> None:
    assert set(variables("onnx")) == set(ONNX)
    assert set(variables("bedrock")) == set(BEDROCK)


def test_everything_that_is_missing_is_named_at_once() -> None:
    with pytest.raises(InvalidSettings, match=r"TABLE_NAME.*BUCKET_NAME.*MODEL_ID.*DIMENSION"):
        Settings.from_env({"RECOLLECT_EMBEDDER": "bedrock"})
    with pytest.raises(InvalidSettings, match=r"TABLE_NAME.*BUCKET_NAME.*EMBEDDER"):
        Settings.from_env({})


@pytest.mark.parametrize("dimension", ["0", "-1", "x", "1.5"])
def test_a_dimension_that_is_no_count_is_refused(dimension: str) -> None:
    with pytest.raises(InvalidSettings, match="DIMENSION"):
        Settings.from_env({**BEDROCK, "RECOLLECT_BEDROCK_DIMENSION": dimension})


def test_an_unknown_embedder_is_refused() -> None:
    with pytest.raises(InvalidSettings, match="onnx, bedrock"):
        Settings.from_env({**ONNX, "RECOLLECT_EMBEDDER": "word2vec"})


def test_lambda_is_known_by_its_runtime_api() -> None:
    assert is_in_lambda({"AWS_LAMBDA_RUNTIME_API": "127.0.0.1:9001"})
    assert not is_in_lambda({})
