"""Requests and answers about what was: versions, events, purges and erasures."""

from typing import Annotated, Self

from pydantic import BaseModel, Field

from recollect.erasure import Erasure, ErasureState
from recollect.keys import VERSION_MAX
from recollect.model import Operation
from recollect.ports import Version
from recollect.schemas.fields import IN_DIGITS, Between, Closed, MemoryId, Moment, QueryBoolean
from recollect.schemas.inputs import LIMIT_MAX, Direction
from recollect.schemas.outputs import AnyMemoryOutput, memory_output
from recollect.trail import EventPage, VersionPage

Limit = Annotated[int, Between(1, LIMIT_MAX), IN_DIGITS]
Hash = Annotated[
    str | None, Field(description="of the content that was purged: BLAKE2b-128 keyed by the memory's id, in hex")
]


class GetInput(Closed):
    """Which version to read; the present one unless said."""

    version: Annotated[int, Between(1, VERSION_MAX), IN_DIGITS] | None = None


class VersionsInput(Closed):
    """Which page of the versions to list."""

    limit: Limit = 50
    cursor: str | None = Field(None, description="of the page before, of the same user and memory")


class DeleteInput(Closed):
    """Whether the text goes for good."""

    purge: QueryBoolean = Field(
        False, description="redact the memory in its versions and in the log; also a deleted memory"
    )


class EraseInput(Closed):
    """Whether anything is deleted."""

    dry_run: QueryBoolean = Field(False, description="count what would be deleted, and delete nothing")


class EventsInput(Closed):
    """Which events to list, and which page of them."""

    limit: Limit = 50
    cursor: str | None = Field(None, description="of the page before, of the same user, memory and direction")
    direction: Direction = Field("desc", description="asc or desc")
    memory_id: MemoryId | None = Field(
        None, description="what made or ended a version of this memory only, also when it was deleted or purged"
    )


class VersionOutput(AnyMemoryOutput):
    """A memory as it is or was; of a purged one ids, numbers and times only."""

    redacted: bool
    content_hash: Hash


class VersionsOutput(BaseModel):
    """Versions of a memory, newest first; ``cursor`` leads to the next page, ``null`` if there is none."""

    versions: list[VersionOutput]
    cursor: str | None

    @classmethod
    def of(cls, user_id: str, page: VersionPage) -> Self:
        """Make the answer of the core's value."""
        return cls(versions=[version_output(user_id, version) for version in page.versions], cursor=page.cursor)


class EventOutput(BaseModel):
    """One committed change: its number in the log, what it did to which memory, when, by whom and why."""

    seq: int
    operation: Operation
    memory_id: str
    version: int
    at: Moment
    by: str
    reason: str
    content_hash: Hash


class EventsOutput(BaseModel):
    """Events, in the direction asked for; ``cursor`` leads to the next page, ``null`` if there is none."""

    events: list[EventOutput]
    cursor: str | None

    @classmethod
    def of(cls, page: EventPage) -> Self:
        """Make the answer of the core's value."""
        events = [
            EventOutput(
                seq=entry.seq,
                operation=entry.operation,
                memory_id=entry.memory_id,
                version=entry.version,
                at=entry.at_ms,
                by=entry.by,
                reason=entry.reason,
                content_hash=entry.content_hash,
            )
            for entry in page.entries
        ]
        return cls(events=events, cursor=page.cursor)


class BackupOutput(BaseModel):
    """What a backup still holds of what was deleted, and until when."""

    kind: str
    kept_until: Moment


class ErasureReceipt(BaseModel):
    """Proof of an erasure: what was deleted, by store and kind, and when reading found nothing any more."""

    deleted: dict[str, dict[str, int]]
    verified_at: Moment
    backup: BackupOutput


class ErasureOutput(BaseModel):
    """How far the erasure of a user is; ``found`` of a dry run, ``receipt`` when it is done."""

    status: ErasureState
    found: dict[str, dict[str, int]] | None = None
    erased: dict[str, dict[str, int]] | None = None
    left: Annotated[int | None, Field(description="items and objects still there; at least that many if `partial`")] = (
        None
    )
    partial: Annotated[bool, Field(description="the time was over before everything was counted")] = False
    receipt: ErasureReceipt | None = None

    @classmethod
    def of(cls, erasure: Erasure) -> Self:
        """Make the answer of the core's value."""
        counts = erasure.by_store
        if erasure.state is ErasureState.COUNTED:
            return cls(status=erasure.state, found=counts, left=erasure.left, partial=erasure.is_partial)
        if erasure.state is ErasureState.ERASING:
            return cls(status=erasure.state, erased=counts, left=erasure.left, partial=erasure.is_partial)
        backup = BackupOutput(kind="point-in-time recovery", kept_until=erasure.backup_until_ms)
        receipt = ErasureReceipt(deleted=counts, verified_at=erasure.at_ms, backup=backup)
        return cls(status=erasure.state, receipt=receipt)


def version_output(user_id: str, version: Version) -> VersionOutput:
    """Make the answer of the core's value."""
    values = dict(memory_output(user_id, version.memory))
    is_redacted = version.content_hash is not None
    values["content"] = None if is_redacted else version.memory.content
    return VersionOutput(**values, redacted=is_redacted, content_hash=version.content_hash)
