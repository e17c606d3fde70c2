"""A Milvus server: its address, a connection that is made when it is needed and again after a failure, and its errors
in cirque's words.

Every call has a time limit. Credentials come from the settings only: an address is stored with galleries and shown.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from cir_core.errors import GalleryError, IndexUnavailable
from cir_core.settings import get_settings
from cir_core.support import addresses
from cir_core.support.texts import quoted, shortened

if TYPE_CHECKING:
    from pymilvus import MilvusClient

PORT = 19530
UNDERTAKING = 3600.0      # seconds a step of a build may take: flushing, loading
_NOT_FOUND, _NOT_LOADED = 100, 101    # codes of Milvus
_DATABASE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}\Z")
_T = TypeVar("_T")


class _Away(IndexUnavailable):
    """No connection."""


class NotLoaded(IndexUnavailable):
    """The server has the collection on disk only, as after its restart."""


class NotThere(IndexUnavailable):
    """The server has no such collection or alias."""


def address_of(text: str) -> str:
    """``http://host:19530`` or ``https://host/database`` in one spelling, with its port. Raises ``GalleryError``; the
    message has no credentials."""
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").casefold(), parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    if "@" in text:
        raise GalleryError("An address of Milvus is stored and shown, so it must not contain a name or a password. Put "
                           "them into CIRQUE_MILVUS_TOKEN (NAME:PASSWORD, or an API key), and give the address alone: "
                           f"milvus:http://HOST:{PORT}")
    database = parts.path.strip("/")
    if (parts.scheme not in ("http", "https") or parts.query or parts.fragment or not addresses.is_host(host)
            or (database and not _DATABASE.match(database))):
        raise GalleryError(f"{quoted(text)} is not the address of a Milvus server. It is http://HOST:{PORT}, or https "
                           "for encrypted connections, optionally with the name of a database after a slash. "
                           "Files of Milvus Lite are served by: milvus-lite server --host 127.0.0.1 --data-dir DIR")
    shown = f"[{host}]" if ":" in host else host
    port = port or (443 if parts.scheme == "https" else PORT)
    return f"{parts.scheme}://{shown}:{port}" + (f"/{database}" if database else "")


def check_installed() -> None:
    """Raises ``GalleryError`` unless the extra is installed."""
    from importlib.util import find_spec

    if find_spec("pymilvus") is None:
        raise GalleryError("Milvus needs the extra 'milvus': .venv/bin/pip install -e '.[milvus]'")


def server_at(address: str) -> MilvusServer:
    """The server of an address from :func:`address_of`, one for this process. Raises ``GalleryError`` without the
    extra."""
    check_installed()
    settings = get_settings()
    return _server(address, settings.milvus_token.get_secret_value(), settings.milvus_timeout)


@lru_cache(maxsize=16)
def _server(address: str, token: str, seconds: float) -> MilvusServer:
    return MilvusServer(address, token, seconds)


class MilvusServer:
    """``seconds``: the limit of a call, and of a connection. Thread-safe."""

    def __init__(self, address: str, token: str = "", seconds: float = 10.0) -> None:
        self.address, self.seconds = address, seconds
        self._token = token
        self._lock = threading.Lock()    # of connecting
        self._client: MilvusClient | None = None
        self._failed, self._failed_at = "", float("-inf")

    def call(self, do: Callable[[MilvusClient], _T]) -> _T:
        """``do`` with a connected client; it passes a ``timeout`` to every call. Raises ``IndexUnavailable``."""
        import grpc
        from pymilvus.exceptions import MilvusException

        client = self._connected()
        try:
            return do(client)
        except (MilvusException, grpc.RpcError) as error:
            explained = self._explained(error)
            if isinstance(explained, _Away):
                self._forget(client)
            raise explained from error

    def _connected(self) -> MilvusClient:
        if (client := self._client) is not None:
            return client
        asked = time.monotonic()
        with self._lock:
            if self._client is None:
                # Those who waited while another search tried in vain do not try one after the other.
                if asked <= self._failed_at:
                    raise IndexUnavailable(self._failed)
                try:
                    self._client = self._connect()
                except IndexUnavailable as error:
                    self._failed, self._failed_at = str(error), time.monotonic()
                    raise
            return self._client

    def _connect(self) -> MilvusClient:
        import grpc
        from pymilvus import MilvusClient
        from pymilvus.exceptions import MilvusException

        for name in ("pymilvus", "pymilvus.milvus_client"):   # it prints the traceback of every error that it raises
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            return MilvusClient(self.address, token=self._token, timeout=self.seconds, dedicated=True, grpc_options={
                # A new connection does not wait for the end of another one's pause after failures.
                "grpc.use_local_subchannel_pool": 1})
        except (MilvusException, grpc.RpcError) as error:
            raise self._explained(error) from error

    def _forget(self, client: MilvusClient) -> None:
        with self._lock:
            ours = self._client is client
            if ours:
                self._client = None
        if ours:
            client.close()

    def _explained(self, error: Exception) -> IndexUnavailable:
        import grpc

        statuses = {cause.code() for cause in _causes(error) if isinstance(cause, grpc.Call)}
        code, message = getattr(error, "code", None), _plain(error)
        if grpc.StatusCode.DEADLINE_EXCEEDED in statuses:
            return IndexUnavailable(f"The Milvus server at {self.address} took longer than {self.seconds:g} s. Try "
                                    "again in a moment; if it goes on, allow more with CIRQUE_MILVUS_TIMEOUT.")
        if statuses & {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED} or "auth check" in message:
            return IndexUnavailable(f"The Milvus server at {self.address} refused the credentials. Set "
                                    "CIRQUE_MILVUS_TOKEN to NAME:PASSWORD or an API key that may use it.")
        if code == _NOT_FOUND:
            return NotThere(message)
        if code == _NOT_LOADED:
            return NotLoaded(message)
        if statuses or code == 2:    # 2: it did not connect
            return _Away(
                f"The Milvus server at {self.address} does not answer. Start it, or check its address and the network. "
                "Searches of this gallery work again as soon as it answers; nothing else is affected.")
        said = shortened(message.replace(self._token, "…") if self._token else message, 300)
        return IndexUnavailable(f"The Milvus server at {self.address} failed: {said}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen = set[int]()   # pymilvus raises errors from themselves
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__


def _plain(error: Any) -> str:
    return " ".join(str(getattr(error, "message", error)).split())
