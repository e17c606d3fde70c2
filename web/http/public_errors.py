"""What is said of an error to a browser: the sentence, without what only the server's own people are to know.

Sentences are written for whoever runs cirque, too, and may name folders in full. Of those a browser gets the last
part: "/srv/cirque/demo" is "demo" there. An error of storage has a sentence of its own for browsers.
"""

from __future__ import annotations

import logging
import re

from cir_core.errors import CirqueError, QuotaExceeded, StorageError, TryLater
from web.limits.session_limits import TooManyRequests

_log = logging.getLogger("cirque.storage")

MAX_SENTENCE = 4000    # characters; callers' texts in it are cut where it is composed (cir_core.support.texts.quoted)

# None of these patterns may need more than linear time, whatever the text: tests/unit/test_linear_patterns.py.
_QUOTED = re.compile(r"(“[^“”]*”)")    # what somebody wrote is said back as it was
# Paths from the root of a disk, of two parts or more.
_PATH = re.compile(r"""(?<![\w./:\\-])(?:[A-Za-z]:)?[/\\](?:[^\s/\\'"“”()<>]+[/\\])+""")
_WORD = re.compile(r"\S+")
_HOST = re.compile(r"""[^\s/'"“”()<>,;]*/?""")


def public_message(error: CirqueError) -> str:
    """The sentence of ``error`` for a browser. What keeps cirque from storing goes to the log in full: the person who
    reads it there can do something about it."""
    text = str(error)
    if isinstance(error, StorageError):
        _log.warning("%s", error, exc_info=_log.isEnabledFor(logging.DEBUG))
        text = error.told
    parts = _QUOTED.split(_capped(text))
    return "".join(part if number % 2 else _PATH.sub("", _WORD.sub(_without_credentials, part))
                   for number, part in enumerate(parts))


def status_of(error: CirqueError, usual: int) -> int:
    """503 for what cannot be stored or decoded now, 429 for what is too much, ``usual`` for what was wrong with the
    request."""
    if isinstance(error, QuotaExceeded | TooManyRequests):
        return 429
    return 503 if isinstance(error, StorageError | TryLater) else usual


def retry_after(error: CirqueError) -> dict[str, str]:
    """The header that tells when to try again, where that is known."""
    return {"Retry-After": str(error.seconds)} if isinstance(error, TryLater) else {}


def _capped(text: str) -> str:
    """At most :data:`MAX_SENTENCE` characters, and none of the word in which it was cut: half of a URL or of a path
    would not be recognised as one."""
    if len(text) <= MAX_SENTENCE:
        return text
    end = MAX_SENTENCE
    while end and not text[end].isspace():
        end -= 1
    return text[:end].rstrip() + " …"


def _without_credentials(word: re.Match[str]) -> str:
    """A word without the scheme, name, password and host of a URL in it: "at sqlite://me:pw@host/db" is "at db".
    URLs without a name stay."""
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
