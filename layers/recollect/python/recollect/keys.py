"""Every key of DynamoDB and S3, built and parsed in one place.

A user id is always the whole rest of a partition key, and never part of a sort key, so that no character in it
can reach into another user's keys. ``'0'..'9' < 'H'``: one Query from ``LOG#<seq>`` to ``LOG#HEAD`` returns new
entries, the touches after each, and the head.

In the key of an object a user id is a digest, for the same reason and because keys are at most 1,024 bytes. The epoch
follows, so that no key is ever used twice: not even by a user who was erased and made anew.
"""

import base64
import hashlib
import re

from recollect.errors import CorruptData

HEAD = "LOG#HEAD"
_LOG = "LOG#"
_USER = "USER#"
_MEMORY = "MEM#"
_VERSION = "VER#"
_IDEMPOTENCY = "IDEM#"
_TRANSCRIPT = "TRN#"
_PART = "PRT#"
_SESSION = "SES#"
_TOKENS = "TOK#"
_TOUCH = "#TOUCH#"
_KINDS = {
    _LOG: "log_entries",
    _MEMORY: "memories",
    _VERSION: "versions",
    _IDEMPOTENCY: "stored_answers",
    _TRANSCRIPT: "transcripts",
    _PART: "transcript_parts",
    _SESSION: "sessions",
    _TOKENS: "token_counts",
}
_SEQ_DIGITS = 20
_TIME_DIGITS = 13
_VERSION_DIGITS = 6
_INDEX_DIGITS = 10
VERSION_MAX = 10**_VERSION_DIGITS - 1
_OBJECT = re.compile(
    r"users/[0-9a-f]{64}/(?P<epoch>[0-9A-Z]+)/"
    rf"(segments/(?P<segment>[0-9A-Z]+)\.seg|log/(?P<last_seq>[0-9]{{{_SEQ_DIGITS}}})\.ndjson|"
    r"transcripts/(?P<transcript>[0-9A-Z]+)/(?P<part>[0-9A-Z]+)\.(part|(?P<upload>upload)))"
)
UPLOAD_SUFFIX = ".upload"

KINDS = (*_KINDS.values(), "touches", "other")


def log_partition(user_id: str) -> str:
    """Key of the partition that holds a user's log and head."""
    return _LOG + user_id


def user_partition(user_id: str) -> str:
    """Key of the partition that holds a user's memories, versions and stored answers."""
    return _USER + user_id


def entry(seq: int) -> str:
    """Sort key of the log entry number `seq`."""
    return f"{_LOG}{seq:0{_SEQ_DIGITS}d}"


def seq_of(sort_key: str) -> int:
    """Read the number out of a log entry's sort key.

    Raises
    ------
    CorruptData
        If it is not one.
    """
    digits = sort_key.removeprefix(_LOG)
    if not sort_key.startswith(_LOG) or len(digits) != _SEQ_DIGITS or not digits.isdecimal():
        raise CorruptData("a log entry's key has another form")
    return int(digits)


def touch(seq: int, at_ms: int, touch_id: str = "") -> str:
    """Sort key of a touch: after the entry `seq` and before the next one; without an id, of the first at that time."""
    return f"{entry(seq)}{_TOUCH}{at_ms:0{_TIME_DIGITS}d}#{touch_id}"


def is_touch(sort_key: str) -> bool:
    """Tell whether a sort key is that of a touch."""
    return sort_key.startswith(_LOG) and _TOUCH in sort_key


def touch_of(sort_key: str) -> tuple[int, int, str]:
    """Read entry number, time and id out of a touch's sort key.

    Raises
    ------
    CorruptData
        If it is not one.
    """
    before, _, after = sort_key.partition(_TOUCH)
    at_ms, _, touch_id = after.partition("#")
    if len(at_ms) != _TIME_DIGITS or not at_ms.isdecimal() or not touch_id:
        raise CorruptData("a touch's key has another form")
    return seq_of(before), int(at_ms), touch_id


def kind_of(sort_key: str) -> str:
    """Name the kind of item that a sort key means, ``other`` for what has no name here."""
    if is_touch(sort_key):
        return "touches"
    return next((kind for prefix, kind in _KINDS.items() if sort_key.startswith(prefix)), "other")


def memory(memory_id: str) -> str:
    """Sort key of a memory as it is now."""
    return _MEMORY + memory_id


def version(memory_id: str, number: int) -> str:
    """Sort key of a memory as it was at version `number`."""
    return f"{_VERSION}{memory_id}#{number:0{_VERSION_DIGITS}d}"


def versions() -> str:
    """Begin of the sort keys of all versions."""
    return _VERSION


