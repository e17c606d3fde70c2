"""Finding a target: what a person is told of a picked image, and at the end."""

from dataclasses import replace

import numpy as np
import pytest

from cir_core.methods.declared import builtin_methods
from cir_core.sessions.target import CLOSE, duplicates, nearness
from tests.fakes.colours import NAME
from web.search.actions.base import begin, perform
from web.search.presenters import target as present_target
from web.search.screen import Screen
from web.search.view import UiState

TARGET = "r1g3b0"


@pytest.fixture
def view(services):
    """After one turn towards the target."""
    start = UiState(gallery=NAME, method=builtin_methods()["text-only"].settings, k=20)
    aimed = perform(services, start, "target", {"image": TARGET})
    _, job = begin(services, aimed, "search", {"text": "blue", "reference": "r3g0b3"})
    return job()


def by_similarity(gallery):
    """All other images and their cosines with the target, the most similar first."""
    cosines = np.asarray(gallery.features, dtype=np.float64) @ np.asarray(gallery.features[gallery.row_of(TARGET)])
    return sorted(((image_id, float(cosines[gallery.row_of(image_id)])) for image_id in gallery.ids
                   if image_id != TARGET), key=lambda one: -one[1])


def test_only_the_most_similar_images_are_called_close(services, view, gallery):
    order = by_similarity(gallery)
    alike = [one for one in order if one[1] >= 0.95]
    assert 0 < len(alike) < CLOSE, "the gallery has near-duplicates, and others that are close"
    said = {image_id: perform(services, view, "found", {"image": image_id}).notice for image_id, _ in order}
    for image_id, cosine in alike:
        assert said[image_id] == (
            f"A near-duplicate of the target (similarity {cosine:.2f}), but not the target itself. Keep looking.")
    for place, (image_id, cosine) in enumerate(order, 1):
        better = sum(other > cosine + 1e-5 for _, other in order)
        if cosine < 0.95 and place <= CLOSE:
            assert said[image_id].startswith("Close: one of the 10 images"), image_id
        if better >= CLOSE:
            assert said[image_id] == "This is not the target. Keep looking.", image_id
    assert not services.search.session(view.session_id).target_revealed


def test_an_image_that_is_gone_is_not_called_close(gallery):
    assert nearness(gallery, TARGET, "elsewhere") is None and nearness(gallery, "elsewhere", TARGET) is None
    assert duplicates(gallery, "elsewhere") == 0
    assert duplicates(gallery, TARGET) == sum(cosine >= 0.95 for _, cosine in by_similarity(gallery))


def at_rank(services, monkeypatch, view, rank):
    session = services.search.session(view.session_id)
    turns = (replace(session.turns[0], target_rank=rank),)
    monkeypatch.setattr(services.search, "session", lambda _: replace(session, turns=turns))
    return perform(services, view, "found", {"image": TARGET})


@pytest.mark.parametrize(("rank", "counts"), [(1, True), (10, True), (11, False), (26, False), (1234, False)])
def test_who_finds_it_is_told_so_and_why_it_counts_nothing(services, view, monkeypatch, rank, counts):
    won = at_rank(services, monkeypatch, view, rank)
    assert won.notice.startswith(f"You found the target, at rank {rank:,}.") and won.found == view.session_id
    assert ("this turn counts 0" in won.notice) != counts
    assert "near-duplicates of the target; they do not count" in won.notice


def test_the_end_is_shown_with_the_reason_for_its_scores(services, view):
    rank = services.search.session(view.session_id).turns[0].target_rank
    assert rank > 10
    won, panels = Screen(services).draw(perform(services, view, "found", {"image": TARGET}))
    assert "Target found" in panels["rail"]
    assert f"At rank {rank} the last turn counts 0." in panels["rail"]
    assert present_target.scores(services.search.scores([won.session_id]))["final"] == "0.00"
    lost, panels = Screen(services).draw(perform(services, view, "give_up", {}))
    assert "Target: result" in panels["rail"] and not lost.found and lost.notice.startswith("3 other images")
