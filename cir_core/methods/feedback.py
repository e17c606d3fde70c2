r"""Query update of multi-turn search: CIRCLED, eq. 9. Aggregate the turns of a session to one query, as in CIRCLED's
experiments.

    v ← normalise(v + α·y⁺ − β·mean(Y \ {y⁺}) + γ·h)

v is the query so far, y⁺ the image the user picked, Y the best K images they saw,
h the encoded merged text of the new turn. All are unit vectors of one space; the mean
is not normalised again. With several images marked, y⁺ is their mean and the negative
part the mean of those marked against (docs/reference/results.md relates this to Rocchio's formula).
The published text leaves α, β, γ open; the defaults in
:class:`~cir_core.types.records.MethodSettings` are those of its released code.

Where a method reads images aspect by aspect, marks are more than two means: :func:`wishes_of` says what they share.

A single-turn retriever gives each turn l a vector f_l. Latest takes f_L; average their
mean; weighted Σ a^(L−l) f_l / Σ a^(L−l) with a = 0.8. The sums are normalised at the end,
so the common divisor does not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cir_core.language.tasks import AspectAnswer
from cir_core.methods.parameters import Label, Section, declare
from cir_core.support.maths import unit
from cir_core.types.composition import Marks
from cir_core.types.methods import History, MethodSettings
from cir_core.types.records import Matrix, Vector

Side = Literal["more", "less"]
TEXT, HISTORY, PICKED, OTHERS, IMAGE = "text", "history", "picked", "not picked", "image"
BOTH = "image and text"
EDITED = "edited text"   # instead of TEXT where the user wrote the query

FEEDBACK_SECTION = Section("Feedback weights, from turn 2 on", "history", declare(
    MethodSettings, Label("alpha", "towards the picked image", "α", most=1),
    Label("beta", "away from images not picked", "β", most=1), Label("gamma", "towards the new text", "γ", most=1),
), "feedback")


@dataclass(frozen=True)
class ComposedQuery:
    """A query vector as a sum of terms.

    ``terms`` are already divided by the length of their sum, so they add up to
    ``vector``, and for any image x the inner products with the terms add up to the
    score of x. The score parts of a hit are these products.
    """

    vector: Vector
    terms: Mapping[str, Vector]


def compose(terms: Mapping[str, Vector]) -> ComposedQuery:
    """The normalised sum of ``terms``; zero terms are dropped."""
    kept = {name: np.asarray(term, np.float32) for name, term in terms.items() if np.any(term)}
    if not kept:
        first = next(iter(terms.values()))
        return ComposedQuery(np.zeros_like(first, dtype=np.float32), {})
    total = np.sum(np.stack(list(kept.values())), axis=0)
    norm = float(np.linalg.norm(total))
    if norm == 0.0:  # the terms cancel out
        return ComposedQuery(total.astype(np.float32), {})
    return ComposedQuery(unit(total), {name: term / np.float32(norm) for name, term in kept.items()})


def update_query(
    history: Vector, picked: Vector | Matrix, others: Matrix, text: Vector,
    *, alpha: float, beta: float, gamma: float, text_name: str = TEXT,
) -> ComposedQuery:
    """Eq. 9, for one picked image or the mean of several.

    Args:
        history: ``[dim]``, the query of the previous turn.
        picked: y⁺, ``[dim]``, or ``[p, dim]`` for all wanted images.
        others: ``[m, dim]``, the unwanted images; m may be 0.
        text: ``[dim]``, h; ``text_name`` is the name of its term.
    """
    mean_picked = np.atleast_2d(picked).mean(axis=0)
    mean_others = others.mean(axis=0) if len(others) else np.zeros_like(history)
    return compose({
        HISTORY: history,
        PICKED: np.float32(alpha) * mean_picked,
        OTHERS: np.float32(-beta) * mean_others,
        text_name: np.float32(gamma) * text,
    })


def wanted_and_unwanted(
    picked: Sequence[str], marks: Marks, seen: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids of the positive and the negative images of eq. 9.

    Wanted are the ``picked`` ones (one, in the paper) and those marked "more like this". Without any mark "less like
    this" the paper's rule applies: all others that were ``seen`` (the best K) are negative.
    With one, only the marked images are: marking one result as wrong says nothing about the
    others.
    """
    wanted = tuple(dict.fromkeys((*picked, *marks.more_like)))
    if marks.less_like:
        return wanted, tuple(dict.fromkeys(marks.less_like))
    return wanted, tuple(image_id for image_id in seen if image_id not in wanted)


