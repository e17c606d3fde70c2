"""All settings. This is the only module that reads the environment.

Each is an environment variable with the prefix ``CIRQUE_`` (``HOST`` and ``PORT`` are
also read without it, as hosting platforms set them); ``docs/reference/settings.md`` lists them.
"""

from __future__ import annotations

import ipaddress
import os
import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from cir_core.errors import SettingsError
from cir_core.support import addresses
from cir_core.support.texts import quoted
from cir_core.types.methods import Domain  # without NumPy: see quiet_threads

# Limits of each visitor of a public demo, unless others are set.
_OF_A_DEMO: Mapping[str, int] = {"max_upload_mb": 10, "uploads_per_day": 50, "upload_mb_per_day": 100}
_EMPTY_HOME = "it is set, but empty. Name a folder, or unset it for the default one"


def quiet_threads() -> None:
    """Let the threads of PyTorch and NumPy sleep while they have nothing to do, unless the environment says otherwise.
    By default they spin, which takes half of the processor time where others work, too. Call it before either is
    loaded."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")    # 2^4 ticks of the clock instead of 2^26


def default_home() -> Path:
    """Platform-specific default folder for user data. Raises :class:`SettingsError` if ``CIRQUE_HOME`` is empty: a
    script whose variable is unset (``CIRQUE_HOME=$DATA``) would otherwise work on the default folder."""
    if any(name.upper() == "CIRQUE_HOME" and not value for name, value in os.environ.items()):
        raise SettingsError(f"CIRQUE_HOME: {_EMPTY_HOME}. See docs/reference/settings.md.")
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "cirque"
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/cirque"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "cirque"


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="CIRQUE_", populate_by_name=True, extra="ignore",
                                      env_ignore_empty=True)

    home: Path = Field(default_factory=default_home,
        description="Folder for the database, galleries, uploads and caches.")
    host: str = Field("127.0.0.1", validation_alias=AliasChoices("CIRQUE_HOST", "HOST"),
        description="Address to listen on. `0.0.0.0` opens cirque to the network; this needs an account first.")
    port: int = Field(7860, ge=0, le=65535, validation_alias=AliasChoices("CIRQUE_PORT", "PORT"),
        description="Port; `0` picks a free one. If it is in use, cirque exits.")
    database_url: str = Field("", description="A SQLAlchemy URL; empty means SQLite in the home folder.")
    gallery: str = Field("atelier", description="Gallery that the search screen opens.")
    index_folder: Path | None = Field(None,
        description="Folder below which admins may index on the page *Jobs*.")
    device: str = Field("auto", description="`auto`, `cpu`, `cuda`, `cuda:0`, `mps`.")
    precision: str = Field("auto", description="`auto`, `fp32`, `fp16`, `bf16`.")
    text_batch: int = Field(0, ge=0, le=64,
        description="Waiting texts encoded per pass, 1 to 64. 0: 16 on a GPU, 1 on a CPU.")
    allow_downloads: bool = Field(False,
        description="Let encoders download weights. Otherwise only `cirque encoders fetch SPEC` does.")
    photo_encoder: str = Field("ViT-B-32/openai",
        description="Encoder that *Get an encoder for photos* offers, as `MODEL/TAG` of open_clip.")
    max_image_megapixels: float = Field(64.0, gt=0, description="Larger images are refused before decoding.")
    max_upload_mb: int = Field(25, gt=0, description="Larger uploads are refused.")
    max_study_upload_mb: int = Field(4096, gt=0, description="Files of a new study in total.")
    uploads_per_day: int = Field(1000, ge=0,
        description="Images a person may upload per day (UTC); `0`: no limit.")
    upload_mb_per_day: int = Field(2000, ge=0,
        description=(
            "MB (2²⁰ bytes) a person may upload per day, including rejected ones; `0`: no limit. Without "
            "accounts, everybody is one person."))
    decode_memory_mb: int = Field(400, ge=16,
        description="MB for images decoded at the same time; others wait. A larger image is decoded alone.")
    max_turns: int = Field(6, ge=1, description="Planned turns of a session (CIRCLED: six). A person may go on.")
    seed: int = Field(20261121, description="Random seed of evaluations.")
    sign_in_days: float = Field(14.0, gt=0, le=400,
        description="A sign-in ends this many days after its last use.")
    trusted_proxies: str = Field("",
        description=(
            "Addresses or networks of proxies, comma-separated, such as `127.0.0.1` or `10.0.0.0/8`. Only their "
            "`X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix` are believed."))
    public_url: str = Field("",
        description=(
            "Public address, such as `https://lab.example.org/tools/cirque`: cirque is served at its path and "
            "answers under its name only."))
    allowed_hosts: str = Field("",
        description=(
            "Names under which cirque answers, comma-separated, such as `lab.example.org,*.example.org`; others "
            "get 400, except this machine's own, `/healthz`, `/readyz` and `/metrics`. Empty, without a public "
            "address: any name."))
    webhook_hosts: str = Field("",
        description=(
            "Receivers of webhooks in your own network, comma-separated: `HOST:PORT`, `HOST` for ports 80 and 443, or "
            "`HOST:*`. All others need https and a public address."))
    frame_ancestors: str = Field("",
        description=(
            "Origins of sites that may frame cirque, comma-separated, such as `https://*.example.org`; `self` is"
            " this site. Signing in there needs https."))
    public_demo: bool = Field(False, description="Search only, for strangers, without accounts, on any address.")
    demo_searches_per_minute: int = Field(20, ge=1,
        description=(
            "A visitor's searches per minute. Other requests are limited in proportion, as for at least 10 "
            "searches, which a page needs."))
    demo_language_model: bool = Field(False,
        description=(
            "Let visitors use the connected language model, at your cost. Otherwise a public demo with "
            "`CIRQUE_LLM_BASE_URL` does not start."))
    log: Literal["text", "json"] = Field("text", description="Form of the log: `text` or `json`.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "warning",
        description="`debug`, `info` (every request), `warning` or `error`. `debug` may quote what people wrote.")
    metrics: bool = Field(False, description="Serve `/metrics` for Prometheus; needs one of the next two.")
    metrics_from: str = Field("", description="Addresses or networks that may read `/metrics`.")
    metrics_token: SecretStr = Field(SecretStr(""), description="Bearer token for `/metrics`.")
    grace_seconds: float = Field(8.0, ge=0, le=600,
        description="Time for accepted requests to finish at a stop.")
    min_free_mb: float = Field(200.0, ge=0,
        description="Below this free disk space, `/readyz` and the log warn.")
    accel_redirect: str = Field("",
        description=(
            "Internal location of nginx for the home folder, such as `/cirque-home/`, so that nginx sends "
            "images. Requests that bypass it get empty images."))
    milvus_token: SecretStr = Field(SecretStr(""),
        description="Credentials: `NAME:PASSWORD` or an API key.")
    milvus_timeout: float = Field(10.0, gt=0, le=600,
        description="Seconds for a call or connection.")
    mcp: bool = Field(False, description="Also serve MCP tools (extra `mcp`).")
    relevance: str = Field("bundled",
        description=(
            "Relevance model (CIRQRS): `bundled`, a folder, or `off`. "
            "Without `cirque relevance index`, features stay in memory, 16 KB per image."))
    methods: Path | None = Field(None,
        description="TOML file of your own methods.")
    domain: Domain = Field("garment",
        description=(
            "What galleries show, for requests to language models: `garment`, `dress`, `shirt`, `toptee`, "
            "`scene` (anything), `circo` (everyday photos). Data sets with a domain override it."))
    captioner: str = Field("",
        description="Local captioning model, used instead of the language model: `blip:/path/to/checkpoint`.")
    llm_base_url: str = Field("",
        description="Base URL of an OpenAI-compatible server, usually ending in `/v1`. Empty: built-in model.")
    llm_model: str = Field("", description="Model on that server. Set both or neither.")
    llm_api_key: SecretStr = Field(SecretStr(""),
        description="API key, if required.")
    llm_temperature: float = Field(0.0, ge=0, le=2,
        description="Sampling temperature; alternative captions use at least 0.9.")
    llm_timeout: float = Field(60.0, gt=0,
        description=(
            "Seconds to wait for the next chunk of a reply; all attempts together take at most three times that."))
    llm_connect_timeout: float = Field(5.0, gt=0, description="Seconds to wait for a connection.")
    llm_retries: int = Field(3, ge=0, le=20,
        description="Retries when the server is busy (429), fails (5xx), is silent or breaks off.")
    llm_concurrency: int = Field(4, ge=1, description="Parallel requests; more wait.")
    llm_image_edge: int = Field(512, ge=32, le=4096,
        description="Longer edge in pixels of images sent.")
    llm_max_reply_mb: float = Field(4.0, gt=0, le=1024,
        description="Maximum reply in MB (2²⁰ bytes); a longer one counts as a server failure.")
    llm_sees: bool = Field(True,
        description="The model accepts images. `false`: it gets captions of the built-in model or `CIRQUE_CAPTIONER`.")
    llm_prompt_price: float | None = Field(None, ge=0,
        description="Price of a million prompt tokens.")
    llm_completion_price: float | None = Field(None, ge=0,
        description="Price of a million completion tokens. Both prices are needed to show costs.")
    ray_storage: str = Field("",
        description=(
            "Folder or URL (`s3://bucket/prefix`) shared by all machines of a Ray cluster. Empty: the gallery's "
            "folder."))
    ray_cpus: int = Field(0, ge=0,
        description=(
            "Processors and threads of a worker. 0: PyTorch's threads where the command runs; only then are "
            "vectors identical to the last bit."))
    ray_gpus: float = Field(0.0, ge=0,
        description="GPUs of a worker; a fraction, such as 0.25, if shared.")

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
                raise ValueError(f"{quoted(part)} is neither an IP address (127.0.0.1) nor a network "
                                 "(10.0.0.0/8)") from None
        return ",".join(parts)

    @field_validator("accel_redirect")
    @classmethod
    def _location(cls, value: str) -> str:
        value = value.strip()
        if value and not re.fullmatch(r"/[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*/?", value):
            raise ValueError(f"{quoted(value)} is not a location of nginx, such as /cirque-home/")
        return f"{value.rstrip('/')}/" if value else ""

    @field_validator("public_url")
    @classmethod
    def _url(cls, value: str) -> str:
        return addresses.public_url(value) if value.strip() else ""

    @field_validator("allowed_hosts")
    @classmethod
    def _hosts(cls, value: str) -> str:
        return ",".join(addresses.allowed_hosts(value))

    @field_validator("frame_ancestors")
    @classmethod
    def _ancestors(cls, value: str) -> str:
        return ",".join(addresses.frame_ancestors(value))

    @model_validator(mode="after")
    def _demo(self) -> Self:
        """A public demo gives strangers as little as it can, and keeps its sessions apart from those of the home."""
        if not self.public_demo:
            return self
        for name, why in (
            ("database_url", "a public demo has a database of its own in the home folder, which it empties at each "
                             "start; unset CIRQUE_DATABASE_URL"),
            ("mcp", "a public demo answers no calls of programs; unset CIRQUE_MCP"),
            ("metrics", "a public demo serves no metrics; unset CIRQUE_METRICS"),
            ("allow_downloads", "visitors of a public demo must not start downloads; unset CIRQUE_ALLOW_DOWNLOADS"),
        ):
            if getattr(self, name):
                raise ValueError(why)
        if self.log_level == "debug":
            raise ValueError("CIRQUE_LOG_LEVEL=debug may quote what visitors write; use info")
        if self.llm_base_url.strip() and not self.demo_language_model:
            raise ValueError("visitors would use the language model of CIRQUE_LLM_BASE_URL at your cost; unset it, or "
                             "allow it with CIRQUE_DEMO_LANGUAGE_MODEL=true")
        for name, smaller in _OF_A_DEMO.items():
            if name not in self.model_fields_set:
                object.__setattr__(self, name, smaller)
        return self

    @property
    def root_path(self) -> str:
        """Path of ``public_url``, without a slash at its end; "" for the root, or if it is not known."""
        return urlsplit(self.public_url).path

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names under which the app answers; none: under any."""
        known = urlsplit(self.public_url).hostname or ""
        return addresses.allowed_hosts(self.allowed_hosts or known)

    @property
    def webhook_receivers(self) -> tuple[str, ...]:
        """Hosts without a public address that webhooks may be sent to."""
        return tuple(host.strip() for host in self.webhook_hosts.split(",") if host.strip())

    @property
    def framing_sites(self) -> tuple[str, ...]:
        """Sources of the ``frame-ancestors`` policy; empty: no site may."""
        return addresses.frame_ancestors(self.frame_ancestors)

    @property
    def has_display(self) -> bool:
        """Whether a browser window can be opened on this machine."""
        if sys.platform in ("win32", "darwin"):
            return "SSH_CONNECTION" not in os.environ
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))

    @property
    def data(self) -> Path:
        """The folder of what people leave: the home folder; of a public demo one inside it."""
        return self.home / "public-demo" if self.public_demo else self.home

    @property
    def uploads(self) -> Path:
        return self.data / "uploads"

    @property
    def upload_counts(self) -> Path:
        return self.data / "upload-counts"

    @property
    def resolved_database_url(self) -> str:
        return self.database_url or f"sqlite:///{self.data / 'cirque.db'}"


