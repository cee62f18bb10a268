"""What is handed over, and what it makes of a transcript. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from recollect import keys
from recollect.conversation import Extract, Format, Part, Transcript, TranscriptStatus
from recollect.errors import CorruptData
from recollect.formats.reading import Sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """Which transcript is meant; one that is not there yet is made.

    Parameters
    ----------
    request_key : str or None
        By which a repeat of the same request is known, if there is no session.
    """

    session_id: str | None
    agent_id: str | None
    request_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Messages that are handed over, and what is to become of them.

    Parameters
    ----------
    data : bytes
        A document, or an upload; of a posted list there is none: its messages are written line by line.
    first : int or None
        The number in the transcript of the first message, if the caller tells.
    upload_id : str or None
        The part whose object was put by the caller.
    """

    sent: Sent
    data: bytes
    format: Format
    occurred_at_ms: int
    extract: Extract
    extractor: str
    first: int | None = None
    upload_id: str | None = None


def new_transcript(transcript_id: str, whose: Whose, now_ms: int) -> Transcript:
    """Say what is known of a transcript before anything has come."""
    return Transcript(
        transcript_id=transcript_id,
        session_id=whose.session_id,
        agent_id=whose.agent_id,
        occurred_at_ms=now_ms,
        created_at_ms=now_ms,
        updated_at_ms=now_ms,
        status=TranscriptStatus.AWAITING_UPLOAD,
        request_key=None if whose.session_id is not None else whose.request_key,
    )


def part_of(given: Given, places: Sequence[int], first: int, part_id: str) -> tuple[Part, bytes]:
    """Make the part of the messages at these places of a list, and the bytes of its object.

    A document or an upload stays as it is, if the messages that had come before are those at its beginning.
    """
    is_end = places[-1] - places[0] + 1 == len(places) and places[-1] + 1 == len(given.sent.digests)
    is_whole = bool(given.data) and is_end
    data = given.data if is_whole else b"".join(given.sent.lines[place] + b"\n" for place in places)
    part = Part(
        part_id=given.upload_id or part_id,
        first=first,
        count=len(places),
        size=len(data),
        occurred_at_ms=given.occurred_at_ms,
        format=given.format if is_whole else Format.JSONL,
        extract=given.extract,
        extractor=given.extractor,
        digests=b"".join(given.sent.digests[place] for place in places),
        is_upload=is_whole and given.upload_id is not None,
        skipped=places[0] if is_whole else 0,
    )
    return part, data


def grown(transcript: Transcript, part: Part, now_ms: int) -> Transcript:
    """Add a part to what is known of a transcript; what failed before is tried again with it."""
    count = transcript.message_count + part.count
    wants_turns = part.extract in (Extract.TURNS, Extract.BOTH) or transcript.turns_to < transcript.message_count
    wants_facts = part.extract in (Extract.FACTS, Extract.BOTH) or transcript.facts_to < transcript.message_count
    return replace(
        transcript,
        message_count=count,
        size=transcript.size + part.size,
        turns_to=transcript.turns_to if wants_turns else count,
        facts_to=transcript.facts_to if wants_facts else count,
        status=TranscriptStatus.QUEUED if wants_turns or wants_facts else TranscriptStatus.DONE,
        tries=0,
        failure=None,
        updated_at_ms=now_ms,
    )


def metadata_of(user_id: str, upload: Given) -> dict[str, str]:
    """Write what an upload's object says of itself, and of whose it is."""
    return {
        "user": keys.user_mark(user_id),
        "format": upload.format.value,
        "occurred-at": str(upload.occurred_at_ms),
        "extract": upload.extract.value,
        "extractor": upload.extractor,
    }


def read_metadata(metadata: Mapping[str, str]) -> tuple[str, Given]:
    """Read what an upload's object says of itself, and of whose it is; without its messages.

    Raises
    ------
    CorruptData
        If it was not written by `metadata_of`.
    """
    try:
        upload = Given(
            sent=Sent((), ()),
            data=b"",
            format=Format(metadata["format"]),
            occurred_at_ms=int(metadata["occurred-at"]),
            extract=Extract(metadata["extract"]),
            extractor=metadata["extractor"],
        )
        return keys.user_of(metadata["user"]), upload
    except (KeyError, ValueError) as error:
        raise CorruptData("an upload does not say whose it is and what") from error
