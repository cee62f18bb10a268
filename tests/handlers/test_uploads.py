"""Uploading large conversations, from the request for a place to the memories."""

import base64
import hashlib
import json
from typing import Any

import pytest
from recollect.conversation import UPLOAD_MAX_BYTES

from tests.support.app import MEMORIES, TRANSCRIPTS, App

TALK = [
    {"role": "user", "content": "I am allergic to peanuts.", "id": "m-1"},
    {"role": "assistant", "content": "I will remember that for you.", "id": "m-2"},
]


def bound(data: bytes) -> dict[str, Any]:
    return {"size": len(data), "sha256": base64.b64encode(hashlib.sha256(data).digest()).decode()}


def asked(app: App, data: bytes, **values: Any) -> Any:
    status, upload, _ = app("POST", f"{TRANSCRIPTS}/uploads", {"session_id": "s-1", **bound(data), **values})
    assert status == 201, upload
    return upload


def uploaded(app: App, data: bytes, **values: Any) -> Any:
    upload = asked(app, data, **values)
    app.arrive(app.objects.put_granted(upload["url"], data))
    return told(app, upload["transcript_id"])


def told(app: App, transcript_id: str) -> Any:
    status, transcript, _ = app("GET", f"{TRANSCRIPTS}/{transcript_id}")
    assert status == 200
    return transcript


def content(app: App, transcript_id: str) -> Any:
    return app("GET", f"{TRANSCRIPTS}/{transcript_id}/content")[1]


def test_a_transcript_waits_for_its_upload_and_becomes_memories_when_it_arrives(app: App) -> None:
    data = json.dumps({"messages": TALK, "model": "kept too"}, indent=1).encode()
    upload = asked(app, data, occurred_at="2026-05-01T10:00:00Z", agent_id="robot")
    assert told(app, upload["transcript_id"])["status"] == "awaiting_upload"
    assert upload["headers"]["content-length"] == str(len(data))

    app.arrive(app.objects.put_granted(upload["url"], data))

    transcript = told(app, upload["transcript_id"])
    assert (transcript["status"], transcript["message_count"], transcript["bytes"]) == ("done", 2, len(data))
    assert content(app, upload["transcript_id"]) == data
    found = app("GET", MEMORIES, query="type=episodic")[1]["memories"]
    assert {one["occurred_at"] for one in found} == {"2026-05-01T10:00:00.000Z"}
    assert {one["agent_id"] for one in found} == {"robot"}


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ("messages", json.dumps(TALK).encode()),
        ("jsonl", b"\n".join(json.dumps(one).encode() for one in TALK)),
        ("text", b"\xef\xbb\xbfUser: I am allergic to peanuts.\r\nAssistant: I will remember that for you.\r\n"),
    ],
)
def test_every_format_is_kept_byte_by_byte(app: App, form: str, data: bytes) -> None:  # case T2
    transcript = uploaded(app, data, format=form)

    assert (transcript["status"], transcript["message_count"]) == ("done", 2)
    assert content(app, transcript["transcript_id"]) == data
    assert any("peanuts" in one["content"] for one in app("GET", MEMORIES, query="type=semantic")[1]["memories"])


def test_an_upload_that_is_told_twice_is_added_once(app: App) -> None:
    data = json.dumps(TALK).encode()
    upload = asked(app, data)
    key = app.objects.put_granted(upload["url"], data)
    app.arrive(key)
    before = told(app, upload["transcript_id"]), app.objects.list_objects("")

    app.arrive(key)

    assert (told(app, upload["transcript_id"]), app.objects.list_objects("")) == before


