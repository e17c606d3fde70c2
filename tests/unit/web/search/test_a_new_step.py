"""A kind of step that cirque does not have, all of it in this file: the table is the only other place that knows it."""

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
import pytest
from pydantic import Field

from cir_core.audit.retrievers.method_retriever import settings_under
from cir_core.errors import MethodError, SearchError
from cir_core.methods.declared import builtin_methods, name_of, read_methods
from cir_core.methods.parameters import Label, declare
from cir_core.methods.step import Step
from cir_core.methods.steps import STEPS, method_from_dict
from cir_core.search.protocol import card_from_dict, card_to_dict
from cir_core.types.methods import MethodSettings, SoftFilter, method_to_dict
from cir_core.types.records import Vector
from cli.admin import methods as methods_command
from storage.mapping.rows import pack_composition, unpack_composition
from tests.fakes.colours import NAME
from tests.fakes.language import SilentLanguageModel
from web.search.actions.base import begin, perform
from web.search.presenters import methods as present_methods
from web.search.presenters import steps as present_steps
from web.search.screen import Screen
from web.search.view import UiState


@dataclass(frozen=True)
class Nearness:
    weight: Annotated[float, Field(ge=0, le=2)] = 0.5
    side: Literal["towards", "away"] = "towards"


@dataclass(frozen=True)
class Anchor:
    said: tuple[str, ...]
    vector: Vector | None = field(default=None, compare=False)


@dataclass(frozen=True)
class NearnessScore:
    """s + w · x·a, with a the reference and w negative for "away"."""

    vectors: np.ndarray
    weight: float

    def combine(self, products):
        return products[..., 0] + self.weight * products[..., 1]

    def error(self, errors, sizes):
        return float(errors[0] + abs(self.weight) * errors[1] + 2.0**-20 * (sizes[0] + abs(self.weight) * sizes[1]))

    def ledgers(self, parts, products):
        return [(*one, ("nearness", self.weight * float(row[0]))) for one, row in zip(parts, products, strict=True)]


class NearnessStep(Step[Nearness]):
    name, label, title, settings = "nearness", "Near", "Nearness to the reference", Nearness
    parameters = declare(Nearness, Label("weight", "how near", "ν"),
                         Label("side", "Direction", choices={"towards": "Towards it", "away": "Away from it"}))

    @property
    def keeps(self):
        return {self.name: Nearness, "nearness_anchor": Anchor}

    def ask(self, settings, turn):
        anchor = Anchor((turn.text,), turn.reference.features)
        return {self.name: settings, "nearness_anchor": anchor}, ("nearness looked at the reference",)

    def score(self, query, composition, encoder, stages):
        settings, anchor = composition.part(self.name), composition.part("nearness_anchor")
        if settings is None:
            return None
        return NearnessScore(np.stack([query, anchor.vector]),
                             settings.weight if settings.side == "towards" else -settings.weight)


TOML = """
[methods.near]
title = "Slerp, near"
source = "our lab"
base = "slerp"
nearness = { weight = 0.75, side = "away" }
"""


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setitem(STEPS, "nearness", NearnessStep())


