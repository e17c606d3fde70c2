"""Where the items of a study come from: audits, M-BEIR's queries, CIRCUS's aggregates, sessions; and sampling."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from annotation.sources import StudyQuery
from annotation.sources.audit import audit_name, read_audit
from annotation.sources.circus import read_circus
from annotation.sources.mbeir import read_mbeir
from annotation.sources.pictures import relative_paths
from annotation.sources.queries import quotas, sample
from annotation.sources.sessions import read_sessions
from cir_core.audit.aggregate import aggregate
from cir_core.audit.circus.aggregate_files import write_aggregate
from cir_core.audit.circus.traces import write_queries
from cir_core.errors import DatasetError, StudyError, UnknownImage
from cir_core.images.uploads import UploadFolder
from cir_core.types.composition import Composition, Marks
from cir_core.types.records import EncoderIdentity, Hit, MethodSettings, ProtocolCard, SearchSession, Turn
from tests.fakes.audit_ranks import benchmark, image, run

THREE = benchmark(3)
RUN = run(THREE, "a", [(2, 40, 50), (30, 40, 50), (1, 9, 800)],
          top={0: [image(n) for n in (5, 1, 9)], 1: [image(4)], 2: [image(3)]})


def lines(path: Path, *records: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def drawn(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), "teal").save(root / name)
    return root


# An audit ---------------------------------------------------------------------------------------


@pytest.fixture
def audit(tmp_path) -> Path:
    folder = tmp_path / "audit"
    write_queries(folder / "tiny-val_queries.jsonl", THREE, [RUN], aggregate([RUN]))
    return folder


def test_the_queries_of_an_audit_have_its_labels_and_panels(audit, tmp_path):
    # Ranks with both, text, image: q0 2, 40, 50 needs both; q1 30, 40, 50 is unresolved; q2 has its text at 9.
    found = read_audit(audit, images=drawn(tmp_path / "images", f"pictures/{THREE.queries[0].reference_id}.jpg"))
    assert [query.hidden_category for query in found.queries] == ["composition_required", "unresolved"]
    first, query = found.queries[0], THREE.queries[0]
    assert first.key == f"{first.dataset}::0" and first.query_idx == 0 and first.query_id == query.query_id
    assert (first.reference_id, first.text) == (query.reference_id, query.modification_text)
    assert first.target_id == query.target_ids[0] and first.target_ids == query.target_ids
    assert first.panel == first.in_turn == (image(5), image(1), image(9)) and not found.notes
    assert first.trace["ranks"] == {"multimodal": 2, "text_only": 40, "image_only": 50}
    assert not {"panel", "in_turn", "in_turn_paths"} & set(first.trace)
    assert first.trace["aggregation"]["label"] == "composition_required"
    assert found.find_picture(first.reference_id) == tmp_path / f"images/pictures/{query.reference_id}.jpg"
    assert found.find_picture("none") is None
    assert audit_name(audit) == "tiny-val" and found.source["form"] == "audit"
    assert str(tmp_path) not in json.dumps(found.source)


def test_an_audit_of_an_earlier_version_has_its_panels_and_says_so(audit):
    file = audit / "tiny-val_queries.jsonl"
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    file.write_text("".join(json.dumps({name: value for name, value in line.items() if "in_turn" not in name}) + "\n"
                            for line in lines), "utf-8")
    found = read_audit(audit)
    assert all(query.panel and not query.in_turn for query in found.queries)
    [note] = found.notes
    assert "from an earlier version" in note and "Run the same `cirque audit` again" in note


def test_what_was_found_in_turn_has_a_path_for_each(audit):
    file = audit / "tiny-val_queries.jsonl"
    first, *rest = file.read_text("utf-8").splitlines()
    content = json.loads(first)
    content["in_turn_paths"].pop()
    file.write_text("\n".join([json.dumps(content), *rest]), "utf-8")
    with pytest.raises(DatasetError, match=r"line 1: its panel has different numbers of images and paths"):
        read_audit(audit)


@pytest.mark.parametrize(("cards", "mode"), [
    ([{"caption_mode": "joined"}, {"caption_mode": "joined", "retriever": "b"}], "joined"), ([], None), (None, None),
    ([{"caption_mode": "joined"}, {"caption_mode": "first"}], None), ([{"caption_mode": "joined+single"}], None),
    ([{"caption_mode": "joined"}, 3], None), ([{"caption_mode": ["joined"]}], None),
])
def test_the_caption_mode_is_what_all_cards_of_an_audit_say(audit, tmp_path, cards, mode):
    lines(audit / "summary.json", {"retrievers": cards})
    assert {query.caption_mode for query in read_audit(audit).queries} == {mode}
    own = circus(tmp_path, cirque={"cards": cards})
    assert {query.caption_mode for query in read_circus(own).queries} == {mode}


def test_an_audit_by_category(audit):
    [solvable] = read_audit(audit, categories=["shortcut_solvable"]).queries
    assert solvable.query_idx == 2
    with pytest.raises(StudyError, match=r"category 'unsolved'\. There are: composition_required \(1\), shortcut"):
        read_audit(audit, categories=["unsolved"])


def test_an_audit_without_reference_ids_names_references_by_path(audit, tmp_path):
    path = audit / "tiny-val_queries.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        del record["reference_id"]
    lines(path, *records)
    found = read_audit(path, images=drawn(tmp_path / "images", f"pictures/{THREE.queries[0].reference_id}.png"))
    assert found.queries[0].reference_id == records[0]["query_image_path"]
    assert found.find_picture(found.queries[0].reference_id).suffix == ".png", "another extension does"


def test_every_fault_of_an_audits_file_is_listed(audit):
    path = audit / "tiny-val_queries.jsonl"
    good = json.loads(path.read_text().splitlines()[0])
    lines(path, good, good, {**good, "query_idx": "1"}, {**good, "query_idx": 7, "target_ids": []})
    with pytest.raises(DatasetError) as raised:
        read_audit(audit)
    text = str(raised.value)
    assert text.startswith("3 faults in tiny-val_queries.jsonl; nothing was created or changed.")
    assert "line 2: the query" in text and "is also in line 1" in text
    assert "line 3: 'query_idx' cannot be used" in text and "line 4: it has no target" in text


def test_a_folder_that_is_no_audit_says_so(tmp_path):
    with pytest.raises(DatasetError, match="is missing"):
        read_audit(tmp_path / "gone")
    with pytest.raises(DatasetError, match=r"no file \*_queries.jsonl"):
        read_audit(tmp_path)
    for name in ("a", "b"):
        lines(tmp_path / f"{name}_queries.jsonl")
    with pytest.raises(DatasetError, match=r"several audits: a_queries\.jsonl, b_queries\.jsonl"):
        read_audit(tmp_path)


# M-BEIR -----------------------------------------------------------------------------------------


def a_query(number: int, *targets: str, **more: object) -> dict[str, object]:
    return {"qid": f"8:{number}", "query_txt": f"text {number}", "query_img_path": f"mbeir_images/r{number}.jpg",
            "query_modality": "image,text", "pos_cand_list": list(targets), "task_id": 7, **more}


@pytest.fixture
def mbeir(tmp_path) -> Path:
    lines(tmp_path / "m/cand_pool/mbeir_cirr_task7_cand_pool.jsonl",
          *({"did": f"8:{n}", "img_path": f"mbeir_images/t{n}.jpg", "modality": "image"} for n in range(90, 93)))
    return lines(tmp_path / "m/query/test/mbeir_cirr_task7_test.jsonl", a_query(1, "8:90"),
                 a_query(2, "8:91", query_txt=" "), a_query(3, "8:92", "8:90", hidden_category="unresolved"),
                 a_query(4))


def test_queries_in_m_beirs_form_have_no_panel_and_unknown_labels(mbeir, tmp_path):
    found = read_mbeir(mbeir, images=drawn(tmp_path / "images", "t90.jpg", "r3.jpg"))
    one, three = found.queries
    assert (one.key, one.query_id, one.hidden_category, one.panel) == ("cirr::0", "8:1", "unknown", ())
    assert (three.key, three.hidden_category, three.target_ids) == ("cirr::2", "unresolved", ("8:92", "8:90"))
    assert three.trace["query_image_path"] == "mbeir_images/r3.jpg" and three.trace["query_idx"] == 2
    assert one.trace["mbeir"] == {"qid": "8:1", "query_modality": "image,text", "task_id": 7}
    assert one.caption_mode == "single"
    assert found.find_picture("8:90") == tmp_path / "images/t90.jpg"
    assert found.find_picture(three.reference_id) == tmp_path / "images/r3.jpg"
    assert any(note.startswith("1 query has no target and cannot be judged") for note in found.notes)
    assert any("no text" in note for note in found.notes) and any("no panel" in note for note in found.notes)


def test_faults_of_a_query_file_are_listed(mbeir):
    lines(mbeir, a_query(1, "8:90"), a_query(1, "8:90"), a_query(5, "8:1"))
    with pytest.raises(DatasetError, match=r"(?s)2 faults.*line 2.*twice.*line 3.*not in the pool"):
        read_mbeir(mbeir)


# CIRCUS -----------------------------------------------------------------------------------------


def circus(folder: Path, **changes: object) -> Path:
    root = "/elsewhere/M-BEIR"
    samples = [
        {"query_idx": n, "query_text": f"Make it blue, {n}.", "full_text": f"Find.\nMake it blue, {n}.",
         "query_image_path": f"{root}/pictures/r{n}.jpg", "target_image_path": f"{root}/pictures/t{n}.jpg",
         "ranks": {"multimodal": 2, "text_only": 70, "image_only": 90}, "category": "multimodal_needed",
         "retrievals": {"multimodal": [2, 0, 2]}, "aggregation": {"label": label}}
        for n, label in enumerate(("composition_required", "shortcut_solvable", "unresolved"))
    ]
    content = {"metadata": {"dataset": "fashionIQ", "aggregation": {"retrievers": ["a", "b"]}}, "summary": {},
               "gallery_paths": [f"{root}/pictures/g{n}.jpg" for n in range(3)], "samples": samples, **changes}
    path = folder / "aggregated.json"
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_an_aggregate_of_circus_goes_by_paths(tmp_path):
    found = read_circus(circus(tmp_path), images=drawn(tmp_path / "images", "pictures/r0.jpg", "g2.png"))
    first, other = found.queries
    assert (first.key, other.key) == ("fashionIQ::0", "fashionIQ::2")
    assert first.panel == ("/elsewhere/M-BEIR/pictures/g2.jpg", "/elsewhere/M-BEIR/pictures/g0.jpg")
    assert first.trace["ranks"]["multimodal"] == 2 and first.trace["hidden_category"] == "composition_required"
    assert found.find_picture(first.reference_id) == tmp_path / "images/pictures/r0.jpg"
    assert found.find_picture(first.panel[0]) == tmp_path / "images/g2.png", "found by name, with another extension"
    assert found.source["retrievers"] == ["a", "b"]
    assert first.caption_mode == "m-beir", "CIRCUS takes its texts from M-BEIR's files, which join FashionIQ's two"


def test_our_own_aggregates_are_read_too(tmp_path):
    write_aggregate(tmp_path / "own.json", THREE, [RUN], aggregate([RUN]))
    found = read_circus(tmp_path / "own.json")
    assert [query.hidden_category for query in found.queries] == ["composition_required", "unresolved"]
    assert found.queries[0].caption_mode == RUN.card.caption_mode
    assert found.queries[0].panel == tuple(f"pictures/{image(n)}.jpg" for n in (5, 1, 9))


@pytest.mark.parametrize("k", [1, 10, None])
def test_the_panel_of_an_aggregate_is_the_ten_best_of_the_twenty_that_are_stored(tmp_path, k):
    path = circus(tmp_path, gallery_paths=[f"g{n}.jpg" for n in range(30)])
    content = json.loads(path.read_text("utf-8"))
    content["metadata"] |= {"k": k, "top_k": 20}
    content["samples"][0]["retrievals"]["multimodal"] = list(range(29, 9, -1))
    path.write_text(json.dumps(content), "utf-8")
    assert read_circus(path).queries[0].panel == tuple(f"g{n}.jpg" for n in range(29, 19, -1))
    assert read_circus(path).queries[0].in_turn == tuple(f"g{n}.jpg" for n in range(29, 9, -1))


@pytest.mark.parametrize(("changes", "says"), [
    ({"samples": 3}, "no list of samples"), ({"gallery_paths": [1]}, "no list of samples"),
    ({"metadata": {}}, "'dataset' is missing"), ({"gallery_paths": []}, "3 faults"), ({"samples": ["a"]}, "sample 0"),
    ({"samples": [3]}, "It contains 3"), ({"samples": [[{}]]}, r"It contains \[\{\}\]"),
])
def test_a_broken_aggregate_says_where(tmp_path, changes, says):
    with pytest.raises(DatasetError, match=says):
        read_circus(circus(tmp_path, **changes))


def test_paths_of_other_machines_are_tried_by_their_ends():
    assert relative_paths("/a/b/c.jpg") == ("a/b/c.jpg", "b/c.jpg", "c.jpg")
    assert relative_paths(r"C:\a\b.jpg")[-1] == "b.jpg"
    assert relative_paths("mbeir_images/a.jpg") == ("mbeir_images/a.jpg", "a.jpg")
    assert relative_paths("../../etc/passwd") == ("etc/passwd",)


# Sessions ---------------------------------------------------------------------------------------


class Pictured:
    """As much of a gallery as sources ask for."""

    name = "shop"

    def __contains__(self, image_id: object) -> bool:
        return image_id in ("a", "b", "c")

    def to_read(self, image_id: str) -> Path:
        if image_id not in self:
            raise UnknownImage(image_id)
        return Path(__file__)

    images = ()


VECTOR = np.ones(1, dtype=np.float32)
CARD = ProtocolCard("shop", 3, "d" * 16, "test", EncoderIdentity("fake", "0" * 16, 1), "none", MethodSettings(),
                    "single", "score, then gallery order", None, "0", "p" * 16)


def a_turn(turn_id: str, reference: str, text: str, parent: str | None = None, *, more: tuple[str, ...] = ()) -> Turn:
    hits = tuple(Hit(image_id, 1.0, rank) for rank, image_id in enumerate(("a", "b", "c"), 1))
    return Turn(turn_id, "s", "b", parent, 1, reference, text, "", "", (), VECTOR, hits, (), None, {}, "p" * 16,
                datetime(2026, 1, 1, tzinfo=UTC), Composition(VECTOR, (), marks=Marks(more_like=more)))


def a_session(*turns: Turn, name: str = "s1", gallery: str = "shop", target: str | None = None, shown: bool = False):
    return SearchSession(name, gallery, MethodSettings(), CARD, target, False, shown, turns=turns)


def read(*sessions: SearchSession, folder: Path = Path()):
    return read_sessions(sessions, Pictured(), UploadFolder(folder, max_megapixels=1))


def test_what_was_wanted_is_the_target_or_where_the_search_went_on():
    found = read(
        a_session(a_turn("t1", "a", "in blue"), a_turn("t2", "b", "shorter", "t1"), target="c", shown=True),
        a_session(a_turn("t3", "a", "red"), a_turn("t4", "b", "long", "t3"), a_turn("t5", "c", "wide", "t3"),
                  name="s2"),
        a_session(a_turn("t6", "a", "green"), a_turn("t7", "a", "paler", "t6", more=("c", "a", "x")), name="s3"),
    )
    assert [(one.query_id, one.target_ids, one.trace["target_from"]) for one in found.queries] == [
        ("t1", ("c",), "target"), ("t2", ("c",), "target"), ("t3", ("b", "c"), "next reference"),
        ("t6", ("c",), "marked")]
    first = found.queries[0]
    assert first.key == "shop::t1" and first.panel == ("a", "b", "c") and first.hidden_category == "unknown"
    assert [one.query_idx for one in found.queries] == [0, 1, 2, 3] and found.source["sessions"] == 3
    assert found.find_picture("a") == Path(__file__) and found.find_picture("zzz") is None


def test_the_panel_of_a_turn_is_its_ten_best(tmp_path):
    hits = tuple(Hit(f"h{rank:02}", 1.0, rank) for rank in range(1, 51))
    found = read(a_session(replace(a_turn("t1", "a", "in blue"), hits=hits), target="c", shown=True))
    assert found.queries[0].panel == tuple(f"h{rank:02}" for rank in range(1, 11))
    assert found.queries[0].in_turn == tuple(f"h{rank:02}" for rank in range(1, 51)), "to fill up from"


def test_turns_that_cannot_be_judged_are_counted(tmp_path):
    upload, _ = UploadFolder(tmp_path, max_megapixels=1).add(Image.new("RGB", (4, 4)))
    found = read(
        a_session(a_turn("t1", upload, "in blue"), target="c", shown=True),
        a_session(a_turn("t2", upload, "in blue"), target="c", shown=True, name="s2"),          # the same question
        a_session(a_turn("t3", "a", "red"), a_turn("t4", upload, "red", "t3"), name="s3"),      # no result was taken
        a_session(a_turn("t5", "a", "red"), target="b", name="s4"),                            # not revealed
        a_session(a_turn("t6", "b", " "), target="c", shown=True, name="s5"),
        a_session(a_turn("t7", "c", "x"), target="c", shown=True, name="s6"),
        a_session(a_turn("t8", "a", "x"), gallery="other", name="s7"), folder=tmp_path)
    assert [one.query_id for one in found.queries] == ["t1"]
    assert set(found.notes) == {
        "4 turns have no known target: left out.", "1 turn repeats an earlier one: left out.",
        "1 turn has no text: left out.", "1 session is over another gallery: left out.",
        "5 sessions give no query: left out."}
    assert found.find_picture(upload).parent == tmp_path and found.find_picture("upload:" + "0" * 32) is None
    with pytest.raises(StudyError, match="No stored session gives a query"):
        read(a_session(a_turn("t3", "a", "red")))


def test_a_turn_of_several_references_is_left_out_and_counted():
    several = a_turn("t1", "a", "in blue")
    several = replace(several, composition=replace(several.composition, further=("b",)))
    found = read(a_session(several, a_turn("t2", "b", "in red"), target="c", shown=True))
    assert [one.query_id for one in found.queries] == ["t2"]
    assert found.notes == ("1 turn has several references: left out.",)


# Samples ----------------------------------------------------------------------------------------


def queries(**counts: int) -> list[StudyQuery]:
    return [StudyQuery(f"d::{category}{n}", "d", n, None, category, "text", "r", "t", ("t",))
            for category, count in counts.items() for n in range(count)]


def test_a_sample_has_equal_numbers_of_each_category_as_far_as_there_are():
    # 3 of "few" are all there are; the other 7 of 10 go to the two others, the odd one to the larger.
    found = sample(queries(few=3, some=20, many=90), 10, "hidden_category", 1)
    counts = {name: sum(one.hidden_category == name for one in found) for name in ("few", "some", "many")}
    assert counts == {"few": 3, "some": 3, "many": 4}
    assert len(sample(queries(few=3, many=90), 20, "none", 1)) == 20
    assert sample(queries(few=3), None, "none", 1) == queries(few=3)


def test_the_same_seed_draws_the_same_whatever_the_order():
    pool = queries(a=30, b=30)
    drawn = sample(pool, 10, "hidden_category", 5)
    assert {one.key for one in sample(pool[::-1], 10, "hidden_category", 5)} == {one.key for one in drawn}
    assert {one.key for one in sample(pool, 10, "hidden_category", 6)} != {one.key for one in drawn}
    assert [pool.index(one) for one in drawn] == sorted(pool.index(one) for one in drawn)
    assert {one.key for one in drawn} < {one.key for one in sample(pool, 20, "hidden_category", 5)}


def test_a_sample_larger_than_the_source_is_refused():
    with pytest.raises(StudyError, match="Cannot sample 4 of 3 queries"):
        sample(queries(a=3), 4, "none", 1)


@given(st.dictionaries(st.text("abc", max_size=3), st.integers(0, 40), max_size=6), st.integers(0, 200))
def test_quotas_add_up_and_are_as_equal_as_can_be(available, size):
    quota = quotas(dict(available), size)
    assert sum(quota.values()) == min(size, sum(available.values()))
    assert all(0 <= quota[name] <= available[name] for name in available)
    short = [quota[name] for name in available if quota[name] < available[name]]
    assert max(quota.values(), default=0) - min(short, default=max(quota.values(), default=0)) <= 1
