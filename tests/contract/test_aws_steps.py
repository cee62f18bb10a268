"""Calls of stores that are several calls of AWS, each of which may be the last one: sent again, they come to their end.

Those of memory stores, object stores and queues that requests and maintenance make are struck in
``test_faulty_aws_days.py``; here are those of transcripts, and deletes of many objects.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from recollect.aws import clients, objects, transcripts
from recollect.aws.objects import S3ObjectStore
from recollect.aws.transcripts import DynamoDBTranscriptStore
from recollect.errors import Conflict
from recollect.object_store import ObjectVersion

from tests.contract.conftest import Make
from tests.contract.test_transcript_store import EPOCH, FULL, kept, part
from tests.support.bucket import BUCKET_NAME
from tests.support.faults import Dying, Killed, deaths
from tests.support.table import TABLE_NAME

KEYS = [f"users/ana/{number}" for number in range(5)]


def test_a_drop_of_a_transcript_that_dies_anywhere_and_is_repeated_is_one_drop(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "DELETES_PER_TRANSACTION", 2)
    _, store = make.both("dynamodb")
    dying = Dying(clients.dynamodb_client())
    mortal = DynamoDBTranscriptStore(dying, TABLE_NAME)

    def saved(number: int) -> Any:
        one = replace(FULL, transcript_id=f"01HF{number:022d}", session_id=f"session {number}")
        return kept(store, one, *(part(first) for first in range(5)))

    first = saved(0)
    moments = deaths(lambda _: mortal.drop("ana", EPOCH, first), dying)
    assert len(moments) == 2 * 6  # parts, three deletes of them, the session, the rest
    for number, moment in enumerate(moments, 1):
        transcript = saved(number)
        dying.die(*moment)

        with pytest.raises(Killed):
            mortal.drop("ana", EPOCH, transcript)
        store.drop("ana", EPOCH, transcript)

        assert store.transcripts("ana", None, 9) == []
        assert store.parts("ana", transcript.transcript_id) == []
        assert store.transcript_claiming("ana", str(transcript.claim)) is None


def test_an_opening_that_dies_anywhere_and_is_repeated_gives_one_epoch(make: Make) -> None:
    memories, store = make.both("dynamodb")
    dying = Dying(clients.dynamodb_client())
    mortal = DynamoDBTranscriptStore(dying, TABLE_NAME)
    moments = deaths(lambda _: mortal.open("user", EPOCH), dying)
    assert len(moments) == 4
    for number, moment in enumerate(moments):
        dying.die(*moment)
        with pytest.raises(Killed):
            mortal.open(f"user {number}", EPOCH)

        epoch = store.open(f"user {number}", f"another of {number}")

        assert epoch == memories.read_head(f"user {number}").epoch
        assert epoch == (EPOCH if moment == (2, "after") else f"another of {number}")


@pytest.mark.parametrize("work", ["delete", "delete_versions"])
@pytest.mark.parametrize("kind", ["s3", "versioned s3"])
def test_a_delete_of_many_objects_that_dies_anywhere_and_is_repeated_leaves_none(
    make: Make, monkeypatch: pytest.MonkeyPatch, kind: str, work: str
) -> None:
    store = make.objects(kind)
    monkeypatch.setattr(objects, "PAGE_MAX", 2)
    dying = Dying(clients.s3_client())
    mortal = S3ObjectStore(lambda: dying, BUCKET_NAME)

    def put() -> None:
        for key in KEYS:
            with suppress(Conflict):
                store.put_new(key, b"text")

    def delete(of: S3ObjectStore | Any) -> None:
        versions: list[ObjectVersion] = [*of.list_versions("users/ana", 99)]
        of.delete(KEYS) if work == "delete" else of.delete_versions(versions)

    put()
    moments = deaths(lambda _: delete(mortal), dying)
    assert len(moments) >= 2 * 6
    for moment in moments:
        put()
        dying.die(*moment)

        with pytest.raises(Killed):
            delete(mortal)
        delete(store)

        assert store.list_versions("users/", 99) == []
