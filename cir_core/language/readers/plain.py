"""Requests over images of anything: words stay as they are, and nothing is read from them but what they point at.

"Like the second one but at night" is "at night" from result 2; "back to the first" goes on from the reference of turn
1, and "undo" from that of the last turn, without its request. Only words at the beginning point: elsewhere "second
picture" may be part of what is asked, which a note says.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from cir_core.language.readers.reader import WHOLE, Pointed
from cir_core.language.readers.scene import Found, Scene, Unclear
from cir_core.types.records import Matrix, Vector
from cir_core.types.vectors import TextEncoder

FEWEST = 5   # answers of a text that is suggested
MOST = 6     # texts
#: Text, caption of what is asked, caption of its opposite.
OPPOSITES: tuple[tuple[str, str, str], ...] = (
    ("in black and white", "a black and white photo", "a colour photo"),
    ("with more colour", "a photo in bright colours", "a photo in muted colours"),
    ("seen from closer", "a close-up photo", "a photo taken from far away"),
    ("seen from farther away", "a photo taken from far away", "a close-up photo"),
    ("outdoors", "a photo taken outdoors", "a photo taken indoors"),
    ("indoors", "a photo taken indoors", "a photo taken outdoors"),
    ("at night", "a photo taken at night", "a photo taken by day"),
    ("with fewer things in it", "a photo of one thing", "a photo of many things"),
)
_ORDINAL = (r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|1st|2nd|3rd|4th|5th|last|previous"
            r"|original)")
_POINTER = (rf"(?:{_ORDINAL} (?:one|picture|image|photo|result|option|hit|suggestion|reference|turn)"
            r"|(?:number|no|result|picture|image|option|hit|turn) \d{1,3}"
            r"|one (?:on the left|on the right|in the middle|before)|(?:left|right|middle) one)")
_END = r"(?= (?:but|and|with|in|at|on|please)\b| ?[,.;]| ?$)"
_LEAD = r"(?:(?:more|something|just|exactly|i) )*(?:(?:like|similar to|take|use|as) )?"
_STARTS = re.compile(rf"{_LEAD}(?:the )?(?P<pointer>{_POINTER})\b{_END}")
_BACK = re.compile(rf"(?:go )?back to (?:(?:the )?(?:(?P<pointer>{_POINTER})\b|(?P<turn>{_ORDINAL})\b{_END})"
                   r"|the (?P<words>[^,.;]+?)(?= but\b| ?[,.;]| ?$))")
_UNDO = re.compile(r"(?:please )?(?:undo(?: (?:that|this|it|the last (?:one|change|request)))?|go back|one step back)"
                   r"(?: please)?\.?")
_POINTS = re.compile(rf"\b(?:the {_POINTER}|(?:result|turn) \d{{1,3}})\b")
_LEADING = re.compile(r"[ ,.;]*(?:(?:but|and|please)\b[ ,.;]*)*")
_WORD = re.compile(r"\w+")
_SMALL = frozenset({"a", "an", "the", "one", "ones", "with", "in", "on", "of", "at", "and", "image", "picture",
                    "photo"})


class PlainReader:
    """See the module."""

    def follow(self, text: str, scene: Scene) -> Pointed:
        """The reference and the text that ``text`` means in ``scene``. Never fails."""
        said = " ".join(text.split())
        lower = said.lower() if len(said.lower()) == len(said) else said
        try:
            if _UNDO.fullmatch(lower):
                return _chosen(scene.undone(lower), "")
            if match := _BACK.match(lower):
                if match["words"]:
                    found = scene.described(match["words"], _shows(match["words"]))
                else:
                    found = scene.named((match["pointer"] or f"{match['turn']} turn").split(), back=True)
                return _chosen(found, said[match.end():])
            if match := _STARTS.match(lower):
                return _chosen(scene.named(match["pointer"].split()), said[match.end():])
            if match := _POINTS.search(lower):
                raise Unclear(match[0].removeprefix("the "), "select the image that is meant, and describe the change")
        except Unclear as problem:
            return Pointed(text, scene.reference_id, (f"not understood: {problem.words} ({problem.reason})",))
        return Pointed(text, scene.reference_id)

    def in_english(self, text: str) -> str:
        """``text`` itself: any word may be meant as it is."""
        return text

    def suggestions(self, gallery: Matrix, encoder: TextEncoder) -> Callable[[Vector], tuple[str, ...]]:
        """An answer is nearer to a caption of what is asked than to one of its opposite."""
        return lambda reference: for_picture(gallery, reference, encoder)


def for_picture(gallery: Matrix, reference: Vector, encoder: TextEncoder, *, fewest: int = FEWEST,
                most: int = MOST) -> tuple[str, ...]:
    """Texts for any picture: ``gallery`` ``[n, dim]``, ``reference`` ``[dim]``."""
    wanted = np.asarray(encoder.encode_texts([one for _, one, _ in OPPOSITES]), dtype=np.float32)
    against = np.asarray(encoder.encode_texts([one for _, _, one in OPPOSITES]), dtype=np.float32)
    direction = (wanted - against).T
    answers, already = (gallery @ direction > 0).sum(axis=0), reference @ direction > 0
    return tuple(text for (text, _, _), count, has in zip(OPPOSITES, answers, already, strict=True)
                 if count >= fewest and not has)[:most]


def _chosen(found: Found, rest: str) -> Pointed:
    rest = _LEADING.sub("", rest, count=1).strip(" ,.;")
    if other := _POINTS.search(rest.lower()):
        raise Unclear(other[0].removeprefix("the "), "only one image can be the reference")
    return Pointed(rest or WHOLE, found.image_id, (found.note,), found.held, found.further)


def _shows(words: str) -> Callable[[str], bool]:
    wanted = set(_WORD.findall(words)) - _SMALL
    if not wanted:
        raise Unclear(words, "say what it shows, for example “back to the red car”")
    return lambda caption: wanted <= set(_WORD.findall(caption.lower()))
