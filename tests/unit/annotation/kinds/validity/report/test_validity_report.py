"""Agreement of a validity study: numbers by hand over a few items, and what is said where there is none."""

import json
from dataclasses import asdict, replace

import pytest

from annotation.analysis.records import Options, Selection
from annotation.kinds.validity.report.disputes import disputed
from annotation.kinds.validity.report.report import validity_json, validity_report
from cir_core.errors import StudyError
from tests.fakes.judged import BROAD, IMAGE, TARGET, TEXT, answer_of, decision_of, study_of
from tests.fakes.verdict_grids import PEOPLE, at, grid

ALPHA, FLEISS = "krippendorff_alpha", "fleiss_kappa"
NO_DRAWS = Options(draws=0)
CONSTANT = "both raters used a single category"
# Ten items of two people: both valid 4, only the first 1, only the second 2, neither 3.
TEN = grid("V V", "V V", "V V", "V V", "V T", "T V", "T V", "T T", "T TB", "B B")
# Three people, with work that is open and an unsure answer.
GAPS = grid("V V V", "V T .", "T T ?", "V . .")
EMPTY = grid()


def report(answers, selection=Selection(), **options):
    return validity_report(answers, selection, replace(NO_DRAWS, **options))


def flag(found, code):
    return next(one for one in found.flags if one.key == code)


def exactly(value):
    return pytest.approx(value, abs=1e-12)


def test_valid_or_not_of_two_people():
    found = report(TEN)
    assert (found.n_items, found.judged, found.judgements, found.unlabelled) == (10, 10, 20, 0)
    assert found.per_item == {2: 10}
    assert [(one.seat, one.name, one.judgements, one.positive) for one in found.raters] == [
        (1, "Ada", 10, 5), (2, "Björn", 10, 6)]
    two = found.binary
    assert (two.key, two.positive_rate.value, two.positive_rate.n) == ("binary", exactly(11 / 20), 20)
    # Cohen: p_o = 7/10, p_e = .5 · .6 + .5 · .4 = .5, kappa = .2 / .5
    [pair] = two.pairs
    assert (pair.a, pair.b, pair.a_seat, pair.b_seat, pair.n) == ("Ada", "Björn", 1, 2, 10)
    assert (pair.kappa.value, pair.kappa.n, pair.agreement.value) == (exactly(0.4), 10, exactly(0.7))
    assert pair.table == ((3, 2), (1, 4))
    # Fleiss: p_e = .55² + .45² = .505, kappa = .195 / .495
    assert (two.agreement[FLEISS].value, two.agreement[FLEISS].n) == (exactly(13 / 33), 10)
    # Krippendorff: 11 and 9 of 20 answers, D_e = 1 - (11 · 10 + 9 · 8) / (20 · 19) = 198/380, D_o = .3
    assert two.agreement[ALPHA].value == exactly(1 - 0.3 * 380 / 198)
    assert (found.unanimous.value, found.unanimous.n) == (exactly(0.7), 10)
    assert (two.pairwise.count, two.pairwise.undefined, two.pairwise.mean.n) == (1, 0, 1)
    assert two.pairwise.mean.value == two.pairwise.median == two.pairwise.min == two.pairwise.max == exactly(0.4)


def test_each_flag_is_a_yes_or_no():
    found = report(TEN)
    assert [one.key for one in found.flags] == [TARGET, IMAGE, TEXT, BROAD]   # in order of severity
    # Text: the first sets it on 4, the second on 3, both on 2: p_o = .7, p_e = .4 · .3 + .6 · .7 = .54
    text = flag(found, TEXT)
    assert (text.positive_rate.value, text.pairs[0].kappa.value) == (exactly(7 / 20), exactly(8 / 23))
    assert text.pairs[0].table == ((5, 1), (2, 2))
    # Broad: 1 and 2, both on 1: p_o = .9, p_e = .1 · .2 + .9 · .8 = .74
    assert flag(found, BROAD).pairs[0].kappa.value == exactly(8 / 13)
    image = flag(found, IMAGE)
    assert (image.positive_rate.value, image.positive_rate.n) == (0.0, 20)
    assert (image.pairs[0].kappa.value, image.pairs[0].kappa.reason) == (None, CONSTANT)
    assert image.agreement[FLEISS].value is image.agreement[ALPHA].value is image.pairwise.mean.value is None
    assert image.pairwise.reason == f"κ is undefined: {CONSTANT}"
    assert image.agreement[FLEISS].reason and image.agreement[ALPHA].reason


