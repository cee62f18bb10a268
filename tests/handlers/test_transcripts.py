"""Handing conversations over and following them, as a client sees it."""

from typing import Any

import pytest
from recollect import transcribing
from recollect.conversation import MESSAGE_MAX_COUNT

from tests.support.app import MEMORIES, SERVICE, TRANSCRIPTS, App

TALK: list[dict[str, Any]] = [
    {"role": "user", "name": "Ana", "content": "I moved to Lisbon last week.", "id": "m-1", "x": {"kept": [1.5, None]}},
    {"role": "assistant", "content": "How do you like it there so far?", "id": "m-2"},
    {"role": "user", "name": "Ana", "content": "I love the river. I am allergic to peanuts.", "id": "m-3"},
]
PLAIN = [{"role": one["role"], "content": one["content"]} for one in TALK]


def post(app: App, messages: Any = TALK, status: int = 202, **values: Any) -> Any:
    answered, receipt, _ = app("POST", TRANSCRIPTS, {"session_id": "s-1", "messages": messages, **values})
    assert answered == status, receipt
    return receipt


def told(app: App, transcript_id: str) -> Any:
    status, transcript, _ = app("GET", f"{TRANSCRIPTS}/{transcript_id}")
    assert status == 200
    return transcript


def lines(app: App, transcript_id: str) -> list[str]:
    status, content, headers = app("GET", f"{TRANSCRIPTS}/{transcript_id}/content")
    assert (status, headers["content-type"]) == (200, "application/x-ndjson")
    return [line.decode() for line in content.splitlines()]


def contents(app: App, kind: str = "episodic") -> list[str]:
    _, page, _ = app("GET", MEMORIES, query=f"type={kind}&order=occurred_at&direction=asc&limit=200")
    return [memory["content"] for memory in page["memories"]]


def test_a_conversation_is_kept_and_its_turns_can_be_found_at_once(app: App) -> None:
    receipt = post(app, occurred_at="2026-05-01T10:00:00Z", agent_id="robot")

    _, found, _ = app("POST", "/v1/users/ana/search", {"query": "river", "filter": {"field": "type", "eq": "episodic"}})
    memory = found["hits"][0]["memory"]
    assert "I love the river" in memory["content"]
    assert (memory["session_id"], memory["agent_id"], memory["actor"]) == ("s-1", "robot", "Ana")
    assert memory["occurred_at"] == "2026-05-01T10:00:00.000Z"
    assert memory["sources"] == [{"transcript_id": receipt["transcript_id"], "first": 2, "last": 2}]
    assert (receipt["status"], receipt["message_count"], receipt["new_messages"]) == ("queued", 3, 3)
    assert receipt["done"] == {"turns": 3, "facts": 0}


def test_the_facts_follow_when_the_worker_has_run(app: App) -> None:
    receipt = post(app)
    assert app.queue.sent

    app.work()

    transcript = told(app, receipt["transcript_id"])
    assert (transcript["status"], transcript["failure"]) == ("done", None)
    assert transcript["done"] == {"turns": 3, "facts": 3}
    assert transcript["memories"]["episodic"] >= 2
    assert transcript["memories"]["semantic"] == len(contents(app, "semantic")) >= 1
    assert any("peanuts" in content for content in contents(app, "semantic"))


def test_who_waits_is_answered_when_everything_is_done(app: App) -> None:
    receipt = post(app, status=200, wait=5)

    assert receipt["status"] == "done"
    assert any("peanuts" in content for content in contents(app, "semantic"))


@pytest.mark.parametrize(("extract", "status", "kinds"), [("none", 200, 0), ("turns", 200, 1), ("facts", 202, 0)])
def test_only_what_is_asked_for_becomes_memories(app: App, extract: str, status: int, kinds: int) -> None:
    receipt = post(app, status=status, extract=extract)

    assert bool(contents(app)) is bool(kinds)
    app.work()
    assert bool(contents(app, "semantic")) is (extract == "facts")
    assert told(app, receipt["transcript_id"])["status"] == "done"


