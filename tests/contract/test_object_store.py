"""What every object store promises."""

import base64
import hashlib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock
from typing import Any

import pytest
import requests
from moto.s3.responses import S3Response
from recollect.errors import Conflict, NotFound
from recollect.object_store import Grant, ObjectStore, Upload

from tests.contract.conftest import PART_BYTES
from tests.support.inmemory import InMemoryObjectStore

ODD_KEYS = ["users/a b/é+%2F&<x>", "users/a/..", "users/a//b", "users/用户"]


@pytest.fixture(autouse=True)
def _one_put_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the emulator look and put in one step, as S3 does."""
    put: Callable[[Any], Any] = S3Response.put_object
    lock = Lock()

    def put_alone(self: Any) -> Any:
        with lock:
            return put(self)

    monkeypatch.setattr(S3Response, "put_object", put_alone)


def keys_in(objects: ObjectStore, prefix: str = "", **which: Any) -> list[str]:
    return [one.key for one in objects.list_objects(prefix, **which)]


def test_what_was_put_is_read(objects: ObjectStore) -> None:
    contents = {key: key.encode() * 9 for key in ODD_KEYS} | {"empty": b"", "every byte": bytes(range(256))}
    for key, data in contents.items():
        objects.put_new(key, data)

    for key, data in contents.items():
        assert objects.get(key) == data
    assert list(objects.get_many(list(contents))) == list(contents.values())
    assert objects.get_many([]) == []


def test_what_is_there_is_not_put_again(objects: ObjectStore) -> None:
    objects.put_new("a", b"first")

    for data in (b"other", b"first", b""):
        with pytest.raises(Conflict):
            objects.put_new("a", data)

    assert objects.get("a") == b"first"
    assert len(objects.list_versions("", 9)) == 1


def test_of_many_who_put_at_once_one_wins(objects: ObjectStore) -> None:
    writers = 8
    start = Barrier(writers)

    def put(number: int) -> str:
        start.wait()
        try:
            objects.put_new("a", b"%d" % number)
        except Conflict:
            return "lost"
        return str(number)

    with ThreadPoolExecutor(writers) as pool:
        results = Counter(pool.map(put, range(writers)))

    (winner,) = results.keys() - {"lost"}
    assert results == {winner: 1, "lost": writers - 1}
    assert objects.get("a") == winner.encode()


def test_what_is_not_there_is_not_found(objects: ObjectStore) -> None:
    objects.put_new("ab", b"x")

    with pytest.raises(NotFound):
        objects.get("a")
    with pytest.raises(NotFound):
        objects.get_many(["ab", "a", "ab"])


def test_what_was_deleted_can_be_put_anew(objects: ObjectStore) -> None:
    objects.put_new("a", b"first")
    objects.delete(["a"])

    with pytest.raises(NotFound):
        objects.get("a")
    objects.put_new("a", b"second")

    assert objects.get("a") == b"second"


@pytest.mark.parametrize("size", [PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES, 30 * PART_BYTES + 7])
def test_large_objects_are_read_whole(objects: ObjectStore, size: int) -> None:
    data = bytes(number * number % 251 for number in range(size))
    objects.put_new("small", b"x")
    objects.put_new("large", data)

    assert objects.get("large") == data
    assert objects.get_many(["large", "small", "large"]) == [data, b"x", data]


def test_a_listing_goes_on_beyond_a_page(objects: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.aws.objects.PAGE_MAX", 10)
    for number in range(23):
        objects.put_new(f"a/{number:04d}", b"")
    objects.put_new("b/0000", b"")

    assert keys_in(objects, "a/", limit=50) == [f"a/{number:04d}" for number in range(23)]
    assert keys_in(objects, "a/", limit=22) == [f"a/{number:04d}" for number in range(22)]
    assert keys_in(objects, "a/", after="a/0020") == ["a/0021", "a/0022"]
    assert keys_in(objects, "a/", after="a/0007", limit=12) == [f"a/{number:04d}" for number in range(8, 20)]
    assert len(objects.list_versions("a/", 50)) == 23
    assert len(objects.list_versions("a/", 22)) == 22

    objects.delete_versions(objects.list_versions("a/", 50))

    assert keys_in(objects) == ["b/0000"]


def test_a_listing_tells_key_size_and_time(objects: ObjectStore) -> None:
    for key in ODD_KEYS:
        objects.put_new(key, b"four")

    listed = objects.list_objects("users/")

    assert [one.key for one in listed] == sorted(ODD_KEYS)
    assert {one.size for one in listed} == {4}
    assert all(one.modified_ms > 1_700_000_000_000 for one in listed)
    assert objects.list_objects("users/z") == []


def test_a_delete_takes_the_keys_that_were_named_and_no_others(objects: ObjectStore) -> None:
    for key in ("a", "ab", "b", *ODD_KEYS):
        objects.put_new(key, b"x")

    objects.delete(["a", "nothing", *ODD_KEYS])
    objects.delete(["a"])
    objects.delete([])

    assert keys_in(objects) == ["ab", "b"]
    assert {version.key for version in objects.list_versions("", 9)} == {"ab", "b"}


def test_versions_that_were_deleted_may_be_deleted_again(objects: ObjectStore) -> None:
    objects.put_new("a", b"x")
    versions = objects.list_versions("", 9)

    objects.delete_versions(versions)
    objects.delete_versions(versions)
    objects.delete_versions([])

    assert objects.list_versions("", 9) == []


def put_as_granted(objects: ObjectStore, grant: Grant, data: bytes) -> None:
    """Put an object as a caller does who has a grant and no right of its own."""
    if isinstance(objects, InMemoryObjectStore):
        objects.put_granted(grant.url, data)
    else:
        requests.put(grant.url, data, headers=dict(grant.headers), timeout=9).raise_for_status()


def test_a_caller_puts_what_it_was_granted_and_the_metadata_come_with_it(objects: ObjectStore) -> None:
    data = "漢 [1, 2]".encode()
    sha256 = base64.b64encode(hashlib.sha256(data).digest()).decode()
    upload = Upload(size=len(data), sha256=sha256, metadata={"user": "YQ==", "occurred-at": "-1"})

    put_as_granted(objects, objects.grant_put("users/a.upload", upload, 60), data)

    assert objects.get("users/a.upload") == data
    assert objects.metadata("users/a.upload") == upload.metadata


def test_metadata_of_what_is_not_there_are_not_found_and_of_our_own_are_none(objects: ObjectStore) -> None:
    objects.put_new("b", b"x")

    assert objects.metadata("b") == {}
    with pytest.raises(NotFound):
        objects.metadata("a")
