"""Who asks, and for whom they may. Pure: reads only what the gateway's authorizer has put into the event.

Identity never comes from a body or a header. What is not known to be allowed is not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ANY_USER_SCOPE = "recollect/any-user"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.

    Parameters
    ----------
    subject : str
        The token's ``sub``, or the ARN of an IAM principal.
    is_service : bool
        Whether the caller may act for any user.
    """

    subject: str
    is_service: bool

    def may_act_for(self, user_id: str) -> bool:
        """Tell whether this caller may touch that user's memories."""
        return self.is_service or self.subject == user_id


def caller_of(event: Mapping[str, Any]) -> Caller | None:
    """Read the caller out of an HTTP API event (payload format 2.0); ``None`` if the gateway names nobody."""
    authorizer = event.get("requestContext", {}).get("authorizer") or {}
    claims = (authorizer.get("jwt") or {}).get("claims") or {}
    subject = claims.get("sub")
    if isinstance(subject, str) and subject:
        return Caller(subject, ANY_USER_SCOPE in str(claims.get("scope", "")).split(" "))
    arn = (authorizer.get("iam") or {}).get("userArn")
    if isinstance(arn, str) and arn:
        return Caller(arn, is_service=True)
    return None
