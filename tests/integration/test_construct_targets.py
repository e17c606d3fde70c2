"""SoFT's pipeline on the sample, as a person types it, with a language model that knows the garments."""

from __future__ import annotations

import json
import random
import re
import sys

import pytest
from typer.testing import CliRunner

from cir_core.construct.targets.multi_target import find_targets
from cir_core.construct.targets.provenance import read_provenance
from cir_core.datasets.readers.soft import MultiTarget, read_single_target, write_multi_target
from cir_core.errors import DatasetError, SettingsError
from cir_core.gallery.gallery import open_gallery
from cir_core.jobs.job import JobOptions
from cir_core.registry.kinds import read_benchmark
from cir_core.sample.atelier.ground_truth import read_attributes
from cir_core.settings import get_settings
from cli.main import app
from tests.fakes import drawn
from tests.fakes.attribute_person import AttributePerson
from tests.fakes.chat_server import ChatServer
from tests.fakes.colour_targets import ColourAssessor, colour_targets
from tests.fakes.colours import colour_gallery
from tests.fakes.databases import use_home
from tests.integration.victims import kill_when, lines_of

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database

GARMENTS, QUERIES = 240, 24


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    home = drawn.home(tmp_path_factory.mktemp("home"), GARMENTS)
    return home, home / "sample"


@pytest.fixture(scope="module")
def person(sample):
    home, folder = sample
    return AttributePerson(open_gallery("atelier", home=home), read_benchmark("sample", folder),
                           read_attributes(folder, "test"))


@pytest.fixture(scope="module")
def cirque(sample):
    with pytest.MonkeyPatch.context() as patch:
        use_home(patch, sample[0])
        patch.setattr("cli.console.out.width", 160)

        def run(*arguments, **settings):
            with pytest.MonkeyPatch.context() as own:
                for name, value in settings.items():
                    own.setenv(f"CIRQUE_{name}", value)
                get_settings.cache_clear()
                return CliRunner().invoke(app, [*map(str, arguments)])

        yield run
    get_settings.cache_clear()


@pytest.fixture(scope="module")
def one(cirque, sample, person, tmp_path_factory):
    """The folder of stage 1 over the sample."""
    folder = tmp_path_factory.mktemp("one")
    with ChatServer(person) as server:
        print(found(cirque, sample[1], folder, server).output)
        assert len(server.requests) == 4 * 3 * QUERIES      # two sentences, three groups
    return folder


