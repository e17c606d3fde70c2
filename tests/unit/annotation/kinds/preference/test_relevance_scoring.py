"""CIRQRS of a study's sets, over a gallery of plain colours and a relevance whose numbers are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from annotation.kinds.preference.relevance_scoring import relevance_scores
from cir_core.errors import ImageUnreadable, Stopped, StudyError
from cir_core.gallery.gallery import Gallery
from tests.fakes.preferences import an_item

REDS = ["r1g0b0", "r2g0b0", "r3g0b0", "r3g1b0", "r2g1b0"]
GREENS = ["r0g1b0", "r0g2b0", "r0g3b0", "r1g3b0", "r1g2b0"]


class Redness:
    """The score of r2g0b1 is 2/3, whatever is asked; of ``unreadable`` -1, as the scorer has it."""

    revision = "f" * 16

    def __init__(self, gallery: Gallery, unreadable: str = "") -> None:
        self.gallery, self.asked, self._unreadable = gallery, [], unreadable

    def query(self, reference: Any, text: str) -> Any:
        self.asked.append((reference.getpixel((0, 0)), text))
        return np.zeros(3, np.float32)

    def scores_of(self, query: Any, rows: Any) -> Any:
        ids = [self.gallery.ids[row] for row in rows]
        return np.array([-1.0 if one == self._unreadable else int(one[1]) / 3 for one in ids], np.float32)


def question(number=0, one=REDS, two=GREENS, reference="r0g0b3"):
    return an_item(number, text="red", set_ids=[list(one), list(two)], reference_id=reference)


def test_a_set_has_the_mean_of_its_images_and_a_query_is_encoded_once(gallery):
    scorer: Any = Redness(gallery)
    steps = []
    found = relevance_scores([question(0), question(1, ["r3g0b0", "r3g0b0", "r0g0b0"])], scorer,
                             progress=lambda *step: steps.append(step))
    # Reds: (1 + 2 + 3 + 3 + 2) / 15; greens: (0 + 0 + 0 + 1 + 1) / 15; of the second, one image twice: 6 / 9.
    assert found.scores == {("i0", 1): pytest.approx(11 / 15), ("i0", 2): pytest.approx(2 / 15),
                            ("i1", 1): pytest.approx(6 / 9), ("i1", 2): pytest.approx(2 / 15)}
    assert found.name == "CIRQRS" and scorer.revision in found.description and found.notes == ()
    assert scorer.asked == [((0, 0, 255), "red")] and steps == [("CIRQRS", 0, 1), ("CIRQRS", 1, 1)]


def test_what_cannot_be_scored_is_left_out_and_counted(gallery):
    scorer: Any = Redness(gallery, unreadable="r3g1b0")
    items = [question(0), question(1, reference="nosuch"), question(2, two=["r0g0b0", "nosuch"])]
    found = relevance_scores(items, scorer, name="mine")
    assert set(found.scores) == {("i0", 2)} and found.name == "mine"
    assert [note.rpartition(": ")[2] for note in found.notes] == ["1 of 3.", "1 of 6.", "2 of 6."]


def test_without_any_score_it_says_why(gallery, monkeypatch):
    scorer: Any = Redness(gallery)
    with pytest.raises(StudyError, match="none of the 2 sets"):
        relevance_scores([question(0, ["nosuch"], ["nosuch"])], scorer)
    with pytest.raises(StudyError, match="is reserved"):
        relevance_scores([question(0)], scorer, name="Recall@5")
    with pytest.raises(Stopped):
        relevance_scores([question(0)], scorer, watch=SimpleNamespace(stopped=True))  # type: ignore[arg-type]

    def unreadable(image_id):
        raise ImageUnreadable("It is damaged.")

    monkeypatch.setattr(gallery, "load_for_encoder", unreadable)
    with pytest.raises(StudyError, match="can be read"):
        relevance_scores([question(0)], scorer)
