"""The half of the transcript controller that tells: what is known of transcripts, their bytes, what a memory is from.

Nothing here is extracted or changed. Another user's transcript, an unknown one and a text that is no id are not found.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from recollect import keys, telemetry
from recollect.chunks import ANSWER_MAX_BYTES
from recollect.controller import MemoryController
from recollect.conversation import Format, Message, Part, Transcript, TranscriptStatus, claim_of
from recollect.cursors import read_id, write_mark
from recollect.errors import InvalidInput, NotFound
from recollect.formats.reading import messages_of
from recollect.model import Source, is_memory_id
from recollect.object_store import ObjectStore
from recollect.transcript_store import TranscriptStore

CONTENT_MAX_BYTES = 4_000_000  # in base64 they fit the 6 MB that a Lambda function may answer
GRANTED_S = 900
SHOWN_MAX_CHARS = 16_000  # of a message around a memory
_PAGE = 100
_PAGES_MAX = 10
_MEDIA_TYPES = {
    Format.MESSAGES: "application/json",
    Format.JSONL: "application/x-ndjson",
    Format.TEXT: "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which transcripts to list: those of which all holds that is said."""

    session_id: str | None = None
    agent_id: str | None = None
    status: TranscriptStatus | None = None


ALL = Wanted()


@dataclass(frozen=True, slots=True)
class TranscriptPage:
    """Some transcripts, newest first, and where the next page starts (``None``: nowhere)."""

    transcripts: tuple[Transcript, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class TranscriptDetail:
    """A transcript with its parts, and how many active memories of each type cite it."""

    transcript: Transcript
    parts: tuple[Part, ...]
    memory_counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes as they were handed over, or the URL to get them from."""

    media_type: str
    data: bytes = b""
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Quoted:
    """A source of a memory, with the messages in it and around it.

    Parameters
    ----------
    is_cut : bool
        Whether messages, or ends of them, are left out because all of it is too much for one answer.
    """

    source: Source
    transcript: Transcript
    messages: tuple[Message, ...]
    is_cut: bool


class TranscriptReading:
    """Reads transcripts."""

    _controller: MemoryController
    _transcripts: TranscriptStore
    _objects: ObjectStore

    def get(self, user_id: str, transcript_id: str) -> TranscriptDetail:
        """Tell what is known of a transcript.

        Raises
        ------
        NotFound
            If the user has no such transcript.
        """
        _, transcript = self._known(user_id, transcript_id)
        parts = self._transcripts.parts(user_id, transcript_id)
        return TranscriptDetail(transcript, tuple(parts), self._controller.count_citing(user_id, transcript_id))

    def list_transcripts(
        self, user_id: str, limit: int, cursor: str | None = None, wanted: Wanted = ALL
    ) -> TranscriptPage:
        """List transcripts, newest first; a page may be short, and even empty, before the last one.

        Raises
        ------
        InvalidInput
            If the cursor is not one of this user and listing.
        """
        listing = ("transcripts", user_id, wanted.session_id, wanted.agent_id, wanted.status)
        below = None if cursor is None else read_id(cursor, *listing)
        found: list[Transcript] = []
        if self._controller.epoch_of(user_id) is None:
            return TranscriptPage((), None)
        for one in self._newest(user_id, below, wanted.session_id):
            if one is None:
                return TranscriptPage(tuple(found), None)
            if len(found) == limit:
                return TranscriptPage(tuple(found), write_mark(str(below), *listing))
            below = one.transcript_id
            if wanted.agent_id in (None, one.agent_id) and wanted.status in (None, one.status):
                found.append(one)
        return TranscriptPage(tuple(found), write_mark(str(below), *listing))

    def content(self, user_id: str, transcript_id: str, part_id: str | None = None) -> Content:
        """Give the bytes of a transcript, or of one of its parts, as they were handed over.

        Raises
        ------
        NotFound
            If the user has no such transcript, or it no such part.
        InvalidInput
            If the parts are of several formats, or together too large for one answer.
        """
        epoch, _ = self._known(user_id, transcript_id)
        parts = self._transcripts.parts(user_id, transcript_id)
        if part_id is not None:
            parts = [part for part in parts if part.part_id == part_id]
        if not parts:
            raise NotFound
        form = parts[0].format
        places = [_place(user_id, epoch, transcript_id, part) for part in parts]
        if len(parts) == 1 and parts[0].size > CONTENT_MAX_BYTES:
            return Content(
                _MEDIA_TYPES[form], url=self._objects.grant_get(places[0], _MEDIA_TYPES[form], GRANTED_S).url
            )
        if len(parts) > 1 and any(part.format is not Format.JSONL for part in parts):
            raise InvalidInput("the parts are of several formats, or documents; get them one by one", pointer="/part")
        if sum(part.size for part in parts) > CONTENT_MAX_BYTES:
            raise InvalidInput("the parts are too large for one answer; get them one by one", pointer="/part")
        return Content(_MEDIA_TYPES[form], _joined(self._objects.get_many(places)))

    def source(self, user_id: str, memory_id: str, around: int) -> list[Quoted]:
        """Give the messages that a memory is from, with some before and after them, for each of its sources.

        Raises
        ------
        NotFound
            If the user has no such memory, or it has expired.
        """
        memory = self._controller.get(user_id, memory_id)
        epoch = self._controller.epoch_of(user_id) or ""
        read: dict[str, list[Message]] = {}
        quoted: list[Quoted] = []
        left = ANSWER_MAX_BYTES
        for source in memory.sources:
            transcript = self._transcripts.transcript(user_id, source.transcript_id)
            if transcript is None:
                continue
            first, last = max(0, source.first - around), source.last + around
            messages = list(self._messages((user_id, epoch, source.transcript_id), first, last, read))
            shown, left = _fitting(messages, left)
            quoted.append(Quoted(source, transcript, tuple(shown), is_cut=shown != messages))
        return quoted

    def _known(self, user_id: str, transcript_id: str) -> tuple[str, Transcript]:
        """Find a transcript, and the life of its user that it is of."""
        epoch = self._controller.epoch_of(user_id)
        found = self._transcripts.transcript(user_id, transcript_id) if is_memory_id(transcript_id) else None
        if epoch is None or found is None:
            raise NotFound
        return epoch, found

    def _newest(self, user_id: str, below: str | None, session_id: str | None) -> Iterator[Transcript | None]:
        """Give transcripts, newest first, up to a bounded number of them; ``None`` after the last one."""
        if session_id is not None:
            claimed = self._transcripts.transcript_claiming(user_id, str(claim_of(session_id, None)))
            one = None if claimed is None else self._transcripts.transcript(user_id, claimed)
            if one is not None and (below is None or one.transcript_id < below):
                yield one
            yield None
            return
        for _ in range(_PAGES_MAX):
            page = self._transcripts.transcripts(user_id, below, _PAGE)
            yield from page
            if len(page) < _PAGE:
                yield None
                return
            below = page[-1].transcript_id

    def _messages(
        self, whose: tuple[str, str, str], first: int, last: int, read: dict[str, list[Message]]
    ) -> Iterator[Message]:
        """Read messages from number `first` to number `last`; what was read of parts before is in `read`."""
        user_id, _, transcript_id = whose
        for part in self._transcripts.parts(user_id, transcript_id, first):
            if part.first > last:
                return
            if part.part_id not in read:
                with telemetry.stage("read"):
                    data = self._objects.get(_place(*whose, part))
                    read[part.part_id] = messages_of(part, data)
            yield from (message for message in read[part.part_id] if first <= message.index <= last)


def _place(user_id: str, epoch: str, transcript_id: str, part: Part) -> str:
    return keys.part_object(user_id, epoch, transcript_id, part.part_id, is_upload=part.is_upload)


def _joined(parts: Sequence[bytes]) -> bytes:
    """Put lines of JSON together; the last line of an upload may not end."""
    *before, last = parts
    return b"".join(part if part.endswith(b"\n") else part + b"\n" for part in before) + last


def _fitting(messages: Sequence[Message], left: int) -> tuple[list[Message], int]:
    """Shorten long messages, and leave out those for which there is no room; tell how many bytes are left."""
    shown: list[Message] = []
    for message in messages:
        message = replace(message, text=message.text[:SHOWN_MAX_CHARS])
        left -= len(json.dumps(json.dumps(message.text, ensure_ascii=False), ensure_ascii=False).encode()) + 1_000
        if left < 0:
            break
        shown.append(message)
    return shown, left