def found(cirque, folder, out, server, *more):
    result = cirque("construct", "multi-target", "sample", folder, "--gallery", "atelier", "--out", out, "--limit",
                    QUERIES, *more, LLM_BASE_URL=server.url, LLM_MODEL="m")
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def recall_at_1(cirque, file, split):
    result = cirque("evaluate", "soft-single-target", "--annotations", file, "--pool", split, "--gallery", "atelier",
                    "--methods", "cirevl", "--no-intervals", "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    return json.loads(result.stdout)["recall"]["1"]


def test_stage_one_finds_the_true_targets(sample, person, one):
    """What the model is asked about it knows, so only the search can miss a target."""
    benchmark = read_benchmark("sample", sample[1])
    hits = true = chosen = 0
    for name, pool in benchmark.pools.items():
        queries = [query for query in benchmark.queries if query.pool == name][:QUERIES]
        for query, record in zip(queries, read_provenance(one / f"provenance/{name}.jsonl"), strict=True):
            assert record.query_id == query.query_id and record.captions == query.captions
            truth, targets = person.answers(query, pool), set(record.targets(0.85))
            hits, true, chosen = hits + len(truth & targets), true + len(truth), chosen + len(targets)
    print(f"stage 1: recall {hits / true:.3f} of {true} true targets, precision {hits / chosen:.3f} of {chosen}")
    assert hits == chosen and hits / true > 0.9 and true > 3 * QUERIES


def test_the_files_pass_soft_s_checks_and_its_evaluator(cirque, sample, one):
    for kind, files in (
        ("soft-candidates", one / "multi_target_candidate"), ("soft-scores", one / "candidate_score"),
        ("soft-multi-target", one / "multi_target_selection"),
    ):
        for path in files.iterdir():
            checked = cirque("datasets", "check", kind, path)
            assert checked.exit_code == 0 and "No faults" in checked.output, (path, checked.output)
    evaluated = cirque("evaluate", "soft-multi-target", "--annotations",
                       one / "multi_target_selection/dress_multi_target_selection.json", "--pool",
                       sample[1] / "image_splits/split.dress.test.json", "--gallery", "atelier", "--methods", "cirevl",
                       "--no-intervals", "--json")
    assert evaluated.exit_code == 0, evaluated.output
    assert json.loads(evaluated.stdout)["map_soft"].keys() >= {"5", "10", "25", "50"}


def test_stage_two_s_texts_single_out_their_target(cirque, sample, person, one, tmp_path):
    two = tmp_path / "two"
    with ChatServer(person) as server:
        result = cirque("construct", "single-target", one, "--gallery", "atelier", "--out", two,
                        LLM_BASE_URL=server.url, LLM_MODEL="m")
    assert result.exit_code == 0, (result.output, result.exception)
    assert "checked by confidence" in result.output
    before, after, queries = 0.0, 0.0, 0
    for path in sorted((two / "single_target_selection").iterdir()):
        if not (records := read_single_target(path)):
            continue
        checked = cirque("datasets", "check", "soft-single-target", path)
        assert checked.exit_code == 0 and "No faults" in checked.output, checked.output
        for record in records:
            assert len(record.distractor_ids) == 2 and record.target_id != record.reference_id
            assert {record.target_id, *record.distractor_ids} <= set(record.scores)
            assert record.scores[record.target_id] == record.target_confidence
        split = sample[1] / f"image_splits/split.{path.name.partition('_')[0]}.test.json"
        before += len(records) * recall_at_1(cirque, two / "original_texts" / path.name, split)
        after += len(records) * recall_at_1(cirque, path, split)
        queries += len(records)
    print(f"stage 2: Recall@1 {before / queries:.2f} with the original texts, {after / queries:.2f} rewritten, "
          f"{queries} queries")
    assert queries >= 10 and after > before


@pytest.mark.extended
def test_a_folder_is_described_with_histograms(cirque, one, tmp_path):
    result = cirque("construct", "describe", one, "--out", tmp_path)
    assert result.exit_code == 0, (result.output, result.exception)
    described = json.loads((tmp_path / "description.json").read_text())["targets"]
    assert [row["name"] for row in described] == ["dress", "shirt", "toptee", "all"]
    assert described[-1]["queries"] == 3 * QUERIES == sum(described[-1]["original"].values())
    page = (tmp_path / "description.html").read_text()
    assert "Targets of a query, all" in page and "Confidence of the original target, all" in page


def test_confidences_need_a_model_that_sees_and_that_is_said_before_anything_begins(cirque, sample, tmp_path):
    asked = ("construct", "multi-target", "sample", sample[1], "--gallery", "atelier", "--out", tmp_path / "one")
    refused = cirque(*asked)
    assert isinstance(refused.exception, SettingsError)
    assert "need a language model that sees images: built-in/2 does not" in str(refused.exception)
    refused = cirque(*asked, LLM_BASE_URL="http://127.0.0.1:9/v1", LLM_MODEL="m", LLM_SEES="false")
    assert isinstance(refused.exception, SettingsError) and "m@127.0.0.1:9 does not" in str(refused.exception)
    server = {"LLM_BASE_URL": "http://127.0.0.1:9/v1", "LLM_MODEL": "m"}
    ahead = cirque(*asked, "--limit", 2, "--dry-run", **server)
    assert ahead.exit_code == 0 and re.search(r"two-sentences +6 +6 ", ahead.output), ahead.output
    assert re.search(r"confidence +18 +54 ", ahead.output) and not (tmp_path / "one").exists()
    free = cirque(*asked, "--limit", 2, "--dry-run", "--sentences", "built-in", **server)
    assert free.exit_code == 0 and not re.search(r"two-sentences +6", free.output)


def test_candidates_of_others_instead_of_searches(cirque, sample, person, tmp_path):
    first, mixed = tmp_path / "first", tmp_path / "mixed"
    with ChatServer(person) as server:
        found(cirque, sample[1], first, server, "--limit", 2, "--sentences", "built-in")
        sent = len(server.requests)
        assert sent <= 2 * 9       # confidences alone: the built-in model wrote the sentences
        found(cirque, sample[1], mixed, server, "--limit", 2, "--candidates", first)
        assert len(server.requests) == sent, "the same candidates have the same confidences"
        other = cirque("construct", "multi-target", "sample", sample[1], "--gallery", "atelier", "--out",
                       tmp_path / "x", "--candidates", sample[0], LLM_BASE_URL=server.url, LLM_MODEL="m")
        assert isinstance(other.exception, DatasetError) and "contains no candidates of 'dress'" in str(other.exception)
    for path in (*(first / "multi_target_selection").iterdir(), *(first / "multi_target_candidate").iterdir()):
        assert path.read_bytes() == (mixed / path.relative_to(first)).read_bytes()


def test_the_built_in_model_rewrites_and_what_it_cannot_tell_apart_is_listed(cirque, one, tmp_path):
    two = tmp_path / "two"
    result = cirque("construct", "single-target", one, "--gallery", "atelier", "--out", two, "--model", "built-in")
    assert result.exit_code == 0, (result.output, result.exception)
    assert "checked by text" in result.output
    records = [record for path in (two / "single_target_selection").iterdir() for record in read_single_target(path)]
    failures = json.loads((two / "failures.json").read_text())
    assert records and all(len(record.refined_caption) > len(" and ".join(record.original_captions))
                           for record in records)
    assert all("No rewritten text passed the check" in failure["reason"] for failure in failures)
    refused = cirque("construct", "single-target", one, "--gallery", "atelier", "--out", tmp_path / "x", "--model",
                     "built-in", "--check", "confidence")
    assert isinstance(refused.exception, SettingsError) and "--check text" in str(refused.exception)


def test_the_domain_is_that_of_the_files(cirque, tmp_path):
    path = tmp_path / "mine_multi_target_selection.json"
    names = [f"dev-{n}-0-img0" for n in range(4)]
    write_multi_target(path, [MultiTarget(names[0], names[1], ("red",), 0.85, dict.fromkeys(names[1:], 1.0))])

    def shown(*more):
        result = cirque("construct", "single-target", path, "--gallery", "atelier", "--out", tmp_path / "x", "--model",
                        "built-in", "--dry-run", *more)
        assert result.exit_code == 0, (result.output, result.exception)
        return re.findall(r"domain\s(\w+)", result.output)

    assert shown() == ["scene"] and shown("--domain", "garment") == ["garment"]


def test_queries_without_a_target_are_refused_without_advice_for_submissions(cirque, tmp_path):
    queries, pool = tmp_path / "queries.jsonl", tmp_path / "pool.jsonl"
    query = {"qid": "1", "query_txt": "red", "query_img_path": "a.jpg", "query_modality": "image,text",
             "pos_cand_list": ["a"], "task_id": 7}
    queries.write_text("".join(json.dumps(one) + "\n" for one in (query, query | {"qid": "2", "pos_cand_list": []})))
    pool.write_text('{"did": "a", "img_path": "a.jpg"}\n')
    result = cirque("construct", "multi-target", "mbeir", queries, "--pool", pool, "--gallery", "atelier", "--out",
                    tmp_path / "x")
    assert isinstance(result.exception, DatasetError) and "1 query of 2 in" in str(result.exception)
    assert "--submission" not in str(result.exception)


PROGRAM = """
import sys
from pathlib import Path
from cir_core.jobs.job import JobOptions
from cir_core.construct.targets.multi_target import find_targets
from cir_core.gallery.gallery import open_gallery
from tests.fakes.colour_targets import ColourAssessor, colour_targets
from tests.integration.victims import no_further_than
home, folder, workers, most = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
assessor = ColourAssessor(delay=0.002, fail=no_further_than(most, folder / "journal.jsonl"))
about = colour_targets(open_gallery("colours", home=home), assessor, 40)
find_targets(about, folder, options=JobOptions(workers, resume=True))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
@pytest.mark.parametrize("kills", [1, pytest.param(4, marks=pytest.mark.extended)])
def test_killed_again_and_again_it_ends_as_if_never_killed(tmp_path, kills):
    gallery = colour_gallery(tmp_path)
    folder, journal = tmp_path / "killed", tmp_path / "killed/journal.jsonl"
    draw, lines = random.Random(20261123), 0
    for _ in range(kills):
        wanted = lines + draw.randint(1, 4)     # queries; the journal begins with a heading
        kill_when(lambda wanted=wanted: lines_of(journal) > wanted, "-c", PROGRAM, tmp_path / "home", folder,
                  draw.choice([1, 4]), wanted + 2)
        before, lines = lines, lines_of(journal) - 1
        assert before < lines < 40 and not (folder / "multi_target_selection").exists()
    report = find_targets(colour_targets(gallery, ColourAssessor(), 40), folder, options=JobOptions(resume=True))
    assert report.resumed == lines
    find_targets(colour_targets(gallery, ColourAssessor(), 40), tmp_path / "whole")
    written = [path for path in (tmp_path / "whole").rglob("*.json*") if path.name != "journal.jsonl"]
    assert len(written) == 11
    for path in written:
        assert path.read_bytes() == (folder / path.relative_to(tmp_path / "whole")).read_bytes()
