"""Names of files to be downloaded."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

_LONGEST_NAME = 80


def file_stem(name: str) -> str:
    """A study's name, which may be anything, as every file system takes it."""
    shown = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in unicodedata.normalize("NFC", name))
    plain = " ".join(re.sub(r'[<>:"/\\|?*%]', " ", shown).split())
    return plain[:_LONGEST_NAME].strip(" .") or "study"


def disposition(name: str) -> str:
    """The Content-Disposition of a file to be kept (RFC 6266): plain letters for whoever reads no others."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = " ".join(re.sub(r"[^\w .()-]", "", plain).split()) or "study"
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
