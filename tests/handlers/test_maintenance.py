from typing import Any

import pytest
from recollect.errors import Unavailable
from recollect.maintenance import StepName

from tests.support.app import MEMORIES, App, stored

MAINTENANCE = "/v1/users/ana/maintenance"


def test_a_run_tells_what_it_did_by_step_and_a_dry_run_what_it_would_do(app: App) -> None:
    stored(app, "Ana drinks green tea")

    assert app("POST", MAINTENANCE, {})[1]["steps"]["compaction"]["counts"]["folded_entries"] == 0
    status, planned, _ = app("POST", MAINTENANCE, {"dry_run": True, "force": True})
    assert (status, planned["dry_run"]) == (200, True)
    assert planned["steps"]["compaction"]["counts"]["folded_entries"] == 1
    assert app("POST", MAINTENANCE, {"dry_run": True})[1]["steps"]["compaction"]["counts"]["segments"] == 0

    status, answer, _ = app("POST", MAINTENANCE, {"steps": ["compaction"], "force": True})

    assert (status, answer["dry_run"], [*answer["steps"]]) == (200, False, ["erasure", "compaction"])
    counts = answer["steps"]["compaction"]["counts"]
    assert counts.pop("written_bytes") > 0
    expected = {"folded_entries": 1, "written_rows": 1, "archived_entries": 1, "segments": 1}
    assert {name: count for name, count in counts.items() if count} == expected
    assert [one["content"] for one in app("GET", MEMORIES)[1]["memories"]] == ["Ana drinks green tea"]


def test_the_steps_run_in_their_own_order_and_all_of_them_unless_said(app: App) -> None:
    stored(app, "Ana drinks green tea")

    steps = [*app("POST", MAINTENANCE, {})[1]["steps"]]

    assert steps == [name.value for name in StepName if name.value in steps]
    assert len(steps) > 4
    assert [*app("POST", MAINTENANCE, {"steps": ["decay", "expiry"]})[1]["steps"]] == ["expiry", "decay"]


def test_reports_are_listed_newest_first_and_page_by_page(app: App) -> None:
    made = []
    for content in ("Ana drinks green tea", "Ana lives in Porto", "Ana plays chess"):
        stored(app, content)
        made.append(app("POST", MAINTENANCE, {"force": True})[1])

    first = app("GET", MAINTENANCE, query="limit=2")[1]
    rest = app("GET", MAINTENANCE, query=f"limit=2&cursor={first['cursor']}")[1]

    assert [*first["reports"], *rest["reports"]] == made[::-1]
    assert rest["cursor"] is None
    assert app("GET", MAINTENANCE, query="cursor=x")[0] == 422
    assert app("GET", MAINTENANCE, query="limit=0")[0] == 422


def test_stats_tell_when_maintenance_is_due(app: App) -> None:
    stats = "/v1/users/ana/stats"
    assert app("GET", stats)[1]["maintenance_due_at"] is None
    stored(app, "Ana drinks green tea")
    assert app("GET", stats)[1]["maintenance_due_at"] is not None

    report = app("POST", MAINTENANCE, {})[1]

    assert app("GET", stats)[1]["maintenance_due_at"] == report["next_due_at"]


def test_a_step_that_fails_is_reported_and_the_others_go_on(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(app, "Ana drinks green tea")

    def fail(*_: Any) -> None:
        raise Unavailable("the store is busy")

    monkeypatch.setattr("recollect.aging.expired", fail)
    status, report, _ = app("POST", MAINTENANCE, {"force": True})

    assert status == 200
    assert report["steps"]["expiry"]["failure"] == "the store is busy"
    assert report["steps"]["expiry"]["done"] is False
    assert report["steps"]["compaction"]["changed"] > 0


@pytest.mark.parametrize(
    "body", [{"steps": []}, {"steps": ["everything"]}, {"force": "yes"}, {"dry_run": 1}, {"until": 3}, []]
)
def test_what_maintenance_cannot_do_is_a_problem(app: App, body: Any) -> None:
    status, problem, _ = app("POST", MAINTENANCE, body)

    assert (status, problem["status"]) == (422, 422)


def test_nobody_maintains_another_user(app: App) -> None:
    assert app("POST", "/v1/users/bob/maintenance", {"force": True})[0] == 404
    assert app("GET", "/v1/users/bob/maintenance")[0] == 404
