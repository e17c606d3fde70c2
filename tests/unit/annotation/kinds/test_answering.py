"""Answering where items come in any order: drafts, what is refused, revisions, the same again."""

from __future__ import annotations

import pytest

from annotation.kinds.table import KINDS
from annotation.studies.service import StudyService
from cir_core.errors import IncompleteJudgement, UsedToken
from tests.fakes.databases import study_store as study_store
from tests.fakes.session_studies import QUESTIONS, make_session_study, session_rated
from tests.fakes.studies import flagged, make_study, valid
from tests.fakes.target_studies import all_marked, make_target_study

TEXT = "INVALID_TEXT_QUERY"


def of_session(item):
    """Three answers, each with a text; a half one, what is kept of it, what it lacks; the protocol."""
    return ([lambda text, rating=rating: session_rated(*(rating,) * 5, reason=text) for rating in (1, 3, 5)],
            {"ratings": {"coherence": 2, "overall": 9}, "reason": "so f"},
            {"ratings": {**dict.fromkeys(QUESTIONS), "coherence": 2}, "reason": "so f"},
            "“Session naturalness” has no answer yet", "circled/1")


def of_query(item):
    tokens = item.shown["candidates"]
    return ([lambda text, mark=mark: all_marked(tokens, mark, note=text) for mark in ("yes", "no", "unsure")],
            {"marks": {tokens[0]: "yes", "else": "no"}, "note": "so f"},
            {"marks": {**dict.fromkeys(tokens), tokens[0]: "yes"}, "note": "so f"},
            "“else” is not an image", "soft-targets/1")


def of_item(item):
    return ([lambda text: valid(note=text), lambda text: flagged("QUERY_TOO_BROAD", note=text),
             lambda text: flagged(TEXT, reasons=("1b",), note=text)],
            {"flags": [TEXT, "ELSE"], "note": "so f"}, flagged(TEXT, note="so f") | {"validated": None},
            "“ELSE” is not one of the rubric's flags", "circus/1")


@pytest.mark.parametrize(("make", "of"), [
    (make_session_study, of_session), (make_target_study, of_query),
    (lambda store, home, gallery, seats: make_study(store, home, seats=seats), of_item)])
def test_answers_drafts_and_revisions(make, of, store, tmp_path, gallery):
    service = StudyService(store, {name: kind.answers for name, kind in KINDS.items()})
    study = make(store, tmp_path, gallery, seats=1)
    item = service.join(study.name, "Ada").item
    (first, second, third), half, kept, says, protocol = of(item)
    service.save_draft(study.name, "Ada", item.item_id, half, seconds=3)
    assert service.workspace(study.name, "Ada", item_id=item.item_id).draft.answer == kept
    assert service.begun(study.name, "Ada") == {item.item_id}
    with pytest.raises(IncompleteJudgement, match=says):
        service.save(study.name, "Ada", item.item_id, half, "token-01")
    saved, after = service.save(study.name, "Ada", item.item_id, first("odd "), "token-02")
    assert (saved.judgement.answer, saved.judgement.revision) == (first("odd"), 1)
    assert saved.judgement.protocol == protocol and after.item.item_id != item.item_id and after.done == 1
    assert service.save(study.name, "Ada", item.item_id, first("odd"), "token-02")[0].repeated
    with pytest.raises(UsedToken):
        service.save(study.name, "Ada", item.item_id, second(""), "token-02")
    assert service.save(study.name, "Ada", item.item_id, third(""), "token-03")[0].judgement.revision == 2
    assert store.counts(study.study_id)["unsure"] == 0, "nothing is left to an adjudicator"
