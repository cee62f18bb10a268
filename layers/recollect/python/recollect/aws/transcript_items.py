"""DynamoDB items of transcripts, their parts and their claims, and the core's values. Pure."""

from typing import Any

from recollect import keys
from recollect.aws.attributes import Item, number, read_text, reading
from recollect.conversation import Extract, Format, Part, Transcript, TranscriptStatus

_TEXTS = ("session_id", "agent_id", "failure", "request_key")
_NUMBERS = ("message_count", "size", "turns_to", "facts_to", "tries", "revision")
_TIMES = ("occurred_at", "created_at", "updated_at")


def transcript_item(user_id: str, transcript: Transcript) -> Item:
    """Make the item of a transcript."""
    return {
        "pk": {"S": keys.user_partition(user_id)},
        "sk": {"S": keys.transcript(transcript.transcript_id)},
        "transcript_id": {"S": transcript.transcript_id},
        "status": {"S": transcript.status.value},
        **{name: number(getattr(transcript, name)) for name in _NUMBERS},
        **{name: number(getattr(transcript, f"{name}_ms")) for name in _TIMES},
        **{name: {"S": value} for name in _TEXTS if (value := getattr(transcript, name)) is not None},
    }


def read_transcript(item: Item) -> Transcript:
    """Read a transcript.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    """
    return reading("transcript", item, lambda: Transcript(**_values(item)))


def part_item(user_id: str, transcript_id: str, part: Part) -> Item:
    """Make the item of a part."""
    return {
        "pk": {"S": keys.user_partition(user_id)},
        "sk": {"S": keys.part(transcript_id, part.first)},
        "part_id": {"S": part.part_id},
        "first": number(part.first),
        "count": number(part.count),
        "size": number(part.size),
        "occurred_at": number(part.occurred_at_ms),
        "format": {"S": part.format.value},
        "extract": {"S": part.extract.value},
        "extractor": {"S": part.extractor},
        "digests": {"B": part.digests},
        "skipped": number(part.skipped),
        **({"is_upload": {"BOOL": True}} if part.is_upload else {}),
    }


def read_part(item: Item) -> Part:
    """Read a part.

    Raises
    ------
    CorruptData
        If an attribute is missing or of another form.
    """
    return reading(
        "part",
        item,
        lambda: Part(
            part_id=item["part_id"]["S"],
            first=int(item["first"]["N"]),
            count=int(item["count"]["N"]),
            size=int(item["size"]["N"]),
            occurred_at_ms=int(item["occurred_at"]["N"]),
            format=Format(item["format"]["S"]),
            extract=Extract(item["extract"]["S"]),
            extractor=item["extractor"]["S"],
            digests=bytes(item["digests"]["B"]),
            is_upload="is_upload" in item,
            skipped=int(item["skipped"]["N"]),
        ),
    )


def session_item(user_id: str, claim: str, transcript_id: str) -> Item:
    """Make the item that tells the transcript of a session, or of a request."""
    return {
        "pk": {"S": keys.user_partition(user_id)},
        "sk": {"S": keys.session(claim)},
        "transcript_id": {"S": transcript_id},
    }


def _values(item: Item) -> dict[str, Any]:
    return {
        "transcript_id": item["transcript_id"]["S"],
        "status": TranscriptStatus(item["status"]["S"]),
        **{name: int(item[name]["N"]) for name in _NUMBERS},
        **{f"{name}_ms": int(item[name]["N"]) for name in _TIMES},
        **{name: read_text(item, name) for name in _TEXTS},
    }
