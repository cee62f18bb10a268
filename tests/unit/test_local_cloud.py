"""The pure parts of the local cloud: tokens, log lines, what counts as a change, what needs a deploy."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jwt
import pytest
from recollect.ports import Version
from recollect.replay import Replay
from recollect.schemas.maintenance import CompactionOutput

from infra.local import compact, replay, tokens
from infra.local.cdk import without_resource
from infra.local.errors import LocalCloudError
from infra.local.fingerprint import fingerprint
from infra.local.issuer import Issuer
from infra.local.logs import readable
from infra.local.snapshots import Snapshots
from tests.support.builders import MEMORY, NOW_MS

KEY = tokens.new_key()
ISSUER = "http://127.0.0.1:4566/_recollect/issuer"


def test_a_token_is_verified_by_the_published_key() -> None:
    claims = tokens.claims_for("alice", ISSUER, now=1_000, hours=0.5)

    token = tokens.issue_token(KEY, claims)

    published = jwt.PyJWKSet.from_dict(tokens.jwks(KEY))[jwt.get_unverified_header(token)["kid"]]
    options: Any = {"verify_exp": False}
    verified = jwt.decode(token, published.key, ["RS256"], audience=tokens.AUDIENCE, issuer=ISSUER, options=options)
    assert verified == {"iss": ISSUER, "aud": tokens.AUDIENCE, "sub": "alice", "iat": 1_000, "exp": 2_800}


def test_only_a_service_gets_the_scope_for_any_user() -> None:
    assert "scope" not in tokens.claims_for("alice", ISSUER, now=0)
    assert tokens.claims_for("agent", ISSUER, now=0, service=True)["scope"] == "recollect/any-user"


def test_the_issuers_key_is_made_once_and_is_private(tmp_path: Path) -> None:
    first = Issuer.at(tmp_path / "new", 4566)
    second = Issuer.at(tmp_path / "new", 4567)

    assert first.key == second.key
    assert (tmp_path / "new" / "issuer.pem").stat().st_mode & 0o077 == 0
    assert all("PRIVATE" not in text for text in first.documents().values())


def test_discovery_leads_to_the_keys(tmp_path: Path) -> None:
    issuer = Issuer.at(tmp_path, 4566)

    documents = {f"http://127.0.0.1:4566{path}": json.loads(text) for path, text in issuer.documents().items()}

    discovery = documents[f"{issuer.url}/.well-known/openid-configuration"]
    assert discovery["issuer"] == issuer.url
    assert documents[discovery["jwks_uri"]] == tokens.jwks(issuer.key)


def test_what_a_compaction_did_is_told_in_words() -> None:
    done = dict.fromkeys(CompactionOutput.model_fields, 0) | {"folded_entries": 1_234, "segments": 2}

    told = compact.report("alice", {"dry_run": False, "compaction": done})
    planned = compact.report("alice", {"dry_run": True, "compaction": done})

    assert told.splitlines()[:2] == ["alice: done", "       1,234  changes folded into a segment"]
    assert len(told.splitlines()) == 1 + len(done)
    assert planned.splitlines()[0] == "alice: this would be done first"
    assert "archive" not in planned


def test_a_replay_is_told_as_lines_of_json_and_a_sentence() -> None:
    purged = Version(replace(MEMORY, content="", version=2), content_hash="00")
    found = Replay(7, NOW_MS, (Version(MEMORY), purged), ())

    told = [json.loads(line) for line in replay.lines("alice", found)]
    wrong = replay.summary("alice", replace(found, disagreements=("entry 3: it is missing",)), verified=False)

    assert [(one["content"], one["version"], one["redacted"]) for one in told] == [
        (MEMORY.content, 1, False),
        (None, 2, True),
    ]
    assert replay.summary("alice", found, verified=False) == (
        "alice: 2 memories after entry 7 (2023-11-14T22:13:20+00:00); log and versions agree"
    )
    assert wrong.splitlines()[1:] == ["entry 3: it is missing"]


@pytest.mark.parametrize("at", ["yesterday", "2026-11-30T09:00:00"])
def test_a_time_without_a_zone_is_refused(at: str) -> None:
    with pytest.raises(LocalCloudError, match="2026-11-30T09:00:00Z"):
        replay.epoch_ms(at)


def test_a_request_becomes_one_readable_line() -> None:
    entry = {
        "level": "INFO",
        "message": "request",
        "timestamp": "2026-11-29 12:03:04,123+0000",
        "service": "api",
        "operation": "search",
        "status": 200,
        "duration_ms": 34.4,
        "user_id": "alice",
        "cold_start": True,
        "stages_ms": {"rank": 1.5, "fetch": 3},
        "counts": {},
    }

    line = readable(json.dumps(entry))

    assert line == "12:03:04 search 200 34 ms user=alice cold stages_ms=rank:1.5,fetch:3 counts=-"


def test_a_record_of_the_ingestion_becomes_one_readable_line() -> None:
    entry = {
        "level": "INFO",
        "message": "record",
        "timestamp": "2026-11-29T12:03:04.123Z",
        "service": "ingest",
        "operation": "ingest",
        "status": "done",
        "message_id": "a1b2",
        "receive_count": 1,
        "user_id": "alice",
        "transcript_id": "01HF",
        "messages": {"all": 3, "turns": 3, "facts": 3},
        "duration_ms": 34.4,
    }

    line = readable(json.dumps(entry))

    assert line == (
        "12:03:04 ingest done 34 ms user=alice receive_count=1 transcript_id=01HF messages=all:3,turns:3,facts:3"
    )


def test_other_lines_stay_readable() -> None:
    warning = {"level": "WARNING", "message": "slow", "timestamp": "2026-11-29T12:03:04.123Z", "waited_ms": 7}

    assert readable(json.dumps(warning)) == "12:03:04 WARNING slow waited_ms=7"
    assert readable("Traceback (most recent call last):") == "Traceback (most recent call last):"
    assert readable('["no", "object"]') == '["no", "object"]'
    assert readable("{}") == ""


@pytest.mark.parametrize("line", ["", "  ", "START RequestId: 1 Version: 2", '{"_aws": {"Timestamp": 1}}'])
def test_lines_for_machines_are_left_out(line: str) -> None:
    assert readable(line) is None


def test_a_resource_is_dropped_and_its_neighbours_stay() -> None:
    template = "Resources:\n  A:\n    T: X\n\n  B:\n    T: Y\n    Properties:\n      P: 1\n  BC:\n    T: Z\nOutputs:\n"

    assert without_resource(template, "B") == "Resources:\n  A:\n    T: X\n\n  BC:\n    T: Z\nOutputs:\n"
    assert without_resource(template, "BC").endswith("      P: 1\nOutputs:\n")


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("app.py", True),
        ("infra/stack.py", True),
        ("functions/api/handler.py", True),
        ("layers/dependencies/requirements.txt", True),
        ("infra/local/cloud.py", False),
        ("functions/api/__pycache__/handler.pyc", False),
        ("tests/unit/test_x.py", False),
    ],
)
def test_a_deploy_is_needed_when_a_source_of_the_stack_changes(tmp_path: Path, path: str, counts: bool) -> None:
    (tmp_path / "app.py").write_text("0")
    before = fingerprint(tmp_path, {})

    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("1")

    assert (fingerprint(tmp_path, {}) != before) is counts
    assert fingerprint(tmp_path, {"stage": "local"}) != fingerprint(tmp_path, {"stage": "other"})


@pytest.mark.parametrize(
    ("method", "path", "target", "dirty"),
    [
        ("POST", "/", b"DynamoDB_20120810.TransactWriteItems", (True, False)),
        ("POST", "/", b"DynamoDB_20120810.Query", (False, False)),
        ("POST", "/", b"", (False, True)),
        ("PUT", "/bucket/key", b"", (False, True)),
        ("GET", "/bucket/key", b"", (False, False)),
        ("POST", "/_aws/execute-api/recollect/v1/users/a/search", b"", (False, False)),
    ],
)
def test_only_requests_that_may_change_something_are_saved(
    method: str, path: str, target: bytes, dirty: tuple[bool, bool]
) -> None:
    snapshots = Snapshots(lambda everything: None)

    snapshots.note(method, path, {b"x-amz-target": target})

    assert (snapshots.is_data_dirty, snapshots.is_all_dirty) == dirty
