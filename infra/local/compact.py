"""Compacts a user of the running local service, and tells in words what that did."""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from infra.local.errors import LocalCloudError

_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_TIMEOUT_S = 60
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


def compact(api_url: str, token: str, user: str, *, force: bool, dry_run: bool) -> str:
    """Call the service.

    Parameters
    ----------
    api_url : str
        Without a slash at its end.
    token : str
        Of the user.
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
    request = urllib.request.Request(  # noqa: S310 - HTTP on loopback
        f"{api_url}/v1/users/{quote(user, safe='')}/maintenance",
        json.dumps({"force": force, "dry_run": dry_run}).encode(),
        {"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    try:
        with _NO_PROXY.open(request, timeout=_TIMEOUT_S) as response:
            return report(user, json.load(response))
    except urllib.error.HTTPError as error:
        raise LocalCloudError(f"the service answered {error.code}: {_detail(error)}") from error
    except (OSError, http.client.HTTPException) as error:
        raise LocalCloudError("the service does not answer: start it with `make run`") from error


def report(user: str, answer: Mapping[str, Any]) -> str:
    """Write an answer of the service as lines to print."""
    done = answer["compaction"]
    names = _PLANNED if answer["dry_run"] else _WORDS
    first = f"{user}: this would be done first" if answer["dry_run"] else f"{user}: done"
    return "\n".join([first, *(f"{done[name]:>12,}  {_WORDS[name]}" for name in names)])


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read())["detail"])
    except (ValueError, KeyError, TypeError):
        return error.reason
