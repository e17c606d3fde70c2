"""Whole constructions over colours: what they write, how they end, and how they go on."""

from __future__ import annotations

import json
import random
import threading
from dataclasses import replace

import pytest

from cir_core.construct.filtering.files import filter_sessions, raw_files
from cir_core.construct.filtering.stages import FilterSettings
from cir_core.construct.sessions.run import construct_sessions
from cir_core.construct.sessions.settings import ConstructionSettings
from cir_core.datasets.readers.circled import read_sessions
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import (
    DatasetError,
    GalleryError,
    LanguageModelError,
    LanguageModelUnavailable,
    SettingsError,
)
from cir_core.evaluation.evaluate_circled import run_sessions
from cir_core.jobs.job import PATIENCE, JobOptions
from cir_core.jobs.journal import read_progress
from cir_core.jobs.spending import Budget
from cir_core.language.tasks import CaptionTask, DifferenceTask, MergeTask
from cir_core.language.wrappers.cached import CachedLanguageModel
from cir_core.methods.declared import Method
from cir_core.registry.checking import check
from tests.fakes.answer_cache import DictCache
from tests.fakes.colour_person import ColourPerson
from tests.fakes.construction import SHOWN, colour_construction, colour_queries
from tests.fakes.encoder import FakeEncoder
from tests.unit.cir_core.construct.plain_checks import recount

RAW = "raw/cirr_val.json"


@pytest.fixture(scope="module")
def whole(gallery, tmp_path_factory):
    """A construction that nothing interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    return construct_sessions(colour_construction(gallery, ColourPerson(), 60), folder), folder


def construct(gallery, folder, language=None, count=60, *, settings=SHOWN, limit=None, **options):
    construction = colour_construction(gallery, language or ColourPerson(), count, settings=settings)
    return construct_sessions(construction, folder, limit=limit, options=JobOptions(**options))


def results(folder):
    return json.loads((folder / RAW).read_text("utf-8"))["results"]


def test_every_query_becomes_a_session_or_a_failure_with_its_reason(whole):
    report, folder = whole
    counts = report.counts["cirr_val"]
    assert (report.done, report.total, report.resumed, report.stopped) == (60, 60, 0, "")
    assert counts.queries == counts.sessions + counts.failures == 60 and counts.failures == len(report.failures)
    assert {one["reason"] for one in report.failures} == {
        "No image is left to pick: all of the images shown were used before or have no caption."}
    assert json.loads((folder / "failures.json").read_text()) == list(report.failures)
    ids = [session["query_id"] for session in results(folder)]
    assert ids == sorted(ids, key=lambda name: int(name[1:])) and len(ids) == counts.sessions
    assert counts.successes == sum(session["success"] for session in results(folder)) > 5
    assert {len(session["turns"]) for session in results(folder)} >= {1, 2, 3, 4, 6}


def test_a_session_hits_at_its_last_turn_alone_and_never_goes_on_from_an_image_twice(whole):
    _, folder = whole
    for session in results(folder):
        hits = [turn["best_gt_rank"] <= 3 for turn in session["turns"]]
        assert hits == [False] * (len(hits) - 1) + [session["success"]] and len(hits) <= 6
        assert session["success_turn"] == (len(hits) - 1 if session["success"] else -1)
        references = [session["reference_image_id"], *(turn["selected_image"] for turn in session["turns"][1:])]
        assert len(references) == len(set(references))
        for earlier, turn in zip(session["turns"], session["turns"][1:], strict=False):
            assert turn["selected_image"] in [name for name, _ in earlier["search_results"]]


def test_the_constructing_method_evaluated_on_the_sessions_has_the_same_ranks(gallery, whole, tmp_path):
    """By ``cirque evaluate circled``'s code, which knows nothing of constructions."""
    _, folder = whole
    filter_sessions(raw_files(folder), tmp_path, FilterSettings(tau=1.01))
    sessions = read_sessions(tmp_path / "public/cirr_val.json")
    method = Method("cirevl", "CIReVL", "", replace(SHOWN.method))
    [run] = run_sessions(sessions, gallery, FakeEncoder(), ColourPerson(), [method], domain=lambda subset: "scene")
    kept = {session["query_id"]: session for session in results(folder)
            if session["success"] and session["success_turn"] > 0}
    ranks = [tuple(turn["best_gt_rank"] for turn in session["turns"]) for session in kept.values()]
    assert run.failures == {} and list(run.ranks.values()) == ranks and len(ranks) > 5
    assert all(one[-1] <= 3 < min(one[:-1]) for one in run.ranks.values())


