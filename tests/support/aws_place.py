"""All stores in an emulated account, with a watch on every call of AWS, below the retries of the SDK.

A call that is refused gets no answer however often the SDK sends it. One whose answer is lost has had its effect; sent
again by the SDK it is not answered either, or, as an echo, does what it does the second time: what is conditional is
told that somebody else came first, by itself.
"""

import copy
import json
from threading import local
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError
from botocore.retries import standard
from moto.core.models import botocore_stubber
from moto.dynamodb.models import dynamodb_backends
from moto.s3.models import s3_backends
from recollect import keys
from recollect.aws import clients, objects
from recollect.aws.dynamodb import DynamoDBMemoryStore
from recollect.aws.objects import S3ObjectStore
from recollect.aws.queue import SqsMaintenanceQueue
from recollect.aws.reports import DynamoDBDueIndex, DynamoDBReportStore
from recollect.aws.transcripts import DynamoDBTranscriptStore

from tests.support.bucket import BUCKET_NAME, create_bucket
from tests.support.faults import Killed
from tests.support.moments import Kind, Watch
from tests.support.table import TABLE_NAME, create_table

ACCOUNT, REGION = "123456789012", "us-east-1"  # moto's
PAGE_ITEMS = 40  # of a query, where it has no limit of its own; a page of DynamoDB has 1 MB
PAGE_OBJECTS = 2
URL = "http://aws"


def make_small_and_quick(patches: pytest.MonkeyPatch) -> None:
    """Let listings have several pages, and the SDK not wait before it sends a call again."""
    patches.setattr(objects, "PAGE_MAX", PAGE_OBJECTS)
    patches.setattr(standard.ExponentialBackoff, "delay_amount", lambda *_: 0)


class InAws:
    """All in an account that moto emulates; see ``nights.Place``."""

    def __init__(self, watch: Watch, _: Any) -> None:
        table, s3, sqs = clients.dynamodb_client(), clients.s3_client(), clients.sqs_client()
        create_table(table)
        create_bucket(s3)
        self._url = sqs.create_queue(QueueName="due")["QueueUrl"]
        self._unwatched = clients.sqs_client()
        self._objects = S3ObjectStore(clients.s3_client, BUCKET_NAME)
        for client in (table, s3, sqs):
            Faulty(watch, client)
        table.meta.events.register("provide-client-params.dynamodb.Query", _in_small_pages)
        kinds: tuple[Any, ...] = (DynamoDBMemoryStore, DynamoDBReportStore, DynamoDBTranscriptStore, DynamoDBDueIndex)
        found = [kind(table, TABLE_NAME) for kind in kinds]
        self.stores: Any = _Joined(*found, S3ObjectStore(lambda: s3, BUCKET_NAME), SqsMaintenanceQueue(sqs, self._url))

    def take(self) -> list[str]:
        taken: list[str] = []
        while messages := self._unwatched.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                taken.append(json.loads(message["Body"])["user_id"])
                self._unwatched.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        return taken

    def give_back(self, user_id: str) -> None:
        self._unwatched.send_message(QueueUrl=self._url, MessageBody=json.dumps({"user_id": user_id}))

    def texts(self) -> str:
        found = [self._objects.get(one.key) for one in self._objects.list_objects("")]
        return repr([item.attrs for item in _tables()[TABLE_NAME].all_items()]) + repr(found)

    def objects_of(self, user_id: str) -> list[str]:
        return [one.key for one in self._objects.list_objects(keys.objects_of(user_id))]

    def mark(self) -> Any:
        return copy.deepcopy(_tables()[TABLE_NAME]), copy.deepcopy(_bucket().keys)

    def back(self, mark: Any) -> None:
        self.take()
        _tables()[TABLE_NAME], _bucket().keys = copy.deepcopy(mark)


class Faulty:
    """Lets calls of a client fail when a watch says so."""

    def __init__(self, watch: Watch, client: Any) -> None:
        self._watch = watch
        self._present = local()
        client.meta.events.register("before-call", self._begin)
        client.meta.events.register_first("before-send", self._send)

    def _begin(self, model: Any, **_: object) -> None:
        self._present.sent = 0
        self._present.kind = self._watch.reached(f"{model.service_model.service_name}.{model.name}")

    def _send(self, request: Any, event_name: str, **_: object) -> None:
        kind, self._present.sent = self._present.kind, self._present.sent + 1
        if kind is None or (kind is Kind.ECHO and self._present.sent > 1):
            return
        if kind is Kind.DEATH_BEFORE:
            raise Killed
        if kind is Kind.REFUSED or self._present.sent > 1:
            raise EndpointConnectionError(endpoint_url=URL)
        botocore_stubber(event_name, request)
        raise Killed if kind is Kind.DEATH_AFTER else ConnectionClosedError(endpoint_url=URL)


class _Joined:
    """Several stores as one."""

    def __init__(self, *stores: Any) -> None:
        self._stores = stores

    def __getattr__(self, name: str) -> Any:
        return getattr(next(one for one in self._stores if hasattr(one, name)), name)


def _in_small_pages(params: dict[str, Any], **_: object) -> dict[str, Any]:
    return {"Limit": PAGE_ITEMS, **params}


def _tables() -> Any:
    return dynamodb_backends[ACCOUNT][REGION].tables


def _bucket() -> Any:
    return s3_backends[ACCOUNT]["aws"].buckets[BUCKET_NAME]
