"""How far the work on a transcript is, and what is put down of it. Pure."""

from dataclasses import replace
from enum import StrEnum

from recollect.conversation import Transcript
from recollect.conversation import TranscriptStatus as Status
from recollect.errors import CorruptData, ExtractionFailed, InvalidInput

MAX_RECEIVES = 3  # of a message of the queue, before it is a dead letter
FIRST_RETRY_S = 15
NEXT_RETRY_S = 120
UNENDED = "its ingestion was begun and did not come to an end: it may take too long, or too much memory"
# What a repeat will hardly change.
HOPELESS = (ExtractionFailed, InvalidInput, CorruptData)


class Task(StrEnum):
    """What is done with messages."""

    TURNS = "turns"
    FACTS = "facts"


def done_to(transcript: Transcript, task: Task) -> int:
    """Give the number of the first message that a task is not done with."""
    return transcript.turns_to if task is Task.TURNS else transcript.facts_to


def next_task(transcript: Transcript) -> tuple[Task, int] | None:
    """Give what is to be done next, and from which message on: first all turns, then the facts.

    There is nothing to do before anything came, after it failed and while it is deleted.
    """
    if transcript.status in (Status.AWAITING_UPLOAD, Status.DELETING, Status.FAILED):
        return None
    open_tasks = (task for task in Task if done_to(transcript, task) < transcript.message_count)
    return next(((task, done_to(transcript, task)) for task in open_tasks), None)


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


def progressed(transcript: Transcript, task: Task, to: int) -> Transcript:
    """Put down that a task is done up to a message; progress only grows."""
    is_deferred = transcript.status is Status.DEFERRED and task is Task.FACTS
    status = Status.QUEUED if is_deferred else transcript.status
    turns_to = max(transcript.turns_to, to if task is Task.TURNS else 0)
    facts_to = max(transcript.facts_to, to if task is Task.FACTS else 0)
    return settled(replace(transcript, status=status, turns_to=turns_to, facts_to=facts_to))


def settled(transcript: Transcript) -> Transcript:
    """Tell that it is done, if nothing is left; what went wrong before is over."""
    is_open = transcript.status in (Status.QUEUED, Status.DEFERRED)
    if not is_open or next_task(transcript) is not None:
        return transcript
    return replace(transcript, status=Status.DONE, tries=0, failure=None)


def deferred(transcript: Transcript, reason: str) -> Transcript:
    """Put down that it waits."""
    if next_task(transcript) is None:
        return transcript
    return replace(transcript, status=Status.DEFERRED, failure=reason)


def failed(transcript: Transcript, reason: str, *, is_last: bool) -> Transcript:
    """Put down that work on it has failed, for good or not; of what is done nothing can fail any more."""
    if next_task(transcript) is None:
        return transcript
    status = Status.FAILED if is_last else transcript.status
    tries = transcript.tries + (reason != UNENDED or is_last)
    return replace(transcript, status=status, tries=tries, failure=reason)
