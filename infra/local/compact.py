"""Compacts a user of the running local service, and tells in words what that did."""

from collections.abc import Mapping
from typing import Any

from infra.local.client import Client

_WORDS = {
    "folded_entries": "changes folded into a segment",
    "folded_touches": "uses folded",
    "merged_segments": "segments merged",
    "written_rows": "memories written to segments",
    "written_bytes": "bytes written to segments",
    "archived_entries": "changes moved to the archive",
    "deleted_objects": "objects deleted",
    "segments": "segments now",
}
_PLANNED = ("folded_entries", "folded_touches", "merged_segments", "segments")


def compact(client: Client, *, force: bool, dry_run: bool) -> str:
    """Call the service.

    Parameters
    ----------
    force : bool
        Fold the log's tail however short it is.
    dry_run : bool
        Only tell what would be done first.

    Returns
    -------
    str
        Lines to print.

    Raises
    ------
    LocalCloudError
        If the service does not answer, or not with what was asked for.
    """
    return report(client.user, client.call("POST", "/maintenance", {"force": force, "dry_run": dry_run}))


def report(user: str, answer: Mapping[str, Any]) -> str:
    """Write an answer of the service as lines to print."""
    done = answer["compaction"]
    names = _PLANNED if answer["dry_run"] else _WORDS
    first = f"{user}: this would be done first" if answer["dry_run"] else f"{user}: done"
    return "\n".join([first, *(f"{done[name]:>12,}  {_WORDS[name]}" for name in names)])
