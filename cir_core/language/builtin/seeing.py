"""Caption garments from image features, in one wording or many. Paraphrase a garment description: synonyms for the
same values, and some values omitted."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from cir_core.errors import LanguageModelError
from cir_core.garments.known import knows_garments_only, unlike_garments
from cir_core.garments.lexicon import COLOUR, describe
from cir_core.garments.tables import listed, table
from cir_core.garments.zero_shot import ZeroShotAttributes, attributes_of
from cir_core.language.tasks import CaptionAnswer, Domain, Picture
from cir_core.types.records import Matrix
from cir_core.types.vectors import TextEncoder

_UNSAID = 0.15  # probability of omitting each attribute except category and colour
_LEFT_OUT = ("fit", "length", "pattern", "sleeves", "neckline", "trim")
_OPENINGS = ("", "", "", "photo of ", "this is ")
_ARTICLE = re.compile(r"\ban? (?=(\w))")


@cache
def _wordings() -> tuple[dict[str, tuple[str, ...]], re.Pattern[str]]:
    """Phrase to what else may be said, and a pattern that finds the phrases, the longest first."""
    words = {value.phrase: value.phrases for value in COLOUR.values}
    words |= {phrase: listed(texts) for phrase, texts in table("wordings").items()}
    return words, re.compile(r"\b(" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + r")\b")


def vary(slots: Mapping[str, str], rng: np.random.Generator) -> str:
    """A description of ``slots`` in other words; at most a few of the values are omitted. It parses
    (:func:`~cir_core.language.builtin.captions.parse_caption`) to the same values."""
    unsaid = {group for group in _LEFT_OUT if rng.random() < _UNSAID}
    if slots.get("second_colour", "none") != "none":
        unsaid -= {"pattern", "trim"}  # the owners of the second colour
    said = {group: value for group, value in slots.items() if group not in unsaid}
    wordings, known = _wordings()
    text = known.sub(lambda found: str(rng.choice(wordings[found[0]])), describe(said))
    text = _ARTICLE.sub(lambda found: "an " if found[1] in "aeiou" else "a ", text)
    return str(rng.choice(_OPENINGS)) + text


GARMENTS: frozenset[Domain] = frozenset({"garment", "dress", "shirt", "toptee"})
# Other content of images. No people: somebody often wears the garment.
OTHER_THINGS = (
    "a photo of a dog", "a photo of a cat", "a photo of an animal", "a photo of a landscape",
    "a photo of a building", "a photo of food", "a photo of a vehicle", "a photo of furniture",
    "a photo of a street", "a page of text", "a chart", "an empty picture",
)
NOT_A_GARMENT = ("The built-in model only describes garments, and this image does not look like one. Add captions to "
                 "the gallery's manifest or connect a language model.")
NO_FEATURES = ("The built-in model describes images by their features, and this one has none. Index the gallery, add "
               "captions to its manifest or connect a language model.")
# Softmax temperature of sampled captions, in units of cosine. With the bundled encoder
# about one value in twelve then differs from the best.
TEMPERATURE = 0.04


class FeatureCaptioner:
    """Captions of images under one encoder. Thread-safe; prompts are encoded once, on first use."""

    def __init__(
        self, encoder: TextEncoder | None, attributes: Callable[[TextEncoder], ZeroShotAttributes] = attributes_of
    ) -> None:
        self._encoder, self._make_attributes = encoder, attributes
        self._attributes: ZeroShotAttributes | None = None
        self._others: Matrix | None = None
        self._lock = threading.Lock()

    def captions(self, pictures: Sequence[Picture], domain: Domain, sample: int = 0) -> list[CaptionAnswer]:
        """One answer per image: its caption if it has one, otherwise one from its features.

        ``sample`` above 0 samples other values and wordings, deterministic for the same
        number and features. An image that cannot be described has an empty caption and a note.
        """
        answers = [self._known(picture, domain) for picture in pictures]
        places = [place for place, answer in enumerate(answers) if answer is None]
        drawn = self._from_features([pictures[place] for place in places], sample) if places else []
        found = dict(zip(places, drawn, strict=True))
        return [found[place] if answer is None else answer for place, answer in enumerate(answers)]

    def _known(self, picture: Picture, domain: Domain) -> CaptionAnswer | None:
        if picture.caption is not None and picture.caption.strip():
            return CaptionAnswer(caption=picture.caption)
        if domain not in GARMENTS:
            return CaptionAnswer(caption="", notes=(NOT_A_GARMENT,))
        return CaptionAnswer(caption="", notes=(NO_FEATURES,)) if picture.features is None else None

    def _from_features(self, pictures: Sequence[Picture], sample: int) -> list[CaptionAnswer]:
        attributes, others, encoder = self._prompts()
        rows = [np.atleast_2d(np.asarray(picture.features, dtype=np.float32)) for picture in pictures]
        for row in rows:
            if row.shape != (1, others.shape[1]):
                raise LanguageModelError(f"The image's features have the shape {row.shape}, the encoder's texts "
                                         f"{others.shape[1]} numbers. Index the gallery again with the encoder in use.")
        features = np.concatenate(rows)
        plain = [describe(slots) for slots in attributes.predict(features)]
        is_garment = ~unlike_garments(features, encoder)
        if not knows_garments_only(encoder):
            # The whole caption is compared, not "a dress": short prompts are too similar to compare. An encoder of
            # garments alone finds no likeness to other things, whatever the picture: its caption is encoded in vain.
            likeness = np.sum(features * encoder.encode_texts(plain), axis=1)
            is_garment &= likeness >= (features @ others.T).max(axis=1)
        if sample > 0:
            plain = [self._sampled(attributes, row, sample) for row in rows]
        return [
            CaptionAnswer(caption=text) if shows else CaptionAnswer(caption="", notes=(NOT_A_GARMENT,))
            for text, shows in zip(plain, is_garment, strict=True)
        ]

    def _sampled(self, attributes: ZeroShotAttributes, row: Matrix, sample: int) -> str:
        seed = hashlib.blake2b(row.tobytes() + str(sample).encode(), digest_size=16).digest()
        rng = np.random.default_rng(int.from_bytes(seed, "little"))
        return vary(attributes.draw(row, rng, TEMPERATURE)[0], rng)

    def _prompts(self) -> tuple[ZeroShotAttributes, Matrix, TextEncoder]:
        encoder = self._encoder
        if encoder is None:
            raise LanguageModelError("The built-in language model was given no encoder, so it cannot describe images. "
                                     "Load one, or give it captions.")
        with self._lock:
            if self._attributes is None or self._others is None:
                self._others = encoder.encode_texts(list(OTHER_THINGS))
                self._attributes = self._make_attributes(encoder)
            return self._attributes, self._others, encoder