def test_the_whole_set_of_flags():
    both = f"{TEXT}+{BROAD}"
    found = report(TEN).signature
    assert (found.labels, found.counts) == (("VALIDATED", TEXT, BROAD, both), (11, 6, 2, 1))
    # The same on four valid ones, one T and one B.
    assert found.exact_agreement.value == found.pairwise_agreement.value == exactly(0.6)
    # D_e = 1 - (11 · 10 + 6 · 5 + 2 · 1) / 380 = 238/380, D_o = .4
    assert found.krippendorff_alpha.value == exactly(1 - 0.4 * 380 / 238)
    [pair] = found.pairs
    assert (pair.n, pair.agreement.value) == (10, exactly(0.6))
    assert pair.table == {("VALIDATED", "VALIDATED"): 4, (TEXT, "VALIDATED"): 2, ("VALIDATED", TEXT): 1,
                          (TEXT, TEXT): 1, (TEXT, both): 1, (BROAD, BROAD): 1}
    assert list(pair.table)[:2] == [("VALIDATED", "VALIDATED"), (TEXT, "VALIDATED")]   # the most frequent first


def test_missing_and_unsure_answers_are_no_answers():
    found = report(GAPS)
    assert (found.n_items, found.judged, found.judgements, found.unlabelled) == (3, 4, 8, 1)
    assert found.per_item == {1: 1, 2: 2, 3: 1}
    assert [(one.name, one.judgements) for one in found.raters] == [("Ada", 4), ("Björn", 3), ("Çelik", 1)]
    assert found.binary.positive_rate.value == exactly(5 / 8)    # the item judged alone counts here, nowhere else
    assert found.unanimous.value == exactly(2 / 3)
    # The first two: p_o = 2/3, p_e = 2/3 · 1/3 + 1/3 · 2/3 = 4/9. The third shares one valid item with each.
    kappas = {(pair.a, pair.b): (pair.n, pair.kappa.value, pair.kappa.reason) for pair in found.binary.pairs}
    assert kappas == {("Ada", "Björn"): (3, exactly(0.4), ""), ("Ada", "Çelik"): (1, None, CONSTANT),
                      ("Björn", "Çelik"): (1, None, CONSTANT)}
    summary = found.binary.pairwise
    assert (summary.count, summary.undefined, summary.mean.value, summary.reason) == (
        1, 2, exactly(0.4), f"2 of 3 pairs left out: {CONSTANT}")
    # Fleiss wants as many answers for each item, and two are the most frequent number:
    # V T and T T: p_e = 1/16 + 9/16, p_o = 1/2.
    assert (found.binary.agreement[FLEISS].value, found.binary.agreement[FLEISS].n) == (exactly(-1 / 3), 2)
    assert "left out" in found.binary.agreement[FLEISS].reason


def test_as_circus_counts_constant_raters():
    found = report(GAPS, undefined="one")
    summary = found.binary.pairwise
    assert (summary.count, summary.undefined, summary.mean.value) == (3, 0, exactly((0.4 + 1 + 1) / 3))
    assert (summary.median, summary.min, summary.max) == (1.0, exactly(0.4), 1.0)
    assert flag(found, IMAGE).agreement[FLEISS].value == 1.0
    assert any("counts as 1" in note for note in found.about.notes)
    apart = report(grid("V -", "- V"), undefined="one").binary
    assert apart.pairs[0].kappa.value is apart.agreement[ALPHA].value is None   # no shared item is no agreement


