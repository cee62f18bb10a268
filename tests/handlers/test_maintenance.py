from typing import Any

import pytest

from tests.support.app import MEMORIES, App, stored

MAINTENANCE = "/v1/users/ana/maintenance"


def test_a_compaction_tells_what_it_did_and_a_dry_run_what_it_would_do(app: App) -> None:
    stored(app, "Ana drinks green tea")

    assert app("POST", MAINTENANCE, {})[1]["compaction"]["folded_entries"] == 0
    planned = app("POST", MAINTENANCE, {"dry_run": True, "force": True})
    assert planned[:1] == (200,)
    assert planned[1]["dry_run"] is True
    assert planned[1]["compaction"]["folded_entries"] == 1
    assert app("POST", MAINTENANCE, {"dry_run": True})[1]["compaction"]["segments"] == 0

    status, answer, _ = app("POST", MAINTENANCE, {"steps": ["compaction"], "force": True})

    assert status == 200
    assert answer["dry_run"] is False
    assert answer["compaction"].pop("written_bytes") > 0
    expected = {"folded_entries": 1, "written_rows": 1, "archived_entries": 1, "segments": 1}
    nothing = dict.fromkeys(("folded_touches", "merged_segments", "deleted_objects"), 0)
    assert answer["compaction"] == expected | nothing
    assert [one["content"] for one in app("GET", MEMORIES)[1]["memories"]] == ["Ana drinks green tea"]


@pytest.mark.parametrize(
    "body", [{"steps": []}, {"steps": ["everything"]}, {"force": "yes"}, {"dry_run": 1}, {"until": 3}, []]
)
def test_what_maintenance_cannot_do_is_a_problem(app: App, body: Any) -> None:
    status, problem, _ = app("POST", MAINTENANCE, body)

    assert (status, problem["status"]) == (422, 422)


def test_nobody_maintains_another_user(app: App) -> None:
    assert app("POST", "/v1/users/bob/maintenance", {"force": True})[0] == 404
