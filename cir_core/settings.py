"""All settings. This is the only module that reads the environment.

Each is an environment variable with the prefix ``CIRQUE_`` (``HOST`` and ``PORT`` are
also read without it, as hosting platforms set them); ``docs/settings.md`` lists them.
"""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from cir_core.errors import SettingsError
from cir_core.support.texts import quoted
from cir_core.types.domains import Domain

_EMPTY_HOME = "it is set, but empty. Name a folder, or unset it for the default one"


def default_home() -> Path:
    """Platform-specific default folder for user data. Raises :class:`SettingsError` if ``CIRQUE_HOME`` is empty: a
    script whose variable is unset (``CIRQUE_HOME=$DATA``) would otherwise work on the default folder."""
    if any(name.upper() == "CIRQUE_HOME" and not value for name, value in os.environ.items()):
        raise SettingsError(f"CIRQUE_HOME: {_EMPTY_HOME}. See docs/settings.md.")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "cirque"
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/cirque"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "cirque"


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="CIRQUE_", populate_by_name=True, extra="ignore",
                                      env_ignore_empty=True)

    home: Path = Field(default_factory=default_home, description="Folder for database, galleries, caches.")
    host: str = Field("127.0.0.1", validation_alias=AliasChoices("CIRQUE_HOST", "HOST"),
                      description="Address the web app listens on.")
    port: int = Field(7860, ge=0, le=65535, validation_alias=AliasChoices("CIRQUE_PORT", "PORT"),
                      description="Port the web app listens on; 0 picks a free one.")
    database_url: str = Field("", description="SQLAlchemy URL; empty means SQLite in the home folder.")
    gallery: str = Field("atelier", description="Gallery the search screen opens with.")
    device: str = Field("auto", description="auto, cpu, cuda, cuda:0, mps.")
    precision: str = Field("auto", description="auto, fp32, fp16, bf16.")
    allow_downloads: bool = Field(False, description="Let encoders fetch weights from a hub.")
    photo_encoder: str = Field("ViT-B-32/openai", description="Encoder that the app offers to download for photos.")
    max_image_megapixels: float = Field(64.0, gt=0, description="Larger images are refused before decoding.")
    max_upload_mb: int = Field(25, gt=0, description="Larger uploads are refused.")
    uploads_per_day: int = Field(1000, ge=0, description="Images one person may upload a day; 0: no limit.")
    upload_mb_per_day: int = Field(2000, ge=0, description="MB one person may upload a day; 0: no limit.")
    decode_memory_mb: int = Field(400, ge=16, description="Memory for decoding images, all together.")
    max_turns: int = Field(6, ge=1, description="Planned turns of a session; more are allowed.")
    seed: int = Field(20261121, description="Random seed.")
    sign_in_days: float = Field(14.0, gt=0, le=400, description="Days of inactivity after which a sign-in expires.")
    trusted_proxies: str = Field("", description="Addresses of trusted reverse proxies, comma-separated.")
    log: Literal["text", "json"] = Field("text", description="Form of the log on standard error.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "warning", description="Minimum log level; info logs every request.")
    metrics: bool = Field(False, description="Serve Prometheus metrics at /metrics.")
    metrics_from: str = Field("", description="Addresses that may read them, comma-separated.")
    metrics_token: SecretStr = Field(SecretStr(""), description="Bearer token that allows reading them from anywhere.")
    grace_seconds: float = Field(8.0, ge=0, le=600, description="Time for running requests to finish at shutdown.")
    min_free_mb: float = Field(200.0, ge=0, description="Free disk space below which /readyz warns.")
    mcp: bool = Field(False, description="Also serve the named calls as MCP tools (extra: mcp).")
    relevance: str = Field("bundled", description="Relevance model (CIRQRS): bundled, a folder, or off.")
    methods: Path | None = Field(None, description="TOML file with your own methods.")
    domain: Domain = Field("garment", description="What the images show; determines the wording of prompts.")
    captioner: str = Field("", description="Local captioning model: blip:/path/to/checkpoint.")
    llm_base_url: str = Field("", description="URL of an OpenAI-compatible server; empty: built-in model.")
    llm_model: str = Field("", description="Model on that server.")
    llm_api_key: SecretStr = Field(SecretStr(""), description="API key, if the server requires one.")
    llm_temperature: float = Field(0.0, ge=0, le=2, description="Sampling temperature.")
    llm_timeout: float = Field(60.0, gt=0, description="Seconds to wait for the next piece of an answer.")
    llm_connect_timeout: float = Field(5.0, gt=0, description="Seconds to wait for a connection.")
    llm_retries: int = Field(3, ge=0, le=20, description="Retries after the first attempt.")
    llm_concurrency: int = Field(4, ge=1, description="Concurrent requests.")
    llm_image_edge: int = Field(512, ge=32, le=4096, description="Longer edge of images sent, in pixels.")
    llm_max_reply_mb: float = Field(4.0, gt=0, le=1024, description="Larger replies of that server are dropped.")
    llm_sees: bool = Field(True, description="Whether the model accepts images.")
    llm_prompt_price: float | None = Field(None, ge=0, description="Price per million prompt tokens.")
    llm_completion_price: float | None = Field(None, ge=0, description="Price per million completion tokens.")

    @field_validator("home", mode="before")
    @classmethod
    def _not_blank(cls, value: object) -> object:
        if isinstance(value, str) and not value.strip():
            raise ValueError(_EMPTY_HOME)
        return value

    @field_validator("log", "log_level", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @field_validator("trusted_proxies", "metrics_from")
    @classmethod
    def _addresses(cls, value: str) -> str:
        """"*" is refused: any visitor could then forge their address."""
        parts = [part.strip() for part in value.split(",") if part.strip()]
        for part in parts:
            try:
                ipaddress.ip_network(part)
            except ValueError:
                raise ValueError(f"{quoted(part)} is no IP address (127.0.0.1) and no network (10.0.0.0/8)") from None
        return ",".join(parts)

    @property
    def has_display(self) -> bool:
        """Whether a browser window can be opened on this machine."""
        if sys.platform in ("win32", "darwin"):
            return "SSH_CONNECTION" not in os.environ
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))

    @property
    def uploads(self) -> Path:
        return self.home / "uploads"

    @property
    def upload_counts(self) -> Path:
        return self.home / "upload-counts"

    @property
    def resolved_database_url(self) -> str:
        return self.database_url or f"sqlite:///{self.home / 'cirque.db'}"


def environment_with(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment for a subprocess: this process's plus ``variables``."""
    return {**os.environ, **variables}


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """The process's settings. Raises :class:`SettingsError` naming the invalid variable."""
    try:
        settings = Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "CIRQUE_" + str(first["loc"][0]).upper().removeprefix("CIRQUE_")
        said = first["msg"].removeprefix("Value error, ")
        raise SettingsError(f"{name}: {said}. See docs/settings.md.") from error
    return settings.model_copy(update={"home": settings.home.expanduser().absolute()})
