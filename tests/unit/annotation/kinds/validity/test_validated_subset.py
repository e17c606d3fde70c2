"""The validated subset in numbers."""

from annotation.kinds.validity.exports.results import subset_json
from annotation.kinds.validity.labels import final_labels
from annotation.kinds.validity.rubric import load_rubric
from annotation.kinds.validity.subset import count_subset
from tests.fakes.judged import BROAD, TARGET, TEXT, answer_of, decision_of, item_of, judgement_of

RUBRIC = load_rubric("circus/1")
# CIRCUS, Table 2: audited and validated, composition_required then unresolved.
TABLE_2 = {
    "cirr": (271, 147, 414, 156), "fashioniq": (1000, 368, 1000, 218), "lasco": (1000, 452, 1000, 306),
    "circo": (53, 39, 3, 3),
}


def counted(items, judgements, decisions=(), rule="majority"):
    return count_subset(items, final_labels(items, judgements, decisions, rule, rubric=RUBRIC), rubric=RUBRIC)


def test_table_2_of_circus():
    items, judgements = [], []
    for dataset, (required, solved, unresolved, unsolved) in TABLE_2.items():
        for category, audited, valid in (("composition_required", required, solved),
                                         ("unresolved", unresolved, unsolved)):
            for place in range(audited):
                items.append(item_of(len(items), dataset=dataset, category=category))
                answer = answer_of() if place < valid else answer_of(BROAD)
                judgements.append(judgement_of(items[-1], f"annotator_{len(items) % 9}", answer))
    for rule in ("majority", "single_kept"):
        subset = counted(items, judgements, rule=rule)
        assert {row.dataset: (row.audited_required, row.validated_solved, row.audited_unresolved,
                              row.validated_unsolved) for row in subset.rows} == TABLE_2
        assert [row.validated for row in subset.rows] == [303, 586, 758, 42]
        total = subset.total
        assert (total.audited_required, total.validated_solved) == (2324, 1006)
        assert (total.audited_unresolved, total.validated_unsolved) == (2417, 683)
        assert (total.audited, total.validated, total.dataset) == (4741, 1689, "Total")
        assert total.primary["VALIDATED"] == 1689 and total.primary[BROAD] == 4741 - 1689


def test_categories_and_reasons_add_up():
    answers = [
        [answer_of()],                                                       # valid
        [answer_of(TARGET, BROAD, reasons=["3a", "3b"])],                    # wrong target, and broad
        [answer_of(TARGET, TEXT, reasons=["3a", "1a"])],                     # wrong target, and unclear
        [answer_of(validated=False)],                                        # invalid, no flag
        [answer_of(), answer_of(BROAD)],                                     # a tie
        [answer_of(unsure=True)], [],                                        # nobody voted
        [answer_of(), answer_of(BROAD)],                                     # a tie that was decided
        [answer_of(BROAD), answer_of(TEXT, reasons=["1a"])],                 # invalid, for different reasons
    ]
    items = [item_of(number, category="unresolved") for number in range(len(answers))]
    judgements = [judgement_of(item, name, answer) for item, of in zip(items, answers, strict=True)
                  for name, answer in zip("ab", of, strict=False)]
    row, = counted(items, judgements, [decision_of(items[7], answer_of(BROAD))]).rows
    assert row.primary == {"VALIDATED": 1, TEXT: 0, "INVALID_IMAGE_QUERY": 0, TARGET: 2, BROAD: 1,
                           "INVALID_REASONS_DIFFER": 1, "INVALID_UNSPECIFIED": 1}
    assert (row.undecided, row.unlabelled, row.adjudicated) == (1, 2, 1)
    assert sum(row.primary.values()) + row.undecided + row.unlabelled == row.audited == 9
    assert row.flags == {TEXT: 1, "INVALID_IMAGE_QUERY": 0, TARGET: 2, BROAD: 2}
    assert row.reasons == {"1a": 1, "1b": 0, "1c": 0, "2a": 0, "2b": 0, "2c": 0, "3a": 2, "3b": 1, "3c": 0}
    assert row.reasons_differ == {TEXT: 0, "INVALID_IMAGE_QUERY": 0, TARGET: 0}


def test_a_flag_whose_reasons_differ_is_counted():
    """Otherwise its reasons would add up to less than the flag, and nothing would say why."""
    image = "INVALID_IMAGE_QUERY"
    answers = [
        [answer_of(image, reasons=["2a"]), answer_of(image, reasons=["2b"])],          # differ
        [answer_of(image, reasons=["2a"]), answer_of(image, reasons=["2a", "2b"])],    # 2a
        [answer_of(image), answer_of(image)],                                          # none, as in CIRCUS's files
        [answer_of(image, reasons=["2c"], note="x")],                                  # 2c
    ]
    items = [item_of(number) for number in range(len(answers))]
    judgements = [judgement_of(item, name, answer) for item, of in zip(items, answers, strict=True)
                  for name, answer in zip("ab", of, strict=False)]
    total = counted(items, judgements).total
    assert total.flags[image] == 4 and {code: n for code, n in total.reasons.items() if n} == {"2a": 1, "2c": 1}
    assert total.reasons_differ == {TEXT: 0, image: 1, TARGET: 0}
    shown = subset_json(counted(items, judgements), RUBRIC, "majority")["reasons"]
    of_image = [(one["code"], one["name"], one["count"]) for one in shown if one["flag"] == "Unusable reference"]
    assert [(code, count) for code, _, count in of_image] == [("2a", 1), ("2b", 0), ("2c", 1), ("", 1)]
    assert of_image[-1][1] == "Reasons differ" and sum(one["code"] == "" for one in shown) == 1
    # An adjudicator's word is one, and so is the one that is kept.
    assert counted(items, judgements, [decision_of(items[0], answer_of(image, reasons=["2b"]))]).total.reasons_differ[
        image] == 0
    assert counted(items, judgements, rule="single_kept").total.reasons["2a"] == 2


def test_queries_without_an_audit_stand_under_other():
    items = [item_of(0, category="unknown"), item_of(1, category=None), item_of(2, dataset=None, category="unresolved"),
             item_of(3, category="shortcut_solvable")]
    subset = counted(items, [judgement_of(item, "a", answer_of()) for item in items[:3]])
    assert [row.dataset for row in subset.rows] == ["cirr", "unknown"]
    cirr, unknown = subset.rows
    assert (cirr.audited_other, cirr.validated_other, cirr.audited_unresolved, cirr.validated) == (3, 2, 0, 2)
    assert (unknown.audited_unresolved, unknown.validated_unsolved) == (1, 1)
    assert (subset.total.audited, subset.total.validated) == (4, 3)


def test_a_study_without_items_has_a_total_of_nothing():
    subset = counted([], [])
    assert subset.rows == () and subset.total.audited == subset.total.validated == 0
