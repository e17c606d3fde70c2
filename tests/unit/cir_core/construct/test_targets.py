"""SoFT's stage 1 over colours: candidates, confidences, files; how it ends and goes on."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cir_core.construct.pictures import Pictures
from cir_core.construct.targets.draw import Drawn, draw
from cir_core.construct.targets.estimate import estimate_rewriting, estimate_targets
from cir_core.construct.targets.multi_target import find_targets
from cir_core.construct.targets.provenance import read_provenance
from cir_core.construct.targets.rewriter import Rewriter, text_problem
from cir_core.construct.targets.settings import GROUPS, TargetSettings
from cir_core.construct.targets.single_target import SingleTargets, read_target_files, rewrite_targets
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.soft import (
    MultiTarget,
    read_candidates,
    read_multi_target,
    read_single_target,
    write_multi_target,
)
from cir_core.datasets.readers.soft_scores import read_scores
from cir_core.errors import DatasetError, LanguageModelError, LanguageModelUnavailable, SettingsError
from cir_core.jobs.job import JobOptions
from cir_core.jobs.run_record import read_run
from cir_core.jobs.spending import Budget
from cir_core.language.wrappers.cached import CachedLanguageModel
from cir_core.registry.checking import check
from tests.fakes.answer_cache import DictCache
from tests.fakes.colour_targets import COLOURS, ColourAssessor, colour_targets
from tests.fakes.encoder import FakeEncoder

COUNT = 12
SMALL = TargetSettings(keep=6, scored=4)
SELECTION = "multi_target_selection/cirr_multi_target_selection.json"


def find(gallery, folder, language=None, count=COUNT, settings=SMALL, **options):
    about = colour_targets(gallery, language or ColourAssessor(), count, settings=settings)
    run = {name: options.pop(name) for name in ("workers", "budget", "resume", "retry_failed") if name in options}
    return find_targets(about, folder, options=JobOptions(**run), **options)


@pytest.fixture(scope="module")
def whole(gallery, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return find(gallery, folder), folder


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and path.name not in ("journal.jsonl", "lock", "run.json")}


def test_three_groups_of_candidates_whose_first_ones_have_confidences(gallery, whole):
    """Recomputed from the gallery's vectors alone."""
    features = np.asarray(gallery.features, dtype=np.float64)
    records = list(read_provenance(whole[1] / "provenance/cirr.jsonl"))
    assert len(records) == COUNT
    for number, one in enumerate(records):
        colour = COLOURS[number % 3]
        kept = number % 2 == 1
        assert one.sentences == (colour, "black" if kept else "")
        assert one.queries == {"caption_query": colour, "joined_query": f"{colour} black" if kept else ""}
        texts = FakeEncoder().encode_texts([colour, f"{colour} black"]).astype(np.float64)
        vectors = {"caption_query": texts[0], "joined_query": texts[1] if kept else None,
                   "tg_img": features[gallery.row_of(one.original_target)]}
        for group in GROUPS:
            found = one.of_group(group)
            if vectors[group] is None:
                assert found == []      # both sentences are the first one
                continue
            scores = features @ vectors[group]
            order = sorted(range(len(scores)), key=lambda row: (-np.float32(scores[row]), row))[:6]
            assert [image for image, _ in found] == [gallery.ids[row] for row in order]
            for (image, place), row in zip(found, order, strict=True):
                assert place.similarity == pytest.approx(scores[row], abs=1e-6)
                # The assessor's confidence is the share of the wanted colour; the fifth and sixth are not asked about.
                share = round(float(features[gallery.row_of(image)][COLOURS.index(colour)]), 2)
                assert place.confidence == (share if place.rank <= 4 else None)


