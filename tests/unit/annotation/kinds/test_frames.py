"""A study from Python: data frames and figures."""

import io

import pandas as pd
import pytest

from annotation.analysis.records import Options
from annotation.kinds.frames import answers_frame, save_figure, table_frame
from annotation.kinds.reports import compose, load_answers
from annotation.kinds.table import KINDS, Export
from annotation.kinds.validity.answers import Validity
from annotation.studies.service import StudyService
from cir_core.errors import StudyError
from cir_core.reports.paper import figure_files
from tests.fakes.databases import study_store as study_store
from tests.fakes.studies import flagged, make_study, valid


@pytest.fixture
def study(store, tmp_path):
    """Four items; Ann calls all of them valid, Bob the first two."""
    made = make_study(store, tmp_path, items=4, seats=2, overlap=2, pictures=6, panel=2)
    service = StudyService(store, {"validity": Validity()})
    for who, good in (("Ann", 4), ("Bob", 2)):
        service.join(made.study_id, who)
        for number, item in enumerate(store.items(made.study_id)):
            answer = valid() if number < good else flagged("QUERY_TOO_BROAD")
            service.save(made.study_id, who, item.item_id, answer, f"token-{who}-{number}", seconds=9)
    return made


def test_answers_are_those_of_the_export(store, study):
    frame = answers_frame(store, study)
    files, _ = KINDS[study.kind].export(store, study, Export("csv"))
    written = pd.read_csv(io.BytesIO(files["judgements.csv"]))
    assert list(frame) == list(written) and len(frame) == len(written) == 8
    assert frame.groupby("annotator")["validated"].sum().to_dict() == {"Ann": 4, "Bob": 2}
    assert frame["validated"].dtype == bool and len(answers_frame(store, study, "items")) == 4
    with pytest.raises(StudyError, match=r"no table 'people'\. It has: judgements, items"):
        answers_frame(store, study, "people")


def test_tables_and_figures_of_a_report_in_one_call(store, study, tmp_path):
    whole = compose(load_answers(store, study), options=Options(draws=20))
    key, table = next((table.key, table) for section in whole.sections for table in section.tables
                      if any(column.kind == "number" for column in table.columns))
    frame = table_frame(whole, key)
    assert list(frame) == [column.key for column in table.columns] and len(frame) == len(table.rows)
    figure = next(figure for section in whole.sections for figure in section.figures)
    save_figure(whole, figure.key, tmp_path / "drawn.svg")
    assert (tmp_path / "drawn.svg").read_bytes() == figure_files([figure])[f"figures/{figure.key}.svg"]
    for call, said in ((lambda: table_frame(whole, "x"), f"no table 'x'. It has: .*{key}"),
                       (lambda: save_figure(whole, "x", "x.svg"), f"no figure 'x'. It has: .*{figure.key}"),
                       (lambda: save_figure(whole, figure.key, "x.eps"), r"End it with \.svg, \.pdf or \.png")):
        with pytest.raises(StudyError, match=said):
            call()
