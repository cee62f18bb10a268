"""Functions run where nothing can be written and nobody has a home: E8. Looked at in fresh processes."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {
    "AWS_LAMBDA_RUNTIME_API": "none",  # as in Lambda, everything is made while the handler loads
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",  # where nobody answers
    "RECOLLECT_TABLE_NAME": "memories",
    "RECOLLECT_BUCKET_NAME": "objects",
    "RECOLLECT_QUEUE_URL": "http://127.0.0.1:9/1/jobs",
    "RECOLLECT_MAINTENANCE_QUEUE_URL": "http://127.0.0.1:9/1/due",
    "RECOLLECT_EMBEDDER": "onnx",
    "RECOLLECT_EXTRACTOR": "rules",
    "PYTHONDONTWRITEBYTECODE": "1",
}
# Whatever would write ends the process: opening a file to write, and every change of a folder.
GUARD = """
import os, sys
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "shutil.copyfile"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
def guard(event, args):
    writes = event == "open" and isinstance(args[0], (str, bytes)) and args[2] & WRITING and args[0] != "/dev/null"
    if writes or event in CHANGES:
        sys.stderr.write(f"wrote: {event} {args[0]!r}\\n")
        os._exit(7)
sys.addaudithook(guard)
"""
EVENTS = {
    "api": """
context = {"stage": "$default", "requestId": "r", "http": {"method": "POST", "path": "/v1/users/ana/memories"},
    "authorizer": {"jwt": {"claims": {"sub": "ana"}}}}
event = {"version": "2.0", "routeKey": "$default", "rawPath": "/v1/users/ana/memories", "rawQueryString": "",
    "headers": {"content-type": "application/json"}, "requestContext": context, "isBase64Encoded": False,
    "body": '{"content": "tea at four"}'}
assert handler.lambda_handler(event, None)["statusCode"] == 503
""",
    "ingest": """
class Context:
    def get_remaining_time_in_millis(self):
        return 300_000
record = {"messageId": "m", "receiptHandle": "h", "body": "{}", "attributes": {"ApproximateReceiveCount": "1"},
    "messageAttributes": {}, "eventSource": "aws:sqs", "eventSourceARN": "a", "awsRegion": "us-east-1"}
answer = handler.lambda_handler({"Records": [record]}, Context())
assert answer == {"batchItemFailures": [{"itemIdentifier": "m"}]}, answer
from recollect import wiring
wiring.embedder(handler.Settings.from_env()).embed(["tea at four"])
""",
    "maintain": """
class Context:
    def get_remaining_time_in_millis(self):
        return 300_000
record = {"messageId": "m", "receiptHandle": "h", "body": '{"user_id": "ana"}', "messageAttributes": {},
    "attributes": {"ApproximateReceiveCount": "1"}, "eventSource": "aws:sqs", "eventSourceARN": "a",
    "awsRegion": "us-east-1"}
answer = handler.lambda_handler({"Records": [record]}, Context())
assert answer == {"batchItemFailures": [{"itemIdentifier": "m"}]}, answer
""",
    "plan": """
from recollect.errors import Unavailable
class Context:
    def get_remaining_time_in_millis(self):
        return 300_000
try:
    handler.lambda_handler({}, Context())
except Unavailable:
    pass
""",
}


def run(program: str, function: str) -> "subprocess.CompletedProcess[str]":
    parts = (
        f"functions/{function}",
        "layers/recollect/python",
        *(f"build/layers/{name}/python" for name in ("model", "lexicon")),
    )
    paths = [str(ROOT / part) for part in parts]
    return subprocess.run(
        [sys.executable, "-c", f"{GUARD}\nsys.path[:0] = {paths!r}\n{program}"],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        cwd="/",
    )


@pytest.mark.parametrize("function", EVENTS)
def test_a_function_without_a_home_writes_nothing(function: str) -> None:
    done = run(f"import handler\n{EVENTS[function]}\nprint('done')", function)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("done\n")


def test_writing_anything_would_be_noticed() -> None:
    done = run("open('/tmp/x', 'w')", "api")

    assert done.returncode == 7
    assert done.stderr == "wrote: open '/tmp/x'\n"
