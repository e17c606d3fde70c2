"""Log lines on standard error: plain text, or a JSON object each.

What an exception says may quote what somebody wrote, so only its type and where it happened are logged, unless
``CIRQUE_LOG_LEVEL`` is ``debug``.

Own code: python-json-logger writes every extra field and the whole exception; of it only ``json.dumps`` would be left.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from cir_core.settings import Settings
from web.http.request_ids import request_id

FIELDS = ("method", "path", "status", "ms", "person")
"""Fields of a request's log line."""


def begin_logging(settings: Settings) -> None:
    """For the whole process. Other people's libraries are heard from a warning on."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    handler = logging.StreamHandler(sys.stderr)
    quoting = settings.log_level == "debug"
    handler.setFormatter(JsonLines(quoting) if settings.log == "json" else TextLines(quoting))
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)
    logging.getLogger("cirque").setLevel(level)
    logging.captureWarnings(True)


class TextLines(logging.Formatter):
    """Time, level, logger, the request's id, what happened; what went wrong below it."""

    def __init__(self, quoting: bool = False) -> None:
        super().__init__()
        self._quoting = quoting

    def format(self, record: logging.LogRecord) -> str:
        parts = (_time(record), record.levelname, record.name, request_id(), _one_line(record.getMessage()))
        trace = _trace(record, self._quoting)
        return "\n".join([" ".join(part for part in parts if part), *trace])


class JsonLines(logging.Formatter):
    """One object a line: time, level, logger, message, and request, error and trace where there are any."""

    def __init__(self, quoting: bool = False) -> None:
        super().__init__()
        self._quoting = quoting

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {"time": _time(record), "level": record.levelname.lower(), "logger": record.name,
                                "message": record.getMessage()}
        if identity := request_id():
            entry["request"] = identity
        entry |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if trace := _trace(record, self._quoting):
            entry |= {"error": trace[-1], "trace": trace}
        return json.dumps(entry, ensure_ascii=False, default=str)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _one_line(text: str) -> str:
    """Nobody begins a line of the log with what they send."""
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text)


def _trace(record: logging.LogRecord, quoting: bool) -> list[str]:
    error = record.exc_info[1] if record.exc_info else None
    lines: list[str] = []
    for one in reversed(_chain(error)):
        lines.append("Traceback (most recent call last):")
        lines += "".join(traceback.format_tb(one.__traceback__)).rstrip().splitlines()
        name = type(one).__name__
        lines.append(f"{name}: {_one_line(str(one))}" if quoting else name)
    return lines


def _chain(error: BaseException | None) -> list[BaseException]:
    """``error``, then what it came from."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found
