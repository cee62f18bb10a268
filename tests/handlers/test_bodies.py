import base64
import json

import pytest

from tests.support.app import MEMORIES, App, stored


def test_a_body_that_is_not_said_to_be_json_is_refused(app: App) -> None:
    status, problem, _ = app("POST", MEMORIES, '{"content": "x"}', headers={"content-type": "text/plain"})

    assert (status, problem["type"]) == (415, "/problems/unsupported-media-type")


@pytest.mark.parametrize(
    "media_type", ["application/merge-patch+json", "Application/JSON", " application/json;q=1", ""]
)
def test_a_body_of_json_is_taken_under_each_of_its_names(app: App, media_type: str) -> None:
    path = f"{MEMORIES}/{stored(app, 'green tea')}"

    assert app("PATCH", path, {"importance": 1}, headers={"content-type": media_type})[0] == 200


@pytest.mark.parametrize("media_type", ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"])
def test_without_a_body_its_media_type_says_nothing(app: App, media_type: str) -> None:
    status, problem, _ = app("POST", MEMORIES, headers={"content-type": media_type})

    assert (status, problem["type"]) == (422, "/problems/invalid-input")
    assert app("GET", MEMORIES, headers={"content-type": media_type})[0] == 200


def test_a_body_that_the_gateway_encoded_is_decoded(app: App) -> None:
    text = json.dumps({"content": "我对花生过敏"}, ensure_ascii=False).encode()

    status, receipt, _ = app("POST", MEMORIES, base64.b64encode(text).decode(), is_base64=True)

    assert status == 201
    assert app("GET", f"{MEMORIES}/{receipt['memory_id']}")[1]["content"] == "我对花生过敏"
    cut = base64.b64encode(text[:14]).decode()  # within a character
    assert app("POST", MEMORIES, cut, is_base64=True)[1]["type"] == "/problems/malformed-body"
