"""Handing over large and odd conversations, through gateway, bucket, queue and worker."""

import base64
import hashlib
import json
import time
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from tests.support.api_client import UserClient

OPEN = build_opener(ProxyHandler({})).open  # not by a proxy of this machine
WITHIN_S = 60
LINE = {"role": "tool", "content": '漢 😀 \u0000 \\ " &amp; ' + "x" * 900}
TALK = [
    {"role": "user", "content": "I am allergic to peanuts.", "id": "m-1"},
    {"role": "assistant", "content": "I will remember that for you.", "id": "m-2"},
]


def asked(alice: UserClient, data: bytes, **values: Any) -> Any:
    sha256 = base64.b64encode(hashlib.sha256(data).digest()).decode()
    answer = alice.call("POST", "/transcripts/uploads", {"size": len(data), "sha256": sha256, **values})
    assert answer.status == 201, answer.body
    return answer.body


def put(upload: Any, data: bytes, **headers: str) -> int:
    try:
        with OPEN(Request(upload["url"], data, {**upload["headers"], **headers}, method="PUT"), timeout=60) as answer:
            return int(answer.status)
    except HTTPError as error:
        with error:
            return error.code


def done(alice: UserClient, transcript_id: str) -> Any:
    """Wait until nothing is left to do."""
    until = time.monotonic() + WITHIN_S
    while (found := alice.call("GET", f"/transcripts/{transcript_id}").body)["status"] in ("awaiting_upload", "queued"):
        assert time.monotonic() < until, found
        time.sleep(0.2)
    return found


def test_an_upload_of_several_megabytes_is_kept_byte_by_byte_and_read(alice: UserClient) -> None:  # case T2
    data = b"\n".join(json.dumps(one).encode() for one in [*TALK, *[LINE] * 5_000])
    upload = asked(alice, data, format="jsonl", session_id="large")

    assert put(upload, data) == 200

    transcript = done(alice, upload["transcript_id"])
    assert (transcript["status"], transcript["message_count"], transcript["bytes"]) == ("done", 5_002, len(data))
    answer = alice.call("GET", f"/transcripts/{upload['transcript_id']}/content")
    assert answer.status == 307
    with OPEN(answer.headers["location"], timeout=60) as content:
        assert (content.read(), content.headers["content-type"]) == (data, "application/x-ndjson")
    (fact,) = alice.page(type="semantic").body["memories"]
    (quoted,) = alice.call("GET", f"/memories/{fact['memory_id']}/source?around=1").body["sources"]
    assert [one["text"] for one in quoted["messages"]][:1] == [TALK[0]["content"]]


def test_bytes_go_through_the_gateway_as_they_are(alice: UserClient) -> None:
    text = 'Notes\r\n\r\n漢 😀 \u0007 \\ " &amp; \u2028 The office closes at six.\r\n'

    receipt = alice.call("POST", "/transcripts", {"document": text, "wait": 10})

    assert (receipt.status, receipt.body["status"]) == (200, "done")
    answer = alice.call("GET", f"/transcripts/{receipt.body['transcript_id']}/content")
    assert (answer.status, answer.body) == (200, text)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


def test_a_place_for_an_upload_takes_what_it_was_asked_for_and_that_once(alice: UserClient) -> None:
    data = json.dumps(TALK).encode()
    upload = asked(alice, data)

    for other, headers in ((data[:-1] + b" ", {}), (data, {"x-amz-meta-user": "Ym9i"})):
        assert put(upload, other, **headers) in (400, 403)
    assert put(upload, data) == 200
    assert put(upload, data) == 412
    assert done(alice, upload["transcript_id"])["message_count"] == 2


def test_a_deleted_transcript_takes_along_what_is_from_it_alone(alice: UserClient, bob: UserClient) -> None:  # case D7
    first, second = (
        alice.call("POST", "/transcripts", {"session_id": session_id, "messages": TALK, "wait": 20}).body[
            "transcript_id"
        ]
        for session_id in ("s-1", "s-2")
    )
    own = alice.store("The office closes at six").body["memory_id"]
    assert bob.call("DELETE", f"/transcripts/{first}?cascade=true").status == 404

    assert alice.call("DELETE", f"/transcripts/{first}?cascade=true").status == 200

    left = {one["memory_id"]: one["sources"] for one in alice.every_memory()}
    assert own in left
    assert {source["transcript_id"] for sources in left.values() for source in sources} == {second}
    assert alice.call("GET", f"/transcripts/{first}").status == 404
    assert alice.call("GET", f"/transcripts/{second}").body["memories"]["semantic"] == 1
