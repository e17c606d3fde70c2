"""Server settings: address, model, limits. What ``cirque models check`` has found out about a model on its server,
kept in the home folder."""

from __future__ import annotations

import base64
import json
import logging
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from pydantic import TypeAdapter, ValidationError

from cir_core.errors import SettingsError
from cir_core.support.files import write_durably

_SECRET_LENGTH = 8  # placeholders for servers without keys ("EMPTY", "ollama") are shorter
_DATA_URL = re.compile(r"data:[\w/+.-]+;base64,[A-Za-z0-9+/=]*")
_USUAL_PORT = {"https": 443, "http": 80}
_HARMLESS = {"api-version": re.compile(r"[\w.-]{1,40}")}   # query parameters that hold no secret, with their values


@dataclass(frozen=True)
class Server:
    """A model on an OpenAI-compatible server. Times in seconds.

    ``base_url`` may contain a user name and password (sent as basic authentication if there
    is no key) and an ``api-version``; no other query parameter, for the HTTP library logs
    URLs. Neither these nor ``key`` are in ``repr`` or ``name``.
    """

    base_url: str = field(repr=False)
    model: str
    key: str = field(default="", repr=False)
    sees: bool = True
    temperature: float = 0.0
    timeout: float = 60.0           # until the next piece of an answer
    connect_timeout: float = 5.0
    retries: int = 3                # after the first attempt
    concurrency: int = 4            # simultaneous requests
    image_edge: int = 512           # pixels on the longer edge of images sent
    max_reply_mb: float = 4.0       # MB of 2**20 bytes; longer replies are dropped
    prompt_price: float | None = None       # per million tokens
    completion_price: float | None = None

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.base_url)
            usable = parts.scheme in _USUAL_PORT and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise SettingsError("CIRQUE_LLM_BASE_URL is not the address of a server. Write it like "
                                "https://api.openai.com/v1 or http://localhost:11434/v1.")
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            if name not in _HARMLESS or not _HARMLESS[name].fullmatch(value):
                raise SettingsError("CIRQUE_LLM_BASE_URL has a query parameter that may hold a key, and URLs are "
                                    "logged. Write the key into CIRQUE_LLM_API_KEY and leave the parameter out; only "
                                    "api-version is allowed.")
        if not re.fullmatch(r"[!-~]*", self.key):
            raise SettingsError("CIRQUE_LLM_API_KEY contains spaces, line breaks or characters that no key has. Copy "
                                "the key again.")

    @property
    def host(self) -> str:
        """Host, with the port unless it is the default."""
        parts = urlsplit(self.base_url)
        host = str(parts.hostname)
        host = f"[{host}]" if ":" in host else host
        return host if parts.port in (None, _USUAL_PORT[parts.scheme]) else f"{host}:{parts.port}"

    @property
    def name(self) -> str:
        return f"{self.model}@{self.host}"

    @property
    def url(self) -> str:
        """``base_url`` without user name, password, query string and fragment."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.base_url).query))

    @property
    def authorization(self) -> str | None:
        """Value of the Authorization header; None if there are no credentials."""
        parts = urlsplit(self.base_url)
        if self.key:
            return f"Bearer {self.key}"
        if parts.username or parts.password:
            pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
            return "Basic " + base64.b64encode(pair.encode()).decode()
        return None

    def redacted(self, text: str) -> str:
        """``text`` with keys, passwords and images removed, for messages, logs and answers."""
        parts = urlsplit(self.base_url)
        secrets = [self.key, unquote(parts.password or ""), parts.password or "",
                   (self.authorization or "").partition(" ")[2]]
        for secret in secrets:
            if len(secret) >= _SECRET_LENGTH:
                text = text.replace(secret, "[key]")
        return _DATA_URL.sub("[image]", text)


_FILE = "language-models.json"
_log = logging.getLogger("cirque.language")


@dataclass(frozen=True)
class Abilities:
    """What is known before the first request. What is not known, or has changed, the replies show."""

    refused: tuple[str, ...] = ()       # features of the API (:data:`~cir_core.language.openai.call.FEATURES`)
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
