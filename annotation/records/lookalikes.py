"""Names that look the same although they are written with other characters.

Own code: confusable-homoglyphs takes digits for letters, and compares no two names.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

# Letters and the Latin letters they resemble. Our own selection: scripts whose letters can imitate Latin words.
_PAIRS = (
    # Cyrillic
    ("АВЕЅІЈКМНОРСТХУҮԚԜԌӀѴ", "ABESIJKMHOPCTXYYQWGIV"), ("аеѕіјкорсухүһԁԛԝԍӏѵьЬҺԀ", "aesijkopcyxyhdqwglvbbhd"),
    # Greek
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ", "ABEZHIKMNOPTYXCJ"), ("αγηικνορυχωϲϳ", "aynikvopuxwcj"),
    # Armenian
    ("օոսհցզյՕՍՏ", "onuhgqjOUS"),
    # Cherokee
    ("ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᎽᏀᏂᏃᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏳᏴ", "DRTiYAJEWMHYGhZbRWSVSLCPKdGB"),
    # Lisu
    ("ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPdDTGKJCZFMNLSRVHWXYAEIOU"),
    # Latin letters of other alphabets, and small capitals
    ("ɑɡıȷ", "agij"), ("ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ", "abcdeghijklmnoprtuvwyz"),
)
_LIKE = {ord(seen): like for seen_all, like_all in _PAIRS for seen, like in zip(seen_all, like_all, strict=True)}

# Unicode's default-ignorable code points other than control and format characters, and blank symbols.
_BLANK = frozenset(map(chr, (
    0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164, *range(0xFE00, 0xFE10), 0xFFA0,
    0x16FE4, 0x1D159, *range(0xE0100, 0xE01F0))))


def is_blank(character: str) -> bool:
    """Whether a character is invisible, although Unicode classes it as a letter, symbol or mark."""
    return character in _BLANK


def looks_like(one: str, other: str) -> bool:
    """Whether two names are confusable, ignoring case. Digits are not confused with letters."""
    return not _looks(one).isdisjoint(_looks(other))


def lookalike(name: str, names: Iterable[str]) -> str:
    """The first of ``names`` that is confusable with ``name``, else an empty string."""
    return next((one for one in names if looks_like(name, one)), "")


@lru_cache(maxsize=4096)
def _looks(name: str) -> frozenset[str]:
    """Skeletons of a name. A capital I is the capital of i, and looks like a small L: both readings count."""
    seen = "".join(character for character in unicodedata.normalize("NFKD", name.translate(_LIKE))
                   if not is_blank(character) and unicodedata.category(character) != "Cf").translate(_LIKE)
    return frozenset(unicodedata.normalize("NFKD", one.casefold()) for one in (seen, seen.replace("I", "l")))