def test_targets_are_those_whose_greatest_confidence_reaches_the_threshold(whole):
    report, folder = whole
    records = {one.reference: one for one in read_provenance(folder / "provenance/cirr.jsonl")}
    written = read_multi_target(folder / SELECTION)
    for one in written:
        expected = {}
        for candidate in records[one.reference_id].candidates:
            known = [place.confidence for place in candidate.found if place.confidence is not None]
            if known and max(known) >= 0.85:
                expected[candidate.image] = max(known)
        assert dict(one.scores) == expected and one.threshold == 0.85
        assert one.captions == records[one.reference_id].captions
    counts = report.counts["cirr_val"]
    assert (counts.queries, counts.failed, counts.kept, counts.kept + counts.dropped) == (COUNT, 0, len(written), COUNT)
    assert counts.targets == sum(len(one.scores) for one in written) and counts.most >= 3
    assert counts.rewritable == sum(len(one.scores) >= 3 for one in written) > 0


def test_every_file_has_soft_s_form_and_name(whole):
    folder = whole[1]
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.json*")} - {
        "journal.jsonl", "protocol.json", "failures.json", "run.json"}
    assert names == {SELECTION, "provenance/cirr.jsonl"} | {
        f"multi_target_candidate/mt_candidates_cirr_by_{group}_6.json" for group in GROUPS} | {
        f"candidate_score/cirr_by_{group}_6_scores.json" for group in GROUPS}
    for group in GROUPS:
        candidates = read_candidates(folder / f"multi_target_candidate/mt_candidates_cirr_by_{group}_6.json")
        scores = read_scores(folder / f"candidate_score/cirr_by_{group}_6_scores.json")
        assert len(candidates) == len(scores) == COUNT
        for number, (one, scored) in enumerate(zip(candidates, scores, strict=True)):
            assert scored.index == number and scored.reference_id == one.reference_id
            assert tuple(scored.scores) == one.image_ids[:4]
            assert (one.query is None) == (group == "tg_img")
            assert bool(one.image_ids) == (group != "joined_query" or number % 2 == 1)
        for kind, path in (("soft-candidates", f"multi_target_candidate/mt_candidates_cirr_by_{group}_6.json"),
                           ("soft-scores", f"candidate_score/cirr_by_{group}_6_scores.json")):
            assert check(kind, folder / path).ok
    assert check("soft-multi-target", folder / SELECTION).ok


def test_another_threshold_writes_the_files_anew_and_asks_nothing(gallery, tmp_path):
    find(gallery, tmp_path)
    before = files(tmp_path)
    language = ColourAssessor()
    report = find(gallery, tmp_path, language, resume=True, threshold=0.5)
    assert language.asked == [] and report.counts["cirr_val"].targets > sum(
        len(one.scores) for one in json_targets(before[SELECTION]))
    assert {one.threshold for one in read_multi_target(tmp_path / SELECTION)} == {0.5}
    find(gallery, tmp_path, resume=True)
    assert files(tmp_path) == before
    with pytest.raises(SettingsError, match="from 0 to 1"):
        find(gallery, tmp_path, resume=True, threshold=1.5)


def test_the_threshold_of_each_file_is_recorded_when_it_is_written(gallery, tmp_path):
    find(gallery, tmp_path, threshold=0.99, budget=Budget(calls=8))
    assert read_run(tmp_path).thresholds == {}
    find(gallery, tmp_path, resume=True, threshold=1.0)
    assert read_run(tmp_path).thresholds == {"cirr": 1.0}
    more = colour_targets(gallery, ColourAssessor(), COUNT, settings=SMALL)
    find_targets(more, tmp_path, threshold=0.5, limit=2, options=JobOptions(resume=True))
    assert read_run(tmp_path).thresholds == {"cirr": 0.5}


def json_targets(content):
    return [type("Record", (), {"scores": one["confidence_scores"]}) for one in json.loads(content)]


@pytest.mark.parametrize("workers", [2, 7])
def test_the_files_do_not_depend_on_how_many_queries_are_asked_about_at_a_time(gallery, whole, tmp_path, workers):
    find(gallery, tmp_path, ColourAssessor(delay=0.001), workers=workers)
    assert files(tmp_path) == files(whole[1])