def test_notes_say_what_is_missing():
    notes = report(GAPS).about.notes
    assert notes == (
        "The study is not finished: 9 of 12 planned answers are available.",
        "1 answer without a verdict (unsure, or never labelled) enters no number.",
        "1 item has only one verdict: shares of answers count it, agreement does not.",
        "People who share fewer than 10 items with everyone else (most shared items): Ada (3), Björn (3), Çelik (1). "
        "Their kappas are unreliable.",
    )
    assert report(TEN).about.notes == ()
    closed = report(replace(GAPS, study=study_of(accepting=False))).about
    assert closed.notes[0].startswith("The study was closed before its end: 9 of 12")


def test_what_it_is_of():
    about = report(GAPS).about
    assert (about.study, about.kind, about.protocol, about.accepting) == ("My study", "validity", "circus/1", True)
    assert (about.planned, about.answered, about.latest) == (12, 9, at(3))
    assert report(GAPS, Selection(people=(3,))).about.latest == at(2)
    assert set(about.versions) == {"cirque", "python", "numpy", "scipy", "statsmodels", "evalica", "pandas"}
    imported = report(replace(GAPS, study=study_of(accepting=False, source={"form": "circus-users"}))).about
    assert (imported.planned, imported.answered) == (9, 9)   # nobody is waited for
    assert not any("planned" in note for note in imported.notes)


def test_an_empty_study_has_reasons_for_everything():
    waiting = grid(". .", ". .")
    for answers, said in ((EMPTY, "leave no item"), (waiting, "No verdict yet on any of the 2 items.")):
        for draws in (0, 20):
            found = report(answers, draws=draws)
            assert (found.n_items, found.judged, found.judgements, found.raters) == (0, 0, 0, ())
            assert any(said in note for note in found.about.notes)
            assert found.about.latest is None
            signature = found.signature
            numbers = [found.unanimous, signature.exact_agreement, signature.krippendorff_alpha,
                       signature.pairwise_agreement]
            for two in (found.binary, *found.flags):
                numbers += [two.positive_rate, two.agreement[FLEISS], two.agreement[ALPHA], two.pairwise.mean]
                assert two.pairs == () and two.pairwise.reason
            assert all(one.value is one.low is one.high is None and one.reason and one.n == 0 for one in numbers)
    assert report(waiting).per_item == {0: 2}


def test_one_person_alone():
    found = report(grid("V", "T"))
    assert (found.n_items, found.judged, len(found.raters)) == (0, 2, 1)
    assert found.binary.positive_rate.value == 0.5
    assert found.unanimous.value is None and found.binary.pairwise.mean.value is None
    assert found.binary.pairwise.reason == "fewer than two people have given a verdict"
    assert "Only one person has given verdicts. Agreement needs two." in found.about.notes


def test_people_without_a_shared_item():
    found = report(grid("V - -", "T - -", "- V V", "- T V"), draws=50)
    assert [(pair.a_seat, pair.b_seat, pair.n) for pair in found.binary.pairs] == [(1, 2, 0), (1, 3, 0), (2, 3, 2)]
    assert found.binary.pairs[0].kappa.reason == "no item was judged by both"
    assert found.binary.pairs[0].agreement.value is None and found.signature.pairs[0].agreement.value is None
    assert found.signature.pairwise_agreement.value == found.binary.pairs[2].agreement.value == 0.5
    assert "2 of 3 pairs of people have no item in common." in found.about.notes
    apart = report(grid("V -", "- T")).about.notes
    assert "No two people have judged the same item, so there is no agreement to measure." in apart


def test_intervals_hold_the_numbers_and_repeat_with_the_seed():
    found, again = report(TEN, draws=300), report(TEN, draws=300)
    assert found == again
    assert found != report(TEN, draws=300, seed=1)
    for one in (found.unanimous, found.binary.positive_rate, *found.binary.agreement.values(),
                found.signature.exact_agreement, found.binary.pairwise.mean, found.binary.pairs[0].kappa,
                found.signature.krippendorff_alpha, found.signature.pairwise_agreement):
        assert one.low < one.value < one.high
    # Of one pair the mean is the pair's kappa, draw by draw.
    assert (found.binary.pairwise.mean.low, found.binary.pairwise.mean.high) == (
        found.binary.pairs[0].kappa.low, found.binary.pairs[0].kappa.high)
    bare = report(TEN).binary
    assert bare.agreement[FLEISS].low is None and bare.agreement[FLEISS].reason == ""


