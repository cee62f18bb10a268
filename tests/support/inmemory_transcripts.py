"""A transcript store and counts of tokens in memory, beside a memory store whose heads they check; and a queue."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, cast

from recollect import keys
from recollect.conversation import Part, Transcript
from recollect.errors import Conflict
from recollect.transcript_store import IngestionJob

from tests.support.inmemory import InMemoryMemoryStore


class InMemoryTranscriptStore:
    """Transcripts, parts and claims among the items of a memory store, so that an erasure finds them."""

    def __init__(self, memories: InMemoryMemoryStore) -> None:
        self._memories = memories
        self._lock = memories.lock

    def open(self, user_id: str, epoch: str) -> str:
        with self._lock:
            head = self._memories.open(user_id, epoch)
        if head.erasing_since_ms is not None:
            raise Conflict("this user is being erased")
        return head.epoch

    def transcript(self, user_id: str, transcript_id: str) -> Transcript | None:
        with self._lock:
            found: Transcript | None = self._of(user_id, keys.transcript(transcript_id))
        return found

    def transcript_claiming(self, user_id: str, claim: str) -> str | None:
        with self._lock:
            found: str | None = self._of(user_id, keys.session(claim))
        return found

    def transcripts(self, user_id: str, below: str | None, limit: int) -> list[Transcript]:
        with self._lock:
            found: list[Transcript] = self._beginning(user_id, keys.transcripts())[::-1]
        return [one for one in found if below is None or one.transcript_id < below][:limit]

    def parts(self, user_id: str, transcript_id: str, from_index: int = 0) -> list[Part]:
        with self._lock:
            found: list[Part] = self._beginning(user_id, keys.part(transcript_id, 0)[:-10])
        return [part for part in found if part.first + part.count > from_index]

    def save(
        self, user_id: str, epoch: str, transcript: Transcript, seen: Transcript | None, parts: Sequence[Part] = ()
    ) -> Transcript:
        with self._lock:
            self._check_head(user_id, epoch)
            place = keys.transcript(transcript.transcript_id)
            present = self._of(user_id, place)
            if (present and present.revision) != (seen and seen.revision):
                raise Conflict("somebody else came first")
            if seen is None and transcript.claim is not None:
                if self._of(user_id, keys.session(transcript.claim)) is not None:
                    raise Conflict("another transcript has the session")
                self._memories.others[user_id, keys.session(transcript.claim)] = transcript.transcript_id
            kept = replace(transcript, revision=1 if seen is None else seen.revision + 1)
            self._memories.others[user_id, place] = kept
            for part in parts:
                self._memories.others[user_id, keys.part(transcript.transcript_id, part.first)] = part
            return kept

    def drop(self, user_id: str, epoch: str, transcript: Transcript) -> None:
        with self._lock:
            self._check_head(user_id, epoch)
            place = keys.transcript(transcript.transcript_id)
            present = self._of(user_id, place)
            if present is not None and present.revision != transcript.revision:
                raise Conflict("somebody else came first")
            places = [place, *self._places(user_id, keys.part(transcript.transcript_id, 0)[:-10])]
            claim = keys.session(transcript.claim or "")
            if self._of(user_id, claim) == transcript.transcript_id:
                places.append(claim)
            for one in places:
                self._memories.others.pop((user_id, one), None)

    def _check_head(self, user_id: str, epoch: str) -> None:
        head = self._memories.head_of(user_id)
        if head.epoch != epoch or head.erasing_since_ms is not None:
            raise Conflict("the user was erased, or is being erased")

    def _of(self, user_id: str, place: str) -> Any:
        return self._memories.others.get((user_id, place))

    def _beginning(self, user_id: str, start: str) -> list[Any]:
        return [self._memories.others[user_id, place] for place in self._places(user_id, start)]

    def _places(self, user_id: str, start: str) -> list[str]:
        return sorted(key for owner, key in self._memories.others if owner == user_id and key.startswith(start))


class InMemoryTokenCounts:
    """Counts of tokens among the items of a memory store, so that an erasure finds them."""

    def __init__(self, memories: InMemoryMemoryStore) -> None:
        self._memories = memories

    def used(self, user_id: str, day: str) -> int:
        with self._memories.lock:
            return sum(cast("Counter[str]", self._memories.others.get((user_id, keys.tokens(day)), Counter())).values())

    def add(self, user_id: str, epoch: str, day: str, tokens: Mapping[str, int]) -> None:
        with self._memories.lock:
            head = self._memories.head_of(user_id)
            if head.epoch != epoch or head.erasing_since_ms is not None:
                raise Conflict("the user was erased, or is being erased")
            counts = cast("Counter[str]", self._memories.others.setdefault((user_id, keys.tokens(day)), Counter()))
            counts.update(tokens)


class InMemoryQueue:
    """Jobs that were sent, with the seconds until each may be taken; the oldest first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.sent: list[tuple[IngestionJob, int]] = []

    def send(self, job: IngestionJob, delay_s: int = 0) -> None:
        with self._lock:
            self.sent.append((job, delay_s))

    def take(self) -> list[IngestionJob]:
        """Take all jobs, whatever their delay."""
        with self._lock:
            taken, self.sent = self.sent, []
        return [job for job, _ in taken]