@pytest.fixture
def near(table, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(TOML)
    return read_methods(path)["near"]


@pytest.fixture
def language():
    return SilentLanguageModel()


@pytest.fixture
def methods(near):
    return {**builtin_methods(), "near": near}


@pytest.fixture
def searched(services, near):
    view = UiState(gallery=NAME, reference_id="r0g3b0", method=near.settings, k=64)
    _, job = begin(services, view, "search", {"text": "red"})
    return job()


def turn_of(services, view):
    return services.search.session(view.session_id).turn(view.turn_id)


def test_it_is_read_from_a_file(near, tmp_path):
    assert near.settings.part("nearness") == Nearness(0.75, "away")
    assert name_of(near.settings, {"near": near}) == "near" and hash(near.settings)
    for bad, words in [("{ weight = 3 }", "nearness.weight"), ("{ weight = true }", "true is not a number"),
                       ("{ sde = 'away' }", "nearness"), ("2", "a table like nearness")]:
        (tmp_path / "bad.toml").write_text(f"[methods.x]\nnearness = {bad}\n")
        with pytest.raises(MethodError, match=words):
            read_methods(tmp_path / "bad.toml")


def test_no_file_knows_it_without_its_line_in_the_table(tmp_path):
    (tmp_path / "mine.toml").write_text(TOML)
    with pytest.raises(MethodError, match="nearness"):
        read_methods(tmp_path / "mine.toml")


def test_it_is_a_key_of_json_and_other_methods_stay_as_they_were(near):
    content = json.loads(json.dumps(method_to_dict(near.settings)))
    assert content["nearness"] == {"weight": 0.75, "side": "away"} and "step_parts" not in content
    assert method_from_dict(content) == near.settings
    plain = MethodSettings(soft_filter=SoftFilter(0.5))
    assert "nearness" not in method_to_dict(plain) and method_from_dict(method_to_dict(plain)) == plain
    assert list(method_to_dict(plain)) == [name for name in asdict(plain) if name != "step_parts"]


def test_the_command_lists_it(near):
    assert methods_command.changed(near.settings) == {"nearness.weight": 0.75, "nearness.side": "away"}
    assert methods_command._steps(near.settings) == "slerp → feedback → Near (weight = 0.75, side = away)"


def test_it_runs_and_every_hit_says_what_it_did(services, searched, near):
    searcher = services.search.searcher(NAME)
    turn = turn_of(services, searched)
    reference = searcher.features_of(["r0g3b0"])[0]
    for hit in turn.hits:
        features = searcher.features_of([hit.image_id])[0]
        assert dict(hit.parts)["nearness"] == pytest.approx(-0.75 * float(features @ reference), abs=1e-6)
        assert hit.score == pytest.approx(sum(value for _, value in hit.parts), abs=1e-5)
    assert [hit.score for hit in turn.hits] == sorted((hit.score for hit in turn.hits), reverse=True)
    assert "nearness looked at the reference" in turn.notes
    assert turn.protocol_digest == searcher.card(near.settings).digest != searcher.card(MethodSettings("slerp")).digest


def test_it_is_stored_with_its_vector_and_read_back(services, searched):
    composition = turn_of(services, searched).composition
    packed = pack_composition(composition)
    loaded = unpack_composition(json.loads(json.dumps(packed["composition"])), packed["composition_vectors"])
    assert loaded == composition and loaded.part("nearness") == Nearness(0.75, "away")
    assert loaded.part("nearness_anchor").said == ("red",)
    assert loaded.part("nearness_anchor").vector.tobytes() == composition.part("nearness_anchor").vector.tobytes()
    card = services.search.session(searched.session_id).protocol
    assert card_from_dict(json.loads(json.dumps(card_to_dict(card)))) == card


def test_turns_from_before_there_was_such_a_step_are_read(table):
    old = {"terms": [], "rounds": [], "marks": {}, "constraints": None, "soft_filter": None, "usage": {}}
    loaded = unpack_composition(old, np.ones(3, np.float32).tobytes())
    assert loaded.part("nearness") is None and loaded.step_parts == ()
    assert set(pack_composition(loaded)["composition"]) == set(old)


def test_an_audit_of_one_input_drops_it(near):
    assert settings_under(near.settings, "drop", "text_only") == MethodSettings("text-only", exclude="none")
    assert settings_under(near.settings, "black", "text_only").part("nearness") == Nearness(0.75, "away")


def test_the_settings_offer_it(services, near):
    view, panels = Screen(services).draw(UiState(gallery=NAME, method=near.settings))
    drawer = panels["drawers"]
    assert 'data-part-of="nearness"' in drawer and "<legend>Nearness to the reference</legend>" in drawer
    assert 'name="nearness.weight" data-setting="nearness.weight" min="0" max="2"' in drawer
    assert '<option value="away" selected>Away from it</option>' in drawer
    chosen = perform(services, view, "settings", {
        "method": "near", "nearness.weight": "1.5", "nearness.side": "towards", "weight": "0.1"})
    assert chosen.method == replace(near.settings, step_parts=(("nearness", Nearness(1.5, "towards")),))
    for data in ({"nearness.weight": "2.5"}, {"nearness.side": "up"}):
        with pytest.raises(SearchError):
            perform(services, view, "settings", {"method": "near", **data})


def test_the_screen_shows_it(services, searched, near):
    groups = present_methods.choices(near.settings, services.methods)
    assert [group["title"] for group in groups][-1] == "Yours"
    assert present_methods.method_line(replace(near.settings, alpha=0.5), services.methods).startswith(
        "Custom: Slerp + Near")
    assert ("Near", "ν 0.75, Direction away") in present_methods.method_rows(near.settings)
    _, panels = Screen(services).draw(searched)
    assert "<h2>Nearness to the reference</h2>" in panels["results"] and 'data-form="adjust"' in panels["results"]
    assert "&#34;nearness&#34;" in panels["results"], "the ledger of a tile"


def test_it_is_adjusted_and_kept_without_a_language_model(services, searched, near):
    before = turn_of(services, searched)
    changed = perform(services, searched, "adjust", {"nearness.weight": "0"})
    assert changed.adjustment.part("nearness") == Nearness(0.0, "away")
    assert present_steps.changes(changed)["what"] == "Near"
    found = services.search.adjust(services.search.loaded(changed.session_id, changed.turn_id), changed.adjustment, 64)
    searcher = services.search.searcher(NAME)
    plain = searcher.turn(searcher.gallery_reference("r0g3b0"), "red", MethodSettings("slerp"), k=64)
    assert [hit.image_id for hit in found.hits] == [hit.image_id for hit in plain.hits]
    same = perform(services, changed, "adjust", {"nearness.weight": "0.75"})
    assert not same.adjustment
    kept = perform(services, changed, "keep", {})
    turn = turn_of(services, kept)
    assert turn.composition.part("nearness") == Nearness(0.0, "away")
    assert turn.protocol_digest != before.protocol_digest
    _, job = begin(services, kept, "search", {"text": "blue"})
    assert turn_of(services, job()).composition.part("nearness") == Nearness(0.0, "away"), "it goes on as it was kept"


def test_only_one_step_of_a_turn_ranks(services, searched):
    filtered = perform(services, searched, "filter", {})
    with pytest.raises(SearchError, match="SoFT and Near both rank"):
        services.search.adjust(services.search.loaded(filtered.session_id, filtered.turn_id), filtered.adjustment, 10)