def test_few_items_and_rare_answers_are_remarked_on():
    few = report(TEN, draws=300)
    low = "only 10 items: interval unreliable"
    for one in (few.binary.agreement[FLEISS], few.binary.agreement[ALPHA], few.binary.pairwise.mean,
                few.binary.pairs[0].kappa):
        assert one.reason == low and one.low is not None
    for one in (few.unanimous, few.binary.positive_rate, few.signature.krippendorff_alpha):
        assert one.reason == "" and one.low is not None
    # 40 items, of 80 answers 12 say not valid: they weigh 12 / 80 · 40 = 6 items. Of the text flag the same.
    rare = report(grid(*["V V"] * 32, *["T T"] * 4, *["V T"] * 4), draws=300)
    said = "rarer answer on only ≈ 6.0 of 40 items: interval unreliable"
    for two in (rare.binary, flag(rare, TEXT)):
        for one in (two.agreement[FLEISS], two.agreement[ALPHA], two.pairwise.mean, two.pairs[0].kappa):
            assert one.reason == said and one.low is not None
        assert two.positive_rate.reason == two.pairs[0].agreement.reason == ""
    # 20 of 80 answers weigh 10 items.
    enough = report(grid(*["V V"] * 28, *["T T"] * 8, *["V T"] * 4), draws=300).binary
    assert enough.agreement[FLEISS].reason == enough.agreement[ALPHA].reason == enough.pairs[0].kappa.reason == ""
    assert not [one for one in (report(TEN).binary.agreement[FLEISS], report(TEN).binary.pairs[0].kappa) if one.reason]


def test_shares_drawn_from_few_items_are_remarked_on():
    found = report(grid("V V", "V T", "T T", "V V", "T V", "V V"), draws=300)
    said = "resampled from 6 items: interpret the interval with care"
    assert found.unanimous.reason == found.binary.positive_rate.reason == found.signature.exact_agreement.reason == said
    assert found.binary.pairs[0].agreement.reason == found.signature.pairwise_agreement.reason == said
    assert "only 6 items: interval" in found.binary.agreement[FLEISS].reason    # and not the other remark as well
    assert said not in found.binary.agreement[FLEISS].reason


def test_items_judged_alone_do_not_move_the_intervals_of_agreement():
    shared = ["V V", "V T", "T T", "V V", "T V", "V V", "T T", "V V", "T T", "V V", "V V", "T V"]
    alone, mixed = report(grid(*shared), draws=300), report(grid(*shared, *["V -"] * 200), draws=300)
    for of in (lambda one: one.binary.agreement[ALPHA], lambda one: one.binary.agreement[FLEISS],
               lambda one: one.unanimous, lambda one: one.signature.krippendorff_alpha,
               lambda one: one.binary.pairwise.mean):
        assert (of(mixed).low, of(mixed).high) == (of(alone).low, of(alone).high)
        assert of(mixed).low is not None
    # The share of valid answers is drawn from all 212 items.
    ours, theirs = mixed.binary.positive_rate, alone.binary.positive_rate
    assert ours.high - ours.low < 0.3 * (theirs.high - theirs.low)


def test_kappas_that_many_draws_leave_undefined_have_no_interval():
    # Two of ten items: at (8/10)^10 = 11 % of the draws hold neither.
    found = report(grid(*["V V"] * 8, *["T T"] * 1, "V T"), draws=1000)
    kappa = flag(found, TEXT).pairs[0].kappa
    assert kappa.value is not None and kappa.low is None
    assert kappa.reason.startswith("no interval: undefined in ")


def test_invalid_without_a_flag_is_a_signature_of_its_own():
    found = report(grid("X X", "X T", "V V"))
    assert found.signature.labels == ("INVALID_UNSPECIFIED", "VALIDATED", TEXT)
    assert flag(found, TEXT).positive_rate.value == exactly(1 / 6)
    assert (found.unanimous.value, found.signature.exact_agreement.value) == (1.0, exactly(2 / 3))