def test_a_run_that_stops_goes_on_where_it_was(gallery, whole, tmp_path):
    language = ColourAssessor()
    part = find(gallery, tmp_path, language, budget=Budget(calls=15))
    assert part.job.stopped == "15 requests were sent" and not part.outputs and 0 < part.job.done < COUNT
    assert not (tmp_path / SELECTION).exists()
    with pytest.raises(DatasetError, match=r"holds candidates already\. Add --resume"):
        find(gallery, tmp_path)
    with pytest.raises(DatasetError, match=r"settings\.scored was 4, is 3"):
        find(gallery, tmp_path, settings=TargetSettings(6, 3), resume=True)
    report = find(gallery, tmp_path, resume=True)
    assert report.job.resumed == part.job.done and files(tmp_path) == files(whole[1])


def test_a_failing_query_fails_alone_and_is_listed(gallery, whole, tmp_path):
    def refuse(task):
        if task.role == "confidence" and "green" in task.modification_text:
            raise LanguageModelError("I would rather not.")

    report = find(gallery, tmp_path, ColourAssessor(fail=refuse))
    assert [one["query_id"] for one in report.failures] == ["q1", "q4", "q7", "q10"]
    assert {one["reason"] for one in report.failures} == {"I would rather not."} and report.job.complete
    assert len(list(read_provenance(tmp_path / "provenance/cirr.jsonl"))) == COUNT - 4
    find(gallery, tmp_path, resume=True, retry_failed=True)
    assert files(tmp_path) == files(whole[1])

    def away(task):
        raise LanguageModelUnavailable("away")

    with pytest.raises(LanguageModelUnavailable):
        find(gallery, tmp_path / "other", ColourAssessor(fail=away))


def test_candidates_that_an_answer_leaves_out_are_asked_about_by_themselves(gallery, whole, tmp_path):
    language = ColourAssessor(leave_out=("candidate 2",))
    find(gallery, tmp_path, language)
    again = [task for task in language.asked_as("confidence") if len(task.names) == 1]
    assert again and all(task.names == ("candidate 1",) for task in again)
    assert (tmp_path / SELECTION).read_bytes() == (whole[1] / SELECTION).read_bytes()
    never = find(gallery, tmp_path / "never", ColourAssessor(leave_out=tuple(f"candidate {n}" for n in range(1, 5))),
                 count=2)
    assert all("gave no confidence to 4 candidates of 4" in one["reason"] for one in never.failures)
    assert len(never.failures) == 2


def test_what_the_data_set_s_ranking_leaves_out_is_no_candidate(gallery, tmp_path):
    """CIRR ranks without the reference; T-15: SoFT's files list it in 138 of 4,140 queries."""
    about = colour_targets(gallery, ColourAssessor(), 2, settings=TargetSettings(64, 64))
    plain = find_targets(about, tmp_path / "plain")
    benchmark = replace(about.benchmark, queries=tuple(
        replace(query, excluded_ids=(query.reference_id,)) for query in about.benchmark.queries))
    find_targets(colour_targets(gallery, ColourAssessor(), settings=TargetSettings(64, 64), benchmark=benchmark),
                 tmp_path / "without")
    assert plain.job.complete
    for name, listed in (("plain", True), ("without", False)):
        for one in read_provenance(tmp_path / name / "provenance/cirr.jsonl"):
            assert (one.reference in {candidate.image for candidate in one.candidates}) is listed


