"""Requests and answers about transcripts."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, StringConstraints, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from recollect.conversation import (
    MESSAGE_MAX_COUNT,
    TRANSCRIPT_MAX_COUNT,
    UPLOAD_MAX_BYTES,
    Extract,
    Format,
    Message,
    Part,
    Role,
    Transcript,
    TranscriptStatus,
)
from recollect.formats.reading import Sent, read_bytes, read_list
from recollect.handover import Given, Whose
from recollect.object_store import Upload
from recollect.schemas.fields import IN_DIGITS, Between, Closed, Instant, Label, Moment, QueryBoolean
from recollect.schemas.inputs import LIMIT_MAX
from recollect.transcribing import Awaited, Posted, Removal
from recollect.transcripts import Quoted, TranscriptDetail, TranscriptPage

WAIT_MAX_S = 20
AROUND_MAX = 50
_MESSAGE = {
    "type": "object",
    "description": "`role` (user, assistant, system, tool, …), `content` (a text, or parts with `type` and `text`) "
    "and if known `name`, `at` (a time) and `id`, by which a message that is sent again is known; OpenAI-style and "
    "Anthropic-style messages as they are. Other fields are kept",
}
_MESSAGES = {"type": "array", "items": _MESSAGE, "minItems": 1, "maxItems": MESSAGE_MAX_COUNT}
Extractor = Literal["rules", "bedrock"]


class _HandoverInput(Closed):
    session_id: Label | None = Field(
        None, description="the conversation; further messages of it are added to its transcript"
    )
    agent_id: Label | None = None
    occurred_at: Instant | None = Field(None, description="of messages without a time of their own; now, unless said")
    extract: Extract = Field(
        Extract.BOTH, description="what becomes memories: every turn, the facts in them, both, none"
    )
    extractor: Extractor | None = Field(None, description="what finds the facts; as the deployment is set, unless said")

    def to_whose(self, request_key: str | None = None) -> Whose:
        """Turn the request into the core's value."""
        return Whose(session_id=self.session_id, agent_id=self.agent_id, request_key=request_key)

    def _given(self, sent: Sent, data: bytes, form: Format, now_ms: int, first: int | None = None) -> Given:
        return Given(
            sent=sent,
            data=data,
            format=form,
            occurred_at_ms=now_ms if self.occurred_at is None else self.occurred_at,
            extract=self.extract,
            extractor=self.extractor or "",
            first=first,
        )


class TranscriptInput(_HandoverInput):
    """A conversation, or what was added to one: ``messages``, or a ``document``, which is cut by its structure.

    In a document in format ``text``, lines such as ``Ana: hello`` are taken for what Ana said; in ``jsonl`` each line
    is a message.
    """

    messages: Annotated[list[Any], WithJsonSchema(_MESSAGES)] | None = None
    document: Annotated[str, StringConstraints(min_length=1)] | None = None
    format: Literal["text", "jsonl"] = Field("text", description="of the document")
    first: Annotated[int, Field(strict=True), Between(0, TRANSCRIPT_MAX_COUNT)] | None = Field(
        None, description="the number in the transcript of the first of these messages: 409 if another one is there"
    )
    wait: Annotated[int, Field(strict=True), Between(0, WAIT_MAX_S)] = Field(
        0, description="seconds to wait for the memories; 202 if they are over first"
    )

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.messages is None) == (self.document is None):
            raise PydanticCustomError("one_of", "must have either messages or document")
        if self.messages is not None and "format" in self.model_fields_set:
            raise PydanticCustomError("format", "must have a format for a document only")
        return self

    def to_given(self, now_ms: int) -> Given:
        """Turn the request into the core's value.

        Raises
        ------
        InvalidInput
            If a message cannot be read.
        """
        if self.messages is not None:
            return self._given(read_list(self.messages), b"", Format.JSONL, now_ms, self.first)
        form, data = Format(self.format), str(self.document).encode()
        return self._given(read_bytes(data, form), data, form, now_ms, self.first)


