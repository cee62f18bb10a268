"""From a memory to what was said, and what becomes of memories when that is deleted."""

from typing import Any

import pytest

from tests.support.app import MEMORIES, SERVICE, TRANSCRIPTS, App, stored

TALK = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "name": "Ana", "content": "Good morning!", "at": "2026-05-01T10:00:00Z"},
    {"role": "user", "name": "Ana", "content": "I am allergic to peanuts.", "at": "2026-05-01T10:01:00Z"},
    {"role": "assistant", "content": "I will remember that, thank you."},
    {"role": "user", "name": "Ana", "content": "The meeting with Bob about the roof is on Monday."},
]


def handed_over(app: App, session_id: str = "s-1", messages: Any = TALK, user_id: str = "ana", **values: Any) -> str:
    body = {"session_id": session_id, "messages": messages, "occurred_at": "2026-05-02T00:00:00Z", **values}
    status, receipt, _ = app("POST", f"/v1/users/{user_id}/transcripts", body, claims=SERVICE)
    assert status in (200, 202), receipt
    app.work()
    return str(receipt["transcript_id"])


def memories(app: App, query: str = "limit=200") -> list[Any]:
    found: list[Any] = app("GET", MEMORIES, query=query)[1]["memories"]
    return found


def saying(app: App, text: str, kind: str = "episodic") -> Any:
    (found,) = [one for one in memories(app, f"type={kind}") if text in one["content"]]
    return found


def source(app: App, memory_id: str, query: str = "") -> list[Any]:
    status, answer, _ = app("GET", f"{MEMORIES}/{memory_id}/source", query=query)
    assert (status, answer["memory_id"]) == (200, memory_id)
    return list(answer["sources"])


def test_a_memory_leads_to_the_messages_that_it_is_from_and_those_around(app: App) -> None:
    transcript_id = handed_over(app)

    (quoted,) = source(app, saying(app, "peanuts")["memory_id"], "around=1")

    assert {name: quoted[name] for name in ("transcript_id", "session_id", "first", "last", "cut")} == {
        "transcript_id": transcript_id,
        "session_id": "s-1",
        "first": 2,
        "last": 2,
        "cut": False,
    }
    assert [(one["index"], one["is_source"]) for one in quoted["messages"]] == [(1, False), (2, True), (3, False)]
    assert quoted["messages"][1] == {
        "index": 2,
        "role": "user",
        "name": "Ana",
        "text": "I am allergic to peanuts.",
        "at": "2026-05-01T10:01:00.000Z",
        "is_source": True,
    }
    assert quoted["messages"][2]["at"] == "2026-05-02T00:00:00.000Z"


@pytest.mark.parametrize(("around", "shown"), [(0, [2]), (2, [0, 1, 2, 3, 4]), (50, [0, 1, 2, 3, 4])])
def test_as_many_messages_are_shown_around_as_there_are(app: App, around: int, shown: list[int]) -> None:
    handed_over(app)

    (quoted,) = source(app, saying(app, "peanuts")["memory_id"], f"around={around}")

    assert [one["index"] for one in quoted["messages"]] == shown


def test_messages_around_may_be_in_other_parts(app: App) -> None:
    for number in range(len(TALK)):
        handed_over(app, messages=TALK[number : number + 1])

    (quoted,) = source(app, saying(app, "peanuts")["memory_id"])

    assert [one["text"] for one in quoted["messages"]] == [one["content"] for one in TALK]


def test_a_fact_that_several_transcripts_say_has_all_of_them_as_sources(app: App) -> None:
    ids = [handed_over(app, f"s-{number}") for number in range(3)]

    quoted = source(app, saying(app, "peanuts", "semantic")["memory_id"])

    assert [one["transcript_id"] for one in quoted] == ids
    assert all("peanuts" in one["messages"][2]["text"] for one in quoted)


def test_long_messages_around_a_memory_are_cut_and_said_to_be(app: App) -> None:
    long = {"role": "tool", "content": "x\n" * 700_000}
    handed_over(app, messages=[*TALK[:3], long, long], extract="facts")

    (quoted,) = source(app, saying(app, "peanuts", "semantic")["memory_id"])

    assert quoted["cut"] is True
    assert [len(one["text"]) for one in quoted["messages"]][3:] == [16_000, 16_000]