def test_given_candidates_take_the_place_of_sentences_and_searches(gallery, whole, tmp_path):
    cache, language = DictCache(), ColourAssessor()
    about = colour_targets(gallery, CachedLanguageModel(language, cache), COUNT, settings=SMALL, given=whole[1])
    assert about.card.prompts.keys() == {"confidence"} and about.card.candidates.keys() == {"cirr_val"}
    find_targets(about, tmp_path)
    assert language.asked_as("two-sentences") == [] and language.asked_as("confidence")
    for name, content in files(whole[1]).items():
        if not name.startswith(("provenance", "protocol")):
            assert (tmp_path / name).read_bytes() == content
    lacking = tmp_path / "lacking"
    for group in GROUPS:
        path = whole[1] / f"multi_target_candidate/mt_candidates_cirr_by_{group}_6.json"
        lacking.mkdir(exist_ok=True)
        (lacking / path.name).write_text(json.dumps(json.loads(path.read_text())[1:]))
    report = find_targets(colour_targets(gallery, ColourAssessor(), COUNT, settings=SMALL, given=lacking),
                          tmp_path / "out")
    [failure] = report.failures
    assert failure["query_id"] == "q0" and "no record of reference" in failure["reason"]


def test_given_confidences_are_not_asked_for(gallery, whole, tmp_path):
    def given(language, scores):
        return colour_targets(gallery, language, COUNT, settings=SMALL, given=whole[1], scores=scores)

    def asked_for(about):
        [role] = estimate_targets(about, range(COUNT), workers=1).roles.values()
        return role.calls, round(role.completion_tokens / 12)

    language = ColourAssessor()
    assert asked_for(given(language, whole[1])) == (0, 0)
    find_targets(given(language, whole[1]), tmp_path / "all")
    assert language.asked == []
    for name, content in files(whole[1]).items():
        if not name.startswith(("provenance", "protocol")):
            assert (tmp_path / "all" / name).read_bytes() == content

    part = tmp_path / "part"        # without one image of q0, q1 failed, and only one group
    part.mkdir()
    rows = json.loads((whole[1] / "candidate_score/cirr_by_tg_img_6_scores.json").read_text())
    missing = list(rows[0]["result"]["confidence_scores"])[1]
    rows[0]["result"]["confidence_scores"] = {
        f"{name}.png": 0.11 for name in rows[0]["result"]["confidence_scores"] if name != missing}
    rows[1] = {"success": False, "result": None, "item_index": 1}
    (part / "cirr_by_tg_img_20_scores.json").write_text(json.dumps(rows[::-1]))
    about = given(language, part)
    assert given(language, whole[1]).card != about.card != given(language, None).card
    # 12 and 6 requests of four images for the two sentences, two for what is missing.
    assert asked_for(about) == (12 + 6 + 2, 4 * (12 + 6) + 1 + 4)
    find_targets(about, tmp_path / "some")
    sizes = [len(task.names) for task in language.asked_as("confidence")]
    assert sorted(sizes) == [1] + [4] * 19
    first = next(read_provenance(tmp_path / "some/provenance/cirr.jsonl"))
    shown = {image: place.confidence for image, place in first.of_group("tg_img")}
    was = dict(next(read_provenance(whole[1] / "provenance/cirr.jsonl")).of_group("tg_img"))
    assert list(shown.values()).count(0.11) == 3 and shown[missing] == was[missing].confidence

    rows[0]["item_index"] = rows[0]["result"]["item_index"] = 5
    (part / "cirr_by_tg_img_20_scores.json").write_text(json.dumps(rows[:1]))
    with pytest.raises(DatasetError, match="item_index 5 is not the place of reference"):
        given(language, part).candidates  # noqa: B018
    (part / "cirr_by_tg_img_20_scores.json").unlink()
    with pytest.raises(DatasetError, match="holds no confidences of 'cirr'"):
        given(language, part).candidates  # noqa: B018


