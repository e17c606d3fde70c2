"""Reports made by hand: two people who share four items, and a survey of two methods; and ones without any answer."""

from annotation.analysis.records import (
    About,
    Estimate,
    MetricTest,
    Options,
    PlanPoint,
    Precision,
    Rate,
    Rater,
    Selection,
    Strength,
)
from annotation.analysis.statistics.agreement import statistics_of
from annotation.analysis.statistics.rates import RATES
from annotation.analysis.statistics.shares import share
from annotation.kinds.preference.report.records import MethodPair, MetricReport, PreferenceReport
from annotation.kinds.validity.report.records import (
    PairAgreement,
    PairSummary,
    SignaturePair,
    Signatures,
    TwoWay,
    ValidityReport,
)

NONE = Estimate(None, 0, reason="nobody judged anything")
ANN, BOB, CLEO = "ann", "<script>alert(1)</script>", "cleo | $x$"
NAMES = (ANN, BOB, CLEO)


def about_of(kind="validity", **changes):
    fields = {
        "study": "First <b>hundred</b> & more", "study_id": "s1", "kind": kind, "protocol": "circus/1",
        "accepting": True, "planned": 1200, "answered": 9, "latest": "2026-03-01T12:00:00+00:00",
        "selection": Selection(), "options": Options(),
        "versions": {"cirque": "1.2", "numpy": "2.1"}, "notes": ("It is not finished.",),
    }
    return About(**(fields | changes))


def two_way(key, label, kappa=0.5):
    """ann and BOB share 12 items, ann and cleo 4, on which κ is undefined; BOB and cleo share none."""
    defined = Estimate(kappa, 12, kappa - 0.2, kappa + 0.2)
    constant = Estimate(None, 4, reason="both raters used a single category")
    apart = Estimate(None, 0, reason="no item was judged by both")
    return TwoWay(
        key, label, Estimate(0.25, 20, 0.1, 0.4),
        {"krippendorff_alpha": Estimate(-0.12, 16, -0.3, 0.1), "gwet_ac1": Estimate(0.62, 16, 0.4, 0.8),
         "brennan_prediger": Estimate(0.55, 16, 0.3, 0.7),
         "fleiss_kappa": Estimate(0.41, 12, 0.2, 0.6, "12 items with 2 answers")},
        PairSummary(1, 2, Estimate(kappa, 1, 0.3, 0.7), kappa, kappa, kappa, "no item was judged by both"),
        (PairAgreement(ANN, BOB, 1, 2, 12, defined, Estimate(0.75, 12, 0.5, 0.9), ((5, 1), (2, 4))),
         PairAgreement(ANN, CLEO, 1, 3, 4, constant, Estimate(1.0, 4), ((4, 0), (0, 0))),
         PairAgreement(BOB, CLEO, 2, 3, 0, apart, apart, ((0, 0), (0, 0)))),
    )


def validity_report(**changes):
    signature = Signatures(
        ("VALIDATED", "A+B"), (15, 5), Estimate(0.3, 16, 0.1, 0.5), Estimate(0.625, 16, 0.4, 0.8),
        Estimate(0.5, 4, 0.1, 0.9),
        Estimate(0.7, 2, 0.5, 0.8), (
            SignaturePair(ANN, BOB, 1, 2, 12, Estimate(0.5, 12, 0.2, 0.8),
                          {("VALIDATED", "A+B"): 4, ("A+B", "VALIDATED"): 2, ("VALIDATED", "VALIDATED"): 6}),
            SignaturePair(ANN, CLEO, 1, 3, 4, Estimate(1.0, 4), {("VALIDATED", "VALIDATED"): 4})))
    fields = {
        "about": about_of(), "raters": (Rater(1, ANN, 10, 4), Rater(2, BOB, 6, 3), Rater(3, CLEO, 4, 0)), "n_items": 16,
        "judged": 18, "judgements": 20, "unlabelled": 1, "per_item": {1: 2, 2: 16}, "unanimous": Estimate(0.8, 16),
        "binary": two_way("binary", "valid or not"),
        "flags": (two_way("A", "Wrong target", 0.1), two_way("B", "Broad")), "signature": signature,
    }
    return ValidityReport(**(fields | changes))


def empty_validity():
    none = PairSummary(0, 0, NONE, None, None, None, "nobody judged anything")
    empty = {one.key: NONE for one in statistics_of("nominal")}
    two = TwoWay("binary", "valid or not", NONE, empty, none, ())
    flag = TwoWay("A", "Wrong target", NONE, empty, none, ())
    return validity_report(
        about=about_of(answered=0, latest=None, notes=()), raters=(), n_items=0, judged=0, judgements=0, unlabelled=0,
        per_item={}, unanimous=NONE, binary=two, flags=(flag,),
        signature=Signatures((), (), NONE, NONE, NONE, NONE, ()))


