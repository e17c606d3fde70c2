"""The language of modification texts: CIRCLED's Table 2 and the terms of its Figure 3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy.special import gammaln
from sklearn.feature_extraction.text import CountVectorizer

from cir_core.construct.describe.sets import SubsetSessions
from cir_core.encoders.files.offline import hub_access, load_failure
from cir_core.errors import EncoderUnavailable
from cir_core.support.texts import quoted

WORD = r"(?u)\b\w+(?:['’-]\w+)*\b"
"""Words as they are counted here: "long-sleeved" and "don't" are one each."""
_ANALYSE = CountVectorizer(token_pattern=WORD).build_analyzer()
TERMS = 60      # kept; tables and clouds show fewer
SUGGESTED = "vblagoje/bert-english-uncased-finetuned-pos"
HOW_TO_INSTALL = ("Parts of speech are not counted. Name a tagger, for example --tagger "
                  f"{SUGGESTED} (a download of 440 MB).")
_CATEGORIES = {"NOUN": "noun", "PROPN": "noun", "VERB": "verb", "ADJ": "adjective"}     # Universal Dependencies
_PENN = {"NN": "noun", "VB": "verb", "JJ": "adjective"}                                  # Penn Treebank, by beginning
_BATCH = 64


class Tagger(Protocol):
    """Parts of speech by a model that is installed."""

    @property
    def name(self) -> str: ...

    def tags(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """For each text of words as many of "noun", "verb", "adjective", "other"."""


@dataclass(frozen=True)
class PartsOfSpeech:
    """Shares of all words."""

    noun: float
    verb: float
    adjective: float
    tagger: str


@dataclass(frozen=True)
class Term:
    """``share``: of the texts, those with the term."""

    term: str
    count: int
    share: float


@dataclass(frozen=True)
class Wording:
    """``name`` of a group of texts. ``type_token_ratio``: different words by words, lower the more there are of them.
    ``lengths``: number of words to number of texts."""

    name: str
    texts: int
    words: int
    types: int
    mean_words: float | None
    type_token_ratio: float | None
    lengths: dict[int, int] = field(repr=False)
    terms: tuple[Term, ...] = field(repr=False)
    parts: PartsOfSpeech | None = None


def wording(name: str, texts: Sequence[str], tagger: Tagger | None = None) -> Wording:
    """Counts over ``texts``; empty ones are left out. Terms are without scikit-learn's English stop words."""
    texts = [text for text in texts if text.strip()]
    words = [words_of(text) for text in texts]
    lengths = Counter(map(len, words))
    total = sum(length * count for length, count in lengths.items())
    types = len({word for text in words for word in text})
    return Wording(
        name, len(texts), total, types, total / len(texts) if texts else None, types / total if total else None,
        dict(sorted(lengths.items())), _terms(texts), parts_of_speech(words, tagger) if tagger and total else None,
    )


def wordings(subsets: Sequence[SubsetSessions], tagger: Tagger | None = None) -> list[Wording]:
    """The data sets' own captions (turn 1), the generated texts (later turns), and both."""
    first = [session.turns[0].text for one in subsets for session in one.sessions if session.turns]
    later = [turn.text for one in subsets for session in one.sessions for turn in session.turns[1:]]
    return [wording("original captions, turn 1", first, tagger), wording("texts of later turns", later, tagger),
            wording("all texts", [*first, *later], tagger)]


def parts_of_speech(words: Sequence[Sequence[str]], tagger: Tagger) -> PartsOfSpeech:
    counts = Counter(tag for text in tagger.tags(words) for tag in text)
    total = counts.total() or 1
    return PartsOfSpeech(counts["noun"] / total, counts["verb"] / total, counts["adjective"] / total, tagger.name)