def test_texts_that_utf_8_cannot_hold_are_written_with_question_marks(gallery, tmp_path):
    about = colour_targets(gallery, ColourAssessor(), 2, settings=SMALL)
    odd, other = about.benchmark.queries
    query = replace(odd, query_id="q\udc80", modification_text="more red \ud800", captions=("more red \ud800", ""))
    benchmark = replace(about.benchmark, queries=(query, other))

    def run(folder, language, **more):
        options = JobOptions(resume=(folder / "journal.jsonl").exists())
        return find_targets(colour_targets(gallery, language, settings=SMALL, benchmark=benchmark, **more), folder,
                            options=options)

    run(tmp_path, ColourAssessor())
    [record, _] = read_provenance(tmp_path / "provenance/cirr.jsonl")
    assert (record.query_id, record.captions, record.text) == ("q?", ("more red ?", ""), "more red ?")
    scores = read_scores(tmp_path / "candidate_score/cirr_by_tg_img_6_scores.json")
    assert scores[0].captions == ("more red ?", "")
    assert read_multi_target(tmp_path / SELECTION)[0].captions == ("more red ?", "")
    # The journal of an earlier version, which stopped at the files, after everything was paid.
    before, journal = files(tmp_path), tmp_path / "journal.jsonl"
    heading, *lines = map(json.loads, journal.read_text().splitlines())
    for line in lines:
        if line["at"] == 0:
            line["result"]["captions"][0] = "more red \ud800"
    journal.write_text("".join(json.dumps(line) + "\n" for line in (heading, *lines)))
    language = ColourAssessor()
    assert run(tmp_path, language).job.complete and language.asked == [] and files(tmp_path) == before
    again = run(tmp_path / "given", ColourAssessor(), given=tmp_path)
    assert not again.failures


def test_captions_that_the_model_does_not_read_are_not_written(gallery, whole, tmp_path):
    about = colour_targets(gallery, ColourAssessor(), 3, settings=SMALL)
    first = replace(about.benchmark, queries=tuple(
        replace(query, modification_text=query.captions[0], caption_mode="first") for query in about.benchmark.queries))
    find_targets(colour_targets(gallery, ColourAssessor(), settings=SMALL, benchmark=first), tmp_path / "first")
    records = list(read_provenance(tmp_path / "first/provenance/cirr.jsonl"))
    assert [one.captions for one in records] == [("more red",), ("more green",), ("more blue",)]
    # Candidates of files with all captions are those of these queries too.
    report = find_targets(colour_targets(gallery, ColourAssessor(), settings=SMALL, benchmark=first, given=whole[1]),
                          tmp_path / "given")
    assert not report.failures
    assert read_multi_target(tmp_path / "given" / SELECTION)[0].captions == ("more red",)


def test_models_that_see_nothing_and_impossible_numbers_are_refused(gallery):
    language = ColourAssessor()
    language.sees = False
    with pytest.raises(SettingsError, match="need a language model that sees images: assessor/1 does not"):
        colour_targets(gallery, language)
    for keep, scored in ((5, 6), (0, 0), (1001, 1)):
        with pytest.raises(SettingsError, match="cannot be scored"):
            TargetSettings(keep, scored)


def test_a_damaged_file_of_provenance_is_told_by_its_line(whole, tmp_path):
    path = tmp_path / "cirr.jsonl"
    path.write_bytes((whole[1] / "provenance/cirr.jsonl").read_bytes() + b'{"query_id": 3}\n')
    with pytest.raises(DatasetError, match=f"line {COUNT + 1}: it is no query with candidates"):
        list(read_provenance(path))
    faults = ValidationIssues(collect=True)
    assert len(list(read_provenance(path, faults))) == COUNT and [fault.record for fault in faults.found] == [
        f"line {COUNT + 1}"]
    line = (whole[1] / "provenance/cirr.jsonl").read_text().splitlines()[0]
    for key, value in (("confidence", "5"), ("confidence", "-0.1"), ("confidence", "Infinity"), ("confidence", "NaN"),
                       ("similarity", "NaN"), ("similarity", "-Infinity"), ("rank", "0")):
        path.write_text(re.sub(rf'"{key}":[^,}}]+(?=[^"]*("similarity"|"confidence"|}}))', f'"{key}":{value}', line)
                        + "\n")
        with pytest.raises(DatasetError, match=rf"line 1: it is no query with candidates \(candidates.*{key}: Input"):
            list(read_provenance(path))
    with pytest.raises(DatasetError, match="cannot be read"):
        list(read_provenance(tmp_path / "none.jsonl"))


# --- stage 2: one target, and the text written for it ----------------------------------------