def test_what_a_caller_stored_has_no_source(app: App) -> None:
    assert source(app, stored(app, "The office closes at six")) == []


@pytest.mark.parametrize("query", ["around=-1", "around=51", "around=x", "x=1"])
def test_a_source_that_cannot_be_asked_for_is_refused(app: App, query: str) -> None:
    assert app("GET", f"{MEMORIES}/{stored(app, 'tea')}/source", query=query)[0] == 422


def test_the_source_of_another_users_memory_is_not_found(app: App) -> None:  # case I2
    handed_over(app)
    memory_id = saying(app, "peanuts")["memory_id"]

    theirs, unknown = (
        app("GET", f"/v1/users/bob/memories/{one}/source", claims=SERVICE)[:2]
        for one in (memory_id, "01HF0000000000000000009999")
    )

    assert theirs == unknown
    assert theirs[0] == 404


def test_a_transcript_is_deleted_and_its_memories_stay_without_it(app: App) -> None:  # case D7
    transcript_id = handed_over(app)
    before = {one["content"] for one in memories(app)}

    status, removal, _ = app("DELETE", f"{TRANSCRIPTS}/{transcript_id}")

    assert (status, removal["status"], removal["deleted_memories"]) == (200, "deleted", 0)
    assert removal["released_memories"] == len(before)
    assert {one["content"] for one in memories(app)} == before
    assert all(one["sources"] == [] for one in memories(app))
    assert app("GET", f"{TRANSCRIPTS}/{transcript_id}")[0] == 404
    assert app("GET", f"{TRANSCRIPTS}/{transcript_id}/content")[0] == 404
    assert app("DELETE", f"{TRANSCRIPTS}/{transcript_id}")[0] == 404
    assert app.objects.list_objects("") == []


@pytest.mark.parametrize("purge", ["false", "true"])
def test_with_cascade_memories_that_are_from_it_alone_go(app: App, purge: str) -> None:  # case D7
    kept_id, transcript_id = handed_over(app, "s-1"), handed_over(app, "s-2")
    own = stored(app, "The office closes at six")
    shared = saying(app, "peanuts", "semantic")
    assert len(shared["sources"]) == 2
    alone = [
        one["memory_id"] for one in memories(app) if [of["transcript_id"] for of in one["sources"]] == [transcript_id]
    ]
    assert alone

    status, removal, _ = app("DELETE", f"{TRANSCRIPTS}/{transcript_id}", query=f"cascade=true&purge={purge}")

    assert (status, removal["deleted_memories"]) == (200, len(alone))
    left = {one["memory_id"]: one for one in memories(app)}
    assert left.keys().isdisjoint(alone)
    assert own in left
    assert [one["transcript_id"] for one in left[shared["memory_id"]]["sources"]] == [kept_id]
    versions = app("GET", f"{MEMORIES}/{alone[0]}/versions")[1]["versions"]
    assert all(one["redacted"] is (purge == "true") for one in versions)
    assert app("GET", f"{TRANSCRIPTS}/{kept_id}")[0] == 200


def test_a_deletion_that_takes_long_goes_on_when_it_is_sent_again(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    transcript_id = handed_over(app)
    monkeypatch.setattr("recollect.transcribing.BUDGET_MS", 0)

    status, removal, _ = app("DELETE", f"{TRANSCRIPTS}/{transcript_id}", query="cascade=true")
    assert (status, removal["status"]) == (202, "deleting")
    assert app("GET", f"{TRANSCRIPTS}/{transcript_id}")[1]["status"] == "deleting"
    for body in ({"session_id": "s-1", "messages": TALK}, {"session_id": "s-1", "messages": [{"role": "user"}]}):
        assert app("POST", TRANSCRIPTS, body)[0] == 409
    assert app("POST", f"{TRANSCRIPTS}/{transcript_id}/redrive")[0] == 409
    monkeypatch.undo()

    assert app("DELETE", f"{TRANSCRIPTS}/{transcript_id}", query="cascade=true")[0] == 200
    assert memories(app) == []


def test_a_session_can_begin_anew_after_its_transcript_was_deleted(app: App) -> None:
    first = handed_over(app)
    app("DELETE", f"{TRANSCRIPTS}/{first}", query="cascade=true")

    second = handed_over(app)

    assert second != first
    assert saying(app, "peanuts")["sources"][0]["transcript_id"] == second
