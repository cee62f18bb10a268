"""Calls the running local service as a user."""

import http.client
import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from infra.local.errors import LocalCloudError

_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Client:
    """One user's way into the API.

    Parameters
    ----------
    api_url : str
        Without a slash at its end.
    token : str
        Of the user.
    """

    api_url: str
    token: str = field(repr=False)
    user: str

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Call the service below the user's path.

        Parameters
        ----------
        path : str
            Begins with a slash.

        Returns
        -------
        Any
            The parsed answer.

        Raises
        ------
        LocalCloudError
            If the service does not answer, or not with what was asked for.
        """
        request = urllib.request.Request(  # noqa: S310 - HTTP on loopback
            f"{self.api_url}/v1/users/{quote(self.user, safe='')}{path}",
            None if body is None else json.dumps(body).encode(),
            {"authorization": f"Bearer {self.token}", "content-type": "application/json"},
            method=method,
        )
        try:
            with _NO_PROXY.open(request, timeout=_TIMEOUT_S) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise LocalCloudError(f"the service answered {error.code}: {_detail(error)}") from error
        except (OSError, http.client.HTTPException) as error:
            raise LocalCloudError("the service does not answer: start it with `make run`") from error


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read())["detail"])
    except (ValueError, KeyError, TypeError):
        return error.reason
