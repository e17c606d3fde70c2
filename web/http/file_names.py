"""Names of downloaded files."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

_LONGEST_NAME = 80


def file_stem(name: str) -> str:
    """A study's name as a file name that is valid on every system."""
    shown = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in unicodedata.normalize("NFC", name))
    plain = " ".join(re.sub(r'[<>:"/\\|?*%]', " ", shown).split())
    return plain[:_LONGEST_NAME].strip(" .") or "study"


def disposition(name: str) -> str:
    """Content-Disposition for a download (RFC 6266), with an ASCII fallback."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = " ".join(re.sub(r"[^\w .()-]", "", plain).split()) or "study"
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