def test_messages_are_kept_as_they_were_sent(app: App) -> None:
    receipt = post(app)

    assert lines(app, receipt["transcript_id"])[0] == (
        '{"role":"user","name":"Ana","content":"I moved to Lisbon last week.","id":"m-1","x":{"kept":[1.5,null]}}'
    )


@pytest.mark.parametrize("talk", [TALK, PLAIN])
def test_the_same_request_again_changes_nothing(app: App, talk: list[Any]) -> None:
    receipt = post(app, talk)
    app.work()
    before = told(app, receipt["transcript_id"]), contents(app), contents(app, "semantic")

    again = post(app, talk, status=200)

    app.work()
    assert (again["transcript_id"], again["new_messages"]) == (receipt["transcript_id"], 0)
    assert (told(app, receipt["transcript_id"]), contents(app), contents(app, "semantic")) == before


def test_further_messages_extend_the_session_in_order(app: App) -> None:
    first = post(app, TALK[:1])
    second = post(app, [*TALK[:2]])  # the history again, and one more
    third = post(app, TALK[2:])

    assert {one["transcript_id"] for one in (first, second, third)} == {first["transcript_id"]}
    assert [one["new_messages"] for one in (first, second, third)] == [1, 1, 1]
    assert ['"m-1"' in line for line in lines(app, first["transcript_id"])] == [True, False, False]
    assert len(told(app, first["transcript_id"])["parts"]) == 3


def test_a_place_that_is_told_is_checked(app: App) -> None:
    post(app, PLAIN)

    assert post(app, PLAIN[1:], status=202, first=1)["new_messages"] == 0
    assert post(app, [{"role": "user", "content": "And you?"}], first=3)["new_messages"] == 1
    for messages, first in ((PLAIN[:1], 1), (PLAIN, 5)):
        status, problem, _ = app("POST", TRANSCRIPTS, {"session_id": "s-1", "messages": messages, "first": first})
        assert (status, problem["type"]) == (409, "/problems/conflict")


def test_without_a_session_a_repeat_is_known_by_its_idempotency_key(app: App) -> None:
    body = {"messages": PLAIN}

    ids = [
        app("POST", TRANSCRIPTS, body, headers={"idempotency-key": key} if key else {})[1]["transcript_id"]
        for key in ("a", "a", "b", "", "")
    ]

    assert ids[0] == ids[1]
    assert len(set(ids)) == 4


def test_forty_messages_in_a_second_to_one_session_stay_in_order(app: App) -> None:  # case E7
    for number in range(40):
        post(
            app,
            [{"role": "user", "content": f"message number {number}", "id": str(number)}],
            extract="none",
            status=200,
        )

    (session,) = app("GET", TRANSCRIPTS)[1]["transcripts"]
    assert [f'"id":"{number}"' in line for number, line in enumerate(lines(app, session["transcript_id"]))] == [
        True
    ] * 40


def test_a_document_is_kept_byte_by_byte_and_read_by_its_structure(app: App) -> None:
    text = "# Guide\r\n\r\nThe office closes at six.\r\n\r\n## Keys\r\n\r\nKeys are at the desk. 钥匙 😀\r\n"
    body = {"document": text, "extract": "turns", "occurred_at": "2026-05-01T10:00:00Z"}

    _, receipt, _ = app("POST", TRANSCRIPTS, body)

    status, content, headers = app("GET", f"{TRANSCRIPTS}/{receipt['transcript_id']}/content")
    assert (status, content, headers["content-type"]) == (200, text.encode(), "text/plain; charset=utf-8")
    assert receipt["message_count"] == 2
    assert any("Guide > Keys" in found for found in contents(app, "semantic"))


