"""Makes memories of transcripts, passage by passage; what is done is kept, and goes on from there the next time.

Everything can be done twice: a memory that is stored already stays as it is, progress only grows, and several workers
on one transcript do no harm. Every write is meant for one life of the user: an erasure in between ends the work.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar

from recollect import keys, passages, telemetry
from recollect.budget import BudgetUsedUp
from recollect.commit import MAX_ATTEMPTS, Request, Surroundings
from recollect.controller import MemoryController
from recollect.conversation import Part, Passage, Transcript, TranscriptStatus
from recollect.erasing import BUDGET_MS
from recollect.errors import (
    Conflict,
    CorruptData,
    ExtractionFailed,
    InvalidInput,
    NotFound,
    RecollectError,
    Unavailable,
)
from recollect.finding import Finding
from recollect.formats.reading import messages_of
from recollect.object_store import ObjectStore
from recollect.passages import Reading, Stretch, Task
from recollect.storing import ToStore
from recollect.transcript_store import IngestionJob, IngestionQueue, TranscriptStore

BY = "ingestion"
MAX_RECEIVES = 3  # of a message of the queue, before it is a dead letter
PATIENT_ATTEMPTS = 5
FIRST_WAIT_S = 0.5
MAX_WAIT_S = 8.0
FIRST_RETRY_S = 15
NEXT_RETRY_S = 120
UNENDED = "its ingestion was begun and did not come to an end: it may take too long, or too much memory"
# What a repeat will hardly change.
HOPELESS = (ExtractionFailed, InvalidInput, CorruptData)

_T = TypeVar("_T")


class Ingestion:
    """Works on transcripts.

    Parameters
    ----------
    transcripts : TranscriptStore
    objects : ObjectStore
    queue : IngestionQueue
        Gets what is left when the time is over.
    controller : MemoryController
        Stores memories.
    finding : Finding
        Finds them.
    surroundings : Surroundings
        Time, randomness, waiting.
    """

    def __init__(
        self,
        transcripts: TranscriptStore,
        objects: ObjectStore,
        queue: IngestionQueue,
        controller: MemoryController,
        finding: Finding,
        surroundings: Surroundings,
    ) -> None:
        self._transcripts = transcripts
        self._objects = objects
        self._queue = queue
        self._controller = controller
        self._finding = finding
        self._surroundings = surroundings

    def run(self, job: IngestionJob, deadline_ms: int, receive_count: int = 1) -> Transcript | None:
        """Do a job of the queue as far as the time allows; what is left is queued again.

        Parameters
        ----------
        deadline_ms : int
            When to begin with no further passage.
        receive_count : int
            How often the queue has given it.

        Returns
        -------
        Transcript or None
            As it is left; ``None`` if it, or that life of its user, is over.

        Raises
        ------
        Exception
            If it failed: the reason is on the transcript, and the queue shall give the job again, which ends as a dead
            letter.
        """
        try:
            left = self._run(job, deadline_ms, receive_count)
        except Exception as error:
            self._note(job, error, receive_count)
            raise
        if left is not None and left.status is TranscriptStatus.QUEUED:
            self._queue.send(job)
        return left

    def advance(
        self, job: IngestionJob, deadline_ms: int, *, tasks: Sequence[Task] = tuple(Task), asks_models: bool = True
    ) -> Transcript | None:
        """Make memories of a transcript as far as the time allows.

        Parameters
        ----------
        deadline_ms : int
            When to begin with no further passage.
        tasks : sequence of Task
            Which to do.
        asks_models : bool
            Whether to go on to what a model is to be asked about.

        Returns
        -------
        Transcript or None
            As it is left; ``None`` if it, or that life of its user, is over.

        Raises
        ------
        BudgetUsedUp, ExtractionFailed
            As ``Finding.facts``.
        InvalidInput, CorruptData
            If an object does not hold the messages of its part, or is not there.
        Unavailable
            If something that is needed does not answer.
        """
        seen = self._present(job)
        if seen is not None and seen.status is TranscriptStatus.FAILED:
            return seen
        reading = Reading((), ())
        while seen is not None and self._surroundings.now_ms() < deadline_ms:
            following = passages.next_task(seen)
            if following is None:
                return self._change(job, seen, _settled)
            task, start = following
            try:
                reading = reading if reading.covers(start) else self._read(job, start)
                stretch = passages.stretch(reading.parts, task, start)
                if task not in tasks or (not asks_models and self._finding.asks_model(stretch.extractor)):
                    break
                to = stretch.to
                if stretch.is_wanted:
                    passage = passages.passage(seen, reading.messages, start, to)
                    to = passage.messages[-1].index + 1
                    self._remember(job, passage, stretch, deadline_ms)
            except Conflict:  # of a commit: that life is over
                return None
            seen = self._change(job, seen, partial(_progressed, task=task, to=to))
        if seen is None:
            self._forget(job)
        return seen

    def _run(self, job: IngestionJob, deadline_ms: int, receive_count: int) -> Transcript | None:
        if receive_count > 1:
            self._begin_again(job, receive_count)
        try:
            return self.advance(job, deadline_ms)
        except BudgetUsedUp as error:
            seen = self._present(job)
            return seen and self._change(job, seen, partial(_deferred, reason=error.message))

    def _begin_again(self, job: IngestionJob, receive_count: int) -> None:
        """Put down that work begins again, so that one which ends the process is known the next time.

        Then the others of its batch, which ended with it, can be worked on.
        """
        seen = self._present(job)
        if seen is None:
            return
        if seen.status is TranscriptStatus.FAILED:
            raise ExtractionFailed(seen.failure or UNENDED)
        if receive_count >= MAX_RECEIVES and seen.failure == UNENDED:
            raise ExtractionFailed(UNENDED)
        self._change(job, seen, partial(_failed, reason=UNENDED, is_last=False))

    def _remember(self, job: IngestionJob, passage: Passage, stretch: Stretch, deadline_ms: int) -> None:
        """Store what is found in a passage."""
        with telemetry.stage("find"):
            if stretch.extractor:
                found = self._patiently(deadline_ms, lambda: self._finding.facts(job, passage, stretch.extractor))
            else:
                found = self._finding.turns(passage)
        storable = [memory for memory in found if passages.is_storable(memory)]
        telemetry.count("memories_refused", len(found) - len(storable))
        request = Request(job.user_id, BY, epoch=job.epoch)
        for batch in passages.batches(storable):
            new = [ToStore(memory) for memory in batch]
            for outcome in self._patiently(deadline_ms, partial(self._controller.store, request, new)):
                telemetry.count(f"memories_{outcome.outcome}")

    def _forget(self, job: IngestionJob) -> None:
        """Take back what was stored while the transcript was deleted."""
        request = Request(job.user_id, BY, epoch=job.epoch)
        with suppress(Conflict):  # that life is over, and with it everything
            self._controller.forget_transcript(
                request, job.transcript_id, cascade=True, deadline_ms=self._surroundings.now_ms() + BUDGET_MS
            )

    def _patiently(self, deadline_ms: int, call: Callable[[], _T]) -> _T:
        """Call again, after a random wait, while something that is needed does not answer and there is time."""
        ceiling_s = FIRST_WAIT_S
        for _ in range(PATIENT_ATTEMPTS - 1):
            try:
                return call()
            except Unavailable as error:
                telemetry.count("ingestion_retries")
                wait_s = (
                    max(error.retry_after_s, 0) * self._surroundings.random() + ceiling_s * self._surroundings.random()
                )
                if self._surroundings.now_ms() + wait_s * 1000 >= deadline_ms:
                    raise
                self._surroundings.sleep(wait_s)
                ceiling_s = min(2 * ceiling_s, MAX_WAIT_S)
        return call()

    def _present(self, job: IngestionJob) -> Transcript | None:
        """Read the transcript, if it is there and its user's life goes on."""
        if self._controller.epoch_of(job.user_id) != job.epoch:
            return None
        return self._transcripts.transcript(job.user_id, job.transcript_id)

    def _read(self, job: IngestionJob, start: int) -> Reading:
        found = self._transcripts.parts(job.user_id, job.transcript_id, passages.context_of(start))
        parts = passages.to_read(found, start)
        try:
            if not parts:
                raise NotFound
            with telemetry.stage("read"):
                data = self._objects.get_many([_key_of(job, part) for part in parts])
                messages = [each for part, of in zip(parts, data, strict=True) for each in messages_of(part, of)]
        except NotFound as error:
            if self._present(job) is None:
                raise Conflict("the transcript was deleted in the meantime") from error
            raise CorruptData("the messages of a part are not there") from error
        return Reading(tuple(parts), tuple(messages))

    def _change(
        self, job: IngestionJob, seen: Transcript, change: Callable[[Transcript], Transcript]
    ) -> Transcript | None:
        """Change what is known of the transcript; if somebody else came first, what is known then."""
        present: Transcript | None = seen
        for _ in range(MAX_ATTEMPTS):
            if present is None or (changed := change(present)) == present:
                return present
            try:
                now_ms = self._surroundings.now_ms()
                return self._transcripts.save(job.user_id, job.epoch, replace(changed, updated_at_ms=now_ms), present)
            except Conflict:
                telemetry.count("transcript_conflicts")
                present = self._present(job)
        raise Unavailable("other writers of this transcript kept coming first; retry later")

    def _note(self, job: IngestionJob, error: Exception, receive_count: int) -> None:
        """Put down why a job failed, if the store answers; whether that was its end."""
        is_last = receive_count >= MAX_RECEIVES or isinstance(error, HOPELESS)
        reason = error.message if isinstance(error, RecollectError) else "something unforeseen went wrong"
        with suppress(Unavailable, Conflict):
            seen = self._present(job)
            if seen is not None:
                self._change(job, seen, partial(_failed, reason=reason, is_last=is_last))


