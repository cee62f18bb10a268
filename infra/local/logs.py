"""Decides how a log line of the service looks in a terminal. Pure: text in, text out."""

import json
import re
from collections.abc import Mapping
from datetime import datetime

_SHOWN_ELSEWHERE = frozenset({
    "timestamp", "operation", "status", "duration_ms", "user_id", "level", "message", "service",
    "request_id", "message_id", "correlation_id", "function_request_id", "function_arn", "function_name", "location",
    "function_memory_size", "cold_start", "xray_trace_id", "exception", "exception_name", "stack_trace",
})  # fmt: skip
_LINE_CHARACTERS = 400


def readable(line: str) -> str | None:
    """Turn one line of a function's output into a line for people.

    Parameters
    ----------
    line : str
        A JSON log line, a metric document, or anything else.

    Returns
    -------
    str or None
        None for lines that are for machines only (metrics, platform lines, blank ones).
    """
    if not line.strip() or re.match(r"(START|END|REPORT) RequestId:", line):
        return None
    try:
        entry = json.loads(line)
    except ValueError:
        return line
    if not isinstance(entry, dict):
        return line
    if "_aws" in entry:
        return None
    return _entry(entry)


def _entry(entry: Mapping[str, object]) -> str:
    if "operation" in entry and "status" in entry:
        said = f"{entry['operation']} {entry['status']} {_milliseconds(entry.get('duration_ms'))}"
        if entry.get("user_id") is not None:
            said += f" user={entry['user_id']}"
    else:
        said = str(entry.get("message", ""))
    level = str(entry.get("level", "INFO"))
    parts = [
        _clock(str(entry.get("timestamp", ""))),
        "" if level == "INFO" else level,
        said,
        "cold" if entry.get("cold_start") is True else "",
        *(f"{name}={_compact(value)}" for name, value in entry.items() if name not in _SHOWN_ELSEWHERE),
    ]
    text = " ".join(part for part in parts if part)[:_LINE_CHARACTERS]
    trace = entry.get("exception")
    return f"{text}\n{trace}" if trace else text


def _clock(timestamp: str) -> str:
    for parse in (datetime.fromisoformat, lambda text: datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f%z")):
        try:
            return parse(timestamp).strftime("%H:%M:%S")
        except ValueError:
            continue
    return timestamp


def _milliseconds(value: object) -> str:
    return f"{value:.0f} ms" if isinstance(value, (int, float)) else "? ms"


def _compact(value: object) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{name}:{_compact(part)}" for name, part in value.items()) or "-"
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
