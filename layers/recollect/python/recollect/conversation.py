"""The values of conversations that were handed over: messages, transcripts, their parts, and passages to read.

Frozen and plain, as those of ``model.py``. A transcript is the verbatim record of one session (or of one document); its
messages are numbered 0, 1, 2, … in the order of their arrival. It grows by parts: each part is one object, never
changed.
"""

from dataclasses import dataclass, field
from enum import StrEnum

DIGEST_BYTES = 8
MESSAGE_MAX_COUNT = 20_000  # of a part: their digests fit an item
TRANSCRIPT_MAX_COUNT = 100_000  # messages of a transcript
UPLOAD_MAX_BYTES = 50_000_000
EXTRACTION_CONTEXT_COUNT = 8  # messages before a passage that come with it, to be understood


class Role(StrEnum):
    """Who or what a message is from; a document is cut into messages of its own role."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    DOCUMENT = "document"


class Extract(StrEnum):
    """What becomes of a transcript's messages: a memory of each turn, memories of the facts in them, both, or none."""

    TURNS = "turns"
    FACTS = "facts"
    BOTH = "both"
    NONE = "none"


class TranscriptStatus(StrEnum):
    """Where a transcript is on its way into memories."""

    AWAITING_UPLOAD = "awaiting_upload"  # nothing has come yet
    QUEUED = "queued"
    DEFERRED = "deferred"  # the budget of tokens is used up; it goes on later
    DONE = "done"
    FAILED = "failed"
    DELETING = "deleting"  # nothing may be added or extracted any more


class Format(StrEnum):
    """What the bytes of a part are."""

    MESSAGES = "messages"  # JSON: a list of messages, or an object with `messages`
    JSONL = "jsonl"  # one message a line
    TEXT = "text"  # a document


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a transcript, as far as memories are made from it.

    Parameters
    ----------
    index : int
        Its number in the transcript.
    text : str
        What it says; of several content parts the texts, joined by line feeds; empty if it says nothing in words.
    name : str or None
        Who spoke, if the client told.
    at_ms : int or None
        When it was said; if the client did not tell, when the part that it came with happened.
    message_id : str or None
        The client's id of it.
    """

    index: int
    role: Role
    text: str
    name: str | None = None
    at_ms: int | None = None
    message_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Messages of a transcript that came together, and the object that holds their bytes.

    Parameters
    ----------
    part_id : str
        ULID; names the object, together with user, epoch and transcript.
    first, count : int
        Number of its first message in the transcript, and how many they are.
    size : int
        Bytes of the object.
    occurred_at_ms : int
        When it happened; of messages without a time of their own.
    extract, extractor
        What is to become of them, and the name of the extractor that finds the facts.
    digests : bytes
        8 bytes for each message, by which one that is sent again is known; see ``joining.py``.
    is_upload : bool
        Whether the caller put the object.
    skipped : int
        Messages at the beginning of the object that had come before, and are not of this part.
    """

    part_id: str
    first: int
    count: int
    size: int
    occurred_at_ms: int
    format: Format
    extract: Extract
    extractor: str
    digests: bytes = field(repr=False)
    is_upload: bool = False
    skipped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What is known of a transcript apart from its messages.

    Parameters
    ----------
    transcript_id : str
        ULID.
    session_id : str or None
        The conversation; a user has at most one transcript of a session.
    occurred_at_ms : int
        When it happened, or its first part did.
    message_count, size : int
        So far; bytes.
    turns_to, facts_to : int
        Up to this message (exclusive) turns and facts are memories, as far as they were asked for.
    tries : int
        How often the present work has failed in a row.
    failure : str or None
        Why it has failed, or is deferred; never text of a message.
    revision : int
        Counts its changes, by the store; every change is conditioned on it.
    request_key : str or None
        The ``Idempotency-Key`` that made it, if it has no session.
    """

    transcript_id: str
    session_id: str | None
    agent_id: str | None
    occurred_at_ms: int
    created_at_ms: int
    updated_at_ms: int
    status: TranscriptStatus
    message_count: int = 0
    size: int = 0
    turns_to: int = 0
    facts_to: int = 0
    tries: int = 0
    failure: str | None = None
    revision: int = 0
    request_key: str | None = None

    @property
    def claim(self) -> str | None:
        """What no other transcript of the user can have too: its session, else the request that made it."""
        return claim_of(self.session_id, self.request_key)


def claim_of(session_id: str | None, request_key: str | None) -> str | None:
    """Give what only one transcript of a user can have: a session, else a request that is known by its key."""
    if session_id is not None:
        return f"session {session_id}"
    return None if request_key is None else f"request {request_key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A run of messages to find memories in.

    Parameters
    ----------
    messages : tuple of Message
        Consecutive ones; those before number `first` are there to understand the others.
    first : int
        Number of the first message that memories are made from.
    """

    transcript_id: str
    session_id: str | None
    agent_id: str | None
    occurred_at_ms: int
    messages: tuple[Message, ...]
    first: int

    @property
    def new(self) -> tuple[Message, ...]:
        """The messages that memories are made from."""
        return tuple(message for message in self.messages if message.index >= self.first)

    def time_of(self, message: Message) -> int:
        """Give the time of a message, epoch milliseconds."""
        return self.occurred_at_ms if message.at_ms is None else message.at_ms
