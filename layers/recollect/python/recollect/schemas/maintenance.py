"""What maintenance may be asked, and what it answers."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field

from recollect.compacting import Compaction
from recollect.schemas.fields import Closed


class MaintenanceInput(Closed):
    """What to do for a user now."""

    steps: Annotated[tuple[Literal["compaction"], ...], Field(min_length=1, max_length=1)] = ("compaction",)
    force: bool = Field(False, strict=True, description="fold the log's tail into a segment however short it is")
    dry_run: bool = Field(False, strict=True, description="tell what would be done first, and do nothing")


class CompactionOutput(BaseModel):
    """What a compaction did; of a dry run, what it would fold and merge first.

    ``written_rows``, ``written_bytes``: of new segments. ``archived_entries``: moved from the log to its archive.
    ``deleted_objects``: that nothing refers to any more. ``segments``: live ones now.
    """

    folded_entries: int
    folded_touches: int
    merged_segments: int
    written_rows: int
    written_bytes: int
    archived_entries: int
    deleted_objects: int
    segments: int


class MaintenanceOutput(BaseModel):
    """What was done for a user."""

    dry_run: bool
    compaction: CompactionOutput

    @classmethod
    def of(cls, compaction: Compaction, *, is_dry_run: bool) -> Self:
        """Make the answer of the core's value."""
        return cls(dry_run=is_dry_run, compaction=CompactionOutput.model_validate(compaction, from_attributes=True))
