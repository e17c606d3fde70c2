"""People of a study, one by one, and their section of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from annotation.analysis.people.clusters import Tree, segments, tree_of
from annotation.analysis.people.dawid_skene import LEAST_UNITS, Confusions, confusions_of
from annotation.analysis.people.others import Against, against_others
from annotation.analysis.records import Estimate, Options, Rater, Scale
from annotation.analysis.rendering import estimates_json, reasons, values
from annotation.analysis.statistics.cohen import agreement
from annotation.analysis.statistics.matrix import Codes, Ratings
from cir_core.reports.figures import dendrogram
from cir_core.reports.records import Figure, ReportColumn, ReportTable, count, number, ranged, text

_MANY = 60      # people in a dendrogram


@dataclass(frozen=True)
class People:
    """``against``: in the order of ``raters``. ``confusions`` is None where there are too few units."""

    raters: tuple[Rater, ...]
    categories: tuple[str, ...]
    unit: str
    against: tuple[Against, ...]
    confusions: Confusions | None = field(compare=False)      # arrays
    tree: Tree


def people_of(
    ratings: Ratings, raters: Sequence[Rater], scale: Scale, options: Options,
    alike: Ratings | None = None, groups: Codes | None = None,
) -> People:
    """``ratings``: a column for each of ``raters``; ``alike``: what clusters are made by, if not by them; ``groups``:
    ``[units]``, numbers of what intervals draw whole."""
    few = len(raters) <= _MANY
    codes = (alike or ratings).codes
    tree = tree_of(((a, b, agreement(codes[:, a], codes[:, b]).value) for a, b in combinations(range(len(raters)), 2)),
                   len(raters)) if few else Tree((), ())
    return People(tuple(raters), ratings.categories, ratings.unit,
                  against_others(ratings, scale, options, groups),
                  confusions_of(ratings) if len(raters) > 1 else None, tree)


def people_tables(of: People, more: str) -> tuple[ReportTable, ...]:
    """``more``: what a severe person does more, "says valid more often by"."""
    against = ReportTable(
        "people-others", "Each person and the others",
        (text("person", "Person"), *ranged("agreement", "As the majority", "share"),
         count("n", f"{of.unit.capitalize()}s"), number("kappa", "κ with it"), *ranged("severity", more),
         *ranged("without", "α without"), *ranged("difference", "less α of all"), text("reason", "Remark")),
        tuple((rater.name, *values(one.agreement), one.agreement.n, one.kappa.value, *values(one.severity),
               *values(one.without), *values(one.difference),
               reasons({"As the majority": one.agreement, "κ": one.kappa, more: one.severity, "α": one.without}))
              for rater, one in zip(of.raters, of.against, strict=True)),
        f"As the majority: share of answers equal to the most common answer of the others; {of.unit}s without one are "
        "left out. α without: α of the others; less α of all: above 0, the others agree more with each other than "
        "with this person.", "No answers yet.")
    if of.confusions is None:
        return (against,)
    said = ReportTable(
        "confusions", "Each person’s answers by probable truth",
        (text("person", "Person"), text("true", "Probably true"),
         *(ReportColumn(f"said_{place}", f"Says {name}", "share") for place, name in enumerate(of.categories))),
        tuple((rater.name, true, *(float(rate) if row.any() else None for rate in row))
              for rater, rates in zip(of.raters, of.confusions.rates, strict=True)
              for true, row in zip(of.categories, rates, strict=True)),
        f"The model of Dawid and Skene (1979) estimates true answers and each person’s errors jointly, over {of.unit}s "
        "with two answers or more. It assumes that people are independent, and trusts the majority. Probably true: "
        + ", ".join(f"{name} {100 * value:.0f} %"
                    for name, value in zip(of.categories, of.confusions.shares, strict=True)) + ".")
    return (against, said)


def people_figure(of: People, what: str) -> tuple[Figure, ...]:
    """Clusters; nothing for fewer than three people, or too many to read. ``what``: on which two agree."""
    if not 3 <= len(of.raters) <= _MANY:
        return ()
    names = [of.raters[place].name for place in of.tree.order]
    return (dendrogram(
        "people-clusters", "Who judges alike",
        f"Dendrogram of people by 1 minus the share of {what} on which two agree (average linkage), from the top: "
        f"{', '.join(names)}. The last two clusters join at {of.tree.joins[-1][2]:.3f}.",
        names, segments(of.tree), axis=f"1 − share of {what} with the same answer"),)


def people_how(of: People) -> list[tuple[str, str]]:
    found = [("Majority of the others", f"Of each person, over the {of.unit}s on which the others have a majority; "
                                        f"intervals resample {of.unit}s. κ: Cohen’s."),
             ("α without the person", "Krippendorff’s α of the others; less α of all, in the same resamples."),
             ("Who judges alike", "scipy, average linkage (UPGMA) of 1 minus the share of the same answers.")]
    if of.confusions is not None:
        found.append(("Dawid–Skene", "The EM algorithm of their paper, own code, from shares of answers until nothing "
                                     f"moves by 1e-9; from {LEAST_UNITS} {of.unit}s on."))
    return found


def people_json(of: People) -> list[Mapping[str, Any]]:
    """By person: estimates, and ``confusion`` as {true: {said: share}}."""
    def confusion(place: int) -> dict[str, dict[str, float]] | None:
        if of.confusions is None:
            return None
        return {true: dict(zip(of.categories, map(float, row), strict=True))
                for true, row in zip(of.categories, of.confusions.rates[place], strict=True)}

    return [{"seat": rater.seat, "name": rater.name, "confusion": confusion(place),
             **estimates_json({"agreement": one.agreement, "kappa": one.kappa, "severity": one.severity,
                               "alpha_without": one.without, "alpha_difference": one.difference})}
            for place, (rater, one) in enumerate(zip(of.raters, of.against, strict=True))]


def side_table(raters: Sequence[Rater], first: Sequence[Estimate]) -> ReportTable:
    """``first``: of each person the share of preferences for the set shown first."""
    return ReportTable(
        "people-sides", "First side preferred, by person",
        (text("person", "Person"), *ranged("first", "First side preferred", "share"), count("n", "Preferences"),
         text("reason", "Remark")),
        tuple((rater.name, *values(one), one.n, one.reason) for rater, one in zip(raters, first, strict=True)),
        "50 % without position bias; Wilson’s intervals.", "No answers are counted.")
