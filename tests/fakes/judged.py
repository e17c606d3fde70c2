"""Studies of validity as plain records: items, and what people said of them, in a line each."""

from datetime import UTC, datetime, timedelta

from annotation.records import Decision, Item, Judgement, Study, StudyPlan

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEXT, IMAGE, TARGET, BROAD = (
    "INVALID_TEXT_QUERY", "INVALID_IMAGE_QUERY", "INVALID_TARGET_IMAGE", "QUERY_TOO_BROAD")


def study_of(**changes):
    fields = {
        "study_id": "s1", "name": "My study", "kind": "validity", "protocol": "circus/1",
        "plan": StudyPlan(2, 1, 0, 7), "accepting": True, "settings": {"unsure_after": 120, "broad_at": 10},
        "source": {}, "created_by": "ann", "created_at": AT,
    }
    return Study(**(fields | changes))


def item_of(number=0, *, dataset="cirr", category="unresolved", panel=("t1", "t2", "t3"), text="in red", **hidden):
    shown = {"text": text, "reference": "r", "target": "t", "panel": list(panel)}
    held = {
        "dataset": dataset, "query_idx": number, "query_id": f"{dataset}-{number}", "hidden_category": category,
        "reference_id": "a.jpg", "target_id": "b.jpg", "target_ids": ["b.jpg"], "panel": list(panel), "trace": {},
    }
    return Item(f"i{number}", "s1", number, f"{dataset}::{number}", f"{dataset}::{category}", False, shown,
                held | hidden)


def answer_of(*flags, validated=..., reasons=(), note="", alternatives=(), unsure=False, opened=False):
    """Without flags valid, with flags invalid; ``validated`` says otherwise."""
    return {
        "validated": (None if unsure else not flags) if validated is ... else validated, "flags": list(flags),
        "reasons": list(reasons), "note": note, "alternatives": list(alternatives), "unsure": unsure,
        "panel_opened": opened,
    }


def judgement_of(item, annotator, answer, *, revision=1, seconds=12.5):
    return Judgement(f"j-{item.item_id}-{annotator}", "s1", item.item_id, annotator, revision, f"t-{item.item_id}",
                     "circus/1", answer, seconds, AT + timedelta(seconds=item.number))


def decision_of(item, answer, *, revision=1, reason="clear enough"):
    return Decision(f"d-{item.item_id}-{revision}", "s1", item.item_id, "olga", revision, f"t-{revision}", answer,
                    reason, AT + timedelta(hours=1))
