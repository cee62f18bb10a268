import json
from pathlib import Path

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk.aws_s3 import Bucket
from cdk_nag import AwsSolutionsChecks

from tests.infra.support import Synthesised


def test_cdk_nag_has_no_finding_that_is_not_explained(every: Synthesised) -> None:
    assert json.loads(every.findings)["pluginReports"] == []


def test_cdk_nag_would_report_a_finding(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    Bucket(Stack(app, "Careless"), "Bucket")
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))

    with pytest.raises(RuntimeError, match="AwsSolutions-S10"):
        app.synth()
