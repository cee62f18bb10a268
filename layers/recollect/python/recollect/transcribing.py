"""The transcript controller: what each request about transcripts does, step by step.

What is handed over is durable first; then a job is queued that would do all the work, later than this request takes;
then the request itself does what there is time for, and queues the rest at once. So a transcript that was acknowledged
becomes memories whatever happens to the request.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from recollect import keys, telemetry
from recollect.commit import MAX_ATTEMPTS, Request, Surroundings
from recollect.controller import MemoryController
from recollect.conversation import Transcript, TranscriptStatus
from recollect.erasing import BUDGET_MS
from recollect.errors import Conflict, InvalidInput, RecollectError, Unavailable
from recollect.handover import Given, Whose, metadata_of
from recollect.object_store import Grant, ObjectStore, Upload
from recollect.progress import Task
from recollect.recording import Recorded, Recorder
from recollect.transcript_store import IngestionJob, IngestionQueue, TranscriptStore
from recollect.transcripts import GRANTED_S, TranscriptReading

TURNS_MS = 10_000  # of a request that does not wait
SAFETY_NET_S = 30  # until the worker looks whether a request left anything; longer than it takes
LOOK_AGAIN_S = 1
OBJECTS_PER_DELETE = 1_000


class Advancing(Protocol):
    """Makes memories of a transcript as far as the time allows; see ``Ingestion.advance``."""

    def advance(
        self, job: IngestionJob, deadline_ms: int, *, tasks: Sequence[Task] = ..., is_brief: bool = False
    ) -> Transcript | None:
        """Give the transcript as it is left; ``None`` if it, or that life of its user, is over."""
        ...


@dataclass(frozen=True, slots=True)
class Posted:
    """A transcript after a request, how many of the request's messages were new, and whether all work is done."""

    transcript: Transcript
    new_count: int
    is_settled: bool


@dataclass(frozen=True, slots=True)
class Awaited:
    """A transcript that an upload will be added to, and what the caller needs for it."""

    transcript: Transcript
    part_id: str
    grant: Grant
    expires_at_ms: int


@dataclass(frozen=True, slots=True)
class Removal:
    """How far the deletion of a transcript is, and what one call did to the memories that cited it.

    Parameters
    ----------
    deleted, released : int
        Memories that are gone, and those that have only lost the reference.
    """

    transcript_id: str
    is_done: bool
    deleted: int
    released: int