@pytest.mark.parametrize("workers", [2, 7])
def test_the_files_do_not_depend_on_how_many_sessions_are_constructed_at_a_time(gallery, whole, tmp_path, workers):
    language = ColourPerson(delay=0.001)
    construct(gallery, tmp_path, language, workers=workers)
    assert (tmp_path / RAW).read_bytes() == (whole[1] / RAW).read_bytes()
    assert (tmp_path / "failures.json").read_bytes() == (whole[1] / "failures.json").read_bytes()
    assert 1 < language.most_at_once <= workers


def test_a_model_that_never_says_the_same_twice_is_asked_once_for_each_answer(gallery, tmp_path):
    """Whatever the concurrency: what is asked at one time waits, what was asked is in the cache."""
    class Moody(ColourPerson):
        def _answer(self, task):
            answer = super()._answer(task)
            if isinstance(task, MergeTask):
                return answer.model_copy(update={"query": answer.query + random.choice((" red", " green", " blue"))})
            return answer

    language = Moody(delay=0.001)
    cache = DictCache()
    construct(gallery, tmp_path / "one", CachedLanguageModel(language, cache), 20, workers=5)
    asked = [(task.role, repr(task.inputs()), [picture.digest for picture in task.pictures()])
             for task in language.asked]
    assert len(asked) == len({repr(one) for one in asked}) and len(cache.rows) == len(asked)
    construct(gallery, tmp_path / "other", CachedLanguageModel(language, cache), 20)
    assert (tmp_path / "other" / RAW).read_bytes() == (tmp_path / "one" / RAW).read_bytes()
    assert len(language.asked) == len(asked)


# --- interruptions -----------------------------------------------------------------------------


def test_a_run_whose_server_dies_goes_on_where_it_was(gallery, whole, tmp_path):
    left = [40]

    def fail(task):
        left[0] -= 1
        if left[0] < 0:
            raise LanguageModelUnavailable("The server is away.")

    cache, answered = DictCache(), 0
    for patience in (40, 200, 200, 10_000):
        left[0] = patience
        language = ColourPerson(fail=fail)
        cached = CachedLanguageModel(language, cache)
        if patience < 10_000:
            with pytest.raises(LanguageModelUnavailable, match="The server is away"):
                construct(gallery, tmp_path, cached, workers=3, resume=True)
            assert not (tmp_path / RAW).exists()
        else:
            report = construct(gallery, tmp_path, cached, workers=3, resume=True)
        answered += len(language.asked)
    assert report.resumed > 0 and report.counts == whole[0].counts
    assert (tmp_path / RAW).read_bytes() == (whole[1] / RAW).read_bytes()
    # No answer was paid for twice: what was asked again are the refused requests alone.
    refused = answered - len(cache.rows)
    assert 3 <= refused <= 3 * 3


