"""What ``cirque models check`` has found out about a model on its server, kept in the home folder."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cir_core.language.openai.server import Server
from cir_core.support.files import write_durably

_FILE = "language-models.json"
_log = logging.getLogger("cirque.language")


@dataclass(frozen=True)
class Abilities:
    """What is known before the first request. What is not known, or has changed, the replies show."""

    refused: tuple[str, ...] = ()       # features of the API (:data:`~cir_core.language.openai.dialect.FEATURES`)
    thinking: int = 0                   # tokens of an answer that it thinks with, besides those of the answer
    ceiling: int | None = None          # the most tokens of an answer
    sees: bool = True                   # takes images
    checked: str = ""                   # when, ISO 8601


def kept_in(home: Path) -> Path:
    return home / _FILE


def known(home: Path, server: Server) -> Abilities:
    """What was found out about this model, or nothing. A damaged file counts as none: the next check replaces it."""
    try:
        return TypeAdapter(Abilities).validate_python(_read(home).get(_key(server), {}))
    except ValidationError as error:
        _log.warning("%s is damaged, and ignored: run 'cirque models check' again. %s", kept_in(home), error)
        return Abilities()


def keep(home: Path, server: Server, found: Abilities) -> Path:
    """Raises ``OSError``."""
    content = {**_read(home), _key(server): asdict(found)}
    write_durably(kept_in(home), (json.dumps(content, indent=1, sort_keys=True) + "\n").encode())
    return kept_in(home)


def _key(server: Server) -> str:
    return f"{server.model} {server.url}"


def _read(home: Path) -> dict[str, Any]:
    try:
        content = json.loads(kept_in(home).read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        _log.warning("%s cannot be read, and is ignored: run 'cirque models check' again", kept_in(home))
        return {}
    return content if isinstance(content, dict) else {}
