"""A gallery's index, in the settings and on the protocol card."""

from cir_core.index.building import build_index
from cir_core.types.records import MethodSettings
from tests.fakes.colours import NAME
from web.search.presenters.results import protocol_rows
from web.search.screen import Screen
from web.search.view import UiState


def test_the_settings_show_the_index_once_there_is_one(services, tmp_path):
    screen = Screen(services)
    view, panels = screen.draw(UiState(gallery=NAME))
    assert "search:" not in panels["drawers"] and "Recall@10" not in panels["drawers"]
    stored = build_index(NAME, home=tmp_path / "home", kind="faiss:ivf-sq", recall=0.5)
    _, panels = screen.draw(view)
    assert f"search: faiss:ivf-sq, recall@10 {stored.figures.worst[0]:.3f}" in panels["drawers"]
    assert "Recall@10 and @60: near" in panels["drawers"] and "against exact search" in panels["drawers"]
    card = services.search.searcher(NAME).card(MethodSettings())
    assert ("Index", stored.row) in protocol_rows(card)
