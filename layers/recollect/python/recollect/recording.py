"""Keeps messages: the object first, then the transcript that names it, on condition that nobody else came first.

Whoever loses a race reads again, leaves out what is there by now, and tries again: messages of one session stay in the
order in which their parts were kept, and none is kept twice. A process that dies leaves an object that nothing names,
under the prefix of its transcript, with which it goes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from recollect import joining, keys, telemetry
from recollect.commit import FIRST_WAIT_S, MAX_ATTEMPTS, MAX_WAIT_S, Surroundings
from recollect.conversation import TRANSCRIPT_MAX_COUNT, Part, Transcript, TranscriptStatus, claim_of
from recollect.errors import Conflict, InvalidInput, NotFound, Unavailable
from recollect.formats.reading import read_bytes
from recollect.handover import Given, Whose, grown, new_transcript, part_of, read_metadata
from recollect.object_store import ObjectStore
from recollect.ports import MemoryStore
from recollect.transcript_store import IngestionJob, TranscriptStore

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The transcript as it is kept, and the part that was new, if any was."""

    epoch: str
    transcript: Transcript
    part: Part | None = None


class Recorder:
    """Adds messages to transcripts.

    Parameters
    ----------
    memories : MemoryStore
        Knows users' heads.
    transcripts : TranscriptStore
    objects : ObjectStore
    surroundings : Surroundings
        Time, ids, randomness, waiting.
    """

    def __init__(
        self, memories: MemoryStore, transcripts: TranscriptStore, objects: ObjectStore, surroundings: Surroundings
    ) -> None:
        self._memories = memories
        self._transcripts = transcripts
        self._objects = objects
        self._surroundings = surroundings

    def record(self, user_id: str, whose: Whose, given: Given) -> Recorded:
        """Add messages to a transcript, those that are new to it.

        Raises
        ------
        InvalidInput
            If the transcript gets too long.
        Conflict
            If other messages have the place that the caller told, or the user or the transcript is being deleted.
        Unavailable
            If a store does not answer, or others kept coming first; a repeat is safe.
        """
        epoch = self._transcripts.open(user_id, self._surroundings.new_id())
        return self._retrying(user_id, epoch, lambda: self._append(user_id, epoch, *self._of(user_id, whose), given))

    def prepare(self, user_id: str, whose: Whose, occurred_at_ms: int) -> Recorded:
        """Make sure that there is a transcript, for an upload to come.

        Raises
        ------
        Conflict, Unavailable
            As `record`.
        """
        epoch = self._transcripts.open(user_id, self._surroundings.new_id())

        def attempt() -> Recorded:
            seen, new = self._of(user_id, whose)
            if seen is not None:
                return Recorded(epoch, _open(seen))
            made = replace(new, occurred_at_ms=occurred_at_ms)
            return Recorded(epoch, self._save(user_id, epoch, made, None))

        return self._retrying(user_id, epoch, attempt)

    def take_upload(self, key: str) -> IngestionJob | None:
        """Add an object that a caller has put to its transcript; one that belongs nowhere any more is deleted.

        What cannot be read is deleted too, and the transcript tells why.

        Returns
        -------
        IngestionJob or None
            What is to be done with the transcript; ``None`` if there is nothing to do.

        Raises
        ------
        CorruptData
            If the object does not say whose it is and what.
        Unavailable
            If a store does not answer, or others kept coming first; a repeat is safe.
        """
        try:
            metadata = self._objects.metadata(key)
        except NotFound:
            return None
        user_id, upload = read_metadata(metadata)
        epoch, transcript_id, part_id = keys.upload_of(key, user_id)
        job = IngestionJob(user_id, epoch, transcript_id)
        try:
            return self._retrying(user_id, epoch, lambda: self._take(job, key, replace(upload, upload_id=part_id)))
        except (Conflict, NotFound):  # that life of the user is over, or the transcript is
            self._objects.delete([key])
            return None

    def _take(self, job: IngestionJob, key: str, upload: Given) -> IngestionJob | None:
        seen = self._transcripts.transcript(job.user_id, job.transcript_id)
        if seen is None or seen.status is TranscriptStatus.DELETING:
            raise NotFound
        if any(part.part_id == upload.upload_id for part in self._transcripts.parts(job.user_id, job.transcript_id)):
            return job
        data = self._objects.get(key)
        try:
            given = replace(upload, sent=read_bytes(data, upload.format), data=data)
            recorded = self._append(job.user_id, job.epoch, seen, seen, given)
        except InvalidInput as error:
            status = seen.status if seen.message_count else TranscriptStatus.FAILED
            changed = replace(seen, status=status, failure=f"an upload cannot be read: {error.message}")
            self._save(job.user_id, job.epoch, changed, seen)
            self._objects.delete([key])
            return None
        if recorded.part is None or not recorded.part.is_upload:
            self._objects.delete([key])
        return job

    def _of(self, user_id: str, whose: Whose) -> tuple[Transcript | None, Transcript]:
        """Find the transcript that is meant, and say what it is at first."""
        claim = claim_of(whose.session_id, whose.request_key)
        transcript_id = None if claim is None else self._transcripts.transcript_claiming(user_id, claim)
        seen = None if transcript_id is None else self._transcripts.transcript(user_id, transcript_id)
        return seen, new_transcript(self._surroundings.new_id(), whose, self._surroundings.now_ms())

    def _append(self, user_id: str, epoch: str, seen: Transcript | None, new: Transcript, given: Given) -> Recorded:
        """Add what is new of the messages to a transcript as it was seen."""
        parts = [] if seen is None else self._transcripts.parts(user_id, _open(seen).transcript_id)
        known = [digest for part in parts for digest in joining.digests_of(part.digests)]
        with_id = [message.message_id is not None for message in given.sent.messages]
        places = joining.new_messages(known, given.sent.digests, with_id, given.first)
        if seen is not None and not places:
            return Recorded(epoch, seen)
        transcript = seen or replace(new, occurred_at_ms=given.occurred_at_ms)
        if transcript.message_count + len(places) > TRANSCRIPT_MAX_COUNT:
            raise InvalidInput(f"a transcript has at most {TRANSCRIPT_MAX_COUNT:,} messages; begin another session")
        part, data = part_of(given, places, transcript.message_count, self._surroundings.new_id())
        key = keys.part_object(user_id, epoch, transcript.transcript_id, part.part_id, is_upload=part.is_upload)
        if not part.is_upload:
            self._objects.put_new(key, data)
        try:
            kept = self._save(user_id, epoch, grown(transcript, part, self._surroundings.now_ms()), seen, part)
        except _CameFirst:
            if not part.is_upload:
                self._objects.delete([key])
            raise
        return Recorded(epoch, kept, part)

    def _save(self, user_id: str, epoch: str, changed: Transcript, seen: Transcript | None, *parts: Part) -> Transcript:
        try:
            return self._transcripts.save(user_id, epoch, changed, seen, parts)
        except Conflict as error:
            raise _CameFirst from error

    def _retrying(self, user_id: str, epoch: str, attempt: Callable[[], _T]) -> _T:
        ceiling_s = FIRST_WAIT_S
        for _ in range(MAX_ATTEMPTS):
            try:
                return attempt()
            except _CameFirst:
                if self._memories.read_head(user_id).epoch != epoch:
                    raise Conflict("this user was erased in the meantime; nothing was changed") from None
                telemetry.count("transcript_conflicts")
                self._surroundings.sleep(self._surroundings.random() * ceiling_s)
                ceiling_s = min(2 * ceiling_s, MAX_WAIT_S)
        raise Unavailable("other writers of this session kept coming first; retry later")


def _open(transcript: Transcript) -> Transcript:
    if transcript.status is TranscriptStatus.DELETING:
        raise Conflict("the transcript of this session is being deleted; send DELETE again until it is done")
    return transcript


class _CameFirst(Exception):
    """Somebody else changed the transcript, or the user was erased."""
