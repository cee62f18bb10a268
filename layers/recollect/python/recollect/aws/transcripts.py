"""What is known of transcripts, in DynamoDB. Every write is a transaction that also checks the user's head."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from recollect import keys
from recollect.aws.attributes import Item
from recollect.aws.errors import translating
from recollect.aws.log_items import head_values, read_head
from recollect.aws.table import Table, key_of
from recollect.aws.transcript_items import part_item, read_part, read_transcript, session_item, transcript_item
from recollect.conversation import Part, Transcript
from recollect.errors import Conflict
from recollect.model import Head

DELETES_PER_TRANSACTION = 99
_BETWEEN = "pk = :pk AND sk BETWEEN :first AND :last"


class DynamoDBTranscriptStore(Table):
    """Transcripts, their parts and their sessions, in the table of the memories."""

    def open(self, user_id: str, epoch: str) -> str:
        """Read the head with one GetItem, or put it with one PutItem; see ``TranscriptStore.open``."""
        place = (keys.log_partition(user_id), keys.HEAD)
        item = self._get("read the head", *place)
        if item is None:
            with suppress(Conflict), translating("open a partition"):
                self._client.put_item(
                    TableName=self._table_name,
                    Item={**key_of(*place), **head_values(Head(epoch=epoch))},
                    ConditionExpression="attribute_not_exists(pk)",
                    ReturnConsumedCapacity="TOTAL",
                )
                return epoch
            return self.open(user_id, epoch)  # somebody else came first
        head = read_head(item)
        if head.erasing_since_ms is not None:
            raise Conflict("this user is being erased; call DELETE on the user again until it is done")
        return head.epoch

    def transcript(self, user_id: str, transcript_id: str) -> Transcript | None:
        """Read with one GetItem; see ``TranscriptStore.transcript``."""
        item = self._get("read a transcript", keys.user_partition(user_id), keys.transcript(transcript_id))
        return None if item is None else read_transcript(item)

    def transcript_claiming(self, user_id: str, claim: str) -> str | None:
        """Read with one GetItem; see ``TranscriptStore.transcript_claiming``."""
        item = self._get("read a session", keys.user_partition(user_id), keys.session(claim))
        return None if item is None else str(item["transcript_id"]["S"])

    def transcripts(self, user_id: str, below: str | None, limit: int) -> list[Transcript]:
        """Read with one Query, if they fit its 1 MB; see ``TranscriptStore.transcripts``."""
        values = {":pk": {"S": keys.user_partition(user_id)}, ":first": {"S": keys.transcripts()}}
        condition = "pk = :pk AND begins_with(sk, :first)"
        if below is not None:
            values[":last"] = {"S": keys.transcript(below)}
            condition = _BETWEEN
        found: list[Transcript] = []
        for page in self._query("list transcripts", condition, values, ScanIndexForward=False, Limit=limit + 1):
            found += [read_transcript(item) for item in page if item["sk"] != values.get(":last")]
            if len(found) >= limit:
                break
        return found[:limit]

    def parts(self, user_id: str, transcript_id: str, from_index: int = 0) -> list[Part]:
        """Read with one Query for each 1 MB, after one that finds the first; see ``TranscriptStore.parts``."""
        values = {
            ":pk": {"S": keys.user_partition(user_id)},
            ":first": {"S": keys.part(transcript_id, 0)},
            ":last": {"S": keys.part(transcript_id, from_index)},
        }
        if from_index:
            page = next(self._query("find a part", _BETWEEN, values, ScanIndexForward=False, Limit=1))
            values[":first"] = page[0]["sk"] if page else values[":last"]
        values[":last"] = {"S": keys.last_part(transcript_id)}
        found = [read_part(item) for page in self._query("read parts", _BETWEEN, values) for item in page]
        return [part for part in found if part.first + part.count > from_index]

    def save(
        self, user_id: str, epoch: str, transcript: Transcript, seen: Transcript | None, parts: Sequence[Part] = ()
    ) -> Transcript:
        """Keep with one TransactWriteItems; see ``TranscriptStore.save``."""
        kept = replace(transcript, revision=1 if seen is None else seen.revision + 1)
        put = self._put(transcript_item(user_id, kept))
        if seen is None:
            put["Put"]["ConditionExpression"] = "attribute_not_exists(pk)"
        else:
            put["Put"] |= _unchanged(seen)
        actions = [self._head_check(user_id, epoch), put]
        actions += [self._put(part_item(user_id, kept.transcript_id, part)) for part in parts]
        if seen is None and kept.claim is not None:
            claim = self._put(session_item(user_id, kept.claim, kept.transcript_id))
            claim["Put"]["ConditionExpression"] = "attribute_not_exists(pk)"
            actions.append(claim)
        self._transact("keep a transcript", actions)
        return kept

    def drop(self, user_id: str, epoch: str, transcript: Transcript) -> None:
        """Delete parts with one TransactWriteItems for each 99, then the rest; see ``TranscriptStore.drop``."""
        values = {
            ":pk": {"S": keys.user_partition(user_id)},
            ":first": {"S": keys.part(transcript.transcript_id, 0)},
            ":last": {"S": keys.last_part(transcript.transcript_id)},
        }
        pages = self._query("read parts", _BETWEEN, values, ProjectionExpression="sk")
        places = [item["sk"]["S"] for page in pages for item in page]
        check = self._head_check(user_id, epoch)
        for start in range(0, len(places), DELETES_PER_TRANSACTION):
            deletes = [self._delete(user_id, place) for place in places[start : start + DELETES_PER_TRANSACTION]]
            self._transact("delete parts", [check, *deletes])
        last = self._delete(user_id, keys.transcript(transcript.transcript_id))
        last["Delete"] |= _unchanged(transcript)
        last["Delete"]["ConditionExpression"] += " OR attribute_not_exists(pk)"
        actions = [check, last]
        claim = transcript.claim
        if claim is not None and self.transcript_claiming(user_id, claim) == transcript.transcript_id:
            mine = self._delete(user_id, keys.session(claim))
            mine["Delete"]["ConditionExpression"] = "transcript_id = :transcript_id"
            mine["Delete"]["ExpressionAttributeValues"] = {":transcript_id": {"S": transcript.transcript_id}}
            actions.append(mine)
        self._transact("delete a transcript", actions)

    def _put(self, item: Item) -> dict[str, Any]:
        return {"Put": {"TableName": self._table_name, "Item": item}}

    def _delete(self, user_id: str, place: str) -> dict[str, Any]:
        return {"Delete": {"TableName": self._table_name, "Key": key_of(keys.user_partition(user_id), place)}}

    def _transact(self, operation: str, actions: Sequence[dict[str, Any]]) -> None:
        with translating(operation):
            self._client.transact_write_items(TransactItems=list(actions), ReturnConsumedCapacity="TOTAL")


def _unchanged(seen: Transcript) -> dict[str, Any]:
    return {
        "ConditionExpression": "revision = :revision",
        "ExpressionAttributeValues": {":revision": {"N": str(seen.revision)}},
    }