def test_identical_signatures_among_items_that_all_call_invalid():
    # CIRCUS's agreement study: 50 items, 22 unanimous, of which 5 valid and 17 invalid; 6 of these with one signature.
    # Its report: exact_agreement_rate 0.22, unanimous_valid_invalid_rate 0.44, exact_invalid_signature_rate 0.35294.
    lines = [*["V V V"] * 5, *["B B B"] * 6, *["B B T"] * 11, *["V B B"] * 28]
    found = report(grid(*lines), draws=200)
    assert (found.n_items, found.unanimous.value, found.signature.exact_agreement.value) == (
        50, exactly(0.44), exactly(0.22))
    rate = found.signature.exact_invalid
    assert (rate.value, rate.n) == (exactly(6 / 17), 17)
    assert round(rate.value, 5) == 0.35294
    assert rate.low < 6 / 17 < rate.high
    none = report(grid("V V", "V T", "T ."), draws=20)
    assert (none.signature.exact_invalid.value, none.signature.exact_invalid.n) == (None, 0)
    assert none.signature.exact_invalid.reason == "no item is invalid by all its judges"


def test_hidden_names_are_nowhere():
    found = report(GAPS, hide_names=True, draws=20)
    assert [one.name for one in found.raters] == ["P01", "P02", "P03"]
    written = str(asdict(found))
    assert not [name for name in PEOPLE if name in written]
    shown = str(asdict(report(GAPS, draws=20)))
    assert all(name in shown for name in PEOPLE[:3])


def test_names_are_compared_without_regard_to_case():
    there = GAPS.judgements
    answers = replace(GAPS, judgements=tuple(replace(one, annotator=one.annotator.upper()) for one in there))
    assert report(answers).raters == report(GAPS).raters


def test_filters_leave_what_they_name():
    found = report(GAPS, Selection(people=(2, 3)))
    assert [one.name for one in found.raters] == ["Björn", "Çelik"]
    assert (found.judged, found.n_items, found.about.answered) == (3, 1, 9)
    assert found.about.selection == Selection(people=(2, 3))


def test_it_refuses_what_makes_no_sense():
    with pytest.raises(StudyError, match="Choose items"):
        report(TEN, resample="people")
    with pytest.raises(StudyError, match="draws cannot be made"):
        report(TEN, draws=-1)
    with pytest.raises(StudyError, match="cirque report 'Shops'"):
        report(replace(EMPTY, study=study_of(kind="preference", name="Shops")))


def test_of_very_many_people_only_pairs_that_share_something_are_listed():
    names = tuple(f"person {number}" for number in range(52))
    lines = [" ".join("V" if column in (row, row + 1) else "-" for column in range(52)) for row in range(51)]
    found = report(grid(*lines, people=names))
    assert len(found.raters) == 52
    assert len(found.binary.pairs) == len(found.signature.pairs) == 51
    assert any("1,275 of 1,326 pairs" in note and "does not list them" in note for note in found.about.notes)


# --- JSON: its keys are a promise to scripts -------------------------------------------------

BESIDE = {"ci95", "n", "reasons", "estimates"}
PAIRWISE = {"count", "mean", "median", "min", "max"}
TWO_WAY = {"positive_rate", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1", "brennan_prediger", "pairwise_cohen",
           "pairs"} | BESIDE


def written(*lines, **options):
    found = validity_json(validity_report(grid(*lines), options=Options(**{"draws": 50, **options})))
    return json.loads(json.dumps(found, allow_nan=False))


ALL_TEN = written("V V", "V V", "V V", "V V", "V T", "T V", "T V", "T T", "T TB", "B B")


