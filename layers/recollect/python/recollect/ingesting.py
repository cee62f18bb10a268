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
from recollect.conversation import Part, Transcript, TranscriptStatus
from recollect.errors import (
    Conflict,
    CorruptData,
    ExtractionFailed,
    NotFound,
    RecollectError,
    Unavailable,
)
from recollect.finding import Finding
from recollect.formats.reading import messages_of
from recollect.nominating import ToStore
from recollect.object_store import ObjectStore
from recollect.passages import Reading, Step
from recollect.progress import (
    HOPELESS,
    MAX_RECEIVES,
    UNENDED,
    Task,
    deferred,
    done_to,
    failed,
    next_task,
    progressed,
    settled,
)
from recollect.transcript_store import IngestionJob, IngestionQueue, TranscriptStore

BY = "ingestion"
PATIENT_ATTEMPTS = 5
LOOK_AGAIN_S = 60
FIRST_WAIT_S = 0.5
MAX_WAIT_S = 8.0

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
        if left is None:
            self._forget(job, deadline_ms)
        is_late = self._surroundings.now_ms() >= deadline_ms
        if left is not None and left.status is TranscriptStatus.QUEUED and is_late:
            self._queue.send(job)
        return left

    def advance(
        self, job: IngestionJob, deadline_ms: int, *, tasks: Sequence[Task] = tuple(Task), is_brief: bool = False
    ) -> Transcript | None:
        """Make memories of a transcript as far as the time allows.

        Parameters
        ----------
        deadline_ms : int
            When to begin with no further passage.
        tasks : sequence of Task
            Which to do.
        is_brief : bool
            Whether to stop before what may take long: what a model is to be asked about, and messages of great length.

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
        reading = Reading((), ())
        while seen is not None and self._surroundings.now_ms() < deadline_ms:
            try:
                step, reading = self._next(job, seen, reading)
                if step is None or step.task not in tasks:
                    break
                is_model = self._finding.asks_model(step.extractor)
                if is_brief and (is_model or passages.is_long(step)):
                    break
                self._do(job, step, deadline_ms)
            except Conflict:  # of a commit or a read: that life is over, or the transcript's
                return None
            seen, is_overtaken = self._progress(job, seen, step)
            if seen is not None and seen.status is TranscriptStatus.DELETING:
                self._queue.send(job, LOOK_AGAIN_S)  # what was stored just now may have come too late to be forgotten
            if is_model and is_overtaken:
                break  # the other one goes on, and its message is not done before: two would pay for the same
        return seen and self._change(job, seen, settled)

    def _run(self, job: IngestionJob, deadline_ms: int, receive_count: int) -> Transcript | None:
        if receive_count > 1:
            self._begin_again(job, receive_count)
        try:
            return self.advance(job, deadline_ms)
        except BudgetUsedUp as error:
            seen = self._present(job)
            return seen and self._change(job, seen, partial(deferred, reason=error.message))

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
        self._change(job, seen, partial(failed, reason=UNENDED, is_last=False))

    def _forget(self, job: IngestionJob, deadline_ms: int) -> None:
        """Let go what was made of a transcript after it was deleted; of an erased user nothing is left."""
        is_over = self._controller.epoch_of(job.user_id) != job.epoch
        if is_over or self._transcripts.transcript(job.user_id, job.transcript_id) is not None:
            return
        request = Request(job.user_id, BY, epoch=job.epoch)
        with suppress(Conflict):
            self._controller.forget_transcript(
                request, job.transcript_id, cascade=True, purge=True, deadline_ms=deadline_ms
            )

    def _next(self, job: IngestionJob, seen: Transcript, reading: Reading) -> tuple[Step | None, Reading]:
        """Give the next piece of work, if there is any, and what was read for it."""
        following = next_task(seen)
        if following is None:
            return None, reading
        task, start = following
        if not reading.covers(start):
            reading = self._read(job, start)
        return passages.step(seen, reading, task, start), reading

    def _do(self, job: IngestionJob, step: Step, deadline_ms: int) -> None:
        """Store what is found in a passage."""
        passage = step.passage
        if passage is None:
            return
        with telemetry.stage("find"):
            if step.task is Task.FACTS:
                found = self._patiently(deadline_ms, lambda: self._finding.facts(job, passage, step.extractor))
            else:
                found = self._finding.turns(passage)
        storable = [memory for memory in found if passages.is_storable(memory)]
        if len(storable) < len(found):
            telemetry.count("memories_refused", len(found) - len(storable))
        request = Request(job.user_id, BY, epoch=job.epoch)
        for batch in passages.batches(storable):
            new = [ToStore(memory) for memory in batch]
            for outcome in self._patiently(deadline_ms, partial(self._controller.store, request, new)):
                telemetry.count(f"memories_{outcome.outcome}")

    def _patiently(self, deadline_ms: int, call: Callable[[], _T]) -> _T:
        """Call again, after a random wait, while something that is needed does not answer and there is time."""
        ceiling_s = FIRST_WAIT_S
        for _ in range(PATIENT_ATTEMPTS - 1):
            try:
                return call()
            except Unavailable:
                telemetry.count("ingestion_retries")
                wait_s = self._surroundings.random() * ceiling_s
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
            seen = self._present(job)
            if seen is None or seen.status is TranscriptStatus.DELETING:
                raise Conflict("the transcript was deleted in the meantime") from error
            raise CorruptData("the messages of a part are not there") from error
        return Reading(tuple(parts), tuple(messages))

    def _progress(self, job: IngestionJob, seen: Transcript, step: Step) -> tuple[Transcript | None, bool]:
        """Put down how far it is, and tell whether another worker had come that far meanwhile."""
        is_overtaken = False

        def change(present: Transcript) -> Transcript:
            nonlocal is_overtaken
            is_overtaken = done_to(present, step.task) >= step.to
            return progressed(present, step.task, step.to)

        return self._change(job, seen, change), is_overtaken

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
                self._change(job, seen, partial(failed, reason=reason, is_last=is_last))


def _key_of(job: IngestionJob, part: Part) -> str:
    return keys.part_object(job.user_id, job.epoch, job.transcript_id, part.part_id, is_upload=part.is_upload)
