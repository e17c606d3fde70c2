"""Sections of reports: each number with what it rests on, figures that plotly takes, nothing that is not a number."""

import json
from dataclasses import replace
from math import e, isfinite, log

import pytest

from annotation.analysis.records import Estimate, Options, Selection
from annotation.kinds.preference.report.sections import preference_sections
from annotation.kinds.validity.report.sections import validity_sections
from cir_core.reports.figures import MatrixCell, matrix
from tests.fakes import reports
from tests.fakes.reports import ANN, BOB, CLEO, PLAN

ALL = {
    "validity": lambda: validity_sections(reports.validity_report(), PLAN),
    "empty validity": lambda: validity_sections(reports.empty_validity()),
    "preference": lambda: preference_sections(reports.preference_report(), PLAN),
    "empty preference": lambda: preference_sections(reports.empty_preference()),
}


@pytest.fixture(params=ALL)
def sections(request):
    return ALL[request.param]()


def by_key(sections, *keys):
    section = next(one for one in sections if one.key == keys[0])
    return section if len(keys) == 1 else next(one for one in section.tables if one.key == keys[1])


def figure(sections, key):
    return next(one for section in sections for one in section.figures if one.key == key)


def rows(table):
    return [dict(zip([column.key for column in table.columns], row, strict=True)) for row in table.rows]


def test_keys_are_unique_and_are_file_names(sections):
    for kind in ("tables", "figures"):
        keys = [one.key for section in sections for one in getattr(section, kind)]
        assert len(keys) == len(set(keys))
        assert all(key.replace("-", "").replace("_", "").isalnum() and key.isascii() for key in keys)
    assert len({section.key for section in sections}) == len(sections)


def test_every_cell_fits_its_column_and_is_a_number_or_nothing(sections):
    for table in (one for section in sections for one in section.tables):
        assert len({column.key for column in table.columns}) == len(table.columns)
        for row in table.rows:
            for column, cell in zip(table.columns, row, strict=True):
                if column.kind in ("text", "code"):
                    assert cell is None or isinstance(cell, str), (table.key, column.key)
                else:
                    assert cell is None or (isinstance(cell, int | float) and isfinite(cell)), (table.key, column.key)
                    # What a statistic rests on stands in the same row.
                    assert column.kind == "count" or table.key in ("precision", "precision-points") or any(
                        one.kind == "count" for one in table.columns), table.key
        assert table.rows or table.empty, table.key


def test_what_is_not_there_has_a_reason():
    for sections in (ALL["empty validity"](), ALL["empty preference"]()):
        for one in (one for section in sections for one in section.headlines if one.estimate.value is None):
            assert one.estimate.reason, one.label
        for table in (one for section in sections for one in section.tables):
            statistics = [column.key for column in table.columns if column.kind in ("number", "share", "p")]
            for row in rows(table):
                if "reason" in row and statistics and any(row[key] is None for key in statistics):
                    assert row["reason"], (table.key, row)


def test_figures_are_plain_json_without_a_theme_that_plotly_takes(sections):
    from plotly.graph_objects import Figure

    for one in (one for section in sections for one in section.figures):
        assert one.alt and one.title
        spec = json.loads(json.dumps(one.spec, allow_nan=False))
        Figure(spec)                                     # raises for a property that plotly does not know
        layout = spec["layout"]
        assert not {"template", "paper_bgcolor", "plot_bgcolor", "font", "title"} & set(layout)
        assert layout["height"] > 0


def test_a_heatmap_is_a_triangle_with_white_at_chance_and_a_text_with_the_number_of_few_items():
    found = figure(ALL["validity"](), "pairwise-kappa")
    values, gaps, texts = found.spec["data"]
    # Rows are the second and third of three people, columns the first and second.
    assert values["z"] == [[0.5, None], [None, None]]
    assert (values["zmin"], values["zmax"], values["colorscale"][5]) == (-1, 1, [0.5, "#f7f7f7"])
    assert gaps["z"] == [[None, None], [1, 1]]
    axes = [found.spec["layout"][axis]["ticktext"] for axis in ("xaxis", "yaxis")]
    assert [len(axis) for axis in axes] == [2, 2] and axes[0][1] == axes[1][0]
    said = dict(zip(zip(texts["y"], texts["x"], strict=True), texts["text"], strict=True))
    assert said == {(0, 0): "0.50", (1, 0): "–", (1, 1): "–"}
    assert values["hovertext"][1][0] == (
        "ann and cleo | $x$<br>κ –<br>n = 4<br>both raters used a single category")
    # Two people who share nothing have nothing to open.
    assert found.cells == {
        "0,0": {"a": 1, "b": 2, "key": "binary"}, "1,0": {"a": 1, "b": 3, "key": "binary"},
    }
    agreement = figure(ALL["validity"](), "pairwise-signature")
    assert (agreement.spec["data"][0]["zmin"], agreement.spec["data"][0]["colorscale"]) == (0, "Cividis")
    assert "1.00<br>n = 4" in agreement.spec["data"][2]["text"]


