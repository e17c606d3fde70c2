"""SoFT's stage 1 over colours: candidates, confidences, files; how it ends and goes on."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from cir_core.construct.targets.multi_target import estimate_targets, find_targets
from cir_core.construct.targets.provenance import read_provenance
from cir_core.construct.targets.settings import GROUPS, TargetSettings
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.soft import read_candidates, read_multi_target
from cir_core.datasets.readers.soft_scores import read_scores
from cir_core.errors import DatasetError, LanguageModelError, LanguageModelUnavailable, SettingsError
from cir_core.jobs.job import JobOptions, read_run
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
    assert part.stopped == "15 requests were sent" and not part.outputs and 0 < part.done < COUNT
    assert not (tmp_path / SELECTION).exists()
    with pytest.raises(DatasetError, match=r"contains candidates already\. Add --resume"):
        find(gallery, tmp_path)
    with pytest.raises(DatasetError, match=r"settings\.scored was 4, is 3"):
        find(gallery, tmp_path, settings=TargetSettings(6, 3), resume=True)
    report = find(gallery, tmp_path, resume=True)
    assert report.resumed == part.done and files(tmp_path) == files(whole[1])


def test_a_failing_query_fails_alone_and_is_listed(gallery, whole, tmp_path):
    def refuse(task):
        if task.role == "confidence" and "green" in task.modification_text:
            raise LanguageModelError("I would rather not.")

    report = find(gallery, tmp_path, ColourAssessor(fail=refuse))
    assert [one["query_id"] for one in report.failures] == ["q1", "q4", "q7", "q10"]
    assert {one["reason"] for one in report.failures} == {"I would rather not."} and report.complete
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
    assert plain.complete
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
    with pytest.raises(DatasetError, match="contains no confidences of 'cirr'"):
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
    assert run(tmp_path, language).complete and language.asked == [] and files(tmp_path) == before
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
    with pytest.raises(DatasetError, match=f"line {COUNT + 1}: it is not a query with candidates"):
        list(read_provenance(path))
    faults = ValidationIssues(collect=True)
    assert len(list(read_provenance(path, faults))) == COUNT and [fault.record for fault in faults.found] == [
        f"line {COUNT + 1}"]
    line = (whole[1] / "provenance/cirr.jsonl").read_text().splitlines()[0]
    for key, value in (("confidence", "5"), ("confidence", "-0.1"), ("confidence", "Infinity"), ("confidence", "NaN"),
                       ("similarity", "NaN"), ("similarity", "-Infinity"), ("rank", "0")):
        path.write_text(re.sub(rf'"{key}":[^,}}]+(?=[^"]*("similarity"|"confidence"|}}))', f'"{key}":{value}', line)
                        + "\n")
        with pytest.raises(DatasetError, match=rf"line 1: it is not a query .*\(candidates.*{key}: Input"):
            list(read_provenance(path))
    with pytest.raises(DatasetError, match="cannot be read"):
        list(read_provenance(tmp_path / "none.jsonl"))
