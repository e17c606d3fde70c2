"""Searches of people as raw files, and their comparison with constructed sessions."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cir_core.construct.comparison import (
    Comparison,
    filter_table,
    judged_rows,
    measure,
    measure_table,
)
from cir_core.construct.describe.sets import read_sets
from cir_core.construct.describe.words import expected_types
from cir_core.construct.filtering.files import filter_sessions, raw_files
from cir_core.construct.filtering.stages import FilterSettings
from cir_core.construct.judging.scores import DIMENSIONS, score_table
from cir_core.construct.own import LEFT_OUT, export_own
from cir_core.construct.sessions.run import construct_sessions
from cir_core.datasets.readers.circled_raw import open_raw
from cir_core.errors import DatasetError
from cir_core.gallery.gallery import open_gallery
from cir_core.types.composition import Marks
from cir_core.types.records import UPLOAD_PREFIX, Hit
from tests.fakes.colour_person import ColourPerson
from tests.fakes.colours import NAME
from tests.fakes.construction import colour_construction
from tests.fakes.encoder import FakeEncoder
from tests.fakes.store import InMemorySessionStore
from tests.fakes.turns import a_composition, a_session, a_turn

TARGET, START = "r3g3b3", datetime(2026, 11, 23, tzinfo=UTC)

PLAIN = a_composition(further=(), cuts=(), marks=Marks())


class Searches:
    """A store with sessions of turns (reference, text, rank of the target)."""

    def __init__(self) -> None:
        self.store, self.count = InMemorySessionStore(), 0

    def add(self, *turns, target: str | None = TARGET, end: bool = True, gallery: str = NAME, **changes) -> str:
        self.count += 1
        session = a_session(session_id=f"s{self.count}", gallery=gallery, target_id=target,
                            created_at=START + timedelta(minutes=self.count))
        self.store.create_session(replace(session, protocol=replace(session.protocol, gallery=gallery,
                                                                    gallery_size=64)))
        parent = None
        for reference, text, rank in turns:
            hits = tuple(Hit(f"h{n}", 0.5 - n / 100, n) for n in range(1, 21))
            parent = self.store.add_turn(a_turn(
                session.session_id, parent, reference_id=reference, modification_text=text, target_rank=rank,
                hits=hits, excluded_ids=(), **{"composition": PLAIN, **changes})).turn_id
        if target and end:
            self.store.reveal_target(session.session_id)
        return session.session_id

    def export(self, folder, home, **options):
        return export_own(self.store, folder, encoder_of=lambda spec: FakeEncoder(),
                          open_gallery=lambda name: open_gallery(name, home=home), **options)


@pytest.fixture
def searches():
    found = Searches()
    found.add(("r0g0b0", "more red", 40), ("r1g0b0", "more green", 20), ("r1g1b0", "more blue", 4))     # s1: kept
    found.add(("r0g0b0", "redder", 3))                                                                  # s2: one turn
    found.add(("r0g0b0", "more red", 40), ("r1g0b0", "bluer", 30))                                      # s3: given up
    found.add(("r0g0b0", "more red", 12), ("r1g0b0", "green", 50), ("r1g1b0", "blue", 1))               # s4: setback
    return found


def test_what_people_searched_in_the_raw_form(searches, home, tmp_path):
    report = searches.export(tmp_path, home)
    assert report.sessions == {"colours_all": 4} and report.left_out == {}
    assert json.loads((tmp_path / "left_out.json").read_text()) == []
    raw = open_raw(tmp_path / "raw" / "colours_all.json")
    assert (raw.subset, raw.images) == ("colours_all", 64)
    assert raw.head["config"]["encoders"]["diversity"]["spec"] == FakeEncoder().identity.spec
    found = {str(result.query_id): (record, result) for _, record, result in raw.results()}
    assert list(found) == ["s1", "s2", "s3", "s4"] == list(report.written)
    record, result = found["s1"]
    assert (result.success, result.success_turn, result.original_query) == (True, 2, "more red")
    assert (result.reference_image_id, result.target_image_id, result.ground_truth_ids) == ("r0g0b0", TARGET, [TARGET])
    assert [turn.selected_image for turn in result.turns] == [None, "r1g0b0", "r1g1b0"]
    assert [turn.relative_caption for turn in result.turns] == [None, "more green", "more blue"]
    assert [turn.best_gt_rank for turn in result.turns] == [40, 20, 4]
    assert result.turns[2].gt_rankings == {TARGET: 4} and len(result.turns[0].search_results) == 10
    assert result.turns[0].text_similarity is None and result.turns[1].similar_turn == 0
    gallery = open_gallery(NAME, home=home)
    assert [turn.image_sha256 for turn in result.turns] == [
        gallery.image(gallery.row_of(one)).sha256 for one in ("r0g0b0", "r1g0b0", "r1g1b0")]
    assert "title" not in json.dumps(record)
    assert not found["s3"][1].success and found["s3"][1].success_turn == -1
    # Statistics and filters read it like a constructed one.
    subsets, _ = read_sets([tmp_path])
    assert [len(one.turns) for one in subsets[0].sessions] == [3, 1, 2, 3]
    filtered = filter_sessions(raw_files(tmp_path), tmp_path / "kept", FilterSettings(tau=1.1))
    assert filtered.subsets[0].removed == {"success": 1, "multi-turn": 1, "text": 0, "rank margin": 1, "redundancy": 0,
                                           "repeated image": 0}


def test_what_has_no_raw_form_is_counted_with_the_reason(home, tmp_path):
    found = Searches()
    turn, more = ("r0g0b0", "more red", 40), ("r1g0b0", "more green", 4)
    reasons = {
        found.add(("r0g0b0", "x", None), target=None): "no target",
        found.add(turn, more, end=False): "not finished",
        found.add(): "no turn",
        found.add(("r0g0b0", "after the end", None)): "no turn",
        found.add(turn, more, composition=a_composition(further=("r2g2b2",))): "several references",
        found.add((UPLOAD_PREFIX + "0" * 32, "more red", 40), more): "uploaded or cut-out image",
        found.add(turn, ("r1g0b0", " ", 4)): "later turn without text",
    }
    kept = found.add(("r0g0b0", "", 40), more)      # only the filters drop an empty first text
    report = found.export(tmp_path, home)
    listed = json.loads((tmp_path / "left_out.json").read_text())
    assert {one["session_id"]: one["reason"] for one in listed} == reasons
    assert set(report.left_out) == set(LEFT_OUT) and report.left_out["no turn"] == 2
    assert report.written == [kept]


def test_a_session_ends_at_its_first_hit(home, tmp_path):
    found = Searches()
    found.add(("r0g0b0", "more red", 40), ("r1g0b0", "more green", 9), ("r1g1b0", "blue", 30), ("r1g1b1", "b", 2))
    found.add(("r0g0b0", "more red", 40), ("r1g0b0", "more green", 11),
              composition=a_composition(further=(), cuts=()))
    report = found.export(tmp_path, home)
    results = [result for _, _, result in open_raw(report.outputs[0]).results()]
    assert [(len(one.turns), one.success_turn) for one in results] == [(2, 1), (2, -1)]
    assert any("1 session has turns that are left out" in note for note in report.notes)
    assert any("1 session uses marked results" in note for note in report.notes)
    found.export(tmp_path, home, k=20)
    results = [result for _, _, result in open_raw(report.outputs[0]).results()]
    assert [(len(one.turns), one.success_turn) for one in results] == [(2, 1), (2, 1)]


def test_galleries_that_are_gone_and_folders_of_others(searches, home, tmp_path):
    searches.add(("a", "more red", 40), ("b", "more green", 4), target="c", gallery="gone")
    report = searches.export(tmp_path, home)
    assert report.sessions == {"colours_all": 4, "gone_all": 1}
    [result] = [result for _, _, result in open_raw(tmp_path / "raw" / "gone_all.json").results()]
    assert [turn.image_sha256 for turn in result.turns] == [None, None]
    with pytest.raises(DatasetError, match=r"contains gone_all\.json, which is not of these sessions"):
        searches.export(tmp_path, home, gallery=NAME)
    assert searches.export(tmp_path / "one", home, gallery=NAME).sessions == {"colours_all": 4}


def test_simulated_and_real_sessions_side_by_side(searches, home, tmp_path):
    construct_sessions(colour_construction(open_gallery(NAME, home=home), ColourPerson(), 24), tmp_path / "built")
    searches.export(tmp_path / "own", home)
    settings = FilterSettings(tau=1.1)
    sources = [measure(name, raw_files(tmp_path / name), FakeEncoder(), settings) for name in ("built", "own")]
    own = sources[1]
    assert own.kept_after == {"success": 3, "multi-turn": 2, "text": 2, "rank margin": 1, "redundancy": 1,
                              "repeated image": 1}
    filtered = filter_sessions(raw_files(tmp_path / "built"), tmp_path / "kept", settings, encoder=FakeEncoder())
    assert sources[0].kept_after["repeated image"] == filtered.subsets[0].kept == sources[0].kept.sessions
    judged = {"card": {"seed": 1}, "sessions": [
        {"source": name, "subset": "colours_all", "session_id": "x", "turns": 3, "reason": "y",
         **dict.fromkeys(DIMENSIONS, score)} for name, score in (("own", 4), ("own", 2), ("another", 1))]}
    found = Comparison(tuple(sources), settings, "fake", tuple(judged_rows(judged, ["built", "own"])))
    content = json.loads(json.dumps(found.as_json()))
    built, mine = content["sources"]
    # s1 to s4: 3 + 1 + 2 + 3 turns; final ranks 4, 3, 30, 1; three of four found.
    assert (mine["sessions"], mine["all"]["turns"], mine["all"]["mean_turns"]) == (4, 9, 2.25)
    assert (mine["all"]["found"], mine["all"]["median_final_rank"]) == (0.75, 3.5)
    # more red | more green | more blue
    assert (mine["kept"]["words_first"], mine["kept"]["words_later"], mine["kept"]["types"]) == (2, 2, 4)
    assert mine["kept"]["type_token_ratio"] == pytest.approx(4 / 6) and content["equal_words"]["kept"] == 6
    features = FakeEncoder().encode_texts(["more red", "more green", "more blue"]).astype(float)
    assert mine["kept"]["similarity"] == pytest.approx(
        (features[0] @ features[1] + features[1] @ features[2]) / 2, abs=1e-6)
    assert mine["judged"]["scores"]["overall"]["mean"] == 3 and built["judged"] is None
    assert 0 < built["kept"]["type_token_ratio_equal"] <= 1 and built["all"]["sessions"] == sources[0].all.sessions
    assert filter_table(found).rows[1] == ("own", 4, 3, 2, 2, 1, 1, 1)
    rows = {row[0]: row[1:] for row in measure_table(found).rows}
    assert rows["sessions"][2:] == ("4", "1") and rows["target found"][2:] == ("75.0 %", "100.0 %")
    assert len(score_table(found.judged).rows) == 1
    # more red | more green | more blue, redder, more red | bluer, more red | green | blue: 14 words
    assert content["equal_words"]["all"] == 14 and "14 of all sessions, 6 of kept ones" in measure_table(found).note
    assert mine["all"]["type_token_ratio_equal"] == pytest.approx(mine["all"]["type_token_ratio"])
    with pytest.raises(DatasetError, match=r"judged\.json"):
        judged_rows({"sessions": [{}]}, ["own"])


def test_without_kept_sessions_there_is_nothing_to_compare(home, tmp_path):
    found = Searches()
    found.add(("r0g0b0", "more red", 3))
    found.export(tmp_path, home)
    alone = Comparison((measure("own", raw_files(tmp_path), FakeEncoder()),), FilterSettings(), "fake")
    kept = alone.as_json()["sources"][0]["kept"]
    assert kept["sessions"] == 0 and kept["mean_turns"] is kept["similarity"] is kept["type_token_ratio_equal"] is None
    # Nor do others lose the comparison by it.
    construct_sessions(colour_construction(open_gallery(NAME, home=home), ColourPerson(), 24), tmp_path / "built")
    built = measure("built", raw_files(tmp_path / "built"), FakeEncoder(), FilterSettings(tau=1.1))
    both = Comparison((built, *alone.sources), FilterSettings(), "fake")
    assert both.words == (2, built.kept.words) and both.as_json()["sources"][0]["kept"]["type_token_ratio_equal"] > 0
    assert "–" in {cell for row in measure_table(alone).rows for cell in row}


def test_different_words_among_fewer():
    # Of aa, aa, bb two are drawn: the same word twice with 1/3, different ones with 2/3.
    texts = ["aa aa", "bb"]
    assert expected_types(texts, 2) == pytest.approx(1 / 3 * 1 + 2 / 3 * 2)
    assert expected_types(texts, 3) == pytest.approx(2) and expected_types(texts, 1) == pytest.approx(1)
    assert expected_types(texts, 4) is None and expected_types([], 0) is None