def test_what_plotly_takes_for_markup_is_shown_as_it_is():
    text = json.dumps(figure(ALL["validity"](), "pairwise-kappa").spec)
    assert "<script" not in text and "&lt;script&gt;" in text


def test_pairs_stand_in_tables_with_n_and_reason():
    sections = ALL["validity"]()
    table = by_key(sections, "binary", "pairwise-kappa")
    first, second = rows(table)                          # of the third pair nothing can be said
    assert (first["a"], first["b"], first["n"], first["kappa"], first["agreement"]) == (ANN, BOB, 12, 0.5, 0.75)
    assert (second["kappa"], second["reason"]) == (None, "κ: both raters used a single category")
    assert table.note == "1 pair shares no item and is not listed."
    assert rows(by_key(sections, "binary", "confusion"))[0] == {
        "a": ANN, "b": BOB, "n": 12, "both_valid": 4, "only_a_valid": 2, "only_b_valid": 1, "both_invalid": 5}


def test_disagreements_count_both_ways_round():
    (row,) = rows(by_key(ALL["validity"](), "signature", "disagreements"))
    assert row == {"one_name": "Wrong target + Broad", "other_name": "Validated", "one": "A+B", "other": "VALIDATED",
                   "times": 6}     # 4 one way, 2 the other


def test_people_have_their_mean_kappa_over_pairs_with_one():
    ann, _, cleo = rows(by_key(ALL["validity"](), "people", "people"))
    assert (ann["valid_share"], ann["mean_kappa"], ann["pairs"], ann["others"], ann["fewest"]) == (0.4, 0.5, 1, 2, 4)
    assert (cleo["person"], cleo["mean_kappa"], cleo["reason"]) == (CLEO, None, "κ is undefined with everybody")


def test_every_metric_has_its_rates_in_each_form():
    sections = ALL["preference"]()
    found = [row for row in rows(by_key(sections, "rates", "rates")) if row["metric"] == "recall@5"]
    assert [(row["form"], row["n"]) for row in found] == [
        ("symmetric (the default)", 45), ("≥, one-sided (as published)", 60), (">, one-sided", 25),
        ("symmetric, equal recall", 0), (">, one-sided, equal recall", 0)]
    assert found[0]["rate"] == pytest.approx(33 / 45) and found[0]["first_side"] == 0.6
    assert (found[3]["rate"], found[3]["reason"].partition(";")[0]) == (
        None, "Rate, By draws: recall differs wherever scores do")


def test_rates_by_draws_stand_beside_wilson_s_where_answers_are_not_independent():
    report = reports.preference_report()
    sections = preference_sections(report)
    row = rows(by_key(sections, "rates", "rates"))[0]
    assert (row["drawn_low"], row["drawn_high"]) == (0.35, 0.95) and row["rate_low"] > 0.5
    assert "by draws of questions" in by_key(sections, "rates", "rates").note
    (rate,) = (one for one in by_key(sections, "glance").headlines if one.label == "Preference rate, recall@5")
    assert (rate.estimate.low, rate.estimate.high) == (0.35, 0.95)
    assert figure(sections, "rates").alt.startswith("Preference rates, with 95 % intervals, by draws of questions.")
    # Nobody shares a question: Wilson's alone, but where people are drawn.
    for changes, drawn in (({"shared_questions": 0}, False),
                           ({"shared_questions": 0, "about": about(resample="people")}, True),
                           ({"about": about(draws=0)}, False)):
        sections = preference_sections(reports.preference_report(**changes))
        row = rows(by_key(sections, "rates", "rates"))[0]
        assert ("drawn_low" in row) is drawn
        assert (by_key(sections, "glance").headlines[-1].estimate.low == 0.35) is drawn
        assert ("by draws of people" in by_key(sections, "rates", "rates").note) is drawn


def about(**options):
    return reports.about_of("preference", options=Options(**options))


def test_questions_with_the_same_images_in_both_sets_are_counted():
    found = rows(by_key(ALL["preference"](), "ratings", "rating-facts"))
    assert {"what": "both sets have the same images", "count": 2, "n": 50, "unit": "questions"} in found


def test_win_rates_are_read_by_row_against_column():
    found = figure(ALL["preference"](), "win-rates")
    assert found.spec["layout"]["yaxis"]["ticktext"] == ["soft", "slerp"]     # the strongest first
    values = found.spec["data"][0]["z"]
    assert values[1][0] == pytest.approx(19 / 49) and values[0][1] == pytest.approx(30 / 49)