def test_json_lines_are_read_line_by_line(app: App) -> None:
    text = '{"role": "user", "content": "I live in Porto"}\n\n{"role":"assistant","content":"Noted"}'

    _, receipt, _ = app("POST", TRANSCRIPTS, {"document": text, "format": "jsonl"})

    assert receipt["message_count"] == 2
    assert app("GET", f"{TRANSCRIPTS}/{receipt['transcript_id']}/content")[1] == text.encode()


def test_a_large_tool_result_is_kept_whole(app: App) -> None:  # case T2
    result = {"role": "tool", "tool_call_id": "c", "content": "x" * 2_000_000}

    receipt = post(app, [*TALK, result])

    assert len(lines(app, receipt["transcript_id"])[3]) > 2_000_000
    assert told(app, receipt["transcript_id"])["bytes"] > 2_000_000


def test_content_that_is_too_large_for_an_answer_is_elsewhere(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.transcripts.CONTENT_MAX_BYTES", 200)
    transcript_id = post(app)["transcript_id"]
    status, body, headers = app("GET", f"{TRANSCRIPTS}/{transcript_id}/content")
    assert (status, body) == (307, b"")
    key, _ = app.objects.granted[headers["location"]]
    assert app.objects.get(key).count(b"\n") == 3

    post(app, [*TALK, {"role": "user", "content": "more"}])

    status, problem, _ = app("GET", f"{TRANSCRIPTS}/{transcript_id}/content")
    assert (status, problem["errors"][0]["pointer"]) == (422, "/part")
    part_id = told(app, transcript_id)["parts"][1]["part_id"]
    status, content, _ = app("GET", f"{TRANSCRIPTS}/{transcript_id}/content", query=f"part={part_id}")
    assert (status, content) == (200, b'{"role":"user","content":"more"}\n')


def test_parts_of_several_formats_are_got_one_by_one(app: App) -> None:
    transcript_id = post(app)["transcript_id"]
    app("POST", TRANSCRIPTS, {"session_id": "s-1", "document": "The office closes at six."})

    assert app("GET", f"{TRANSCRIPTS}/{transcript_id}/content")[0] == 422
    for part in told(app, transcript_id)["parts"]:
        assert app("GET", f"{TRANSCRIPTS}/{transcript_id}/content", query=f"part={part['part_id']}")[0] == 200


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"messages": TALK, "document": "x"}, ""),
        ({"messages": []}, ""),
        ({"messages": ["canary"]}, "/messages/0"),
        ({"messages": [*TALK, {"role": "canary", "content": "x"}]}, "/messages/3/role"),
        ({"messages": [{"content": "canary"}]}, "/messages/0/role"),
        ({"messages": [{"role": ["canary"], "content": "x"}]}, "/messages/0/role"),
        ({"messages": [{"role": "user", "content": [7]}]}, "/messages/0/content/0"),
        ({"messages": [{"role": "user", "content": 7}]}, "/messages/0/content/0"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": 7}]}]}, "/messages/0/content"),
        ({"messages": [{"role": "user", "content": "x", "at": "canary"}]}, "/messages/0/at"),
        ({"messages": [{"role": "user", "content": "x", "at": "2026-05-01T10:00:00"}]}, "/messages/0/at"),
        ({"messages": [{"role": "user", "content": "x", "at": True}]}, "/messages/0/at"),
        ({"messages": [{"role": "user", "content": "x", "at": 1e300}]}, "/messages/0/at"),
        ({"messages": [{"role": "user", "content": "x", "name": {}}]}, "/messages/0/name"),
        ({"messages": [{"role": "user", "content": "x", "id": "x" * 257}]}, "/messages/0/id"),
        ({"messages": [{"role": "user", "content": "canary \ud800"}]}, "/messages/0"),
        ({"messages": {"role": "user"}}, "/messages"),
        ({"messages": [{}] * (MESSAGE_MAX_COUNT + 1)}, ""),
        ({"document": " \n\u200b"}, ""),
        ({"document": "canary \ud800"}, "/document"),
        ({"document": "canary", "format": "jsonl"}, ""),
        ({"document": "[1]", "format": "jsonl"}, "/messages/0"),
        ({"document": "x", "format": "pdf"}, "/format"),
        ({"messages": TALK, "format": "text"}, ""),
        ({"messages": TALK, "wait": 21}, "/wait"),
        ({"messages": TALK, "wait": "5"}, "/wait"),
        ({"messages": TALK, "first": -1}, "/first"),
        ({"messages": TALK, "extract": "all"}, "/extract"),
        ({"messages": TALK, "extractor": "canary"}, "/extractor"),
        ({"messages": TALK, "extractor": "bedrock"}, "/extractor"),
        ({"messages": TALK, "session_id": ""}, "/session_id"),
        ({"messages": TALK, "occurred_at": "2026-05-01T10:00:00"}, "/occurred_at"),
        ({"messages": TALK, "surprise": 1}, "/surprise"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_place_and_keeps_nothing(app: App, body: Any, pointer: str) -> None:
    status, problem, _ = app("POST", TRANSCRIPTS, body)

    assert status == 422
    assert (problem.get("errors") or [{"pointer": ""}])[0]["pointer"] == pointer
    assert "canary" not in str(problem)
    assert app("GET", TRANSCRIPTS)[1]["transcripts"] == []
    assert app.objects.list_objects("") == []


@pytest.mark.parametrize(
    "text",
    [
        '{"messages": [{"role": "user", "content": NaN}]}',
        '{"messages": [{"role": "user", "content": "x", "n": 1e999}]}',
        '{"messages": [{"role": "user", "content": "x", "deep": ' + "[" * 100_000 + "]" * 100_000 + "}]}",
    ],
)
def test_numbers_that_are_none_and_bottomless_nesting_are_refused(app: App, text: str) -> None:
    assert app("POST", TRANSCRIPTS, text)[0] == 422


def test_a_body_over_5_mb_is_refused(app: App) -> None:
    assert app("POST", TRANSCRIPTS, {"document": "x" * 5_000_001})[0] == 413


def test_transcripts_are_listed_newest_first_page_by_page_and_by_what_they_are(app: App) -> None:
    for number in range(5):
        body = {"session_id": f"s-{number}", "agent_id": f"a-{number % 2}", "messages": PLAIN, "extract": "none"}
        assert app("POST", TRANSCRIPTS, body)[0] == 200
    app("POST", TRANSCRIPTS, {"session_id": "s-9", "messages": PLAIN})

    def listed(query: str) -> list[str]:
        found: list[str] = []
        page: dict[str, Any] = {"cursor": ""}
        while page["cursor"] is not None:
            cursor = f"&cursor={page['cursor']}" if page["cursor"] else ""
            page = app("GET", TRANSCRIPTS, query=f"{query}{cursor}")[1]
            found += [one["session_id"] for one in page["transcripts"]]
        return found

    assert listed("limit=2") == ["s-9", "s-4", "s-3", "s-2", "s-1", "s-0"]
    assert listed("agent_id=a-1&limit=1") == ["s-3", "s-1"]
    assert listed("status=queued") == ["s-9"]
    assert listed("session_id=s-2") == listed("session_id=s-2&limit=1") == ["s-2"]
    assert listed("session_id=s-2&agent_id=a-1") == listed("session_id=nothing") == []


def test_a_cursor_is_of_one_listing(app: App) -> None:
    for session_id in ("a", "b"):
        post(app, session_id=session_id)
    cursor = app("GET", TRANSCRIPTS, query="limit=1")[1]["cursor"]

    for query in (f"cursor={cursor}&status=done", "cursor=x", f"cursor={cursor[:-4]}AAAA"):
        assert app("GET", TRANSCRIPTS, query=query)[0] == 422
    assert app("GET", "/v1/users/bob/transcripts", query=f"cursor={cursor}", claims=SERVICE)[0] == 422


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "status=gone", "session_id=", "x=1"])
def test_a_listing_that_cannot_be_is_refused(app: App, query: str) -> None:
    assert app("GET", TRANSCRIPTS, query=query)[0] == 422


