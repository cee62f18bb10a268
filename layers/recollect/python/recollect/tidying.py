"""The step of maintenance that compacts, and takes away what nothing refers to. Talks; `compaction` decides.

Objects of transcripts are looked at a few transcripts at a time, from another one on in each run: which of them belong
to a part takes a read for each. What lies there without a part is of a process that died, or an upload that nobody
took; it is left alone for so long that no request can still be about to refer to it.
"""

from dataclasses import asdict
from itertools import groupby

from recollect import keys
from recollect.commit import Surroundings
from recollect.compacting import GARBAGE_AGE_MS, OBJECTS_MAX, Compactor
from recollect.maintenance import Run, StepReport
from recollect.object_store import ObjectStore
from recollect.transcript_store import TranscriptStore

TRANSCRIPTS_PER_RUN = 16
ORPHAN_AGE_MS = 24 * 3600 * 1000
UPLOAD_AGE_MS = 15 * 24 * 3600 * 1000  # longer than the queue keeps what tells of one
WORK = ("folded_entries", "folded_touches", "merged_segments", "deleted_objects")


class Tidying:
    """Compacts users' partitions and collects garbage.

    Parameters
    ----------
    compactor : Compactor
    objects : ObjectStore
    transcripts : TranscriptStore
    surroundings : Surroundings
        Time and randomness.
    """

    def __init__(
        self, compactor: Compactor, objects: ObjectStore, transcripts: TranscriptStore, surroundings: Surroundings
    ) -> None:
        self._compactor = compactor
        self._objects = objects
        self._transcripts = transcripts
        self._now_ms = surroundings.now_ms
        self._random = surroundings.random

    def run(self, user_id: str, run: Run) -> StepReport:
        """Compact, or tell what that would do first; see ``maintenance.Step``."""
        compact = self._compactor.plan if run.is_dry_run else self._compactor.compact
        counts = asdict(compact(user_id, is_forced=run.is_forced))
        counts["orphans"] = self._orphans(user_id, run)
        left = None
        if not run.is_dry_run and (counts["folded_entries"] or counts["merged_segments"]):
            left = self._compactor.plan(user_id)
        return StepReport(
            looked_at=sum(counts[name] for name in WORK) + counts["segments"] + counts["orphans"],
            changed=sum(counts[name] for name in WORK) + counts["orphans"],
            counts=counts,
            is_done=left is None or not (left.folded_entries or left.folded_touches or left.merged_segments),
            next_at_ms=self._now_ms() + GARBAGE_AGE_MS if counts["merged_segments"] else None,
        )

    def _orphans(self, user_id: str, run: Run) -> int:
        """Delete objects that belong to no part of a transcript, or count them."""
        prefix = keys.all_transcript_objects(user_id, run.epoch)
        before_ms = self._now_ms() - ORPHAN_AGE_MS
        uploads_before_ms = self._now_ms() - UPLOAD_AGE_MS
        old = [
            one.key
            for one in self._objects.list_objects(prefix, limit=OBJECTS_MAX)
            if one.modified_ms <= (uploads_before_ms if one.key.endswith(keys.UPLOAD_SUFFIX) else before_ms)
        ]
        by_transcript = [
            (name, list(found)) for name, found in groupby(old, key=lambda key: key[len(prefix) :].split("/")[0])
        ]
        first = int(self._random() * len(by_transcript))
        some = [*by_transcript[first:], *by_transcript[:first]]
        orphans: list[str] = []
        for transcript_id, found in some if run.is_forced else some[:TRANSCRIPTS_PER_RUN]:
            if self._now_ms() >= run.deadline_ms:
                break
            place = keys.transcript_objects(user_id, run.epoch, transcript_id)
            kept = {part.part_id for part in self._transcripts.parts(user_id, transcript_id)}
            orphans += [key for key in found if key[len(place) :].split(".")[0] not in kept]
        if orphans and not run.is_dry_run:
            self._objects.delete(orphans)
        return len(orphans)
