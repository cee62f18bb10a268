"""Decides what a token says and signs it; knows no file, no clock and no network.

The gateway verifies what this module makes, so nothing here is trusted by the service.
"""

import base64
import hashlib
from collections.abc import Mapping

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

AUDIENCE = "recollect-local"
ANY_USER_SCOPE = "recollect/any-user"


def new_key() -> str:
    """Make an RSA signing key.

    Returns
    -------
    str
        The private key, PEM (PKCS #8, not encrypted).
    """
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def claims_for(user: str, issuer: str, *, now: int, hours: float = 12, service: bool = False) -> dict[str, object]:
    """Say who the bearer is, as an identity provider would.

    Parameters
    ----------
    user : str
        Becomes ``sub``.
    issuer : str
        Becomes ``iss``; the address under which the gateway finds the public key.
    now : int
        Epoch seconds.
    hours : float
        Life of the token.
    service : bool
        Give the scope that may act for any user.

    Returns
    -------
    dict
        The claims of a token that is valid from `now` on.
    """
    claims: dict[str, object] = {
        "iss": issuer,
        "aud": AUDIENCE,
        "sub": user,
        "iat": now,
        "exp": now + round(hours * 3600),
    }
    return {**claims, "scope": ANY_USER_SCOPE} if service else claims


def issue_token(key: str, claims: Mapping[str, object], *, key_id: str | None = None) -> str:
    """Sign claims with RS256.

    Parameters
    ----------
    key : str
        Private key, PEM.
    claims : mapping
        What the token says; nothing is added.
    key_id : str, optional
        ``kid`` of the header; the key's own id when left out.

    Returns
    -------
    str
        A compact JWS.
    """
    return jwt.encode(dict(claims), key, algorithm="RS256", headers={"kid": key_id or key_id_of(key)})


def key_id_of(key: str) -> str:
    """Name a key by its public half, so that the same key always has the same id."""
    return hashlib.sha256(_modulus(_public(key))).hexdigest()[:16]


def jwks(key: str) -> dict[str, object]:
    """Describe the public half of a key as a JSON Web Key Set.

    Parameters
    ----------
    key : str
        Private key, PEM.

    Returns
    -------
    dict
        A set with one signing key (RFC 7517).
    """
    public = _public(key)
    exponent = public.e.to_bytes(3, "big")
    return {
        "keys": [
            {
                "kty": "RSA",
                "use": "sig",
                "alg": "RS256",
                "kid": key_id_of(key),
                "n": _base64url(_modulus(public)),
                "e": _base64url(exponent),
            }
        ]
    }


def _public(key: str) -> rsa.RSAPublicNumbers:
    private = serialization.load_pem_private_key(key.encode(), password=None)
    if not isinstance(private, rsa.RSAPrivateKey):
        raise TypeError("the signing key is not an RSA key")
    return private.public_key().public_numbers()


def _modulus(public: rsa.RSAPublicNumbers) -> bytes:
    return public.n.to_bytes((public.n.bit_length() + 7) // 8, "big")


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