ROUTES = [("GET", ""), ("GET", "/content"), ("POST", "/redrive"), ("DELETE", "")]


@pytest.mark.parametrize(("method", "end"), ROUTES)
def test_another_users_transcript_and_an_unknown_one_are_the_same_nothing(
    app: App, method: str, end: str
) -> None:  # cases D7, I2
    transcript_id = post(app)["transcript_id"]
    post_of_bob = {"messages": PLAIN}
    app("POST", "/v1/users/bob/transcripts", post_of_bob, claims=SERVICE)

    answers = [
        app(method, f"/v1/users/{user_id}/transcripts/{one}{end}", claims=SERVICE)[:2]
        for user_id, one in (("bob", transcript_id), ("bob", "01HF0000000000000000009999"), ("ana", "x"), ("eve", "x"))
    ]

    assert [status for status, _ in answers] == [404] * 4
    assert answers[0] == answers[1] == answers[2] == answers[3]
    assert told(app, transcript_id)["message_count"] == 3


def test_a_session_of_another_user_is_another_session(app: App) -> None:  # case I3
    mine = post(app)
    status, theirs, _ = app(
        "POST", "/v1/users/ana2/transcripts", {"session_id": "s-1", "messages": PLAIN}, claims=SERVICE
    )

    assert (status, theirs["new_messages"]) == (202, 3)
    assert theirs["transcript_id"] != mine["transcript_id"]
    assert app("GET", "/v1/users/ana2/transcripts", claims={"sub": "ana"})[0] == 404


