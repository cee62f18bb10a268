"""Maintains a user of the running local service now, and tells in words what that did."""

from collections.abc import Mapping, Sequence
from typing import Any

from infra.local.client import Client


def maintain(client: Client, *, steps: Sequence[str], force: bool, dry_run: bool) -> str:
    """Call the service.

    Parameters
    ----------
    steps : sequence of str
        Which; all of them if none is named.
    force : bool
        Do also what is not worth its cost yet.
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
    body = {"force": force, "dry_run": dry_run, **({"steps": list(steps)} if steps else {})}
    return report(client.user, client.call("POST", "/maintenance", body))


def report(user: str, answer: Mapping[str, Any]) -> str:
    """Write an answer of the service as lines to print."""
    first = f"{user}: this would be done first" if answer["dry_run"] else f"{user}: done"
    due = answer["next_due_at"]
    last = [] if answer["dry_run"] else [f"due again: {due or 'after the next change'}"]
    return "\n".join([first, *(_line(name, step) for name, step in answer["steps"].items()), *last])


def _line(name: str, step: Mapping[str, Any]) -> str:
    told = [f"{count:,} {what.replace('_', ' ')}" for what, count in step["counts"].items() if count]
    told += [f"{count:,} left alone: {why}" for why, count in step["skipped"].items()]
    told += [f"failed: {step['failure']}"] if step["failure"] else []
    return f"{name:>14}  {step['changed']:,} of {step['looked_at']:,} changed" + "".join(f"; {one}" for one in told)
