"""What the stack is told by the CDK context: read once, checked as a whole, immutable afterwards.

Keys are plain words (``cdk deploy -c stage=prod``). Keys that hold ``:``, ``/``, ``@`` or ``=`` belong to CDK
and are not looked at; every other key must be one of ours, so that a misspelt one is refused and not ignored.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, cast

from infra.models import PROFILE_PREFIX

AUTHORIZERS = ("cognito", "jwt", "iam")
EMBEDDERS = ("onnx", "bedrock")
EXTRACTORS = ("rules", "bedrock")
# The periods that CloudWatch Logs accepts, up to five years.
RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827)

_KEY_OF_CDK = re.compile(r"[:/@=]|^cli-telemetry$")
_STAGE = re.compile(r"[a-z][a-z0-9-]{0,19}")
# Of a foundation model, or of an inference profile: then with a prefix.
_MODEL_ID = re.compile(r"[a-z0-9-]+\.[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*(:\d+)?")
_WORDS_REFUSED_BY_COGNITO = ("aws", "amazon", "cognito")


class InvalidSettings(Exception):
    """The CDK context has unknown keys or unusable values; the message names all of them."""


@dataclass(frozen=True, slots=True)
class StackSettings:
    """Settings of one deployment; each field is the context key of the same name.

    Parameters
    ----------
    stage : str
        Names the deployment: the stack is ``Recollect-<stage>``.
    authorizer : {"cognito", "jwt", "iam"}
        Who vouches for callers: a user pool created here, an existing issuer, or IAM.
    jwt_issuer, jwt_audience : str
        The issuer's URL, and the audiences that it must name (comma-separated); only for ``"jwt"``.
    embedder : {"onnx", "bedrock"}
        What makes embeddings: the model inside the deployment, or Amazon Bedrock.
    bedrock_model_id : str
        Id of a Bedrock foundation model; only for ``"bedrock"``.
    bedrock_dimension : int
        Dimensions asked of that model; only for ``"bedrock"``.
    extractor : {"rules", "bedrock"}
        What finds facts in transcripts, unless a request says otherwise: rules, or a model on Amazon Bedrock.
    extraction_model_id : str
        Id of that model, or of an inference profile of it; needed for ``"bedrock"``. With ``"rules"`` it is used by
        requests that ask for it.
    extraction_daily_tokens : int
        How many tokens of that model a user's transcripts may take in a day (UTC), input and output together.
    log_retention_days : int
        How long log groups keep lines; a period that CloudWatch knows.
    memory_mb : int
        Memory of each function; 1,769 MB buy one whole vCPU.
    throttle_rate, throttle_burst : int
        Requests per second that the API takes steadily, and at once.
    maintenance_minutes : int
        How often it is looked for users who are due for maintenance.
    episodic_half_life_days, semantic_half_life_days, procedural_half_life_days : int
        How fast memories fade that are never used.
    archive_below_percent : int
        Of what a memory could retain at most: below it is archived; with 0 nothing is.
    retention_days : int
        So long after it was archived a memory that was never used is deleted; 0 for never.
    emulated : bool
        The stack goes into the embedded local cloud: layers for this host, no TLS-only bucket policy, plain
        HTTP issuers, and nothing is protected against deletion.
    """

    stage: str = "dev"
    authorizer: Literal["cognito", "jwt", "iam"] = "cognito"
    jwt_issuer: str = ""
    jwt_audience: str = ""
    embedder: Literal["onnx", "bedrock"] = "onnx"
    bedrock_model_id: str = ""
    bedrock_dimension: int = 0
    extractor: Literal["rules", "bedrock"] = "rules"
    extraction_model_id: str = ""
    extraction_daily_tokens: int = 1_000_000
    log_retention_days: int = 30
    memory_mb: int = 1769
    throttle_rate: int = 50
    throttle_burst: int = 100
    maintenance_minutes: int = 15
    episodic_half_life_days: int = 30
    semantic_half_life_days: int = 180
    procedural_half_life_days: int = 365
    archive_below_percent: int = 20
    retention_days: int = 0
    emulated: bool = False

    @property
    def jwt_audiences(self) -> list[str]:
        """The audiences, one by one."""
        return [part.strip() for part in self.jwt_audience.split(",") if part.strip()]

    @classmethod
    def from_context(cls, context: Mapping[str, object]) -> "StackSettings":
        """Read all keys of the CDK context.

        Raises
        ------
        InvalidSettings
            If any key is unknown or any value unusable; all of them are named.
        """
        known = {field.name: field.default for field in fields(cls) if field.default is not MISSING}
        ours = {key: value for key, value in context.items() if not _KEY_OF_CDK.search(key)}
        unknown = ", ".join(sorted(ours.keys() - known.keys()))
        problems = [f"there is no setting {unknown} (there are {', '.join(known)})"] if unknown else []
        values: dict[str, Any] = {}
        for key, default in known.items():
            try:
                values[key] = _converted(ours.get(key, default), type(default))
            except ValueError as error:
                problems.append(f"{key} must be {error}, not {ours[key]!r}")
        if not problems:
            settings = cls(**values)
            problems = [*_problems_of_values(settings), *_problems_of_pairs(settings)]
            if not problems:
                return settings
        raise InvalidSettings("; ".join(problems))


def _converted(value: object, kind: type) -> object:
    """Give a context value (text from the command line, or JSON) the type of its field."""
    if kind is bool:
        if str(value).lower() not in ("true", "false"):
            raise ValueError("true or false")
        return str(value).lower() == "true"
    if kind is int:
        if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,9}", str(value)):
            raise ValueError("a whole number")
        return int(str(value))
    if not isinstance(value, str):
        raise ValueError("text")
    return value.strip()


def _problems_of_values(settings: StackSettings) -> list[str]:
    ranges = {
        "memory_mb": (512, 10_240),
        "throttle_rate": (1, 10_000),
        "throttle_burst": (1, 5_000),
        "extraction_daily_tokens": (1, 999_999_999),
        "maintenance_minutes": (1, 1_440),
        "episodic_half_life_days": (1, 99_999),
        "semantic_half_life_days": (1, 99_999),
        "procedural_half_life_days": (1, 99_999),
        "archive_below_percent": (0, 99),
        "retention_days": (0, 99_999),
    }
    if settings.bedrock_dimension:
        ranges["bedrock_dimension"] = (1, 4_096)
    problems = [
        f"{key} must be {low} to {high}"
        for key, (low, high) in ranges.items()
        if not low <= cast("int", getattr(settings, key)) <= high
    ]
    if not _STAGE.fullmatch(settings.stage):
        problems.append("stage must be 1 to 20 lower-case letters, digits or hyphens, a letter first")
    if settings.authorizer not in AUTHORIZERS:
        problems.append(f"authorizer must be one of {', '.join(AUTHORIZERS)}")
    if settings.embedder not in EMBEDDERS:
        problems.append(f"embedder must be one of {', '.join(EMBEDDERS)}")
    if settings.extractor not in EXTRACTORS:
        problems.append(f"extractor must be one of {', '.join(EXTRACTORS)}")
    if settings.log_retention_days not in RETENTION_DAYS:
        problems.append(f"log_retention_days must be one of {', '.join(map(str, RETENTION_DAYS))}")
    if settings.authorizer == "cognito" and any(word in settings.stage for word in _WORDS_REFUSED_BY_COGNITO):
        problems.append(f"stage must not contain {', '.join(_WORDS_REFUSED_BY_COGNITO)}: cognito refuses such a domain")
    return problems


def _problems_of_pairs(settings: StackSettings) -> list[str]:
    """Find settings that are missing beside another one, or useless beside it."""
    jwt = {"jwt_issuer": settings.jwt_issuer, "jwt_audience": ",".join(settings.jwt_audiences)}
    bedrock = {"bedrock_model_id": settings.bedrock_model_id, "bedrock_dimension": settings.bedrock_dimension}
    problems = []
    for wanted, switch, group in (
        (settings.authorizer == "jwt", "authorizer=jwt", jwt),
        (settings.embedder == "bedrock", "embedder=bedrock", bedrock),
    ):
        if wanted:
            problems += [f"{key} is needed with {switch}" for key, value in group.items() if not value]
        else:
            problems += [f"{key} needs {switch}" for key, value in group.items() if value]
    if settings.extractor == "bedrock" and not settings.extraction_model_id:
        problems.append("extraction_model_id is needed with extractor=bedrock")
    schemes = ("https://", "http://") if settings.emulated else ("https://",)
    if settings.jwt_issuer and not settings.jwt_issuer.startswith(schemes):
        problems.append("jwt_issuer must be an https:// address")
    if settings.extraction_model_id and not _MODEL_ID.fullmatch(settings.extraction_model_id):
        problems.append("extraction_model_id must be the id of a model or of an inference profile, not an ARN")
    model_id = settings.bedrock_model_id
    if model_id and (not _MODEL_ID.fullmatch(model_id) or PROFILE_PREFIX.match(model_id)):
        problems.append(
            "bedrock_model_id must be the id of a foundation model, like amazon.titan-embed-text-v2:0"
            " (inference profiles and ARNs are not supported)"
        )
    return problems