def test_an_erased_user_has_no_transcripts_objects_or_memories_left(app: App) -> None:  # cases D1, D9
    transcript_id = post(app)["transcript_id"]

    status, erasure, _ = app("DELETE", "/v1/users/ana")
    app.work()

    deleted = erasure["receipt"]["deleted"]
    assert (status, deleted["dynamodb"]["transcripts"], deleted["dynamodb"]["transcript_parts"]) == (200, 1, 1)
    assert (deleted["dynamodb"]["sessions"], deleted["s3"]["objects"]) == (1, 1)
    assert app("GET", f"{TRANSCRIPTS}/{transcript_id}")[0] == 404
    assert app("GET", TRANSCRIPTS)[1] == {"transcripts": [], "cursor": None}
    assert app.store.items("ana", 9) == []
    assert app.objects.list_objects("") == []
    assert contents(app) == []


def test_what_failed_is_tried_again_on_request(app: App, monkeypatch: pytest.MonkeyPatch) -> None:  # case E3
    receipt = post(app)
    transcript_id = receipt["transcript_id"]
    app.work()
    assert app("POST", f"{TRANSCRIPTS}/{transcript_id}/redrive")[0] == 200

    (key,) = [one.key for one in app.objects.list_objects("")]
    post(app, [*TALK, {"role": "user", "content": "I prefer tea."}], extract="facts")
    data = app.objects.get(key)
    (other,) = [one.key for one in app.objects.list_objects("") if one.key != key]
    lost = app.objects.get(other)
    app.objects.delete([other])
    with pytest.raises(Exception, match="not there"):
        app.work()
    assert told(app, transcript_id)["status"] == "failed"
    assert told(app, transcript_id)["failure"]
    app.objects.put_new(other, lost)

    status, again, _ = app("POST", f"{TRANSCRIPTS}/{transcript_id}/redrive")
    app.work()

    assert (status, again["status"], again["failure"]) == (202, "queued", None)
    assert told(app, transcript_id)["status"] == "done"
    assert app.objects.get(key) == data


def test_a_request_whose_inline_work_fails_is_kept_and_done_later(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcribing, "TURNS_MS", 0)

    receipt = post(app)

    assert (receipt["status"], receipt["done"]) == ("queued", {"turns": 0, "facts": 0})
    app.work()
    assert told(app, receipt["transcript_id"])["status"] == "done"
