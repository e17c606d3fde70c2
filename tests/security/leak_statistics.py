"""Statistics of leaks: how well a secret is told by what a browser receives, and how well chance alone would tell it.

Everything is compared with the same data under shuffled labels, so neither ties nor features that go together need a
formula: a finding is what lies above all but ``ALPHA`` of :data:`ROUNDS` shufflings. Scalar features are compared by
the best of all features in each shuffling (Westfall and Young), which corrects for their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

ALPHA, ROUNDS, SEED = 0.001, 2000, 20260401
_FOLDS = 5
Features = Mapping[str, float]


class Seconds(float):
    """A response time, which can be measured again."""

    again: Callable[[], Seconds]

    def __new__(cls, seconds: float, again: Callable[[], Seconds]) -> Seconds:
        made = super().__new__(cls, seconds)
        made.again = again
        return made


@dataclass(frozen=True)
class Finding:
    """What tells a secret: a feature or "classifier", its AUC, and the largest distance from 0.5 by chance."""

    secret: str
    by: str
    auc: float
    chance: float

    @property
    def leaks(self) -> bool:
        return abs(self.auc - 0.5) > self.chance

    def __str__(self) -> str:
        return f"{self.secret} by {self.by}: AUC {self.auc:.3f}, chance 0.5 ± {self.chance:.3f}"


def told_by(secret: str, labels: Sequence[bool], seen: Sequence[Features]) -> list[Finding]:
    """Every feature, and a classifier of all of them, as findings; the most telling first.

    Features that are the same in all rows tell nothing, and are left out. A secret that is the same in all rows, or
    nearly, is a defect of the test.
    """
    truth = np.asarray(labels, bool)
    assert min(truth.sum(), (~truth).sum()) >= 25, f"{secret}: {truth.sum()} of {len(truth)} is too few to tell"
    names, values = matrix(seen)
    if not names:
        return [Finding(secret, "nothing that differs", 0.5, 0.0)]
    shuffled = _shuffled(truth)
    ranks = rankdata(values, axis=0)
    own, chance = _aucs(ranks, truth[:, None])[:, 0], np.abs(_aucs(ranks, shuffled) - 0.5).max(axis=0)
    limit = float(np.quantile(chance, 1 - ALPHA))
    found = [Finding(secret, name, float(auc), limit) for name, auc in zip(names, own, strict=True)]
    against = np.column_stack([truth, shuffled])
    guessed = rankdata(_guesses(ranks / len(ranks), against), axis=0)
    aucs = _aucs_in_pairs(guessed, against)
    found.append(Finding(secret, "classifier", float(aucs[0]), float(np.quantile(np.abs(aucs[1:] - 0.5), 1 - ALPHA))))
    classifier, found = found[-1], sorted(found, key=lambda one: one.chance - abs(one.auc - 0.5))
    print(f"{len(truth)} rows.", *dict.fromkeys(map(str, (found[0], classifier))), sep="\n  ")   # for pytest -rP
    return found


def leaks(found: Iterable[Finding]) -> list[str]:
    return [str(one) for one in found if one.leaks]


def lasting_leaks(tell: Callable[[Sequence[Features]], Iterable[Finding]], seen: Sequence[Features]) -> list[str]:
    """What leaks in ``seen``, and again with fresh response times: those differ from run to run, so that in one of a
    thousand they tell any secret by chance."""
    found = leaks(tell(seen))
    if not found:
        return []
    fresh = [{name: value.again() if isinstance(value, Seconds) else value for name, value in row.items()}
             for row in seen]
    return [*found, "and again:", *again] if (again := leaks(tell(fresh))) else []


def features_of(payload: Any, name: str = "") -> dict[str, float]:
    """Every number, length and order in plain JSON, by where it stands. Texts count by their length and, as ``…#``,
    by where they come in the alphabet."""
    found: dict[str, float] = {}
    if isinstance(payload, Mapping):
        found[f"{name}{{}}"] = len(payload)
        for place, key in enumerate(payload):
            found[f"{name}.{key}@"] = place
            found |= features_of(payload[key], f"{name}.{key}")
    elif isinstance(payload, list | tuple):
        found[f"{name}[]"] = len(payload)
        for place, one in enumerate(payload):
            found |= features_of(one, f"{name}[{place}]")
    elif isinstance(payload, str):
        found[f"{name}:length"], found[f"{name}#"] = len(payload), _alphabet(payload)
    elif payload is not None:
        found[name] = float(payload)
    return found


def matrix(seen: Sequence[Features]) -> tuple[list[str], np.ndarray]:
    """Rows of ``seen`` by columns of features that differ; what a row lacks is -1, which tells that it is lacking."""
    names = list(dict.fromkeys(name for row in seen for name in row))
    values = np.array([[row.get(name, -1.0) for name in names] for row in seen], float)
    varied = np.ptp(values, axis=0) > 0
    return [name for name, kept in zip(names, varied, strict=True) if kept], values[:, varied]


def _alphabet(text: str) -> float:
    """Where a text stands in the order of texts, by its first eight characters that are no prefix of an address."""
    tail = text.rsplit("/", 1)[-1][:8]
    return float(sum(ord(letter) * 256.0 ** -place for place, letter in enumerate(tail)))


def _shuffled(truth: np.ndarray) -> np.ndarray:
    random = np.random.default_rng(SEED)
    return random.permuted(np.tile(truth[:, None], (1, ROUNDS)), axis=0)


def _aucs(ranks: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """By features and columns of labels: the chance that a row with the label ranks above one without."""
    yes = labels.sum(axis=0)
    return (ranks.T @ labels - yes * (yes + 1) / 2) / (yes * (len(labels) - yes))


def _aucs_in_pairs(ranks: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """As :func:`_aucs`, each column of ranks with its own of labels."""
    yes = labels.sum(axis=0)
    return ((ranks * labels).sum(axis=0) - yes * (yes + 1) / 2) / (yes * (len(labels) - yes))


def _guesses(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """For each column of labels what ridge regression says of each row that it was not fitted on: what single features
    tell too little of, many may tell together."""
    labels, guessed = labels.astype(float), np.zeros(labels.shape)
    for rows, rest in KFold(_FOLDS, shuffle=True, random_state=SEED).split(values):
        scale = StandardScaler().fit(values[rows])
        fitted, asked = scale.transform(values[rows]), scale.transform(values[rest])
        # One matrix for all columns of labels. Columns of ``fitted`` have mean 0: the intercept is that of the labels.
        gram = fitted.T @ fitted + len(rows) * np.eye(fitted.shape[1])
        guessed[rest] = asked @ np.linalg.solve(gram, fitted.T) @ labels[rows] + labels[rows].mean(axis=0)
    return guessed
