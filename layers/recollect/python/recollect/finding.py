"""Finds the memories in a passage: its turns by rule, its facts with the extractor that its part names."""

from collections.abc import Mapping, Sequence
from functools import partial

from recollect.budget import TokenBudget
from recollect.controller import MemoryController
from recollect.conversation import Passage
from recollect.errors import ExtractionFailed, Unavailable
from recollect.extracting.turns import turns_of
from recollect.extraction import Extractor
from recollect.model import NewMemory
from recollect.transcript_store import IngestionJob


class Finding:
    """Finds memories.

    Parameters
    ----------
    extractors : mapping of str to Extractor
        Those that this deployment has, by name.
    budget : TokenBudget
        Of those that ask a model.
    controller : MemoryController
        Searched for what an extractor compares with.
    """

    def __init__(self, extractors: Mapping[str, Extractor], budget: TokenBudget, controller: MemoryController) -> None:
        self._extractors = extractors
        self._budget = budget
        self._controller = controller

    def asks_model(self, extractor: str) -> bool:
        """Tell whether an extractor asks a model, which takes long and costs."""
        return extractor in self._extractors and self._extractors[extractor].costs_tokens

    def turns(self, passage: Passage) -> Sequence[NewMemory]:
        """Make a memory of every turn worth keeping."""
        return turns_of(passage)

    def facts(self, job: IngestionJob, passage: Passage, extractor: str) -> Sequence[NewMemory]:
        """Find what is worth remembering.

        Raises
        ------
        BudgetUsedUp
            If a model would be asked, and the user's budget is used up.
        ExtractionFailed
            If the model's reply cannot be used, or there is no such extractor.
        Unavailable
            If a model or a store does not answer.
        Conflict
            If the user was erased, or is being erased.
        """
        found = self._extractors.get(extractor)
        if found is None:
            raise ExtractionFailed(f"this deployment has no extractor {extractor}")
        if found.costs_tokens:
            self._budget.check(job.user_id)
        try:
            extraction = found.extract(passage, partial(self._controller.close_to, job.user_id))
        except (Unavailable, ExtractionFailed) as error:
            self._budget.add(job.user_id, job.epoch, error.tokens)
            raise
        self._budget.add(job.user_id, job.epoch, extraction.tokens)
        return extraction.memories
