"""What S3 can do to an object store that no other store does: faults, versions, and what calls cost."""

import io
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError, ReadTimeoutError
from moto.s3.models import s3_backends
from recollect import telemetry
from recollect.aws import clients
from recollect.aws.objects import S3ObjectStore
from recollect.errors import Conflict, NotFound, Unavailable
from recollect.object_store import ObjectStore, Upload

from tests.contract.conftest import PART_BYTES
from tests.support.bucket import BUCKET_NAME, create_bucket

ACCOUNT = "123456789012"  # the emulator's
ANSWERED_OK = (
    '<?xml version="1.0"?><DeleteResult><Error><Key>a</Key><Code>{}</Code><Message>canary</Message></Error>'
    "<Error><Key>b</Key><Code>{}</Code><Message>canary</Message></Error></DeleteResult>"
)


class Body(io.BytesIO):
    """The body of an answer, as urllib3 gives it."""

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        yield self.read()


class Answering:
    """An object store whose client gets chosen answers instead of S3's, once for each call from now on."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.bodies: list[Body] = []

    def answer(self, operation: str, status: int, text: str | bytes = "", **headers: str) -> None:
        data = text if isinstance(text, bytes) else text.encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}

        def instead(request: Any, **_: Any) -> AWSResponse:
            self.bodies.append(Body(data))
            return AWSResponse(request.url, status, named, self.bodies[-1])

        self._client.meta.events.register_first(f"before-send.s3.{operation}", instead)

    def fail(self, operation: str, code: str, status: int) -> None:
        self.answer(operation, status, f"<Error><Code>{code}</Code><Message>canary</Message></Error>")


@pytest.fixture
def client(aws: None) -> Any:
    made = clients.s3_client()
    create_bucket(made)
    return made


@pytest.fixture
def objects(client: Any) -> ObjectStore:
    return S3ObjectStore(lambda: client, BUCKET_NAME, PART_BYTES)


@pytest.fixture
def answering(client: Any, monkeypatch: pytest.MonkeyPatch) -> Answering:
    monkeypatch.setattr("time.sleep", lambda _: None)  # botocore's, between attempts
    return Answering(client)


def counted(run: Callable[[], Any]) -> dict[str, float]:
    with telemetry.measured() as measures:
        run()
    return dict(measures.counts)


def test_calls_are_counted_also_those_of_threads(objects: ObjectStore) -> None:
    large = bytes(30 * PART_BYTES)

    assert counted(lambda: objects.put_new("a", large)) == {"s3.PutObject": 1}
    assert counted(lambda: objects.get("a")) == {"s3.GetObject": 30}
    assert counted(lambda: objects.get_many(["a", "a"])) == {"s3.GetObject": 60}
    assert counted(lambda: objects.list_objects("")) == {"s3.ListObjectsV2": 1}
    assert counted(lambda: objects.delete(["a", "b"])) == {"s3.ListObjectVersions": 2, "s3.DeleteObjects": 1}
    assert counted(lambda: objects.list_versions("", 9)) == {"s3.ListObjectVersions": 1}


def test_a_client_is_made_when_it_is_needed_and_once(client: Any) -> None:
    made: list[Any] = []

    def make() -> Any:
        made.append(client)
        return client

    objects = S3ObjectStore(make, BUCKET_NAME)
    assert made == []

    objects.put_new("a", b"x")
    objects.get_many(["a"] * 20)

    assert made == [client]


@pytest.mark.parametrize(("code", "status"), [("PreconditionFailed", 412), ("ConditionalRequestConflict", 409)])
def test_both_ways_to_lose_a_race_are_conflicts(
    objects: ObjectStore, answering: Answering, code: str, status: int
) -> None:
    answering.fail("PutObject", code, status)

    with pytest.raises(Conflict):
        objects.put_new("a", b"x")


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("PutObject", lambda objects: objects.put_new("c", b"x")),
        ("GetObject", lambda objects: objects.get("a")),
        ("HeadObject", lambda objects: objects.metadata("a")),
        ("GetObject", lambda objects: objects.get_many(["a", "b"])),
        ("ListObjectsV2", lambda objects: objects.list_objects("")),
        ("ListObjectVersions", lambda objects: objects.list_versions("", 9)),
        ("ListObjectVersions", lambda objects: objects.delete(["a", "b"])),
        ("DeleteObjects", lambda objects: objects.delete(["a", "b"])),
    ],
)
@pytest.mark.parametrize(("code", "status"), [("SlowDown", 503), ("InternalError", 500)])
def test_weather_can_be_waited_for(
    objects: ObjectStore,
    answering: Answering,
    operation: str,
    call: Callable[[ObjectStore], Any],
    code: str,
    status: int,
) -> None:
    objects.put_new("a", b"x")
    objects.put_new("b", b"x")
    answering.fail(operation, code, status)

    with pytest.raises(Unavailable) as caught:
        call(objects)

    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("codes", "kind"),
    [
        (("SlowDown", "InternalError"), Unavailable),
        (("NoSuchVersion", "SlowDown"), Unavailable),
        (("SlowDown", "AccessDenied"), ClientError),
    ],
)
def test_an_error_inside_an_answer_of_200_is_an_error(
    objects: ObjectStore, answering: Answering, codes: tuple[str, str], kind: type[Exception]
) -> None:
    objects.put_new("a", b"x")
    answering.answer("DeleteObjects", 200, ANSWERED_OK.format(*codes))

    with pytest.raises(kind):
        objects.delete(["a"])


def test_what_was_not_there_to_delete_is_no_error(objects: ObjectStore, answering: Answering) -> None:
    objects.put_new("a", b"x")
    answering.answer("DeleteObjects", 200, ANSWERED_OK.format("NoSuchVersion", "NoSuchKey"))

    objects.delete(["a"])


def test_an_object_that_is_replaced_while_it_is_read_is_a_conflict(client: Any, objects: ObjectStore) -> None:
    objects.put_new("a", b"1" * 3 * PART_BYTES)
    replacing = clients.s3_client()

    def replace(model: Any, params: dict[str, Any], **_: Any) -> None:
        if "If-Match" in params["headers"]:
            replacing.put_object(Bucket=BUCKET_NAME, Key="a", Body=b"2" * 3 * PART_BYTES)

    client.meta.events.register("before-call.s3.GetObject", replace)

    with pytest.raises(Conflict):
        objects.get("a")


def test_parts_of_two_objects_are_never_put_together(objects: ObjectStore, answering: Answering) -> None:
    part = {"ETag": '"1"', "Content_Length": str(PART_BYTES)}
    answering.answer("GetObject", 206, b"1" * PART_BYTES, **part, Content_Range="bytes 0-999/2000")
    etags = iter(('"1"', '"2"'))

    def next_etag(parsed: dict[str, Any], **_: Any) -> None:
        parsed["ETag"] = next(etags)

    answering._client.meta.events.register("after-call.s3.GetObject", next_etag)

    with pytest.raises(Conflict, match="replaced"):
        objects.get("a")


def test_an_object_that_goes_while_it_is_read_is_not_found(client: Any, objects: ObjectStore) -> None:
    objects.put_new("a", b"1" * 3 * PART_BYTES)
    deleting = clients.s3_client()

    def delete(model: Any, params: dict[str, Any], **_: Any) -> None:
        if "If-Match" in params["headers"]:
            deleting.delete_object(Bucket=BUCKET_NAME, Key="a")

    client.meta.events.register("before-call.s3.GetObject", delete)

    with pytest.raises(NotFound):
        objects.get("a")


@pytest.mark.parametrize(
    "headers",
    [
        {"Content_Length": "9", "Content_Range": "bytes 0-8/9"},
        {"Content_Range": "bytes 0-8/9"},
    ],
)
def test_a_body_that_breaks_off_is_an_error_and_is_closed(
    objects: ObjectStore, answering: Answering, headers: dict[str, str]
) -> None:
    answering.answer("GetObject", 206, b"12345", ETag='"1"', **headers)

    with pytest.raises(Unavailable, match="broke off"):
        objects.get("a")

    assert [body.closed for body in answering.bodies] == [True]


def test_a_body_that_does_not_come_is_an_error_and_is_closed(
    objects: ObjectStore, answering: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_slow(*_: Any) -> bytes:
        raise ReadTimeoutError(endpoint_url="http://x")

    monkeypatch.setattr(Body, "read", too_slow)
    answering.answer("GetObject", 206, b"12345", ETag='"1"', Content_Range="bytes 0-4/5")

    with pytest.raises(Unavailable):
        objects.get("a")

    assert [body.closed for body in answering.bodies] == [True]


def test_a_missing_object_that_s3_calls_denied_is_not_found(objects: ObjectStore, answering: Answering) -> None:
    objects.put_new("ab", b"x")
    answering.fail("GetObject", "AccessDenied", 403)

    with pytest.raises(NotFound):
        objects.get("a")
    with pytest.raises(ClientError, match="AccessDenied"):
        objects.get("ab")


@pytest.mark.parametrize("work", ["delete", "delete_versions"])
def test_every_version_goes_from_a_versioned_bucket(client: Any, objects: ObjectStore, work: str) -> None:
    client.put_object(Bucket=BUCKET_NAME, Key="a", Body=b"before there were versions")
    client.put_bucket_versioning(Bucket=BUCKET_NAME, VersioningConfiguration={"Status": "Enabled"})
    for number in range(3):
        client.put_object(Bucket=BUCKET_NAME, Key="a", Body=b"%d" % number)
    client.delete_object(Bucket=BUCKET_NAME, Key="a")
    client.put_object(Bucket=BUCKET_NAME, Key="ab", Body=b"another one's")
    assert len(objects.list_versions("a", 99)) == 6
    assert len(objects.list_versions("a", 2)) == 2

    if work == "delete":
        objects.delete(["a"])
    else:
        objects.delete_versions([version for version in objects.list_versions("a", 99) if version.key == "a"])

    assert {version.key for version in objects.list_versions("", 99)} == {"ab"}
    assert len(objects.list_versions("", 99)) == 1


def test_a_listing_of_versions_goes_on_inside_a_key(client: Any, objects: ObjectStore) -> None:
    client.put_bucket_versioning(Bucket=BUCKET_NAME, VersioningConfiguration={"Status": "Enabled"})
    for key in ("a", "b"):
        for _ in range(3):
            client.put_object(Bucket=BUCKET_NAME, Key=key, Body=b"x")
    small_pages = clients.s3_client()
    small_pages.meta.events.register(
        "before-parameter-build.s3.ListObjectVersions", lambda params, **_: params.update(MaxKeys=2)
    )

    listed = S3ObjectStore(lambda: small_pages, BUCKET_NAME).list_versions("", 99)

    assert len({(version.key, version.version_id) for version in listed}) == len(listed) == 6


def test_more_than_a_thousand_objects_are_listed_and_deleted(objects: ObjectStore) -> None:
    for number in range(1_003):  # without 1,003 calls
        s3_backends[ACCOUNT]["aws"].put_object(BUCKET_NAME, f"a/{number:04d}", b"")

    listed = [one.key for one in objects.list_objects("", limit=5_000)]
    costs = counted(lambda: objects.delete_versions(objects.list_versions("", 5_000)))

    assert listed == [f"a/{number:04d}" for number in range(1_003)]
    assert costs == {"s3.ListObjectVersions": 2, "s3.DeleteObjects": 2}
    assert objects.list_versions("", 9) == []


@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1"])
def test_a_granted_put_is_bound_to_size_digest_metadata_and_to_a_key_without_an_object(
    aws: None, monkeypatch: pytest.MonkeyPatch, region: str
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    objects = S3ObjectStore(clients.s3_client, BUCKET_NAME)

    grant = objects.grant_put("users/a.upload", Upload(size=7, sha256="c2hh", metadata={"user": "YQ=="}), 60)

    asked = {name: values[0] for name, values in parse_qs(urlsplit(grant.url).query).items()}
    signed = set(asked["X-Amz-SignedHeaders"].split(";"))
    assert signed == {"host", *grant.headers}
    assert signed >= {"content-length", "x-amz-checksum-sha256", "x-amz-meta-user", "if-none-match"}
    assert (grant.headers["content-length"], asked["X-Amz-Expires"]) == ("7", "60")
    assert asked["X-Amz-Algorithm"] == "AWS4-HMAC-SHA256"
    assert f"/{region}/s3/" in asked["X-Amz-Credential"]


def test_a_granted_get_is_of_one_object_with_its_media_type(objects: ObjectStore) -> None:
    objects.put_new("users/a.part", b"x")

    answer = requests.get(objects.grant_get("users/a.part", "text/plain; charset=utf-8", 60).url, timeout=9)

    assert (answer.content, answer.headers["content-type"]) == (b"x", "text/plain; charset=utf-8")


def test_who_is_denied_the_metadata_of_nothing_is_told_that_it_is_not_there(
    objects: ObjectStore, answering: Answering
) -> None:
    objects.put_new("b", b"x")
    answering.answer("HeadObject", 403)
    with pytest.raises(NotFound):
        objects.metadata("a")

    answering.answer("HeadObject", 403)
    with pytest.raises(ClientError):
        objects.metadata("b")
