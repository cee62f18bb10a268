"""Objects in one S3 bucket, versioned or not: put once, read whole, and deleted with every version.

Large objects, and several ones, are read in parallel, by the threads of one small pool. Client and pool are made when
first needed, because most cold starts need neither.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from recollect.aws.clients import S3_CONNECTIONS
from recollect.aws.errors import MISSING, WEATHER, translating
from recollect.errors import Conflict, NotFound, Unavailable
from recollect.object_store import Grant, ObjectVersion, StoredObject, Upload

PART_BYTES = 8 * 1024 * 1024
PAGE_MAX = 1_000  # of a listing, and of one delete
DENIED = frozenset({"AccessDenied", "403"})  # the answer to a HEAD has no body to name anything

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Part:
    data: bytes
    etag: str
    total: int


class S3ObjectStore:
    """The objects of all users.

    Parameters
    ----------
    make_client : callable
        Makes the S3 client.
    bucket_name : str
    part_bytes : int
        Larger objects are read in parts of this size.
    """

    def __init__(self, make_client: Callable[[], Any], bucket_name: str, part_bytes: int = PART_BYTES) -> None:
        self._make_client = make_client
        self._bucket_name = bucket_name
        self._part_bytes = part_bytes

    def put_new(self, key: str, data: bytes) -> None:
        """Put with one PutObject on condition that nothing is there; see ``ObjectStore.put_new``."""
        with translating("put an object"):
            self._client.put_object(Bucket=self._bucket_name, Key=key, Body=data, IfNoneMatch="*")

    def get(self, key: str) -> bytes:
        """Read one object; see ``ObjectStore.get``."""
        return self.get_many((key,))[0]

    def get_many(self, keys: Sequence[str]) -> Sequence[bytes]:
        """Read the first parts of all, then all other parts; see ``ObjectStore.get_many``."""
        firsts = self._together([partial(self._part, key, 0) for key in keys])
        others = [
            [partial(self._part, key, start, first) for start in range(self._part_bytes, first.total, self._part_bytes)]
            for key, first in zip(keys, firsts, strict=True)
        ]
        parts = iter(self._together([read for reads in others for read in reads]))
        return [
            b"".join([first.data, *(part.data for part in islice(parts, len(reads)))])
            for first, reads in zip(firsts, others, strict=True)
        ]

    def metadata(self, key: str) -> Mapping[str, str]:
        """Read with one HeadObject; see ``ObjectStore.metadata``."""
        with translating("read an object's metadata"):
            try:
                answer = self._client.head_object(Bucket=self._bucket_name, Key=key)
            except ClientError as error:
                self._check_is_there(key, error)
                raise
        found: dict[str, str] = answer["Metadata"]
        return found

    def grant_put(self, key: str, upload: Upload, for_s: int) -> Grant:
        """Sign a PutObject with all its headers; see ``ObjectStore.grant_put``."""
        headers = {
            "content-length": str(upload.size),
            "if-none-match": "*",
            "x-amz-checksum-sha256": upload.sha256,
            **{f"x-amz-meta-{name}": value for name, value in upload.metadata.items()},
        }
        asked = {
            "ContentLength": upload.size,
            "IfNoneMatch": "*",
            "ChecksumSHA256": upload.sha256,
            "Metadata": dict(upload.metadata),
        }
        return Grant(self._signed("put_object", key, for_s, **asked), headers)

    def grant_get(self, key: str, media_type: str, for_s: int) -> Grant:
        """Sign a GetObject; see ``ObjectStore.grant_get``."""
        return Grant(self._signed("get_object", key, for_s, ResponseContentType=media_type), {})

    def list_objects(self, prefix: str, after: str = "", limit: int = 1000) -> Sequence[StoredObject]:
        """List with one ListObjectsV2 for each 1,000; see ``ObjectStore.list_objects``."""
        found: list[StoredObject] = []
        start = {"StartAfter": after} if after else {}
        while len(found) < limit:
            with translating("list objects"):
                page = self._client.list_objects_v2(
                    Bucket=self._bucket_name, Prefix=prefix, MaxKeys=min(PAGE_MAX, limit - len(found)), **start
                )
            found += [
                StoredObject(one["Key"], one["Size"], int(one["LastModified"].timestamp() * 1000))
                for one in page.get("Contents", ())
            ]
            if not page["IsTruncated"]:
                break
            start = {"ContinuationToken": page["NextContinuationToken"]}
        return found

    def delete(self, keys: Sequence[str]) -> None:
        """Find the versions of each, then delete them all; see ``ObjectStore.delete``."""
        found = self._together([partial(self._versions_of, key) for key in keys])
        self.delete_versions([version for versions in found for version in versions])

    def list_versions(self, prefix: str, limit: int) -> Sequence[ObjectVersion]:
        """List with one ListObjectVersions for each 1,000; see ``ObjectStore.list_versions``."""
        found: list[ObjectVersion] = []
        start: dict[str, str] = {}
        while len(found) < limit:
            with translating("list versions of objects"):
                page = self._client.list_object_versions(
                    Bucket=self._bucket_name, Prefix=prefix, MaxKeys=min(PAGE_MAX, limit - len(found)), **start
                )
            of_page = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
            found += [ObjectVersion(one["Key"], one["VersionId"]) for one in sorted(of_page, key=_key_of)]
            if not page["IsTruncated"]:
                break
            start = {"KeyMarker": page["NextKeyMarker"], "VersionIdMarker": page["NextVersionIdMarker"]}
        return found

    def delete_versions(self, versions: Sequence[ObjectVersion]) -> None:
        """Delete with one DeleteObjects for each 1,000; see ``ObjectStore.delete_versions``."""
        for start in range(0, len(versions), PAGE_MAX):
            batch = versions[start : start + PAGE_MAX]
            objects = [{"Key": version.key, "VersionId": version.version_id} for version in batch]
            with translating("delete objects"):
                answer = self._client.delete_objects(
                    Bucket=self._bucket_name, Delete={"Objects": objects, "Quiet": True}
                )
                _check_deleted(answer)

    def _signed(self, operation: str, key: str, for_s: int, **asked: Any) -> str:
        asked |= {"Bucket": self._bucket_name, "Key": key}
        url: str = self._client.generate_presigned_url(operation, Params=asked, ExpiresIn=for_s)
        return url

    @cached_property
    def _client(self) -> Any:
        return self._make_client()

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(S3_CONNECTIONS, thread_name_prefix="objects")

    def _together(self, calls: Sequence[Callable[[], _T]]) -> list[_T]:
        """Run calls in parallel, none of which may use the pool itself; return when all have ended."""
        if len(calls) < 2:
            return [call() for call in calls]
        _ = self._client  # before threads need it
        futures = [self._pool.submit(copy_context().run, call) for call in calls]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()
            wait(futures)

    def _part(self, key: str, start: int, first: _Part | None = None) -> _Part:
        """Read the part from `start` on; of the same object as the first part."""
        asked: dict[str, str] = {"Range": f"bytes={start}-{start + self._part_bytes - 1}"}
        if first is not None:
            asked["IfMatch"] = first.etag
        with translating("read an object"):
            try:
                answer = self._client.get_object(Bucket=self._bucket_name, Key=key, **asked)
            except ClientError as error:
                self._check_is_there(key, error)
                if first is None and error.response["Error"]["Code"] == "InvalidRange":
                    return _Part(b"", "", 0)
                raise
            with closing(answer["Body"]) as body:
                data: bytes = body.read()
        total = int(answer["ContentRange"].rpartition("/")[2]) if "ContentRange" in answer else len(data)
        part = _Part(data, answer["ETag"], total)
        if first is not None and (part.etag, part.total) != (first.etag, first.total):
            raise Conflict("an object was replaced while it was read; read again and retry")
        if len(data) != min(self._part_bytes, total - start):
            raise Unavailable("could not read an object: the answer broke off; retry later")
        return part

    def _check_is_there(self, key: str, error: ClientError) -> None:
        """Find out what "denied" means: whoever may not list the whole bucket is told so of a missing object."""
        is_denied = error.response["Error"]["Code"] in DENIED
        if is_denied and not any(one.key == key for one in self.list_objects(key, limit=1)):
            raise NotFound("could not read an object: it is not there") from error

    def _versions_of(self, key: str) -> list[ObjectVersion]:
        return [version for version in self.list_versions(key, PAGE_MAX) if version.key == key]


def _check_deleted(answer: dict[str, Any]) -> None:
    """Raise what a delete that was answered with 200 says of single objects; mistakes of ours before weather."""
    errors = [error for error in answer.get("Errors", ()) if error["Code"] not in MISSING]
    if errors:
        raise ClientError({"Error": min(errors, key=lambda error: error["Code"] in WEATHER)}, "DeleteObjects")


def _key_of(listed: dict[str, Any]) -> str:
    key: str = listed["Key"]
    return key