RECORD = MultiTarget("r0g0b1", "r3g0b0", ("is red", "has no blue"), 0.85,
                     {"r3g0b0": 1.0, "r3g1b0": 0.9, "r2g0b0": 0.9, "r1g0b0": 0.86})


@pytest.fixture
def targets(tmp_path):
    """Four queries, of which the last has two targets and the third three with its own reference."""
    records = [RECORD, MultiTarget("r0g1b0", "r0g0b3", ("more blue",), 0.85, {"r0g0b3": 1.0, "r0g1b3": 0.95,
                                                                              "r1g0b3": 0.95}),
               MultiTarget("r3g3b3", "r3g0b0", ("is red",), 0.85, {"r3g0b0": 1.0, "r3g1b0": 0.9, "r3g3b3": 0.9}),
               MultiTarget("r0g0b2", "r3g0b0", ("is red",), 0.85, {"r3g0b0": 1.0, "r3g1b0": 0.9})]
    path = tmp_path / "cirr_multi_target_selection.json"
    write_multi_target(path, records)
    return path


def about(gallery, path, language=None, **more):
    paths = [path] if isinstance(path, Path) else path
    return SingleTargets(read_target_files(paths), gallery, language or ColourAssessor(rewrites=sole),
                         check=more.pop("check", "text"), domain="scene", **more)


def sole(task):
    """Names the attempt, so that each text is new."""
    return f"{task.modification_text}, for the {len(task.rejected) + 1}. time"


def written(folder, name="single_target_selection"):
    [path] = (folder / name).iterdir()
    return path


def test_the_draw_depends_on_the_seed_and_on_what_the_record_says_alone():
    drawn = draw(RECORD, 42)
    assert drawn is not None and len({drawn.target, *drawn.distractors}) == 3
    assert {drawn.target, *drawn.distractors} <= RECORD.scores.keys()
    turned = MultiTarget(*RECORD.__dict__.values())
    object.__setattr__(turned, "scores", dict(reversed(list(RECORD.scores.items()))))
    assert draw(turned, 42) == drawn
    targets = Counter(draw(RECORD, seed).target for seed in range(400))
    assert targets.keys() == RECORD.scores.keys() and min(targets.values()) > 60     # 100 each
    others = Counter(name for seed in range(400) for name in draw(RECORD, seed).distractors)
    assert min(others.values()) > 150                                               # 200 each


def test_the_reference_is_drawn_only_on_demand():
    """T-15: three rows of SoFT's shirts have their own reference as the target."""
    own = MultiTarget("r3g3b3", "r3g0b0", ("is red",), 0.85, {"r3g0b0": 1.0, "r3g1b0": 0.9, "r3g3b3": 0.9})
    assert draw(own, 42) is None
    drawn = draw(own, 42, keep_reference=True)
    assert drawn is not None and "r3g3b3" in (drawn.target, *drawn.distractors)
    below = MultiTarget("r3g3b3", "r3g0b0", ("is red",), 0.95, {"a": 1.0, "b": 0.96, "c": 0.9})
    assert draw(below, 42) is None


@pytest.mark.parametrize(("text", "says"), [
    ("Is red with a hood.", ""),
    ("is red, size 3.5, and has a hood", ""),
    ("", "no words"),
    ("???", "no words"),
    ("…", "no words"),
    ("_ _", "no words"),
    ("is red", "says nothing that the request does not say"),
    ("has no blue and is red, is red", "says nothing that the request does not say"),
    ("IS RED with a hood (Refined).", "marked as refined"),
    ("has a refined collar", ""),
    ("Unlike distractor1, with a hood", "mentions 'distractor1'"),
    ("Unlike distractor 2 with a hood", "mentions 'distractor 2'"),
    ("Unlike candidate2, with a hood", "mentions 'candidate2'"),
    ("shows fewer distracting elements", ""),
    ("红色的连衣裙。带有蓝色的图案。", "more than one sentence"),
    ("红色的连衣裙！“带有蓝色的图案”", "more than one sentence"),
    ("红色的连衣裙，带有蓝色的图案。", ""),
    ("Is red. It has a hood.", "more than one sentence"),
    ("i, s,  , r, e, d, a, n, d", "letter by letter"),
    ("is red (refined)", "marked as refined"),
    ("Is red, unlike the distractors", "mentions 'distractors'"),
    ("Is red like the target image", "mentions 'target image'"),
    ("Is RED and has no blue!", "says nothing that the request does not say"),
])
def test_what_words_cannot_do(text, says):
    found = text_problem(text, "is red and has no blue")
    assert says in found and bool(says) == bool(found)