def expected_types(texts: Sequence[str], words: int) -> float | None:
    """Different words to expect among ``words`` words drawn at random from ``texts`` without replacement (rarefaction,
    Hurlbert 1971): comparable between sets of different sizes, unlike the type-token ratio. None if there are fewer."""
    counts = np.array(list(Counter(word for text in texts for word in words_of(text)).values()), dtype=np.float64)
    total = counts.sum()
    if not words or total < words:
        return None
    left = total - counts
    with np.errstate(invalid="ignore"):
        log_missing = gammaln(left + 1) - gammaln(left - words + 1) - gammaln(total + 1) + gammaln(total - words + 1)
    # A word that is more frequent than what is not drawn is certainly drawn.
    return float(np.sum(1 - np.where(left >= words, np.exp(log_missing), 0.0)))


def words_of(text: str) -> list[str]:
    """The words of ``text`` as they are counted here."""
    words: list[str] = _ANALYSE(text)
    return words


def _terms(texts: Sequence[str]) -> tuple[Term, ...]:
    """The most frequent terms; of equally frequent ones the alphabetically first."""
    vectorizer = CountVectorizer(token_pattern=WORD, stop_words="english")
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:  # nothing but stop words, or no text
        return ()
    totals = np.asarray(counts.sum(axis=0)).ravel()
    within = np.asarray((counts > 0).sum(axis=0)).ravel()
    names = vectorizer.get_feature_names_out()
    best = np.lexsort((np.arange(len(names)), -totals))[:TERMS]     # names are in alphabetical order
    return tuple(Term(str(names[i]), int(totals[i]), float(within[i] / len(texts))) for i in best)


class TransformersTagger:
    """A tagger from a folder written by ``save_pretrained`` or from the hub, with labels of Universal Dependencies or
    the Penn Treebank. Raises ``EncoderUnavailable``."""

    def __init__(self, source: str, *, allow_downloads: bool = False) -> None:
        import transformers

        place = str(Path(source).expanduser()) if Path(source).expanduser().is_dir() else source
        with hub_access(allow_downloads):
            try:
                tokenizer: Any = transformers.AutoTokenizer.from_pretrained(place, trust_remote_code=False)
                model: Any = transformers.AutoModelForTokenClassification.from_pretrained(place)
            except Exception as error:  # OSError for missing files, ValueError, RuntimeError for shapes
                raise EncoderUnavailable(f"The tagger {quoted(source)} could not be loaded: {load_failure(error)}. "
                                         "Name a folder with a token classifier, or allow downloads "
                                         "(CIRQUE_ALLOW_DOWNLOADS).") from error
        self.name = source
        self._tokenizer, self._model = tokenizer, model.eval().requires_grad_(False)
        self._categories = {number: category_of(label) for number, label in model.config.id2label.items()}
        missing = {"noun", "verb", "adjective"} - set(self._categories.values())
        if missing:
            labels = ", ".join(list(model.config.id2label.values())[:5])
            raise EncoderUnavailable(f"The tagger {quoted(source)} has no label for {sorted(missing)[0]}s; its labels "
                                     f"are {labels}, … Name one trained on Universal Dependencies or the Penn "
                                     "Treebank.")

    def tags(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """The category of each word: that of its first token; "other" for words beyond the model's length."""
        found = []
        for start in range(0, len(texts), _BATCH):
            found += self._batch([list(words) for words in texts[start:start + _BATCH]])
        return found

    def _batch(self, texts: list[list[str]]) -> list[list[str]]:
        import torch

        tokens = self._tokenizer(texts, is_split_into_words=True, padding=True, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            best = self._model(**{key: tokens[key] for key in ("input_ids", "attention_mask")}).logits.argmax(-1)
        found = []
        for row, words in enumerate(texts):
            tags = ["other"] * len(words)
            for place, word in reversed(list(enumerate(tokens.word_ids(row)))):
                if word is not None:
                    tags[word] = self._categories[int(best[row, place])]
            found.append(tags)
        return found


def category_of(label: str) -> str:
    """"noun", "verb", "adjective" or "other" of a tag such as "NOUN", "B-VERB", "NNS"."""
    tag = label.upper().removeprefix("B-").removeprefix("I-")
    return _CATEGORIES.get(tag) or _PENN.get(tag[:2], "other")