class TranscriptController(TranscriptReading):
    """Serves requests about users' transcripts; see also `TranscriptReading`, its other half.

    Parameters
    ----------
    controller : MemoryController
    recorder : Recorder
        Keeps messages.
    transcripts : TranscriptStore
    objects : ObjectStore
    queue : IngestionQueue
    ingestion : Advancing
        Makes memories.
    surroundings : Surroundings
        Time, ids, randomness, waiting.
    extractors : sequence of str
        Names of what can find facts here, the default first.
    """

    def __init__(  # noqa: PLR0913
        self,
        controller: MemoryController,
        recorder: Recorder,
        transcripts: TranscriptStore,
        objects: ObjectStore,
        queue: IngestionQueue,
        ingestion: Advancing,
        surroundings: Surroundings,
        extractors: Sequence[str],
    ) -> None:
        self._controller = controller
        self._recorder = recorder
        self._transcripts = transcripts
        self._objects = objects
        self._queue = queue
        self._ingestion = ingestion
        self._surroundings = surroundings
        self._extractors = extractors

    def post(self, user_id: str, whose: Whose, given: Given, wait_s: int = 0) -> Posted:
        """Keep messages and make memories of them: of the turns now, of all else if the caller waits for it.

        Raises
        ------
        InvalidInput
            If there is no such extractor, or the transcript gets too long.
        Conflict
            If other messages have the place that the caller told, or the user or the transcript is being deleted.
        Unavailable
            If something that is needed does not answer; a repeat is safe.
        """
        recorded = self._recorder.record(user_id, whose, self._settled(given))
        transcript = recorded.transcript
        if transcript.status is TranscriptStatus.QUEUED:
            transcript = self._work(user_id, recorded, wait_s)
        return Posted(transcript, recorded.part.count if recorded.part else 0, _is_settled(transcript))

    def await_upload(self, user_id: str, whose: Whose, given: Given, upload: Upload) -> Awaited:
        """Let a caller put an object that will be added to a transcript when it arrives.

        Raises
        ------
        InvalidInput, Conflict, Unavailable
            As `post`.
        """
        given = self._settled(given)
        recorded = self._recorder.prepare(user_id, whose, given.occurred_at_ms)
        part_id = self._surroundings.new_id()
        transcript = recorded.transcript
        key = keys.part_object(user_id, recorded.epoch, transcript.transcript_id, part_id, is_upload=True)
        granted = replace(upload, metadata=metadata_of(user_id, given))
        expires_at_ms = self._surroundings.now_ms() + GRANTED_S * 1_000
        return Awaited(transcript, part_id, self._objects.grant_put(key, granted, GRANTED_S), expires_at_ms)

    def now_ms(self) -> int:
        """Tell the time, epoch milliseconds."""
        return self._surroundings.now_ms()

    def redrive(self, user_id: str, transcript_id: str) -> Posted:
        """Try again what failed or was deferred, or look after what seems to be stuck.

        Raises
        ------
        NotFound
            If the user has no such transcript.
        Conflict
            If there is nothing to work on: nothing that can be read has come, or it is being deleted.
        Unavailable
            If something that is needed does not answer.
        """
        for _ in range(MAX_ATTEMPTS):
            epoch, seen = self._known(user_id, transcript_id)
            if seen.status is TranscriptStatus.DELETING:
                raise Conflict("the transcript is being deleted")
            if not seen.message_count:
                raise Conflict("nothing that can be read has come yet; upload it again")
            if seen.status is TranscriptStatus.DONE:
                return Posted(seen, 0, is_settled=True)
            with suppress(Conflict):
                kept = self._transcripts.save(user_id, epoch, _redriven(seen, self._surroundings.now_ms()), seen)
                self._queue.send(IngestionJob(user_id, epoch, transcript_id))
                return Posted(kept, 0, is_settled=False)
        raise Unavailable("other writers of this transcript kept coming first; retry later")

    def delete(self, request: Request, transcript_id: str, *, cascade: bool, purge: bool) -> Removal:
        """Delete a transcript, as far as the time allows; send the same again until it is done.

        From the beginning on nothing is added to it and nothing is made of it. Memories that cite it lose the
        reference; with `cascade`, those that cite nothing else go too.

        Parameters
        ----------
        purge : bool
            Whether the text of memories that go is redacted everywhere.

        Raises
        ------
        NotFound
            If the user has no such transcript.
        Unavailable
            If something that is needed does not answer.
        """
        user_id = request.user_id
        epoch = self._close(user_id, transcript_id)
        request = replace(request, epoch=epoch)
        deadline_ms = self._surroundings.now_ms() + BUDGET_MS
        forget = partial(self._controller.forget_transcript, request, transcript_id, cascade=cascade, purge=purge)
        done = forget(deadline_ms=deadline_ms)
        if not done.is_done:
            return Removal(transcript_id, is_done=False, deleted=done.deleted, released=done.released)
        self._drop(user_id, epoch, transcript_id)
        late = forget(deadline_ms=deadline_ms)  # what a worker has stored in the meantime
        return Removal(
            transcript_id,
            is_done=True,
            deleted=done.deleted + late.deleted,
            released=done.released + late.released,
        )

    def _settled(self, given: Given) -> Given:
        extractor = given.extractor or self._extractors[0]
        if extractor not in self._extractors:
            raise InvalidInput(
                f"this deployment has no such extractor; it has {', '.join(self._extractors)}", pointer="/extractor"
            )
        return replace(given, extractor=extractor)

    def _work(self, user_id: str, recorded: Recorded, wait_s: int) -> Transcript:
        """Do what there is time for, and leave the rest to the worker; models are asked by it alone."""
        job = IngestionJob(user_id, recorded.epoch, recorded.transcript.transcript_id)
        self._queue.send(job, SAFETY_NET_S)
        deadline_ms = self._surroundings.now_ms() + (wait_s * 1_000 or TURNS_MS)
        try:
            tasks = tuple(Task) if wait_s else (Task.TURNS,)
            left = self._ingestion.advance(job, deadline_ms, tasks=tasks, is_brief=True)
        except RecollectError:  # the worker tries again, and puts down why it fails
            telemetry.count("failed_inline_ingestions")
            left = self._transcripts.transcript(user_id, job.transcript_id)
        if left is not None and left.status is TranscriptStatus.QUEUED:
            self._queue.send(job)
        for _ in range(wait_s):
            if left is None or _is_settled(left) or self._surroundings.now_ms() >= deadline_ms:
                break
            self._surroundings.sleep(LOOK_AGAIN_S)
            left = self._transcripts.transcript(user_id, job.transcript_id)
        if left is None:
            raise Conflict("the transcript was deleted in the meantime")
        return left

    def _close(self, user_id: str, transcript_id: str) -> str:
        """Let nothing be added to a transcript any more; name the life of its user."""
        for _ in range(MAX_ATTEMPTS):
            epoch, seen = self._known(user_id, transcript_id)
            if seen.status is TranscriptStatus.DELETING:
                return epoch
            closed = replace(seen, status=TranscriptStatus.DELETING, updated_at_ms=self._surroundings.now_ms())
            with suppress(Conflict):
                self._transcripts.save(user_id, epoch, closed, seen)
                return epoch
        raise Unavailable("other writers of this transcript kept coming first; retry later")

    def _drop(self, user_id: str, epoch: str, transcript_id: str) -> None:
        """Delete the objects of a transcript and then what is known of it."""
        prefix = keys.transcript_objects(user_id, epoch, transcript_id)
        while found := self._objects.list_objects(prefix, limit=OBJECTS_PER_DELETE):
            self._objects.delete([one.key for one in found])
        for _ in range(MAX_ATTEMPTS):
            seen = self._transcripts.transcript(user_id, transcript_id)
            if seen is None:
                return
            with suppress(Conflict):
                self._transcripts.drop(user_id, epoch, seen)
        raise Unavailable("other writers of this transcript kept coming first; retry later")


def _redriven(transcript: Transcript, now_ms: int) -> Transcript:
    return replace(transcript, status=TranscriptStatus.QUEUED, tries=0, failure=None, updated_at_ms=now_ms)


def _is_settled(transcript: Transcript) -> bool:
    return transcript.status not in (TranscriptStatus.QUEUED, TranscriptStatus.AWAITING_UPLOAD)
