"""The local identity provider: one key in the data directory, and the two documents that publish it.

The emulator serves the documents itself (see ``child.py``), so there is no second port and no second
server. The key outlives runs, so a token stays good over a restart; tokens can be issued while nothing runs.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path

from infra.local import tokens

ISSUER_PATH = "/_recollect/issuer"
_KEY_FILE = "issuer.pem"


@dataclass(frozen=True, slots=True)
class Issuer:
    """Signs tokens for the gateway at one port.

    Parameters
    ----------
    key : str
        Private key, PEM.
    url : str
        The issuer's address, and so the ``iss`` of every token.
    """

    key: str
    url: str

    @classmethod
    def at(cls, data_dir: Path, port: int) -> "Issuer":
        """Open the issuer of a data directory; its key is made on first use.

        Parameters
        ----------
        data_dir : Path
            Where the key is kept; made when missing.
        port : int
            The emulator's port.

        Returns
        -------
        Issuer
        """
        return cls(_read_or_make_key(data_dir / _KEY_FILE), f"http://127.0.0.1:{port}{ISSUER_PATH}")

    def token(self, user: str, *, hours: float = 12, service: bool = False) -> str:
        """Issue a token that the gateway accepts from now on.

        Parameters
        ----------
        user : str
            The user it speaks for.
        hours : float
            Its life.
        service : bool
            Give the scope that may act for any user.

        Returns
        -------
        str
            A compact JWS.
        """
        now = int(time.time())
        claims = tokens.claims_for(user, self.url, now=now, hours=hours, service=service)
        return tokens.issue_token(self.key, claims)

    def documents(self) -> dict[str, str]:
        """Publish the key, as OpenID Connect discovery wants it.

        Returns
        -------
        dict
            JSON text by path on the emulator.
        """
        keys_path = f"{ISSUER_PATH}/.well-known/jwks.json"
        discovery = {
            "issuer": self.url,
            "jwks_uri": self.url + keys_path.removeprefix(ISSUER_PATH),
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }
        return {
            f"{ISSUER_PATH}/.well-known/openid-configuration": json.dumps(discovery),
            keys_path: json.dumps(tokens.jwks(self.key)),
        }


def _read_or_make_key(path: Path) -> str:
    if path.exists():
        return path.read_text()
    path.parent.mkdir(parents=True, exist_ok=True)
    key = tokens.new_key()
    draft = path.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text(key)
    draft.replace(path)
    return key