def environment_with(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment for a subprocess: this process's plus ``variables``."""
    return {**os.environ, **variables}


def prepare_for_ray() -> None:
    """Before Ray is imported: it reports how it is used to its makers unless it is told not to, and prints a paragraph
    for each worker that dies. A cluster asks for the token that its head found when it was started, and Ray (2.60)
    does not send it to a cluster whose address it is given; one that asks for none ignores it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    named = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    if named or (Path.home() / ".ray" / "auth_token").exists():
        os.environ.setdefault("RAY_AUTH_MODE", "token")


def is_first_process() -> bool:
    """Whether no launcher of several processes (``accelerate launch``) made this one the second or a later one."""
    return os.environ.get("RANK", "0") == "0"


@lru_cache(maxsize=1)
def get_settings() -> Settings:
    """The process's settings. Raises :class:`SettingsError` naming the invalid variable."""
    try:
        settings = Settings()
    except ValidationError as error:
        first = error.errors()[0]
        # What the settings together do not allow has no name; there is one such check.
        name = "CIRQUE_" + str(next(iter(first["loc"]), "PUBLIC_DEMO")).upper().removeprefix("CIRQUE_")
        said = first["msg"].removeprefix("Value error, ")
        raise SettingsError(f"{name}: {said}. See docs/reference/settings.md.") from error
    return settings.model_copy(update={"home": settings.home.expanduser().absolute()})