class UploadInput(_HandoverInput):
    """A file of messages or text that is going to be put by a presigned URL; size and digest bind it."""

    format: Format = Field(Format.MESSAGES, description="messages: a JSON list, or an object with `messages`")
    size: Annotated[int, Field(strict=True), Between(1, UPLOAD_MAX_BYTES)]
    sha256: Annotated[
        str,
        StringConstraints(pattern=r"^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$"),
        Field(description="of the bytes, base64", examples=["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]),
    ]

    def to_given(self, now_ms: int) -> Given:
        """Turn the request into the core's value, without the messages."""
        return self._given(Sent((), ()), b"", self.format, now_ms)

    def to_upload(self) -> Upload:
        """Turn the request into the core's value."""
        return Upload(size=self.size, sha256=self.sha256, metadata={})


class TranscriptsInput(Closed):
    """Which transcripts to list, and which page of them; what narrows must all hold."""

    limit: Annotated[int, Between(1, LIMIT_MAX), IN_DIGITS] = 50
    cursor: str | None = Field(None, description="of the page before, of the same user and filters")
    session_id: Label | None = None
    agent_id: Label | None = None
    status: TranscriptStatus | None = None


class ContentInput(Closed):
    """Which part to get; all of them together unless said."""

    part: str | None = Field(None, description="the `part_id` of one part")


class RemoveInput(Closed):
    """What becomes of the memories that cite the transcript."""

    cascade: QueryBoolean = Field(False, description="delete those that cite nothing else; others lose the reference")
    purge: QueryBoolean = Field(False, description="redact the text of those that are deleted everywhere")


class SourceInput(Closed):
    """How many messages to show before and after those that the memory is from."""

    around: Annotated[int, Between(0, AROUND_MAX), IN_DIGITS] = 2


class TranscriptReceipt(BaseModel):
    """A transcript after messages were added, and how many of those sent were new.

    ``done`` tells how many messages have been worked on: turns and facts.
    """

    transcript_id: str
    session_id: str | None
    status: TranscriptStatus
    message_count: int
    new_messages: int
    done: dict[str, int]
    failure: str | None

    @classmethod
    def of(cls, posted: Posted) -> Self:
        """Make the answer of the core's value."""
        transcript = posted.transcript
        return cls(
            transcript_id=transcript.transcript_id,
            session_id=transcript.session_id,
            status=transcript.status,
            message_count=transcript.message_count,
            new_messages=posted.new_count,
            done=_done(transcript),
            failure=transcript.failure,
        )


class UploadOutput(BaseModel):
    """Where to PUT the bytes, and the headers to send with them; their arrival starts everything else."""

    transcript_id: str
    part_id: str
    url: str
    headers: dict[str, str]
    expires_at: Moment

    @classmethod
    def of(cls, awaited: Awaited) -> Self:
        """Make the answer of the core's value."""
        return cls(
            transcript_id=awaited.transcript.transcript_id,
            part_id=awaited.part_id,
            url=awaited.grant.url,
            headers=dict(awaited.grant.headers),
            expires_at=awaited.expires_at_ms,
        )


class TranscriptOutput(BaseModel):
    """What is known of a transcript; ``failure`` says why it failed or is deferred."""

    transcript_id: str
    user_id: str
    session_id: str | None
    agent_id: str | None
    status: TranscriptStatus
    failure: str | None
    message_count: int
    bytes: int
    done: dict[str, int]
    occurred_at: Moment
    created_at: Moment
    updated_at: Moment


class PartOutput(BaseModel):
    """Messages that came together: their numbers, and what is to become of them."""

    part_id: str
    first: int
    count: int
    bytes: int
    format: Format
    extract: Extract
    extractor: str
    occurred_at: Moment

    @classmethod
    def of(cls, part: Part) -> Self:
        """Make the answer of the core's value."""
        return cls(
            part_id=part.part_id,
            first=part.first,
            count=part.count,
            bytes=part.size,
            format=part.format,
            extract=part.extract,
            extractor=part.extractor,
            occurred_at=part.occurred_at_ms,
        )


class TranscriptDetailOutput(TranscriptOutput):
    """A transcript with its parts, at most the first 1,000, and how many active memories cite it, by type."""

    memories: dict[str, int]
    part_count: int
    parts: list[PartOutput]

    @classmethod
    def of(cls, user_id: str, detail: TranscriptDetail) -> Self:
        """Make the answer of the core's value."""
        return cls(
            **dict(transcript_output(user_id, detail.transcript)),
            memories=dict(detail.memory_counts),
            part_count=len(detail.parts),
            parts=[PartOutput.of(part) for part in detail.parts[:1_000]],
        )


class TranscriptsOutput(BaseModel):
    """Transcripts, newest first; ``cursor`` leads to the next page, ``null`` if there is none."""

    transcripts: list[TranscriptOutput]
    cursor: str | None

    @classmethod
    def of(cls, user_id: str, page: TranscriptPage) -> Self:
        """Make the answer of the core's value."""
        return cls(transcripts=[transcript_output(user_id, one) for one in page.transcripts], cursor=page.cursor)


class RemovalOutput(BaseModel):
    """How far the deletion of a transcript is, and how many memories this call deleted, or let lose the reference."""

    transcript_id: str
    status: Literal["deleting", "deleted"]
    deleted_memories: int
    released_memories: int

    @classmethod
    def of(cls, removal: Removal) -> Self:
        """Make the answer of the core's value."""
        status: Literal["deleting", "deleted"] = "deleted" if removal.is_done else "deleting"
        return cls(
            transcript_id=removal.transcript_id,
            status=status,
            deleted_memories=removal.deleted,
            released_memories=removal.released,
        )


class QuotedMessage(BaseModel):
    """A message in or around the messages that a memory is from."""

    index: int
    role: Role
    name: str | None
    text: str
    at: Moment | None
    is_source: bool

    @classmethod
    def of(cls, message: Message, quoted: Quoted) -> Self:
        """Make the answer of the core's value."""
        return cls(
            index=message.index,
            role=message.role,
            name=message.name,
            text=message.text,
            at=message.at_ms,
            is_source=quoted.source.first <= message.index <= quoted.source.last,
        )


class QuotedOutput(BaseModel):
    """Messages of one transcript that a memory is from; ``cut``: there was no room for all of their text."""

    transcript_id: str
    session_id: str | None
    first: int
    last: int
    messages: list[QuotedMessage]
    cut: bool


class MemorySourceOutput(BaseModel):
    """What a memory was extracted from; no sources if a caller stored it."""

    memory_id: str
    sources: list[QuotedOutput]

    @classmethod
    def of(cls, memory_id: str, quoted: list[Quoted]) -> Self:
        """Make the answer of the core's value."""
        sources = [
            QuotedOutput(
                transcript_id=one.source.transcript_id,
                session_id=one.transcript.session_id,
                first=one.source.first,
                last=one.source.last,
                messages=[QuotedMessage.of(message, one) for message in one.messages],
                cut=one.is_cut,
            )
            for one in quoted
        ]
        return cls(memory_id=memory_id, sources=sources)


def transcript_output(user_id: str, transcript: Transcript) -> TranscriptOutput:
    """Make the answer of the core's value."""
    return TranscriptOutput(
        transcript_id=transcript.transcript_id,
        user_id=user_id,
        session_id=transcript.session_id,
        agent_id=transcript.agent_id,
        status=transcript.status,
        failure=transcript.failure,
        message_count=transcript.message_count,
        bytes=transcript.size,
        done=_done(transcript),
        occurred_at=transcript.occurred_at_ms,
        created_at=transcript.created_at_ms,
        updated_at=transcript.updated_at_ms,
    )


def _done(transcript: Transcript) -> dict[str, int]:
    return {"turns": transcript.turns_to, "facts": transcript.facts_to}