def test_predicted_win_rates_are_of_all_methods_in_the_fit():
    some = reports.preference_report().methods
    third = replace(some[1], method="corr", value=Estimate(-0.5 - log(3), 0))
    left_out = replace(some[1], method="text", value=Estimate(None, 0, reason="never compared"))
    sections = preference_sections(reports.preference_report(methods=(*some, third, left_out)))
    found = figure(sections, "predicted-win-rates")
    assert found.spec["layout"]["yaxis"]["ticktext"] == ["soft", "slerp", "corr"]
    # exp of a difference is the odds: e to 1, 3 to 1, and both.
    values = found.spec["data"][0]["z"]
    assert [values[0][1], values[1][2], values[0][2]] == pytest.approx([e / (1 + e), 0.75, 3 * e / (1 + 3 * e)])
    assert values[2][1] == pytest.approx(0.25)
    hover = found.spec["data"][0]["hovertext"]
    assert "n = 50" in hover[0][1] and "n = 0" in hover[1][2]


def test_ratings_are_shares_of_a_bar_by_method_and_by_value_of_each_metric():
    sections = ALL["preference"]()
    levels = figure(sections, "method-ratings").spec["data"]
    assert [one["name"] for one in levels] == ["1", "2", "3", "4", "5"]
    assert levels[0]["y"] == ["soft (n\u00a0=\u00a050)", "slerp (n\u00a0=\u00a050)"]     # the strongest first
    assert levels[1]["x"] == pytest.approx([6 / 50, 14 / 50]) and levels[1]["base"] == pytest.approx([2 / 50, 8 / 50])
    (first, *_), layout = (figure(sections, "ratings-by-value-2").spec[key] for key in ("data", "layout"))
    assert first["y"] == ["0.000 (n\u00a0=\u00a040)", "1.000 (n\u00a0=\u00a060)"] and first["customdata"] == [8, 2]
    assert layout["yaxis"]["title"]["text"] == "cosine &amp; &lt;b&gt;"


def test_planning_and_method_say_what_they_rest_on():
    sections = ALL["validity"]()
    (line,) = figure(sections, "precision").spec["data"]
    assert (line["x"], line["y"]) == ([1.0, 20.0], [0.4, 0.09])
    assert "kappa: kappa is undefined." in figure(sections, "precision").alt
    needed = by_key(sections, "precision", "precision")
    assert "About, in total" in [column.name for column in needed.columns] and "rough estimates" in needed.note
    settings = dict(by_key(sections, "method", "settings").rows)
    assert settings["Answers"] == "9 of 1,200 planned; the study takes answers"
    assert (settings["Seed"], settings["Version of numpy"], settings["Names"]) == ("20261121", "2.1", "shown")
    intervals = dict(by_key(sections, "method", "method").rows)["Intervals"]
    assert "over items, 1,000 draws, seed 20261121" in intervals and "too narrow and too low" in intervals
    assert [section.key for section in sections] == [
        "glance", "binary", "flags", "signature", "people", "precision", "method"]
    assert "precision" not in [section.key for section in ALL["empty validity"]()]


def test_selection_and_undefined_kappas_are_told():
    of = reports.about_of(selection=Selection(datasets=("cirr",), people=(2, 9), block_only=True),
                          options=Options(draws=0, undefined="one"))
    sections = validity_sections(reports.validity_report(about=of))
    settings = dict(by_key(sections, "method", "settings").rows)
    assert settings["Selection"] == f"data set cirr; people {BOB}, seat 9; the agreement block only"
    how = dict(by_key(sections, "method", "method").rows)
    assert "count as 1" in how["Undefined"] and how["Intervals"].startswith("Not computed")


def test_notes_come_first_where_there_are_any():
    first = ALL["validity"]()[0]
    assert first.tables[0].rows == (("It is not finished.",),)
    assert [table.key for table in ALL["empty validity"]()[0].tables] == ["counts", "people-per-item"]


def test_of_many_people_the_figure_says_where_values_are_and_marks_pairs_with_few_items():
    def heat(people):
        cells = {(a, b): MatrixCell(0.5, (f"n = {a + b}",), "n = 1" if a + b == 1 else "")
                 for a in range(people) for b in range(people) if a != b}
        return matrix("k", "κ", "κ of people", [f"person {number}" for number in range(people)], cells, scale="κ",
                      under="pairs with few items")

    assert heat(14).note == "" and heat(14).spec["data"][2]["mode"] == "text"
    found = heat(15)
    assert "values and numbers are in the table. A dot marks pairs with few items." in found.note
    dots = found.spec["data"][2]
    assert (dots["mode"], dots["x"], dots["y"]) == ("markers", [1, 0], [0, 1])


def test_a_part_of_a_study_is_said_first_with_what_is_left_of_it():
    chosen = Selection(categories=("color",), people=(1, 2, 3, 9))
    report = reports.validity_report(about=reports.about_of(selection=chosen, answered=252))
    # Of 20 answers with a verdict and one without.
    said = f"category color; people {ANN}, {BOB}, {CLEO} and 1 more (21 of 252 answers)"
    assert validity_sections(report)[0].tables[0].rows[0] == (f"This report covers part of the study: {said}.",)
    report = reports.preference_report(about=reports.about_of("preference", selection=Selection(datasets=("x",)),
                                                              answered=252))
    assert preference_sections(report)[0].tables[0].rows[0] == (
        f"This report covers part of the study: data set x ({report.n_answers} of 252 answers).",)