def retry_after_s(error: Exception, receive_count: int, random: float) -> int:
    """Give the seconds until the queue shall give a failed job again.

    Parameters
    ----------
    random : float
        In [0, 1).
    """
    if isinstance(error, HOPELESS):
        return 0
    most = FIRST_RETRY_S if receive_count == 1 else NEXT_RETRY_S
    return round(most * (1 + random) / 2)


def _key_of(job: IngestionJob, part: Part) -> str:
    return keys.part_object(job.user_id, job.epoch, job.transcript_id, part.part_id, is_upload=part.is_upload)


def _progressed(transcript: Transcript, task: Task, to: int) -> Transcript:
    name = f"{task.value}_to"
    is_deferred = transcript.status is TranscriptStatus.DEFERRED and task is Task.FACTS
    status = TranscriptStatus.QUEUED if is_deferred else transcript.status
    return _settled(replace(transcript, status=status, **{name: max(getattr(transcript, name), to)}))


def _settled(transcript: Transcript) -> Transcript:
    """Tell that it is done, if nothing is left; what went wrong before is over."""
    is_open = transcript.status in (TranscriptStatus.QUEUED, TranscriptStatus.DEFERRED)
    if not is_open or passages.next_task(transcript) is not None:
        return transcript
    return replace(transcript, status=TranscriptStatus.DONE, tries=0, failure=None)


def _deferred(transcript: Transcript, reason: str) -> Transcript:
    if passages.next_task(transcript) is None:
        return transcript
    return replace(transcript, status=TranscriptStatus.DEFERRED, failure=reason)


def _failed(transcript: Transcript, reason: str, *, is_last: bool) -> Transcript:
    if transcript.status is TranscriptStatus.FAILED or passages.next_task(transcript) is None:
        return transcript
    status = TranscriptStatus.FAILED if is_last else transcript.status
    tries = transcript.tries + (reason != UNENDED or is_last)
    return replace(transcript, status=status, tries=tries, failure=reason)