@dataclass(frozen=True)
class Wish:
    """What marked images share: ``answer`` is the aspect as it is wanted, after marks "less" the others than theirs."""

    answer: AspectAnswer
    side: Side


def wishes_of(
    more: Sequence[Sequence[AspectAnswer]], less: Sequence[Sequence[AspectAnswer]],
    reference: Sequence[AspectAnswer], requested: Collection[str],
) -> tuple[Wish, ...]:
    """What marks ask for, by the aspects that were read of each marked image and of the ``reference``.

    What all images marked "more" share is wanted, unless all marked "less" show it as well; what all marked "less"
    share is not, unless all marked "more" show it as well. What the reference shows stays, so marks count against it
    only if there are images marked "more" and all of them show something else. Names in ``requested``
    (:func:`name_key`) are left out: the request counts more than marks.
    """
    read = {"more": [_by_name(one) for one in more], "less": [_by_name(one) for one in less]}
    shown = _by_name(reference)
    wanted = {name: one for name, one in _common(read["more"]).items()
              if name not in requested and not (less and _all_show(read["less"], name, one))}

    def stays(name: str, one: AspectAnswer) -> bool:
        unlike = more and all(name in by_name and not _shows(by_name, name, one) for by_name in read["more"])
        return _shows(shown, name, one) and not unlike

    unwanted = {name: one for name, one in _common(read["less"]).items()
                if name not in requested and name not in wanted and not stays(name, one)
                and not (more and _all_show(read["more"], name, one))}
    return (*(Wish(one, "more") for one in wanted.values()),
            *(Wish(_opposite(one), "less") for one in unwanted.values()))


def name_key(name: str) -> str:
    """The name of an aspect, whatever its case and spaces."""
    return " ".join(name.casefold().split())


def _by_name(answered: Sequence[AspectAnswer]) -> dict[str, AspectAnswer]:
    return {name_key(one.name): one for one in answered}


def _common(images: Sequence[Mapping[str, AspectAnswer]]) -> dict[str, AspectAnswer]:
    return {name: one for name, one in images[0].items() if _all_show(images, name, one)} if images else {}


def _all_show(images: Sequence[Mapping[str, AspectAnswer]], name: str, one: AspectAnswer) -> bool:
    return all(_shows(by_name, name, one) for by_name in images)


def _shows(by_name: Mapping[str, AspectAnswer], name: str, one: AspectAnswer) -> bool:
    """Either may be in the image's own words: the label "tunic" for a long top, the caption "a red top" for red."""
    other = by_name.get(name)
    return other is not None and (name_key(other.label) == name_key(one.label) or set(other.wanted) == set(one.wanted))


def _opposite(one: AspectAnswer) -> AspectAnswer:
    return one.model_copy(update={"label": f"not {one.label}", "wanted": one.others, "others": one.wanted})


HISTORY_SECTION = Section(
    "Turns", "history", declare(MethodSettings, Label("decay", "weight of each earlier turn", "a")), "weighted")


def aggregate(
    earlier: Sequence[Vector], latest: Vector, *, how: History, decay: float, latest_name: str
) -> ComposedQuery:
    """One query from f_1 … f_{L-1} (``earlier``, oldest first) and f_L, each ``[dim]``, unit.

    Terms: everything before as ``history``, this turn's own vector as ``latest_name``.
    """
    if how == "latest" or not earlier:
        return compose({latest_name: latest})
    ages = np.arange(len(earlier), 0, -1)
    weights = np.ones(len(earlier)) if how == "average" else np.power(float(decay), ages)
    before = (weights.astype(np.float32)[:, None] * np.stack(list(earlier))).sum(axis=0)
    return compose({HISTORY: before, latest_name: latest})
