"""Results as a list with folded near-duplicates, and as a map: the ranking stays what it is."""

import re

import pytest

from cir_core.errors import SearchError
from cir_core.methods.declared import builtin_methods
from tests.fakes.colours import NAME
from web.search.actions.base import begin, perform
from web.search.api import run_search
from web.search.presenters.arranged import near_the_top
from web.search.screen import Screen
from web.search.view import UiState

METHODS = builtin_methods()


@pytest.fixture
def view(services):
    start = UiState(gallery=NAME, reference_id="r0g3b0", method=METHODS["slerp"].settings, k=20)
    _, job = begin(services, start, "search", {"text": "red"})
    return job()


def results(services, view):
    drawn, panels = Screen(services).draw(view)
    assert not drawn.problem
    return panels["results"]


def ranks(html, *, hidden):
    return [int(one[1]) for one in re.finditer(r'<div class="cq-tile[^>]*?data-rank="(\d+)"', html)
            if (" hidden" in one[0]) == hidden]


def test_a_list_is_plain_until_folding_is_asked_for(services, view):
    assert ranks(results(services, view), hidden=False) == list(range(1, 21))
    assert ranks(results(services, view), hidden=True) == []


def test_folded_images_are_under_the_one_they_resemble_and_the_page_stays_full(services, view):
    folded = perform(services, perform(services, view, "fold", {"on": "true"}), "fold", {"at": 0.97})
    html = results(services, folded)
    shown, under = ranks(html, hidden=False), ranks(html, hidden=True)
    assert len(shown) == 20 and under and sorted(shown) == shown and not set(shown) & set(under)
    first = re.search(r'data-under="(\d+)"', html)
    assert first and int(first[1]) in shown and "similar</i>" in html
    assert f"{len(under)} similar folded" in html
    stored = services.search.session(view.session_id)
    assert len(stored.turns) == 1 and [hit.rank for hit in stored.turns[0].hits] == list(range(1, 21))
    assert results(services, perform(services, folded, "fold", {"on": "false"})) == results(services, view)


@pytest.mark.parametrize("data", [{"at": 0.1}, {"at": "much"}, {"at": 2}])
def test_a_bad_threshold_is_refused(services, view, data):
    with pytest.raises(SearchError):
        perform(services, view, "fold", data)


def test_a_map_has_the_first_results_in_their_order_each_with_a_place(services, view):
    html = results(services, perform(services, view, "layout", {"as": "map"}))
    points = re.findall(r'data-x="([\d.]+)" data-y="([\d.]+)" data-image="([^"]+)" data-rank="(\d+)"', html)
    assert [int(rank) for *_, rank in points] == list(range(1, 64))   # 64 images, without the reference
    assert len({(x, y) for x, y, *_ in points}) > 50
    assert [image for _, _, image, _ in points[:20]] == [
        hit.image_id for hit in services.search.session(view.session_id).turns[0].hits]
    assert 'alt=""' not in html and html.count('class="sr">Rank ') == len(points)


def test_a_gallery_that_changed_is_shown_as_a_plain_list(services, view, monkeypatch):
    gallery = services.search.gallery(NAME)
    monkeypatch.setitem(vars(gallery), "digest", "f" * 16)
    for action, data in (("layout", {"as": "map"}), ("fold", {"on": True})):
        html = results(services, perform(services, view, action, data))
        assert "plain list only" in html and ranks(html, hidden=False) == list(range(1, 21))


def test_a_program_folds_only_where_it_asks_for_it(services):
    plain = run_search(services, "r0g3b0", None, "red", "", 8, "slerp")
    assert all(set(hit) == {"image_id", "score", "rank", "picture"} for hit in plain["hits"])
    folded = run_search(services, "r0g3b0", None, "red", "", 8, "slerp", fold=0.97)
    assert len(folded["hits"]) == 8 and sum(len(hit["similar"]) for hit in folded["hits"]) > 0
    by_rank = {hit["rank"]: hit["image_id"] for hit in plain["hits"]}
    seen = {hit["rank"]: hit["image_id"] for one in folded["hits"] for hit in (one, *one["similar"])}
    assert all(by_rank[rank] == image for rank, image in seen.items() if rank in by_rank)


@pytest.mark.parametrize("fold", [0.3, "0.9", True, 7])
def test_a_program_is_told_what_fold_takes(services, fold):
    with pytest.raises(SearchError, match="fold"):
        run_search(services, "r0g3b0", None, "red", "", 8, "slerp", fold=fold)


def test_a_map_colours_by_rank_and_says_so(services, view):
    html = results(services, perform(services, view, "layout", {"as": "map"}))
    shares = [int(one) for one in re.findall(r"--near:(\d+)%", html)]
    assert len(shares) > 20 and shares[0] == 100 and shares[-1] == 0 and shares == sorted(shares, reverse=True)
    middle = round(len(shares) ** 0.5)     # half way in ratios of ranks
    assert shares[middle - 1] == pytest.approx(50, abs=3)
    assert f"<span>Rank 1</span><i></i><span>{len(shares)}</span>" in html
    assert near_the_top(1, 1) == 100, "a map of one image"