@pytest.mark.parametrize("found", [ALL_TEN, written(), written("V"), written("V V", "V V"), written("V . ?", ". T .")])
def test_the_keys_are_always_all_there(found):
    assert set(found) == {
        "n_items", "n_raters", "binary", "flags", "signature",
        "judged", "judgements", "unlabelled", "people_per_item", "raters", "people", "times", "about"}
    assert set(found["binary"]) == TWO_WAY | {"exact_agreement_rate", "exact_invalid_signature_rate", "unanimous_rate"}
    assert list(found["flags"]) == [TARGET, IMAGE, TEXT, BROAD]
    for of in found["flags"].values():
        assert set(of) == TWO_WAY | {"label"}
    for of in (found["binary"], *found["flags"].values()):
        assert set(of["pairwise_cohen"]) == PAIRWISE | {"undefined", "ci95", "reason", "estimates"}
        for pair in of["pairs"]:
            assert set(pair) == {"a", "b", "n", "kappa", "ci95", "reason", "a_seat", "b_seat", "agreement",
                                 "agreement_ci95", "confusion", "estimates"}
        rates = TWO_WAY - BESIDE - {"pairwise_cohen", "pairs"}
        assert rates <= set(of["ci95"]) == set(of["n"])
    assert set(found["signature"]) == {
        "krippendorff_alpha", "exact_agreement_rate", "exact_invalid_signature_rate", "pairwise_agreement_mean",
        "pairs", "counts"} | BESIDE
    for pair in found["signature"]["pairs"]:
        assert set(pair) == {"a", "b", "n", "agreement", "ci95", "reason", "a_seat", "b_seat", "confusion",
                             "estimates"}
    assert set(found["about"]) == {
        "study", "study_id", "kind", "protocol", "accepting", "planned", "answered", "latest", "selection", "options",
        "versions", "notes"}


def test_the_numbers_stand_under_them():
    # By hand in test_validity_report.py.
    binary = ALL_TEN["binary"]
    assert (ALL_TEN["n_items"], ALL_TEN["n_raters"]) == (10, 2)
    assert binary["exact_agreement_rate"] == pytest.approx(0.6)    # of whole signatures
    # Three items are invalid by both: T T and B B alike, T TB not.
    assert binary["exact_invalid_signature_rate"] == pytest.approx(2 / 3)
    assert binary["n"]["exact_invalid_signature_rate"] == 3
    assert binary["unanimous_rate"] == pytest.approx(0.7)          # of valid or not
    assert binary["fleiss_kappa"] == pytest.approx(13 / 33)
    assert binary["pairwise_cohen"]["mean"] == pytest.approx(0.4)
    low, high = binary["ci95"]["fleiss_kappa"]
    assert low < 13 / 33 < high
    [pair] = binary["pairs"]
    assert (pair["a"], pair["b"], pair["n"], pair["confusion"]) == ("Ada", "Björn", 10, [[3, 2], [1, 4]])
    assert ALL_TEN["flags"][TEXT]["positive_rate"] == pytest.approx(7 / 20)
    [pair] = ALL_TEN["signature"]["pairs"]
    assert pair["agreement"] == pytest.approx(0.6)
    assert pair["confusion"][0] == {"a": "VALIDATED", "b": "VALIDATED", "n": 4}
    assert ALL_TEN["signature"]["counts"]["VALIDATED"] == 11
    assert ALL_TEN["raters"][0] == {"seat": 1, "name": "Ada", "judgements": 10, "valid": 5}


def test_what_there_is_not_is_null_with_a_reason():
    image = ALL_TEN["flags"][IMAGE]
    assert image["positive_rate"] == 0.0                     # a real 0: nobody set it
    assert image["fleiss_kappa"] is image["krippendorff_alpha"] is image["pairwise_cohen"]["mean"] is None
    assert image["ci95"]["fleiss_kappa"] is None
    assert image["reasons"]["fleiss_kappa"] and image["pairwise_cohen"]["reason"] and image["pairs"][0]["reason"]
    assert (image["pairwise_cohen"]["count"], image["pairwise_cohen"]["undefined"]) == (0, 1)
    empty = written()
    assert (empty["n_items"], empty["binary"]["fleiss_kappa"], empty["binary"]["positive_rate"]) == (0, None, None)