def test_a_text_that_fits_a_distractor_is_rejected_with_the_reason(gallery):
    """The assessor goes by the colour that a text names: of "red" the distractors have as much, of "green" less."""
    drawn = Drawn("r3g1b0", ("r3g0b0", "r2g0b0"))
    texts = ["is red, really red", "is red, and all red", "has some green"]
    language = ColourAssessor(rewrites=lambda task: texts[len(task.rejected)])
    pictures = Pictures(gallery, language, "scene")
    found = Rewriter(language, pictures, "scene", "confidence", 42).rewrite(RECORD, drawn)
    assert found.refined == "has some green" and found.text == "is red and has no blue"
    # The target and the first distractor are as red as each other but for the norm of their vectors.
    assert len(found.rejected) == 2 and all("(distractor 1" in one for one in found.rejected)
    assert found.confidences["r3g1b0"] > max(
        found.confidences[name] for name in drawn.distractors)
    asked = language.asked_as("rewrite")
    assert [task.rejected for task in asked] == [(), found.rejected[:1], found.rejected]
    assert {len(task.names) for task in language.asked_as("confidence")} == {3}

    stubborn = ColourAssessor(rewrites=lambda task: "is red, really red")
    with pytest.raises(DatasetError, match=r"No rewritten text passed the check.*really red': distractor 1"):
        Rewriter(stubborn, Pictures(gallery, stubborn, "scene"), "scene", "confidence", 42).rewrite(RECORD, drawn)
    assert len(stubborn.asked_as("rewrite")) == 2       # the same again is not asked for a third time


def test_the_files_are_soft_s_and_keep_the_text_as_it_was(gallery, targets, tmp_path):
    report = rewrite_targets(about(gallery, targets), tmp_path / "out")
    counts = report.counts["cirr"]
    assert (counts.queries, counts.drawn, counts.rewritten, counts.failed) == (4, 2, 2, 0)
    path = written(tmp_path / "out")
    assert path.name == "cirr_selection_single_target_seed42.json"
    assert check("soft-single-target", path).ok
    rewritten, before = read_single_target(path), read_single_target(written(tmp_path / "out", "original_texts"))
    for one, was in zip(rewritten, before, strict=True):
        drawn = draw(MultiTarget(one.reference_id, one.original_target_id, one.original_captions, 0.85, one.scores), 42)
        assert (one.target_id, one.distractor_ids) == (drawn.target, drawn.distractors)
        assert one.target_confidence == one.scores[one.target_id]
        assert one.refined_caption == f"{was.refined_caption}, for the 1. time"
        assert was.refined_caption == " and ".join(one.original_captions)
    checks = [json.loads(line) for line in (tmp_path / "out/checks/cirr.jsonl").read_text().splitlines()]
    assert [one["record"] for one in checks] == [0, 1] and checks[0]["refined"] == rewritten[0].refined_caption
    kept = rewrite_targets(about(gallery, targets, keep_reference=True), tmp_path / "kept")
    assert kept.counts["cirr"].drawn == 3


