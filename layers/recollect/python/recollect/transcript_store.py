"""What transcripts need from outside, as protocols: a store of what is known of them, and a queue of work."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from recollect.conversation import Part, Transcript


@dataclass(frozen=True, slots=True)
class IngestionJob:
    """A transcript that has messages which are not memories yet, or may have.

    Parameters
    ----------
    epoch : str
        The life of the user's partition that it belongs to; in another one there is nothing to do.
    """

    user_id: str
    epoch: str
    transcript_id: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """An object that was put by a caller.

    Parameters
    ----------
    bucket_name, key : str
        Where it is.
    """

    bucket_name: str
    key: str


class IngestionQueue(Protocol):
    """Passes work on to the ingestion, at least once and in no order."""

    def send(self, job: IngestionJob, delay_s: int = 0) -> None:
        """Queue a job.

        Parameters
        ----------
        delay_s : int
            Seconds until it may be taken, at most 900.

        Raises
        ------
        Unavailable
            If the queue does not answer; the job may have been queued or not.
        """
        ...


class TranscriptStore(Protocol):
    """Durable, strongly consistent storage of what is known of users' transcripts.

    Every write is conditioned on the head: it must be of the given epoch, and no erasure may have begun.
    """

    def open(self, user_id: str, epoch: str) -> str:
        """Give the epoch of the user's partition; a user without one gets a head of this epoch, without any entry.

        Raises
        ------
        Conflict
            If the user is being erased.
        Unavailable
            If the store does not answer.
        """
        ...

    def transcript(self, user_id: str, transcript_id: str) -> Transcript | None:
        """Read what is known of a transcript.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def transcript_claiming(self, user_id: str, claim: str) -> str | None:
        """Give the id of the transcript that has this claim; see ``Transcript.claim``.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def transcripts(self, user_id: str, below: str | None, limit: int) -> list[Transcript]:
        """Read transcripts by id, newest first; only those with an id less than `below`.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def parts(self, user_id: str, transcript_id: str, from_index: int = 0) -> list[Part]:
        """Read the parts of a transcript in order, from the one that holds message number `from_index`.

        Raises
        ------
        Unavailable
            If the store does not answer.
        """
        ...

    def save(
        self, user_id: str, epoch: str, transcript: Transcript, seen: Transcript | None, parts: Sequence[Part] = ()
    ) -> Transcript:
        """Keep a transcript and its new parts (at most ten), all of it or nothing.

        Parameters
        ----------
        seen : Transcript or None
            What it was when this was decided; ``None`` for a new one, which also takes its claim.

        Returns
        -------
        Transcript
            As it is kept: at the next revision.

        Raises
        ------
        Conflict
            If it is at another revision than `seen`, or another transcript has the claim, or the head is of another
            epoch or being erased.
        Unavailable
            If the store does not answer; it may have been kept or not.
        """
        ...

    def drop(self, user_id: str, epoch: str, transcript: Transcript) -> None:
        """Delete what is known of a transcript, its parts and its claim, itself last; what is not there is fine.

        Raises
        ------
        Conflict
            If it is at another revision, or the head is of another epoch or being erased; parts may be deleted.
        Unavailable
            If the store does not answer; some of it may be deleted.
        """
        ...
