"""The language of modification texts: CIRCLED's Table 2 and the terms of its Figure 3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.special import gammaln
from sklearn.feature_extraction.text import CountVectorizer

from cir_core.construct.describe.sets import SubsetSessions

WORD = r"(?u)\b\w+(?:['’-]\w+)*\b"
"""Words as they are counted here: "long-sleeved" and "don't" are one each."""
_ANALYSE = CountVectorizer(token_pattern=WORD).build_analyzer()
TERMS = 60      # kept; tables and clouds show fewer


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
