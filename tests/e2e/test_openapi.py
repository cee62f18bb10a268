"""The service does what its published description says, whatever is sent: schemathesis asks, a thousand times and more.

It looks for failures of ours, statuses, media types, bodies and headers that the document does not tell of, requests
that the schemas forbid and the service takes, methods that a path does not have, and answers without a token.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.e2e.conftest import Service
from tests.support.api_client import UserClient

CONFIG = """
base-url = {url}
headers = {{ Authorization = {authorization} }}
parameters = {{ "path.user_id" = {user_id} }}
cache = {{ enabled = false }}
generation = {{ database = "none", deterministic = true, max-examples = 25, no-shrink = true }}

[phases]
stateful.enabled = false

[checks]
positive_data_acceptance.enabled = false # what is stored decides, too

[[operations]] # filters nest: their cases are without number, so they are tried at random only
include-operation-id = ["search", "context", "list_memories"]
phases.coverage.enabled = false
generation.max-examples = 60

[[operations]] # a batch is refused item by item
include-operation-id = "store"
checks.negative_data_rejection.expected-statuses = [207, 400, 404, 413, 415, 422]

[[operations]]
include-path-regex = "memory_id"
parameters = {{ "path.memory_id" = {memory_id} }}

[[operations]]
include-path-regex = "transcript_id"
parameters = {{ "path.transcript_id" = {transcript_id} }}

[[operations]] # the others need theirs
include-operation-id = "delete_transcript"
parameters = {{ "path.transcript_id" = {other_transcript_id} }}

[[operations]] # to other methods it is a transcript that is not there
include-operation-id = "upload"
checks.unsupported_method.enabled = false

[[operations]] # the others need the memory
include-operation-id = "erase"
parameters = {{ "query.dry_run" = true }}
"""
NEED_A_STATE = {"resolve", "unmerge"}


def test_the_service_does_what_its_description_says(service: Service, alice: UserClient, tmp_path: Path) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text(
        CONFIG.format(
            url=json.dumps(service.api_url),
            authorization=json.dumps(f"Bearer {service.user_token(alice.user_id)}"),
            user_id=json.dumps(alice.user_id),
            transcript_id=json.dumps(handed_over(alice)),
            other_transcript_id=json.dumps(handed_over(alice)),
            memory_id=json.dumps(alice.store("Alice works at Acme").body["memory_id"]),
        )
    )

    document = f"{service.api_url}/openapi.json"
    options = ["--continue-on-failure", "--warnings", "off", "--no-color"]
    run = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run", document, *options],
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    if service.cloud is not None:
        assert described(service) - went_well(service, alice.user_id) <= NEED_A_STATE | {"health"}  # which has no user


def handed_over(alice: UserClient) -> str:
    messages = [{"role": "user", "content": "I work at Acme."}]
    receipt = alice.call("POST", "/transcripts", {"messages": messages}).body
    return str(receipt["transcript_id"])


def described(service: Service) -> set[str]:
    paths = service.client(None).request("GET", "/openapi.json").body["paths"]
    return {operation["operationId"] for path in paths.values() for operation in path.values()}


def went_well(service: Service, user_id: str) -> set[str]:
    """Operations that did for a user what they are for, by the service's log."""
    lines = [json.loads(line) for line in service.log_lines if line.startswith("{")]
    requests = [line for line in lines if line.get("message") == "request" and line.get("user_id") == user_id]
    return {line["operation"] for line in requests if line["status"] < 300}
