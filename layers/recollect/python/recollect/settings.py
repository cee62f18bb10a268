"""What a function is told by its environment: read once, checked as a whole, immutable afterwards.

The only module that may look at environment variables. The stack writes exactly these names
(a template test compares both sides).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

EMBEDDERS = ("onnx", "bedrock")
EXTRACTORS = ("rules", "bedrock")
# Of maintenance, all optional: the least value of each, and what it must be below.
AGING = {
    "episodic_half_life_days": (0.01, 1e5),
    "semantic_half_life_days": (0.01, 1e5),
    "procedural_half_life_days": (0.01, 1e5),
    "archive_below": (0.0, 1.0),
    "retention_days": (1.0, 1e5),
}
OWN_MB = 400  # code, libraries, the embedding model and a request
_COMMON = (
    "RECOLLECT_TABLE_NAME",
    "RECOLLECT_BUCKET_NAME",
    "RECOLLECT_QUEUE_URL",
    "RECOLLECT_EMBEDDER",
    "RECOLLECT_EXTRACTOR",
)
_EMBEDDING = ("RECOLLECT_BEDROCK_MODEL_ID", "RECOLLECT_BEDROCK_DIMENSION")
_EXTRACTION = ("RECOLLECT_EXTRACTION_MODEL_ID", "RECOLLECT_EXTRACTION_DAILY_TOKENS")
_NUMBERS = ("RECOLLECT_BEDROCK_DIMENSION", "RECOLLECT_EXTRACTION_DAILY_TOKENS")


class InvalidSettings(Exception):
    """The environment lacks variables or has unusable values; the message names all of them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one function.

    Parameters
    ----------
    table_name : str
        The DynamoDB table.
    bucket_name : str
        The S3 bucket.
    embedder : {"onnx", "bedrock"}
        Which adapter makes embeddings.
    bedrock_model_id : str
        Bedrock model or inference profile id; empty unless `embedder` is ``"bedrock"``.
    bedrock_dimension : int
        Dimensions asked of the Bedrock model; 0 unless `embedder` is ``"bedrock"``.
    memory_mb : int
        Memory of the function, as Lambda says.
    queue_url : str
        The SQS queue of the ingestion.
    extractor : {"rules", "bedrock"}
        What finds facts in transcripts, unless a request says otherwise.
    extraction_model_id : str
        Bedrock model or inference profile id that finds facts; empty if there is none, then all is done by rules.
    extraction_daily_tokens : int
        How many of its tokens a user may take in a day; 0 without a model.
    aging : mapping of str to float
        Values of ``lifecycle.Policy`` that are not its defaults.
    """

    table_name: str
    bucket_name: str
    embedder: Literal["onnx", "bedrock"]
    bedrock_model_id: str = ""
    bedrock_dimension: int = 0
    memory_mb: int = 1_024
    queue_url: str = ""
    extractor: Literal["rules", "bedrock"] = "rules"
    extraction_model_id: str = ""
    extraction_daily_tokens: int = 0
    aging: Mapping[str, float] = field(default_factory=dict)

    @property
    def partitions_bytes(self) -> int:
        """How much memory warm partitions may take: half of what code and model leave."""
        return max(self.memory_mb - OWN_MB, OWN_MB) // 2 * 2**20

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ) -> "Settings":
        """Read ``RECOLLECT_<FIELD>`` variables.

        Raises
        ------
        InvalidSettings
            If any variable is missing or unusable; all of them are named.
        """
        embedder, extractor = environ.get("RECOLLECT_EMBEDDER", ""), environ.get("RECOLLECT_EXTRACTOR", "")
        has_model = extractor == "bedrock" or bool(environ.get("RECOLLECT_EXTRACTION_MODEL_ID"))
        wanted = variables(embedder, has_extraction_model=has_model)
        problems = [f"{name} is not set" for name in wanted if not environ.get(name)]
        for name, value, known in (
            ("RECOLLECT_EMBEDDER", embedder, EMBEDDERS),
            ("RECOLLECT_EXTRACTOR", extractor, EXTRACTORS),
        ):
            if value and value not in known:
                problems.append(f"{name} must be one of {', '.join(known)}")
        given = {
            name: environ.get(name, "") if name in wanted else "" for name in (*_COMMON, *_EMBEDDING, *_EXTRACTION)
        }
        problems += [
            f"{name} must be a positive whole number"
            for name in _NUMBERS
            if given[name] and not (given[name].isdecimal() and int(given[name]) > 0)
        ]
        aging = _aging(environ, problems)
        if problems:
            raise InvalidSettings("; ".join(problems))
        return cls(
            table_name=given["RECOLLECT_TABLE_NAME"],
            bucket_name=given["RECOLLECT_BUCKET_NAME"],
            embedder=cast("Literal['onnx', 'bedrock']", embedder),
            bedrock_model_id=given["RECOLLECT_BEDROCK_MODEL_ID"],
            bedrock_dimension=int(given["RECOLLECT_BEDROCK_DIMENSION"] or 0),
            memory_mb=int(environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1024")),
            queue_url=given["RECOLLECT_QUEUE_URL"],
            extractor=cast("Literal['rules', 'bedrock']", extractor),
            extraction_model_id=given["RECOLLECT_EXTRACTION_MODEL_ID"],
            extraction_daily_tokens=int(given["RECOLLECT_EXTRACTION_DAILY_TOKENS"] or 0),
            aging=aging,
        )


def _aging(environ: Mapping[str, str], problems: list[str]) -> dict[str, float]:
    """Read what is set of `AGING`; tell what is unusable."""
    values: dict[str, float] = {}
    for name, (low, high) in AGING.items():
        text = environ.get(f"RECOLLECT_{name.upper()}", "")
        if text:
            try:
                values[name] = float(text)
            except ValueError:
                values[name] = high
            if not low <= values[name] < high:
                problems.append(f"RECOLLECT_{name.upper()} must be a number from {low:g} to below {high:g}")
    return values


def variables(embedder: str, *, has_extraction_model: bool = False) -> tuple[str, ...]:
    """Name the variables that a function with this embedder, and with or without such a model, reads."""
    embedding = _EMBEDDING if embedder == "bedrock" else ()
    return _COMMON + embedding + (_EXTRACTION if has_extraction_model else ())


def is_in_lambda(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether this process is a Lambda execution environment."""
    return "AWS_LAMBDA_RUNTIME_API" in environ