def test_hidden_names_do_not_get_into_it():
    text = json.dumps(written("V V T", "T V .", hide_names=True), ensure_ascii=False)
    assert "P03" in text and not [name for name in PEOPLE if name in text]


# --- the items behind a cell of a matrix -----------------------------------------------------

ANSWERS = grid(
    "V V V V",      # 0 nobody differs
    "V V V T",      # 1 three of four
    "T T TB B",     # 2 all invalid; signatures: two of four
    "V T V ?",      # 3 two of three
    "V T B TB",     # 4 all different
    "V - - .",      # 5 one alone
    "V T V T",      # 6 two of four
)


def numbers(**asked):
    return [int(one.key.rpartition("::")[2]) for one in disputed(ANSWERS, **asked)]


def test_most_disputed_first_then_by_number():
    # Shares of what most say: 4: 1/4, 2 and 6: 2/4, 3: 2/3, 1: 3/4
    assert numbers() == [4, 2, 6, 3, 1]
    # Valid or not. 6: 2/4, 3: 2/3, 1: 3/4, 4: three of four say invalid
    assert numbers(key="binary") == [6, 3, 1, 4]
    # Whether broad is set: 2: 2/4, 4: 2/4
    assert numbers(key=BROAD) == [2, 4]


def test_two_people_and_what_all_said():
    # The first and the second differ on 3, 4, 6.
    assert numbers(a=1, b=2) == numbers(a=2, b=1) == [4, 6, 3]
    assert numbers(a=1, b=2, key=BROAD) == []
    # Whether text is set, by the third and the fourth. 4 and 6: 2/4; 1 and 2: 3/4 of everybody
    assert numbers(a=3, b=4, key=TEXT) == [4, 6, 1, 2]
    [first, *_] = disputed(ANSWERS, a=1, b=2)
    assert first.answers == (("Ada", "VALIDATED"), ("Björn", TEXT), ("Çelik", BROAD), ("Dana", f"{TEXT}+{BROAD}"))
    assert (first.item_id, first.key, first.dataset, first.category) == ("i4", "cirr::4", "cirr", "unresolved")
    assert (first.text, first.reference, first.target, first.decided) == ("in red", "r", "t", None)


def test_unsure_answers_are_shown_but_make_no_dispute():
    third = next(one for one in disputed(ANSWERS) if one.item_id == "i3")
    assert third.answers[3] == ("Dana", "UNLABELLED")
    assert 3 not in numbers(a=1, b=4)


def test_the_latest_decision_that_decides():
    items = {item.item_id: item for item in ANSWERS.items}
    answers = replace(ANSWERS, decisions=(
        decision_of(items["i4"], answer_of(BROAD), revision=2), decision_of(items["i4"], answer_of(), revision=1),
        decision_of(items["i2"], answer_of(unsure=True))))
    decided = {one.item_id: one.decided for one in disputed(answers)}
    assert (decided["i4"], decided["i2"], decided["i6"]) == (BROAD, None, None)


def test_selection_and_hidden_names():
    found = disputed(ANSWERS, Selection(people=(1, 2)), Options(hide_names=True))
    assert [one.item_id for one in found] == ["i3", "i4", "i6"]
    assert found[0].answers == (("P01", "VALIDATED"), ("P02", TEXT))
    assert disputed(ANSWERS, Selection(people=(1, 2)), a=1, b=3) == []   # what the third said is not selected


def test_nothing_to_differ_on():
    assert disputed(grid()) == disputed(grid(". .")) == disputed(grid("V", "T")) == []


@pytest.mark.parametrize(("asked", "said"), [
    ({"key": "colour"}, "“colour”.*binary"), ({"a": 1}, "two seats"), ({"a": 2, "b": 2}, "two different people"),
    ({"a": 1, "b": 9}, "Nobody has seat 9"),
])
def test_what_cannot_be_asked(asked, said):
    with pytest.raises(StudyError, match=said):
        disputed(ANSWERS, **asked)
    with pytest.raises(StudyError, match="preference study"):
        disputed(replace(ANSWERS, study=study_of(kind="preference")))
