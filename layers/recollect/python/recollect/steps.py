"""The steps of maintenance that there are, beside a controller: they share its partitions and its way to commit."""

from recollect import compaction, lifecycle
from recollect.aging import Decay, Expiry
from recollect.compacting import Compactor
from recollect.completing import Completing
from recollect.consolidation import Consolidation, Telling
from recollect.controller import MemoryController
from recollect.maintenance import Step, StepName
from recollect.reembedding import Reembedding
from recollect.settling import Settling
from recollect.tidying import Tidying
from recollect.transcript_store import TranscriptStore


def steps_of(
    of: MemoryController,
    transcripts: TranscriptStore,
    aging: lifecycle.Policy = lifecycle.DEFAULT,
    compacting: compaction.Policy = compaction.DEFAULT,
    telling: Telling | None = None,
) -> dict[StepName, Step]:
    """Make the steps.

    Parameters
    ----------
    of : MemoryController
    transcripts : TranscriptStore
    aging : lifecycle.Policy
        How memories fade.
    compacting : compaction.Policy
        When the tail of the log is folded and segments are merged.
    telling : Telling or None
        What writes consolidated memories, if a model does.
    """
    work = of.workings
    aged = (work.partitions, work.committer, work.surroundings)
    embedding = (work.store, work.partitions, work.committer, work.embedder, work.surroundings)
    compactor = Compactor(work.store, work.objects, work.partitions, work.surroundings, compacting)
    return {
        StepName.ERASURE: Completing(of, work.store, work.partitions, work.surroundings.now_ms),
        StepName.EXPIRY: Expiry(*aged),
        StepName.DECAY: Decay(*aged, aging),
        StepName.CONFLICTS: Settling(work.store, *aged),
        StepName.CONSOLIDATION: Consolidation(*embedding, telling),
        StepName.EMBEDDING: Reembedding(*embedding),
        StepName.COMPACTION: Tidying(compactor, work.objects, transcripts, work.surroundings),
    }
