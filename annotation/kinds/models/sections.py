"""Language models in a report: a section for each, and plain JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from annotation.analysis.about import finite
from annotation.analysis.models.alternative import EPSILON, EPSILONS, FDR, LEAST_PEOPLE, LEAST_UNITS
from annotation.analysis.models.comparison import Comparison, Pairs
from annotation.analysis.records import Estimate, Options, ReportTable, Section
from annotation.analysis.rendering import (
    each,
    estimate_json,
    estimates_json,
    headline,
    interval_sentence,
    reasons,
    values,
)
from annotation.analysis.statistics.agreement import statistics_of
from annotation.kinds.asking import ComparedQuestion
from annotation.kinds.models.report import ModelReport, Sides
from cir_core.language.base import model_alone
from cir_core.reports.figures import Series, dots
from cir_core.reports.records import Figure, count, p_value, ranged, share, text

_HALF = 0.5
_NOBODY = "No item was answered by the model and by a person."


def model_sections(models: Sequence[ModelReport], options: Options) -> tuple[Section, ...]:
    return tuple(_section(one, f"judge-{place}" if len(models) > 1 else "judge", options)
                 for place, one in enumerate(models, 1))


def _section(of: ModelReport, key: str, options: Options) -> Section:
    tables = [_winning(of, key), _agreement(of, key), _alternative(of, key), _in_place(of, key), _hits(of, key),
              _confusion(of, key), _groups(of, key), *([_sides(of.sides, key)] if of.sides else []), _places(of, key),
              _misses(of, key)]
    failed = f" {of.failed:,} items have no valid answer." if of.failed else ""
    again = f" {of.again:,} answers were invalid at first and were requested again." if of.again else ""
    return Section(
        key, f"Model against people: {model_alone(of.model)}",
        f"The model got the same texts and images as people; its answers are used in no other section. It answered "
        f"{of.answered:,} items.{failed}{again} All numbers are over the items that it and a person answered. "
        f"{interval_sentence(options, 'items')}",
        tuple(_headlines(of)), figures=(_figure(of, key),) if of.questions else (),
        tables=tuple(table for table in tables if table.rows or not of.questions))


def _figure(of: ModelReport, key: str) -> Figure:
    title, labels = "Same answer, mean of pairs", [question.label for question, _ in of.questions]
    people, model = (tuple(pairs.agreement for pairs in both) for both in zip(
        *((found.pairs_people, found.pairs_model) for _, found in of.questions), strict=True))
    return dots(f"{key}-pairs", title,
                f"Share of the units on which two people agree: {each(labels, people, 'share')}; a person and the "
                f"model: {each(labels, model, 'share')}.", labels,
                (Series("two people", people), Series("a person and the model", model)), axis="same answer", share=True)


def _headlines(of: ModelReport) -> Iterator[Any]:
    for question, found in of.questions[:1]:
        label = question.label
        yield headline(f"{label}: the model and a person agree", found.pairs_model.agreement, "share", "pairs")
        yield headline(f"{label}: two people agree", found.pairs_people.agreement, "share", "pairs")
        yield headline(f"{label}: ω, ε = {EPSILON:g}", found.test.winning[EPSILON], "number", "people",
                       _verdict(found.test.winning[EPSILON]))
        yield headline(f"{label}: advantage probability ρ", found.test.advantage, "number", "people")


def _verdict(winning: Estimate) -> str:
    if winning.value is None:
        return ""
    return "from 0.5 on, the model may replace an annotator" if winning.value >= _HALF else (
        "below 0.5, it may not replace an annotator")


def _of_pairs(of: Pairs) -> tuple[tuple[str, Estimate], ...]:
    return ("Same answer, mean of pairs", of.agreement), ("Cohen’s κ, mean of pairs", of.kappa)


def _severity(of: Comparison) -> list[tuple[str, Estimate, Estimate]]:
    """Of an order alone; of two categories the second is the higher one."""
    if of.scale == "nominal" and len(of.categories) != 2:
        return []
    what = "in points" if of.scale == "ordinal" else f"share of “{of.categories[1]}”"
    return [(f"The model minus people’s mean, {what}", Estimate(None, 0), of.model.severity)]


def _agreement(of: ModelReport, key: str) -> ReportTable:
    rows = []
    for question, found in of.questions:
        both = [(name, one, other) for (name, one), (_, other) in zip(
            _of_pairs(found.pairs_people), _of_pairs(found.pairs_model), strict=True)]
        both += [(one.name, found.people[one.key], found.together[one.key]) for one in statistics_of(found.scale)]
        both += _severity(found)
        rows += [(question.label, name, *values(one), one.n, *values(other), other.n,
                  reasons({"People": one, "With the model": other})) for name, one, other in both]
    return ReportTable(
        f"{key}-agreement", "Agreement of people, and with the model",
        (text("question", "Question"), text("statistic", "Statistic"), *ranged("people", "People"), count("n", "n"),
         *ranged("model", "With the model"), count("n_model", "n with it"), text("reason", "Remark")), tuple(rows),
        "Pairs: two people; with the model, it and a person. Coefficients: all people; with the model, all people and "
        "it as one more rater.", _NOBODY)


def _winning(of: ModelReport, key: str) -> ReportTable:
    rows = tuple((question.label, f"{epsilon:g}", *values(found.test.winning[epsilon]), *values(found.test.advantage),
                  found.test.winning[epsilon].n, reasons({"ω": found.test.winning[epsilon]},
                                                         _verdict(found.test.winning[epsilon])))
                 for question, found in of.questions for epsilon in EPSILONS)
    return ReportTable(
        f"{key}-winning", "May the model replace an annotator? Alternative-annotator test",
        (text("question", "Question"), text("epsilon", "ε"), *ranged("winning", "ω"), *ranged("advantage", "ρ"),
         count("people", "People tested"), text("reason", "Remark")), rows,
        "Calderon, Reichart & Dror (2025). ω: share of people whom it matches or beats within ε; ρ: mean share of "
        "units on which it is at least as close to the other people as the person is. ε is 0.2 for experts, 0.15 for "
        f"skilled people, 0.1 for crowd workers. Needs {LEAST_PEOPLE} people with {LEAST_UNITS} units each.",
        _NOBODY)


def _alternative(of: ModelReport, key: str) -> ReportTable:
    rows = tuple(
        (question.label, rater.name, *values(one.advantage), one.person, one.advantage.n, one.p, one.p_by,
         {None: "", True: "yes", False: "no"}[one.beaten], one.advantage.reason)
        for question, found in of.questions for rater, one in zip(of.raters, found.test.people, strict=True))
    return ReportTable(
        f"{key}-alternative", "Alternative-annotator test, by person",
        (text("question", "Question"), text("person", "Person"), *ranged("advantage", "Model as close", "share"),
         share("person_share", "Person as close"), count("n", "Units"), p_value(), p_value("p_by", "p, corrected"),
         text("beaten", "Not worse"), text("reason", "Remark")), rows,
        "Share of units on which the model, or the person, is at least as close to the other people as the other of "
        f"the two. p: one-sided t-test that the person’s share exceeds the model’s by {EPSILON:g} or more; corrected: "
        f"Benjamini–Yekutieli over people, at {FDR:g}. The test takes units as independent.", _NOBODY)


def _in_place(of: ModelReport, key: str) -> ReportTable:
    rows = tuple(
        (question.label, rater.name, *values(one.person), *values(one.model), *values(one.difference),
         *values(one.alpha), one.person.n, reasons({"As the majority": one.person, "α": one.alpha}))
        for question, found in of.questions for rater, one in zip(of.raters, found.in_place, strict=False))
    return ReportTable(
        f"{key}-in-place", "The model in each person’s place",
        (text("question", "Question"), text("person", "Person left out"), *ranged("own", "Person", "share"),
         *ranged("model", "Model", "share"), *ranged("difference", "Model less person", "points"),
         *ranged("alpha", "α with it less α", "difference"), count("n", "Units"), text("reason", "Remark")), rows,
        "Agreement with the majority of the other people, on the units that the person answered. α with it: "
        "Krippendorff’s, with the model’s answers in place of the person’s.", _NOBODY)


def _hits(of: ModelReport, key: str) -> ReportTable:
    rows = tuple((question.label, name, *values(one), one.n) for question, found in of.questions
                 for name, one in zip(found.categories, found.hits, strict=True) if one.n)
    return ReportTable(
        f"{key}-hits", "Agreement of the model with the majority",
        (text("question", "Question"), text("category", "Most people say"), *ranged("same", "Model says so", "share"),
         count("n", "Units")), rows, "Shares with Wilson’s intervals. Units without a majority are left out.",
        _NOBODY)


def _confusion(of: ModelReport, key: str) -> ReportTable:
    rows = tuple(
        (question.label, found.categories[true], found.categories[said], n, n / sum(row))
        for question, found in of.questions for true, row in enumerate(found.confusion) for said, n in enumerate(row)
        if n)
    return ReportTable(
        f"{key}-confusion", "The model’s answers by the majority’s",
        (text("question", "Question"), text("people", "Most people say"), text("model", "Model says"),
         count("n", "Units"), share("share", "Share")), rows, empty=_NOBODY)


def _groups(of: ModelReport, key: str) -> ReportTable:
    label = of.questions[0][0].label if of.questions else ""
    return ReportTable(
        f"{key}-groups", "By data set and category",
        (text("group", "Of"), text("name", "Name"), *ranged("same", "As most people", "share"), count("n", "Units")),
        tuple((one.group, one.name, *values(one.share), one.share.n) for one in of.groups),
        f"{label}; Wilson’s intervals.", _NOBODY)


def _sides(of: Sides, key: str) -> ReportTable:
    rows = (("Model: first side preferred", of.model), ("People: first side preferred", of.people),
            ("Model, asked both ways: the same choice", of.same),
            ("Model, asked both ways: the first side both times", of.first),
            ("Model, asked both ways: the second side both times", of.second))
    return ReportTable(
        f"{key}-sides", "Bias by side",
        (text("what", "What"), *ranged("share", "Share", "share"), count("n", "Of"), p_value()),
        tuple((name, *values(one), one.n, one.p if place < 2 else None)
              for place, (name, one) in enumerate(rows) if one.n),
        "Without bias, 50 % first sides; p tests against that. Both ways: each question again with the sides swapped "
        "(--both-sides). Wilson’s intervals.", _NOBODY)


def _places(of: ModelReport, key: str) -> ReportTable:
    return ReportTable(
        f"{key}-places", "Bias by place",
        (text("place", "Place"), *ranged("model", "Model: yes", "share"), count("n_model", "Its marks"),
         *ranged("people", "People: yes", "share"), count("n", "Their marks")),
        tuple((one.name, *values(one.model), one.model.n, *values(one.people), one.people.n) for one in of.places),
        "Images are in random order, so without bias the shares are alike in all thirds. Wilson’s intervals.", _NOBODY)


def _misses(of: ModelReport, key: str) -> ReportTable:
    return ReportTable(
        f"{key}-misses", "Where people agree and the model does not",
        (text("item", "Item"), text("people", "All people say"), count("n", "People"), text("model", "Model says"),
         text("why", "Its reason")),
        tuple((one.key, one.people, one.count, one.model, one.reason) for one in of.misses),
        "At most 20, those with most people first.")


def model_json(of: ModelReport) -> dict[str, Any]:
    sides = of.sides
    return {
        "model": of.model, "answered": of.answered, "failed": of.failed, "again": of.again,
        "questions": {question.key: _question(question, found, of) for question, found in of.questions},
        "sides": estimates_json({"first": sides.model, "first_people": sides.people, "both_ways_same": sides.same,
                                 "both_ways_first": sides.first, "both_ways_second": sides.second}) if sides else None,
        "places": [{"place": one.name, **estimates_json({"model": one.model, "people": one.people})}
                   for one in of.places],
        "groups": [{"group": one.group, "name": one.name, "same": estimate_json(one.share)} for one in of.groups],
        "misses": [{"item": one.key, "people": one.people, "n": one.count, "model": one.model, "reason": one.reason}
                   for one in of.misses],
    }


def _question(question: ComparedQuestion, found: Comparison, of: ModelReport) -> dict[str, Any]:
    test = found.test
    return {
        "label": question.label, "scale": found.scale, "units": found.units,
        "people": estimates_json(found.people), "with_model": estimates_json(found.together),
        "pairs_people": estimates_json(vars(found.pairs_people)),
        "pairs_model": estimates_json(vars(found.pairs_model)),
        "majority": estimates_json({"agreement": found.model.agreement, "kappa": found.model.kappa,
                                    "severity": found.model.severity}),
        "in_place": [{"seat": rater.seat, "name": rater.name, **estimates_json(vars(one))}
                     for rater, one in zip(of.raters, found.in_place, strict=False)],
        "confusion": {true: dict(zip(found.categories, row, strict=True))
                      for true, row in zip(found.categories, found.confusion, strict=True)},
        "hits": estimates_json(dict(zip(found.categories, found.hits, strict=True))),
        "alternative_annotator": {
            "epsilon": EPSILON, "fdr": FDR, "winning_rate": estimates_json(
                {f"{epsilon:g}": one for epsilon, one in test.winning.items()}),
            "advantage": estimate_json(test.advantage),
            "people": [{"seat": rater.seat, "name": rater.name, "advantage": estimate_json(one.advantage),
                        "person": finite(one.person), "p": finite(one.p), "p_by": finite(one.p_by)}
                       for rater, one in zip(of.raters, test.people, strict=True)]},
    }