def memories() -> str:
    """Begin of the sort keys of all memories as they are now."""
    return _MEMORY


def last_version(memory_id: str) -> str:
    """Sort key that no version of a memory comes after."""
    return version(memory_id, VERSION_MAX)


def idempotency(key: str) -> str:
    """Sort key of the stored answer of a request with this ``Idempotency-Key``."""
    return _IDEMPOTENCY + key


def transcript(transcript_id: str) -> str:
    """Sort key of what is known of a transcript."""
    return _TRANSCRIPT + transcript_id


def transcripts() -> str:
    """Begin of the sort keys of all transcripts."""
    return _TRANSCRIPT


def part(transcript_id: str, first: int) -> str:
    """Sort key of the part of a transcript that begins with message number `first`."""
    return f"{_PART}{transcript_id}#{first:0{_INDEX_DIGITS}d}"


def last_part(transcript_id: str) -> str:
    """Sort key that no part of a transcript comes after."""
    return part(transcript_id, 10**_INDEX_DIGITS - 1)


def session(claim: str) -> str:
    """Sort key of what tells the transcript of a session, or of a request; see ``conversation.Transcript.claim``."""
    return _SESSION + hashlib.sha256(claim.encode("utf-8", "surrogatepass")).hexdigest()


def tokens(day: str) -> str:
    """Sort key of the count of tokens that a model took on a day, such as ``2026-05-01``."""
    return _TOKENS + day


def objects_of(user_id: str) -> str:
    """Prefix of the keys of all objects of a user."""
    return f"users/{hashlib.sha256(user_id.encode('utf-8', 'surrogatepass')).hexdigest()}/"


def segment(user_id: str, epoch: str, segment_id: str) -> str:
    """Key of the object that holds a segment."""
    return f"{objects_of(user_id)}{epoch}/segments/{segment_id}.seg"


def segment_of(key: str) -> tuple[str, str]:
    """Read epoch and id out of a segment's key.

    Raises
    ------
    CorruptData
        If it is not one.
    """
    match = _OBJECT.fullmatch(key)
    if match is None or match["segment"] is None:
        raise CorruptData("a segment's key has another form")
    return match["epoch"], match["segment"]


def archives(user_id: str, epoch: str) -> str:
    """Prefix of the keys of a log's archives."""
    return f"{objects_of(user_id)}{epoch}/log/"


def archive(user_id: str, epoch: str, last_seq: int) -> str:
    """Key of the object that holds archived log entries, the last of them number `last_seq`."""
    return f"{archives(user_id, epoch)}{last_seq:0{_SEQ_DIGITS}d}.ndjson"


def archive_of(key: str) -> tuple[str, int]:
    """Read epoch and last entry number out of an archive's key.

    Raises
    ------
    CorruptData
        If it is not one.
    """
    match = _OBJECT.fullmatch(key)
    if match is None or match["last_seq"] is None:
        raise CorruptData("an archive's key has another form")
    return match["epoch"], int(match["last_seq"])


def transcript_objects(user_id: str, epoch: str, transcript_id: str) -> str:
    """Prefix of the keys of a transcript's objects."""
    return f"{objects_of(user_id)}{epoch}/transcripts/{transcript_id}/"


def part_object(user_id: str, epoch: str, transcript_id: str, part_id: str, *, is_upload: bool = False) -> str:
    """Key of the object that holds messages of a transcript; of one that a caller puts with a presigned URL."""
    end = UPLOAD_SUFFIX if is_upload else ".part"
    return f"{transcript_objects(user_id, epoch, transcript_id)}{part_id}{end}"


def upload_of(key: str, user_id: str) -> tuple[str, str, str]:
    """Read epoch, transcript and part out of the key of a user's upload.

    Raises
    ------
    CorruptData
        If it is not one, or another user's.
    """
    match = _OBJECT.fullmatch(key)
    if match is None or match["upload"] is None or not key.startswith(objects_of(user_id)):
        raise CorruptData("an upload's key has another form")
    return match["epoch"], match["transcript"], match["part"]


def user_mark(user_id: str) -> str:
    """Write a user id so that it can be metadata of an object: plain letters, digits, ``-``, ``_`` and ``=``."""
    return base64.urlsafe_b64encode(user_id.encode("utf-8", "surrogatepass")).decode()


def user_of(mark: str) -> str:
    """Read a user id out of an object's metadata.

    Raises
    ------
    CorruptData
        If it was not written by `user_mark`.
    """
    try:
        return base64.b64decode(mark.encode(), altchars=b"-_", validate=True).decode("utf-8", "surrogatepass")
    except ValueError as error:
        raise CorruptData("an object's metadata name no user") from error
