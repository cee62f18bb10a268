"""Reads and writes JSON bodies: strict in what it takes, exact in numbers, no escapes for other scripts. Pure."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from recollect import strict_json
from recollect.errors import InvalidInput
from recollect.http.problems import BodyTooLarge, MalformedBody, UnsupportedMediaType

BODY_MAX_BYTES = 5_000_000  # below the 6 MB that a Lambda function is given
_JSON_TYPES = ("application/json", "application/merge-patch+json")


def read(event: Mapping[str, Any]) -> dict[str, Any]:
    """Bring the body of a gateway's event into the one form that the router knows.

    The gateway encodes what it does not take for text by base64, such as merge patches.

    Returns
    -------
    dict
        The parts of the event to replace.

    Raises
    ------
    UnsupportedMediaType, BodyTooLarge, MalformedBody
        If it is not said to be JSON, or too large, or not UTF-8.
    """
    headers = event.get("headers") or {}
    text = event.get("body") or ""
    if text:
        media_type = headers.get("content-type", "").split(";")[0].strip().lower()
        if media_type and media_type not in _JSON_TYPES:
            raise UnsupportedMediaType("send the body with the header content-type: application/json")
        sent = _decoded(text) if event.get("isBase64Encoded") else text.encode("utf-8", "surrogatepass")
        if len(sent) > BODY_MAX_BYTES:
            raise BodyTooLarge("the body is larger than 5 MB; send less in one request, or upload a large transcript")
        text = _text(sent)
    return {"headers": {**headers, "content-type": _JSON_TYPES[0]}, "body": text, "isBase64Encoded": False}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise MalformedBody("the body is said to be base64, and is not") from error


def _text(sent: bytes) -> str:
    try:
        return sent.decode()
    except UnicodeDecodeError as error:
        raise MalformedBody("the body is not UTF-8") from error


def loads(text: str) -> dict[str, Any]:
    """Parse a JSON object.

    Raises
    ------
    MalformedBody
        If it is not JSON.
    InvalidInput
        If it is not an object, a number is not finite, or the nesting is too deep.
    """
    try:
        value = strict_json.loads(text)
    except ValueError as error:
        raise MalformedBody("the body is not valid JSON; check quotes, commas and braces") from error
    if not isinstance(value, dict):
        raise InvalidInput("the body must be a JSON object; a batch is an object with `memories`")
    return value


def dumps(value: Any) -> str:
    """Write JSON, compact, with every script as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