def test_a_torn_line_is_dropped_and_its_session_constructed_again(gallery, whole, tmp_path):
    construct(gallery, tmp_path)
    journal = (tmp_path / "journal.jsonl").read_bytes()
    lines = journal.splitlines(keepends=True)
    for cut in (len(lines[0]) + 1, len(journal) // 2, len(journal) - 1):
        (tmp_path / "journal.jsonl").write_bytes(journal[:cut])
        (tmp_path / RAW).unlink()
        report = construct(gallery, tmp_path, resume=True)
        assert report.resumed == journal[:cut].count(b"\n") - 1
        assert (tmp_path / RAW).read_bytes() == (whole[1] / RAW).read_bytes()


def test_sessions_of_other_settings_are_never_mixed(gallery, tmp_path):
    construct(gallery, tmp_path, count=6)
    before = (tmp_path / "journal.jsonl").read_bytes()
    with pytest.raises(DatasetError, match=r"contains sessions already\. Add --resume"):
        construct(gallery, tmp_path, count=6)
    with pytest.raises(DatasetError, match=r"begun with other settings: settings\.max turns was 6, is 5"):
        construct(gallery, tmp_path, count=6, settings=replace(SHOWN, max_turns=5), resume=True)
    with pytest.raises(DatasetError, match="language model was colours/1, is colours/2"):
        construct(gallery, tmp_path, ColourPerson(name="colours/2"), count=6, resume=True)
    with pytest.raises(DatasetError, match="dataset digest was"):
        construct(gallery, tmp_path, count=7, resume=True)
    assert (tmp_path / "journal.jsonl").read_bytes() == before
    (tmp_path / "journal.jsonl").write_bytes(b"{torn")
    with pytest.raises(DatasetError, match="is damaged or of another version"):
        construct(gallery, tmp_path, count=6, resume=True)
    assert (tmp_path / "journal.jsonl").read_bytes() == b"{torn"


def test_a_limit_is_for_each_subset_and_can_be_raised(gallery, whole, tmp_path):
    first = construct(gallery, tmp_path, limit=10)
    assert first.total == 10 and len(results(tmp_path)) == first.counts["cirr_val"].sessions
    report = construct(gallery, tmp_path, resume=True)
    assert (report.resumed, report.total) == (10, 60)
    assert (tmp_path / RAW).read_bytes() == (whole[1] / RAW).read_bytes()


@pytest.mark.parametrize(("budget", "most"), [(Budget(calls=90), 90), (Budget(cost=0.9), 90)])
def test_a_run_stops_at_its_budget_and_goes_on_with_a_larger_one(gallery, whole, tmp_path, budget, most):
    cache = DictCache()

    def run(limits):
        language = ColourPerson(cost=0.01)
        return construct(gallery, tmp_path, CachedLanguageModel(language, cache), workers=3, budget=limits,
                         resume=True), language

    report, language = run(budget)
    assert most <= len(language.asked) <= most + 2 and report.usage.calls == len(language.asked)
    assert report.usage.cost == pytest.approx(0.01 * len(language.asked))
    assert report.outputs == {} and 0 < report.done < report.total and ("budget" in report.stopped) == bool(budget.cost)
    again, language = run(budget)
    assert language.asked == [] and again.done == report.done     # spent is spent, over all runs
    rest, _ = run(Budget())
    assert rest.usage.calls == len(cache.rows) and rest.done == 60
    assert (tmp_path / RAW).read_bytes() == (whole[1] / RAW).read_bytes()


def test_progress_counts_every_session_once(gallery, tmp_path):
    seen = []
    construct(gallery, tmp_path, count=10, limit=4, progress=lambda *now: seen.append(now[:2]))
    construct(gallery, tmp_path, count=10, workers=3, resume=True, progress=lambda *now: seen.append(now[:2]))
    assert seen == [*((n, 4) for n in range(5)), *((n, 10) for n in range(4, 11))]


# --- failures ----------------------------------------------------------------------------------


def test_a_failing_session_fails_alone_and_can_be_tried_again(gallery, whole, tmp_path):
    def garbage(task):
        if isinstance(task, MergeTask) and task.modification_text == "shinier":
            raise LanguageModelError("The answer has the wrong form.")

    report = construct(gallery, tmp_path, ColourPerson(fail=garbage))
    failed = {one["query_id"] for one in report.failures if "wrong form" in one["reason"]}
    assert failed == {f"q{n}" for n in range(3, 60, 4)}
    left = [session for session in results(whole[1]) if session["query_id"] not in failed]
    assert results(tmp_path) == left
    same = construct(gallery, tmp_path, resume=True)
    assert same.failures == report.failures
    construct(gallery, tmp_path, resume=True, retry_failed=True)
    assert (tmp_path / RAW).read_bytes() == (whole[1] / RAW).read_bytes()


def test_a_model_that_fails_at_every_session_ends_the_run(gallery, tmp_path):
    def garbage(task):
        raise LanguageModelError("The answer has the wrong form.")

    with pytest.raises(LanguageModelError, match=f"failed {PATIENCE} times in a row.*wrong form"):
        construct(gallery, tmp_path, ColourPerson(fail=garbage))
    progress = read_progress(tmp_path / "journal.jsonl")
    assert PATIENCE <= len(progress.failed) <= PATIENCE + 2


def test_an_error_that_nobody_foresaw_keeps_what_is_finished(gallery, whole, tmp_path):
    language = ColourPerson()

    def broken(task):
        if len(language.asked) > 100:
            raise RuntimeError("out of memory")

    language._fail = broken
    with pytest.raises(RuntimeError, match="out of memory"):
        construct(gallery, tmp_path, language, workers=2)
    assert len(read_progress(tmp_path / "journal.jsonl").offsets) > 3
    construct(gallery, tmp_path, resume=True)
    assert (tmp_path / RAW).read_bytes() == (whole[1] / RAW).read_bytes()


def test_queries_without_targets_or_images_fail_alone(gallery, tmp_path):
    one, two, three, four = colour_queries(gallery, 4)
    queries = (one, replace(two, target_ids=()), replace(three, target_ids=("away",)),
               replace(four, reference_id="away"))
    benchmark = Benchmark("cirr", "val", queries, {"cirr": None}, lambda image_id: ())
    report = construct_sessions(colour_construction(gallery, ColourPerson(), benchmark=benchmark), tmp_path)
    assert [(one["query_id"], one["reason"].split(";")[0]) for one in report.failures] == [
        ("q1", "The query has no target, so the remaining difference is unknown."),
        ("q2", "No target is among the 64 images that are ranked"),
        ("q3", "The reference 'away' is not in the gallery."),
    ]


def test_two_processes_do_not_write_one_folder(gallery, tmp_path):
    begun, go = threading.Event(), threading.Event()

    def wait(task):
        begun.set()
        assert go.wait(60)

    thread = threading.Thread(target=construct, args=(gallery, tmp_path, ColourPerson(fail=wait), 3))
    thread.start()
    assert begun.wait(60)
    with pytest.raises(DatasetError, match="Another process constructs sessions in"):
        construct(gallery, tmp_path, count=3, resume=True)
    go.set()
    thread.join()
    assert len(results(tmp_path)) > 0


# --- subsets and galleries ---------------------------------------------------------------------


def test_subsets_have_the_release_s_names_and_their_own_galleries(gallery, tmp_path):
    queries = [replace(query, query_id=f"{pool}{query.query_id}", pool=pool) for pool in ("dress", "shirt")
               for query in colour_queries(gallery, 3)]
    pools = {"dress": gallery.ids, "shirt": (*gallery.ids[:40], "not indexed")}
    benchmark = Benchmark("fashioniq", "val", queries, pools, lambda image_id: ())
    construction = colour_construction(gallery, ColourPerson(), benchmark=benchmark)
    assert construction.subsets.notes == (
        "The gallery lacks 1 of the 105 images of the data set; ranks are over the others.",)
    report = construct_sessions(construction, tmp_path, subsets=["shirt"])
    assert list(report.counts) == ["fashioniq_shirt_val"]
    assert json.loads(report.outputs["fashioniq_shirt_val"][0].read_text())["data_completeness"]["images"] == 40
    both = construct_sessions(construction, tmp_path, options=JobOptions(resume=True))
    assert list(both.counts) == ["fashioniq_dress_val", "fashioniq_shirt_val"] and both.resumed == 3
    with pytest.raises(DatasetError, match=r"There is no subset 'toptee'.*fashioniq_dress_val, fashioniq_shirt_val"):
        construct_sessions(construction, tmp_path, subsets=["toptee"], options=JobOptions(resume=True))
    strange = Benchmark("cirr", "val", queries[:1], {"dress": ("x", "y")}, lambda image_id: ())
    with pytest.raises(GalleryError, match="contains no image of cirr_dress_val"):
        colour_construction(gallery, ColourPerson(), benchmark=strange)


def test_circo_s_files_have_its_digits_and_its_other_name(tmp_path):
    from PIL import Image

    from cir_core.gallery.gallery import open_gallery
    from cir_core.gallery.indexing import index_folder

    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(12):
        Image.new("RGB", (8, 8), (20 * number, 250 - 20 * number, 90)).save(photos / f"{number + 1}.png")
    index_folder(photos, name="circo", encoder=FakeEncoder(), home=tmp_path / "home")
    found = open_gallery("circo", home=tmp_path / "home")
    query = BenchmarkQuery("0", "1", "shinier", ("11", "12"), pool="circo")
    benchmark = Benchmark("circo", "val", [query], {"circo": None}, lambda image_id: ())
    settings = ConstructionSettings(k=3, max_turns=2)
    construction = colour_construction(found, ColourPerson(), benchmark=benchmark, settings=settings)
    report = construct_sessions(construction, tmp_path / "out")
    [path] = report.outputs["circo_val"]
    content = json.loads(path.read_text())
    assert content["dataset_name"] == "circo"
    [session] = content["results"]
    assert session["ground_truth_ids"] == ["000000000011", "000000000012"]
    assert set(session["turns"][0]["gt_rankings"]) == {"000000000011", "000000000012"}
    assert all(len(name) == 12 for turn in session["turns"] for name, _ in turn["search_results"])
    [read] = read_sessions(path)
    assert (read.subset, read.target_ids) == ("circo_val", ("11", "12"))


# --- filters over whole files ------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "tau"), [(30, 0.8), (2, 0.8), (0, 0.4), (30, 1.01)])
def test_every_count_equals_a_plain_recount(whole, tmp_path, epsilon, tau):
    _, folder = whole
    report = filter_sessions(raw_files(folder), tmp_path, FilterSettings(epsilon, tau), explain=True)
    removed, left = recount(folder / RAW, FakeEncoder(), epsilon, tau)
    [found] = report.subsets
    assert (dict(found.removed), found.kept, found.sessions) == (removed, len(left), len(results(folder)))
    kept = json.loads((tmp_path / RAW).read_text())
    assert [session["query_id"] for session in kept["results"]] == left
    assert kept["filtering_info"]["removed"] == removed and kept["filtering_info"]["texts_compared_by"] == "fake"
    dropped = [json.loads(line) for line in (tmp_path / "dropped.jsonl").read_text().splitlines()]
    assert {stage: sum(one["stage"] == stage for one in dropped) for stage in removed} == removed
    stages = json.loads((tmp_path / "stages.json").read_text())
    assert stages["subsets"][0]["removed"] == removed
    for session in kept["results"]:
        ranks = [turn["best_gt_rank"] for turn in session["turns"]]
        assert ranks[-1] <= 3 < min(ranks[:-1])
    for form in ("public", "raw"):
        if left:
            assert check("circled", tmp_path / form / "cirr_val.json").ok


def test_stored_similarities_are_those_of_the_encoder(whole, tmp_path):
    _, folder = whole
    stored = filter_sessions(raw_files(folder), tmp_path / "a", FilterSettings(tau=0.45))
    encoded = filter_sessions(raw_files(folder), tmp_path / "b", FilterSettings(tau=0.45), encoder=FakeEncoder())
    assert stored.subsets == encoded.subsets
    assert (tmp_path / "a" / RAW).read_bytes() == (tmp_path / "b" / RAW).read_bytes()


def test_the_unfiltered_sessions_are_not_overwritten(whole):
    _, folder = whole
    before = (folder / RAW).read_bytes()
    with pytest.raises(DatasetError, match="contains the unfiltered sessions"):
        filter_sessions(raw_files(folder), folder)
    assert (folder / RAW).read_bytes() == before


def test_settings_out_of_range_are_refused():
    for change in ({"max_turns": 0}, {"k": 0}, {"attempts": 11}, {"tau": 1.5}, {"alpha": -1}, {"gamma": 3}):
        with pytest.raises(SettingsError, match="give a number from"):
            ConstructionSettings(**change)


def test_the_roles_are_counted(whole):
    report, folder = whole
    turns = sum(len(session["turns"]) for session in results(folder))
    assert report.answers["merge"] >= turns and report.usage.calls == sum(report.answers.values())
    assert {CaptionTask.role, MergeTask.role, DifferenceTask.role} == set(report.answers)
    assert report.by_role["merge"].prompt_tokens == 10 * report.answers["merge"]
