"""Names that look the same although they are written with other characters.

Own code: confusable-homoglyphs takes digits for letters, and compares no two names.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

# Letters and the Latin ones they look like. Our own choice: the scripts whose letters pass for Latin words.
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

# Unicode's default ignorables that are no control or format characters, and what is drawn as a blank.
_BLANK = frozenset(map(chr, (
    0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164, *range(0xFE00, 0xFE10), 0xFFA0,
    0x16FE4, 0x1D159, *range(0xE0100, 0xE01F0))))


def is_blank(character: str) -> bool:
    """Whether nothing is seen of it, though it counts as a letter, a sign or a mark."""
    return character in _BLANK


def looks_like(one: str, other: str) -> bool:
    """Without regard to case. Digits are not taken for letters."""
    return not _looks(one).isdisjoint(_looks(other))


def lookalike(name: str, names: Iterable[str]) -> str:
    """The first of ``names`` that looks like ``name``, or an empty text."""
    return next((one for one in names if looks_like(name, one)), "")


@lru_cache(maxsize=4096)
def _looks(name: str) -> frozenset[str]:
    """A large I is the capital of i, and looks like a small L: what holds one looks like either."""
    seen = "".join(character for character in unicodedata.normalize("NFKD", name.translate(_LIKE))
                   if not is_blank(character) and unicodedata.category(character) != "Cf").translate(_LIKE)
    return frozenset(unicodedata.normalize("NFKD", one.casefold()) for one in (seen, seen.replace("I", "l")))