def test_an_upload_extends_its_session_by_what_is_new(app: App) -> None:
    app("POST", TRANSCRIPTS, {"session_id": "s-1", "messages": TALK})
    more = {"role": "user", "content": "I also like the river."}

    transcript = uploaded(app, json.dumps([*TALK, more]).encode())

    assert (transcript["message_count"], transcript["status"]) == (3, "done")
    assert [(one["first"], one["count"]) for one in transcript["parts"]] == [(0, 2), (2, 1)]
    memory = app("POST", "/v1/users/ana/search", {"query": "river"})[1]["hits"][0]["memory"]
    (quoted,) = app("GET", f"{MEMORIES}/{memory['memory_id']}/source")[1]["sources"]
    assert [one["text"] for one in quoted["messages"]] == [TALK[0]["content"], TALK[1]["content"], more["content"]]


def test_of_an_upload_with_known_messages_in_between_only_the_others_are_kept(app: App) -> None:
    app("POST", TRANSCRIPTS, {"session_id": "s-1", "messages": TALK})
    first, last = ({"role": "user", "content": text, "id": text} for text in ("before", "after"))

    transcript = uploaded(app, json.dumps([first, TALK[1], last]).encode())

    assert transcript["message_count"] == 4
    assert [json.loads(line)["id"] for line in content(app, transcript["transcript_id"]).splitlines()] == [
        "m-1",
        "m-2",
        "before",
        "after",
    ]
    assert len(app.objects.list_objects("")) == 2


def test_an_upload_of_nothing_new_is_deleted(app: App) -> None:
    app("POST", TRANSCRIPTS, {"session_id": "s-1", "messages": TALK})

    transcript = uploaded(app, json.dumps(TALK).encode())

    assert (transcript["message_count"], transcript["part_count"]) == (2, 1)
    assert len(app.objects.list_objects("")) == 1


@pytest.mark.parametrize("data", [b"canary", b"\xff", b"[]", b'{"canary": 1}', b'[{"role": "canary"}]'])
def test_an_upload_that_cannot_be_read_says_why_and_can_be_put_again(app: App, data: bytes) -> None:  # case E3
    transcript = uploaded(app, data)

    assert transcript["status"] == "failed"
    assert transcript["failure"].startswith("an upload cannot be read: ")
    assert "canary" not in transcript["failure"]
    assert app("POST", f"{TRANSCRIPTS}/{transcript['transcript_id']}/redrive")[0] == 409
    again = uploaded(app, json.dumps(TALK).encode())
    assert (again["transcript_id"], again["status"]) == (transcript["transcript_id"], "done")


def test_an_upload_that_comes_after_its_user_was_erased_is_deleted(app: App) -> None:  # case D9
    data = json.dumps(TALK).encode()
    upload = asked(app, data)
    app("DELETE", "/v1/users/ana")

    app.arrive(app.objects.put_granted(upload["url"], data))

    assert app.objects.list_objects("") == []
    assert app.store.items("ana", 9) == []
    assert app("GET", MEMORIES)[1]["memories"] == []


def test_an_upload_that_comes_after_its_transcript_was_deleted_is_deleted(app: App) -> None:
    data = json.dumps(TALK).encode()
    upload = asked(app, data)
    assert app("DELETE", f"{TRANSCRIPTS}/{upload['transcript_id']}")[0] == 200

    app.arrive(app.objects.put_granted(upload["url"], data))

    assert app.objects.list_objects("") == []
    assert app("GET", f"{TRANSCRIPTS}/{upload['transcript_id']}")[0] == 404


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"size": 0}, "/size"),
        ({"size": UPLOAD_MAX_BYTES + 1}, "/size"),
        ({"size": "11"}, "/size"),
        ({"sha256": "x"}, "/sha256"),
        ({"sha256": "A" * 44}, "/sha256"),
        ({"format": "pdf"}, "/format"),
        ({"extractor": "bedrock"}, "/extractor"),
        ({"messages": []}, "/messages"),
    ],
)
def test_an_upload_that_cannot_be_is_refused(app: App, values: Any, pointer: str) -> None:
    status, problem, _ = app("POST", f"{TRANSCRIPTS}/uploads", {**bound(b"x"), **values})

    assert (status, problem["errors"][0]["pointer"]) == (422, pointer)
    assert app("GET", TRANSCRIPTS)[1]["transcripts"] == []
