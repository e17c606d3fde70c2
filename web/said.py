"""What is said of an error to a browser: the sentence, without what only the server's own people are to know.

Sentences are written for whoever runs cirque, too, and may name folders in full. Of those a browser gets the last
part: "/srv/cirque/demo" is "demo" there. An error of storage has a sentence of its own for browsers.
"""

from __future__ import annotations

import logging
import re

from cir_core.errors import CirqueError, QuotaExceeded, StorageError, TryLater

_log = logging.getLogger("cirque.storage")

# A database server's URL with a name in it; then paths from the root of a disk, of two parts or more.
_URL = re.compile(r"\b[\w+]+://\S*@[^\s/]*/")
_QUOTED = re.compile(r"(“[^”]*”)")    # what somebody wrote is said back as it was
_PATH = re.compile(r"""(?<![\w./:\\-])(?:[A-Za-z]:)?[/\\](?:[^\s/\\'"“”()<>]+[/\\])+""")


def said(error: CirqueError) -> str:
    """The sentence of ``error`` for a browser. What keeps cirque from storing goes to the log in full: the person who
    reads it there can do something about it."""
    text = str(error)
    if isinstance(error, StorageError):
        _log.warning("%s", error, exc_info=_log.isEnabledFor(logging.DEBUG))
        text = error.told
    parts = _QUOTED.split(text)
    return "".join(part if number % 2 else _PATH.sub("", _URL.sub("", part)) for number, part in enumerate(parts))


def status_of(error: CirqueError, usual: int) -> int:
    """503 for what cannot be stored or decoded now, 429 for what is too much, ``usual`` for what was wrong with the
    request."""
    if isinstance(error, QuotaExceeded):
        return 429
    return 503 if isinstance(error, StorageError | TryLater) else usual


def retry_after(error: CirqueError) -> dict[str, str]:
    """The header that tells when to try again, where that is known."""
    return {"Retry-After": str(error.seconds)} if isinstance(error, TryLater) else {}
