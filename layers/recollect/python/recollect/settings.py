"""What a function is told by its environment: read once, checked as a whole, immutable afterwards.

The only module that may look at environment variables. The stack writes exactly these names
(a template test compares both sides).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

EMBEDDERS = ("onnx", "bedrock")
# Of maintenance, all optional: the least value of each, and what it must be below.
AGING = {
    "episodic_half_life_days": (0.01, 1e5),
    "semantic_half_life_days": (0.01, 1e5),
    "procedural_half_life_days": (0.01, 1e5),
    "archive_below": (0.0, 1.0),
    "retention_days": (1.0, 1e5),
}
OWN_MB = 400  # code, libraries, the embedding model and a request


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
    aging : mapping of str to float
        Values of ``lifecycle.Policy`` that are not its defaults.
    """

    table_name: str
    bucket_name: str
    embedder: Literal["onnx", "bedrock"]
    bedrock_model_id: str = ""
    bedrock_dimension: int = 0
    memory_mb: int = 1_024
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
        wanted = variables(environ.get("RECOLLECT_EMBEDDER", ""))
        problems = [f"{name} is not set" for name in wanted if not environ.get(name)]
        embedder = environ.get("RECOLLECT_EMBEDDER", "")
        if embedder and embedder not in EMBEDDERS:
            problems.append(f"RECOLLECT_EMBEDDER must be one of {', '.join(EMBEDDERS)}")
        dimension = environ.get("RECOLLECT_BEDROCK_DIMENSION", "")
        if embedder == "bedrock" and dimension and not (dimension.isdecimal() and int(dimension) > 0):
            problems.append("RECOLLECT_BEDROCK_DIMENSION must be a positive whole number")
        aging = _aging(environ, problems)
        if problems:
            raise InvalidSettings("; ".join(problems))
        is_bedrock = embedder == "bedrock"
        return cls(
            table_name=environ["RECOLLECT_TABLE_NAME"],
            bucket_name=environ["RECOLLECT_BUCKET_NAME"],
            embedder=cast("Literal['onnx', 'bedrock']", embedder),
            bedrock_model_id=environ["RECOLLECT_BEDROCK_MODEL_ID"] if is_bedrock else "",
            bedrock_dimension=int(dimension) if is_bedrock else 0,
            memory_mb=int(environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1024")),
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


def variables(embedder: str) -> tuple[str, ...]:
    """Name the variables that a function with this embedder reads."""
    common = ("RECOLLECT_TABLE_NAME", "RECOLLECT_BUCKET_NAME", "RECOLLECT_EMBEDDER")
    bedrock = ("RECOLLECT_BEDROCK_MODEL_ID", "RECOLLECT_BEDROCK_DIMENSION")
    return common + bedrock if embedder == "bedrock" else common


def is_in_lambda(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether this process is a Lambda execution environment."""
    return "AWS_LAMBDA_RUNTIME_API" in environ