def rate(count, n, first=(30, 50), reason=""):
    """By draws of questions the interval is wider than Wilson's."""
    drawn = Estimate(count / n, n, 0.35, 0.95) if n else Estimate(None, 0, reason=reason)
    found = share(count, n) if n else Estimate(None, 0, reason=reason, count=0)
    return Rate(found, drawn, Estimate(count / n, n, 0.4, 0.9) if n else NONE, share(*first))


def metric(name="recall@5", rho=0.153):
    none = rate(0, 0, (0, 0), "recall differs wherever scores do")
    return MetricReport(
        name, "The share of targets found.", 100, Estimate(0.9, 100, p=0.0001),
        Estimate(rho, 100, 0.1, 0.2, p=0.02), Estimate(0.12, 100, p=0.03),
        dict(zip((form.key for form in RATES), (rate(33, 45), rate(40, 60), rate(20, 25), none, none), strict=True)),
        ("A note.",), ((0.0, 0.0, (8, 12, 10, 6, 4)), (1.0, 1.0, (2, 8, 20, 19, 11))))


def preference_report(**changes):
    fields = {
        "about": about_of("preference"), "raters": (Rater(1, ANN, 30), Rater(2, BOB, 20)), "n_people": 2,
        "n_questions": 50, "n_answers": 52, "n_valid": 50, "rules": {"irrelevant": True, "failed_checks": 2},
        "removed": {"irrelevant": 2, "failed_checks": 0}, "flagged": 2, "ratings": (10, 20, 30, 25, 15),
        "mean_rating": Estimate(3.15, 100, 3.0, 3.3), "ratings_shapiro": Estimate(0.9, 100, p=0.00001),
        "rated_equal": 8,        "contradictions": 3, "ties": 1, "identical_sets": 2, "first_side": share(30, 49),
        "first_side_when_equal": share(5, 8),
        "stored_one": share(25, 49), "stored_one_when_equal": share(4, 8),
        "metrics": (metric(), metric("cosine & <b>", 0.42)),
        "tests": (MetricTest("recall@5", "cosine & <b>", Estimate(-0.27, 50, -0.4, -0.1, p=0.0005), 0.001, 1000),),
        "methods": (Strength("soft", Estimate(0.5, 50, 0.2, 0.8), Estimate(0.4, 50, 0.1, 0.7), Estimate(3.4, 50, 3, 4),
                             share(30, 49)),
                    Strength("slerp", Estimate(-0.5, 50, -0.8, -0.2), Estimate(-0.4, 50, -0.7, -0.1),
                             Estimate(2.9, 50, 2.5, 3.2), share(19, 49))),
        "pairs": (MethodPair("slerp", "soft", 50, 1, share(19, 49), Estimate(0.4, 49, 0.3, 0.5), share(30, 49),
                             Estimate(-0.5, 50, -0.8, -0.2)),),
        "no_methods": "", "shared_questions": 5,
        "method_ratings": {"slerp": (8, 14, 14, 9, 5), "soft": (2, 6, 16, 16, 10)},
        "ratings_agreement": {one.key: Estimate(0.6, 10, 0.2, 0.8) for one in statistics_of("ordinal")},
        "preference_agreement": dict.fromkeys(
            (one.key for one in statistics_of("nominal")),
            Estimate(0.5, 5, None, None, "too few questions for an interval")),
    }
    return PreferenceReport(**(fields | changes))


def empty_preference():
    return preference_report(
        about=about_of("preference", answered=0, latest=None, notes=()), raters=(), n_people=0, n_questions=0,
        n_answers=0, n_valid=0, rules={}, removed={}, flagged=None, ratings=(0, 0, 0, 0, 0), mean_rating=NONE,
        ratings_shapiro=Estimate(None, 0, reason="fewer than three ratings"), rated_equal=0, contradictions=0, ties=0,
        identical_sets=0, first_side=share(0, 0), first_side_when_equal=share(0, 0), stored_one=share(0, 0),
        stored_one_when_equal=share(0, 0), metrics=(), tests=(), methods=(), pairs=(),
        method_ratings={}, no_methods="no answers", shared_questions=0,
        ratings_agreement={one.key: NONE for one in statistics_of("ordinal")},
        preference_agreement={one.key: NONE for one in statistics_of("nominal")})


PLAN = (
    Precision("kappa", "items", 16, 0.4, 0.1, 250, (PlanPoint(16, 0.4), PlanPoint(320, 0.09)),
              "Further items are alike."),
    Precision("kappa", "people", 3, None, 0.1, None, (), "People judge alike.", "kappa is undefined"),
)
