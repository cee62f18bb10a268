"""Which route a path means and which user it names. Pure.

An HTTP API hands over ``rawPath`` decoded, except that ``%25`` stays ``%25``; so one last replacement makes it
decoded exactly once. A user id may hold anything, slashes too: the known ends of paths are matched from the right,
and what is before them is the id. Only a path with no known end is a user alone. So a user whose id itself ends like
a path (``a/stats``) has everything but the path of the user alone: ``/v1/users/a/stats`` are the stats of ``a``.
For the router all of it is quoted again.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

USER_PREFIX = "/v1/users/"
USER_PARAMETER = "<user_id>"


@dataclass(frozen=True, slots=True)
class Located:
    """A path that names a user.

    Parameters
    ----------
    user_id : str
        Decoded.
    path : str
        The path, quoted.
    """

    user_id: str
    path: str


def end_of(rule: str) -> str | None:
    """Give the pattern of a rule's end after the user id, ``None`` for a rule without a user id."""
    start = USER_PREFIX + USER_PARAMETER
    if not rule.startswith(start):
        return None
    return re.sub(r"<\w+>", "[^/]+", rule.removeprefix(start))


def parameters_of(rule: str) -> list[str]:
    """Name the parameters in a rule, in order."""
    return re.findall(r"<(\w+)>", rule)


def template_of(rule: str) -> str:
    """Write a rule as the API's description does: ``/v1/users/{user_id}``."""
    return re.sub(r"<(\w+)>", r"{\1}", rule)


def locate(raw_path: str, ends: Sequence[str]) -> Located | None:
    """Split a path into user id and end.

    Parameters
    ----------
    raw_path : str
        As the gateway gives it.
    ends : sequence of str
        Patterns of all known ends; see `end_of`.

    Returns
    -------
    Located or None
        ``None`` if it does not name a user, or has no known end.
    """
    path = raw_path.replace("%25", "%")
    match = re.fullmatch(f"{USER_PREFIX}(.+)({'|'.join(end for end in ends if end)})", path, re.DOTALL)
    if match is None and "" in ends:
        match = re.fullmatch(f"{USER_PREFIX}(.+)()", path, re.DOTALL)
    if match is None:
        return None
    user_id, end = match.groups()
    return Located(user_id, USER_PREFIX + quote(user_id, safe="") + quote(end))


def methods_at(path: str, rules: Mapping[tuple[str, str], str]) -> list[str]:
    """List the methods that any rule takes at a path.

    Parameters
    ----------
    rules : mapping of (method, rule) to operation
    """
    found = {method for method, rule in rules if _matches(rule, path)}
    return sorted(found)


def operation_at(method: str, path: str, rules: Mapping[tuple[str, str], str]) -> str:
    """Name the operation that a method and path mean, ``unknown`` if none."""
    for (rule_method, rule), operation in rules.items():
        if rule_method == method and _matches(rule, path):
            return operation
    return "unknown"


def _matches(rule: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"<\w+>", "[^/]+", rule), path) is not None