def test_it_stops_resumes_and_lists_what_failed(gallery, targets, tmp_path):
    whole = rewrite_targets(about(gallery, targets), tmp_path / "whole")
    part = rewrite_targets(about(gallery, targets), tmp_path / "part", options=JobOptions(budget=Budget(calls=1)))
    assert whole.job.complete and not part.outputs and part.job.done == 1
    with pytest.raises(DatasetError, match="seed was 42, is 7"):
        rewrite_targets(about(gallery, targets, seed=7), tmp_path / "part", options=JobOptions(resume=True))
    rewrite_targets(about(gallery, targets), tmp_path / "part", options=JobOptions(resume=True))
    assert written(tmp_path / "part").read_bytes() == written(tmp_path / "whole").read_bytes()
    silent = ColourAssessor(rewrites=lambda task: task.modification_text)
    report = rewrite_targets(about(gallery, targets, silent), tmp_path / "silent")
    assert [(one["file"], one["record"]) for one in report.failures] == [("cirr", "0"), ("cirr", "1")]
    assert all("says nothing that the request does not say" in one["reason"] for one in report.failures)


def test_records_without_a_text_neither_stop_the_estimate_nor_count(gallery, targets, tmp_path):
    with_text = about(gallery, targets)
    whole = estimate_rewriting(with_text, with_text.wanted(None), workers=1)
    empty = MultiTarget("r0g0b1", "r3g0b0", ("", " "), 0.85, RECORD.scores)
    path = tmp_path / "aaa_multi_target_selection.json"
    write_multi_target(path, [empty])
    both = about(gallery, [targets, path])
    found = estimate_rewriting(both, both.wanted(None), workers=1)
    assert found.sessions == 3 and found.roles == whole.roles and whole.roles["rewrite"].calls > 0
    alone = about(gallery, path)
    assert estimate_rewriting(alone, alone.wanted(None), workers=1).roles["rewrite"].calls == 0
    report = rewrite_targets(both, tmp_path / "out")
    assert [(one["file"], one["reason"]) for one in report.failures] == [
        ("aaa", "The captions of reference 'r0g0b1' are empty.")]


def test_files_may_be_named_in_any_order(gallery, targets, tmp_path):
    other = tmp_path / "aaa_multi_target_selection.json"
    write_multi_target(other, [MultiTarget("r0g1b0", "r0g0b3", ("bluer",), 0.85, {
        "r0g0b3": 1.0, "r0g1b3": 0.95, "r1g0b3": 0.95, "r2g0b3": 0.9})])

    rewrite_targets(about(gallery, [targets, other]), tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*.json*")}
    report = rewrite_targets(about(gallery, [other, targets]), tmp_path / "out", options=JobOptions(resume=True))
    assert report.job.resumed == report.job.total == 3
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*.json*")} == before
    [alone] = read_single_target(tmp_path / "out/single_target_selection/aaa_selection_single_target_seed42.json")
    assert alone.refined_caption == "bluer, for the 1. time"
    # A journal of an earlier version numbers its queries in the order in which the files were named.
    journal = tmp_path / "out/journal.jsonl"
    heading, *lines = map(json.loads, journal.read_text().splitlines())
    moved = [{**line, "at": (line["at"] + 1) % 3} for line in lines]
    journal.write_text("".join(json.dumps(line) + "\n" for line in (heading, *moved)))
    language = ColourAssessor(rewrites=sole)
    with pytest.raises(DatasetError, match="belongs to another query than record 0 of 'aaa'"):
        rewrite_targets(about(gallery, [other, targets], language), tmp_path / "out", options=JobOptions(resume=True))
    assert language.asked == [] and {path.name: path.read_bytes() for path in (tmp_path / "out").rglob(
        "*.json")} == {name: content for name, content in before.items() if name.endswith(".json")}


def test_what_cannot_be_read_or_checked_is_said(gallery, targets, tmp_path):
    blind = ColourAssessor()
    blind.sees = False
    with pytest.raises(SettingsError, match="--check text"):
        about(gallery, targets, blind, check="confidence")
    with pytest.raises(DatasetError, match="holds no file of targets"):
        read_target_files([gallery.root])
    with pytest.raises(DatasetError, match="Two of the files are called 'cirr'"):
        read_target_files([targets, targets.parent])
