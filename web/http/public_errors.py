"""Error messages that are safe to show in a browser: server paths and URLs are removed.

Messages are also written for administrators and may contain full paths. Browsers get the last part: "/srv/cirque/demo"
becomes "demo". Storage errors have separate public messages.
"""

from __future__ import annotations

import logging
import re

from cir_core.errors import CirqueError, IndexUnavailable, QuotaExceeded, StorageError, TryLater
from web.limits.gradio_limits import TooManyRequests

_log = logging.getLogger("cirque.storage")

MAX_SENTENCE = 4000    # characters; callers' texts in it are cut where it is composed (cir_core.support.texts.quoted)

# None of these patterns may need more than linear time, whatever the text: tests/unit/test_linear_patterns.py.
_QUOTED = re.compile(r"(“[^“”]*”)")    # what somebody wrote is said back as it was
# Paths from the root of a disk, of two parts or more.
_PATH = re.compile(r"""(?<![\w./:\\-])(?:[A-Za-z]:)?[/\\](?:[^\s/\\'"“”()<>]+[/\\])+""")
_WORD = re.compile(r"\S+")
_HOST = re.compile(r"""[^\s/'"“”()<>,;]*/?""")


def public_message(error: CirqueError) -> str:
    """Public message of ``error``. Storage errors are logged in full for the administrator."""
    text = str(error)
    if isinstance(error, StorageError):
        _log.warning("%s", error, exc_info=_log.isEnabledFor(logging.DEBUG))
        text = error.told
    parts = _QUOTED.split(_capped(text))
    return "".join(part if number % 2 else _PATH.sub("", _WORD.sub(_without_credentials, part))
                   for number, part in enumerate(parts))


def status_of(error: CirqueError, usual: int) -> int:
    """HTTP status: 503 if storage, decoding or the server of an index is unavailable, 429 for exceeded limits, else
    ``usual``."""
    if isinstance(error, QuotaExceeded | TooManyRequests):
        return 429
    return 503 if isinstance(error, StorageError | TryLater | IndexUnavailable) else usual


def retry_after(error: CirqueError) -> dict[str, str]:
    """Retry-After header, if the delay is known."""
    return {"Retry-After": str(error.seconds)} if isinstance(error, TryLater) else {}


def _capped(text: str) -> str:
    """Truncate to :data:`MAX_SENTENCE` characters at a word boundary: half a URL or path would not be recognised."""
    if len(text) <= MAX_SENTENCE:
        return text
    end = MAX_SENTENCE
    while end and not text[end].isspace():
        end -= 1
    return text[:end].rstrip() + " …"


def _without_credentials(word: re.Match[str]) -> str:
    """Strip scheme, credentials and host of a URL in a word: "at sqlite://me:pw@host/db" becomes "at db". URLs without
    credentials stay."""
    text = word[0]
    at = text.find("://")
    while at >= 0:
        begins = at
        while begins and (text[begins - 1].isalnum() or text[begins - 1] in "_+"):
            begins -= 1
        if begins < at:
            # A password may hold "@" and "/": the last "@" before a slash. Else one in front of any slash.
            host = text.rfind("@", at + 3, max(at + 3, text.rfind("/")))
            if host < 0 and "/" not in text[at + 3:]:
                host = text.rfind("@", at + 3)
            if host >= 0:
                after = _HOST.match(text, host + 1)
                return text[:begins] + text[after.end() if after else host + 1:]
            return text
        at = text.find("://", at + 3)
    return text
