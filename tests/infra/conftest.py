"""One synthesis per context, shared by all tests; bundling is off and cdk-nag is on, as in the app itself."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from aws_cdk import App

from app import compose
from tests.infra.support import Synthesised

ROOT = Path(__file__).resolve().parents[2]
JWT = {"authorizer": "jwt", "jwt_issuer": "https://issuer.example.org", "jwt_audience": "agents, people"}
BEDROCK = {
    "embedder": "bedrock",
    "bedrock_model_id": "amazon.titan-embed-text-v2:0",
    "bedrock_dimension": "512",
    "extractor": "bedrock",
    "extraction_model_id": "amazon.nova-lite-v1:0",
    "extraction_daily_tokens": "5000",
}
# One by one the ways to deploy; each must hold what is promised of every deployment.
DEPLOYMENTS = {
    "cognito": {},
    "jwt": JWT,
    "iam": {"authorizer": "iam"},
    "bedrock": BEDROCK,
    "prod": {
        "stage": "prod",
        "log_retention_days": "400",
        "throttle_rate": "7",
        "throttle_burst": "9",
        "maintenance_minutes": "1",
        "semantic_half_life_days": "90",
        "archive_below_percent": "25",
        "retention_days": "365",
    },
    "profile": {"extraction_model_id": "us.anthropic.claude-haiku-4-5-20251001-v1:0"},
    "emulated": {"emulated": "true"},
}


@pytest.fixture(scope="session")
def synthesise() -> Iterator[Callable[[str], Synthesised]]:
    """Give the templates of the deployments by name."""
    with TemporaryDirectory() as folder:

        @cache
        def synthesise_once(name: str) -> Synthesised:
            context = json.loads((ROOT / "cdk.json").read_text())["context"]
            outdir = Path(folder, name)
            app = App(outdir=str(outdir), context={**context, "aws:cdk:bundling-stacks": [], **DEPLOYMENTS[name]})
            stack = compose(app)
            app.synth()
            return Synthesised(
                template=json.loads((outdir / f"{stack.stack_name}.template.json").read_text()),
                findings=(outdir / "validation-report.json").read_text(),
            )

        yield synthesise_once


@pytest.fixture(scope="session", params=DEPLOYMENTS)
def every(request: pytest.FixtureRequest, synthesise: Callable[[str], Synthesised]) -> Synthesised:
    """Run a test once for each deployment."""
    return synthesise(request.param)


@pytest.fixture(scope="session", params=[name for name in DEPLOYMENTS if name != "emulated"])
def in_aws(request: pytest.FixtureRequest, synthesise: Callable[[str], Synthesised]) -> Synthesised:
    """Run a test once for each deployment that goes into an AWS account."""
    return synthesise(request.param)
