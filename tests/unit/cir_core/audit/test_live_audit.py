"""Does the query a person just typed need both its image and its text?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cir_core.audit.live import Alone, LiveAudit, LiveAudits, live_audit
from cir_core.errors import SearchError, UnknownSession
from cir_core.gallery.indexing import index_folder
from cir_core.sessions.service import SearchService
from cir_core.types.records import MethodSettings
from tests.fakes.colours import NAME
from tests.fakes.encoder import FakeEncoder
from tests.fakes.store import service as service
from web.search.presenters import audit

SLERP = MethodSettings(base="slerp", text_weight=0.5)


def plain_ranks(service: SearchService, vector: np.ndarray, hidden: set[str]) -> dict[str, int]:
    """Sorted by hand, in double precision."""
    gallery = service.gallery(NAME)
    scores = (np.asarray(gallery.features, dtype=np.float64) * vector).sum(axis=1).astype(np.float32)
    order = sorted((row for row, i in enumerate(gallery.ids) if i not in hidden), key=lambda row: (-scores[row], row))
    return {gallery.ids[row]: rank for rank, row in enumerate(order, 1)}


@pytest.mark.parametrize("exclude", ["none", "reference"])
def test_ranks_alone_are_those_of_a_plain_sort(service: SearchService, exclude: str) -> None:
    session = service.start(NAME, method=replace(SLERP, exclude=exclude))
    turn = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    _, found = LiveAudits(service).of(session.session_id, turn.turn_id)
    hidden = {"none": set(), "reference": {"r0g3b0"}}[exclude]
    by_text = plain_ranks(service, FakeEncoder().encode_texts(["red"])[0].astype(np.float64), hidden)
    reference = service.gallery(NAME).features[service.gallery(NAME).row_of("r0g3b0")]
    by_image = plain_ranks(service, np.asarray(reference, dtype=np.float64), hidden)

    assert found.text is not None
    assert found.text.ranks == {hit.image_id: by_text[hit.image_id] for hit in turn.hits}
    assert found.image.ranks == {hit.image_id: by_image[hit.image_id] for hit in turn.hits}
    assert list(found.text.best) == sorted(by_text, key=by_text.__getitem__)[:10]
    assert found.image.shared == len(set(found.image.best) & {hit.image_id for hit in turn.hits[:10]})
    assert (found.image.best[0] == "r0g3b0") == (exclude == "none")


def test_a_method_that_reads_the_text_only_needs_no_image(service: SearchService) -> None:
    session = service.start(NAME, method=MethodSettings(base="text-only"))
    turn = service.run_turn(session.session_id, "blue", reference_id="r3g0b0").turn
    _, found = LiveAudits(service).of(session.session_id, turn.turn_id)
    assert found.finding == "text" and found.text is not None and found.text.shared == 10
    assert audit.sentence(found) == "Of these top 10, the text alone gives 10 and the image alone gives 0."


def test_a_turn_without_a_text(service: SearchService) -> None:
    session = service.start(NAME, method=MethodSettings(base="image-only"))
    turn = service.run_turn(session.session_id, "", reference_id="r3g0b0").turn
    _, found = LiveAudits(service).of(session.session_id, turn.turn_id)
    assert found.text is None and found.finding == "image"
    shown = audit.audit(found, NAME, "v")
    assert [row["name"] for row in shown["rows"]] == ["Both", "Image only"]
    assert shown["ranks"][turn.hits[0].image_id] == [None, 1]


def test_the_target_is_told_only_to_who_may_know_it(service: SearchService) -> None:
    session = service.start(NAME, method=SLERP, target_id="r3g3b0")
    turn = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    audits = LiveAudits(service)
    hidden = audits.of(session.session_id, turn.turn_id)[1]
    assert hidden.target_rank is None and hidden.text.target_rank is None and hidden.image.target_rank is None
    service.set_target_live(session.session_id, True)
    told = audits.of(session.session_id, turn.turn_id)[1]
    assert told.target_rank == turn.target_rank and told.text.target_rank and told.image.target_rank


def test_a_turn_after_the_target_was_revealed_is_about_its_results(service: SearchService) -> None:
    session = service.start(NAME, method=SLERP, target_id="r3g3b0")
    one = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    service.reveal_target(session.session_id)
    two = service.run_turn(session.session_id, "blue", parent_id=one.turn_id).turn
    audits = LiveAudits(service)
    assert audits.of(session.session_id, one.turn_id)[1].target_rank == one.target_rank
    after = audits.of(session.session_id, two.turn_id)[1]
    assert after.target_rank is None and after.text.target_rank is None and after.image.target_rank is None
    assert "target" not in audit.sentence(after)


def test_a_target_that_is_the_reference_itself_has_a_rank(service: SearchService) -> None:
    """The image alone would be it, so this is a shortcut if there ever was one."""
    session = service.start(NAME, method=replace(SLERP, exclude="reference"), target_id="r0g3b0", target_live=True)
    turn = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    _, found = LiveAudits(service).of(session.session_id, turn.turn_id)
    assert found.image.target_rank == 1


def test_later_turns_and_uploads(service: SearchService, tmp_path: Path) -> None:
    from PIL import Image

    upload = service.add_upload(Image.new("RGB", (8, 8), (255, 0, 0)), "mine.png")
    session = service.start(NAME, method=SLERP)
    one = service.run_turn(session.session_id, "green", reference_id=upload).turn
    two = service.run_turn(session.session_id, "blue", parent_id=one.turn_id).turn
    _, found = LiveAudits(service).of(session.session_id, two.turn_id)
    assert found.later_turn and found.text is not None
    assert len(found.text.best) == 10
    assert audit.audit(found, NAME, "v")["rows"][0]["name"] == "This turn"


def test_unknown_turns_and_galleries_that_changed(service: SearchService, tmp_path: Path) -> None:
    audits = LiveAudits(service)
    with pytest.raises(UnknownSession):
        audits.of("nobody", "nothing")
    session = service.start(NAME, method=SLERP)
    turn = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    with pytest.raises(SearchError):
        audits.of(session.session_id, "nothing")
    (tmp_path / "photos" / "r0g0b0.png").unlink()
    index_folder(tmp_path / "photos", name=NAME, encoder=FakeEncoder(), home=tmp_path / "home")
    with pytest.raises(SearchError, match="has changed since"):
        LiveAudits(service).of(session.session_id, turn.turn_id)


def alone(shared: int, target_rank: int | None = None) -> Alone:
    return Alone(("a", "b"), shared, {"a": 3}, target_rank)


@pytest.mark.parametrize(("both", "text", "image", "finding", "says"), [
    (1, 10, 10, "either", "does not need both"),
    (11, 10, 10, "either", "but both together lose it"),
    (4, 10, 11, "text", "The text alone already finds the target: the image is not needed."),
    (30, 2, 11, "text", "finds the target, but both together lose it: the image is not needed."),
    (10, 11, 10, "image", "The image alone already finds the target: the text is not needed."),
    (10, 11, 11, "both", "Neither input alone finds the target, but both together do"),
    (11, 11, 11, "neither", "The target is not in the top 10 yet"),
])
def test_findings_about_a_target(both: int, text: int, image: int, finding: str, says: str) -> None:
    """K = 10: rank 10 is found, rank 11 is not."""
    from cir_core.audit.live import _by_target

    made = _by_target(both, alone(0, text), alone(0, image))
    assert made == finding
    assert says in audit.sentence(LiveAudit(made, ("a",), 10, alone(0, text), alone(0, image), both))


@pytest.mark.parametrize(("depth", "text", "image", "finding", "says"), [
    (10, 8, 8, "either", "Of these top 10, the text alone gives 8 and the image alone gives 8."),
    (10, 8, 7, "text", "Of these top 10, the text alone gives 8 and the image alone gives 7."),
    (10, 7, 10, "image", "Of these top 10, the text alone gives 7 and the image alone gives 10."),
    (10, 0, 0, "both", "Of these top 10, the text alone gives 0 and the image alone gives 0."),
    (0, 0, 0, "both", "There are no results to compare."),
])
def test_findings_about_results_give_overlap_only(depth: int, text: int, image: int, finding: str, says: str) -> None:
    from cir_core.audit.live import _by_overlap

    made = _by_overlap(depth, alone(text), alone(image))
    assert made == finding
    found = LiveAudit(made, ("a",), depth, alone(text), alone(image))
    assert audit.sentence(found) == says
    assert not audit.audit(found, NAME, "v")["needs_both"], "needed for what? No target is known"


def test_of_a_later_turn_the_turns_before_have_a_part_in_it() -> None:
    one = LiveAudit("both", ("a",), 10, alone(3), alone(1), later_turn=True)
    assert audit.sentence(one).endswith("the image alone gives 1. Earlier turns also count.")
    assert audit.sentence(replace(one, target_rank=2)).endswith("(earlier turns also count).")
    assert audit.sentence(replace(one, text=None)).startswith("Of these top 10, the image alone gives 1.")


def test_it_is_worked_out_once(service: SearchService) -> None:
    session = service.start(NAME, method=SLERP)
    turn = service.run_turn(session.session_id, "red", reference_id="r0g3b0").turn
    audits = LiveAudits(service)
    first = audits.of(session.session_id, turn.turn_id)[1]
    assert audits.of(session.session_id, turn.turn_id)[1] is first
    searcher = service.searcher(NAME)
    assert live_audit(searcher, searcher.gallery_reference("r0g3b0"), turn) == first
