"""Making a preference study as a person types it: of methods, of runs, of HP-FashionIQ's format."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from cir_core.errors import CirqueError, DatasetError, GalleryError, MethodError, SettingsError, StudyError
from cir_core.gallery.gallery import open_gallery
from cir_core.sample.gallery import NAME
from cir_core.settings import get_settings
from cli import console
from cli.studies import preference
from storage.stores import open_stores
from tests.fakes import drawn
from tests.fakes.databases import use_home

app = typer.Typer()
app.command("preference")(preference.create_preference)
app.callback()(lambda: None)   # a command of one name only would not take it


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("prepared")
    drawn.home(root / "home", 90, at="../drawn")
    return root


@pytest.fixture
def create(prepared, tmp_path, monkeypatch):
    """Runs ``cirque study create preference``; raises what the command raises."""
    shutil.copytree(prepared / "home", tmp_path / "home")
    use_home(monkeypatch, tmp_path / "home")
    monkeypatch.setenv("CIRQUE_SEED", "5")
    monkeypatch.setattr(console.out, "width", 200)
    get_settings.cache_clear()
    yield lambda *arguments: CliRunner().invoke(app, ["preference", *map(str, arguments)], catch_exceptions=False)
    get_settings.cache_clear()


@pytest.fixture
def stores(create):
    stores = open_stores(get_settings())
    yield stores
    stores.close()


def sample(prepared: Path, *more: object) -> tuple[object, ...]:
    return ("--dataset", "sample", "--annotations", prepared / "drawn", "--gallery", NAME, *more)


METHODS = ("--methods", "slerp,text-only,image-only")


def test_a_study_of_methods(create, stores, prepared, tmp_path):
    consent = tmp_path / "consent.txt"
    consent.write_text("\ufeffI agree.\n", "utf-8")
    options = sample(prepared, *METHODS, "--queries", 12, "--per-person", 6, "--consent", consent, "--set-names",
                     "Shopping Mall 1,Shopping Mall 2", "--allow-tie", "--check", "instruction", "--lease-hours", 2.5)
    tried = create("shops", *options, "--dry-run")
    # 12 questions, one in ten rounded up for three people: 2 · 3 + 10 = 16 answers, three people.
    assert "Nothing was created" in tried.output and "slerp and text-only" in tried.output
    rows = [line.split() for line in tried.output.splitlines()]
    assert ["people", "3"] in rows and ["answers", "16"] in rows
    assert stores.studies.studies() == () and not (tmp_path / "home/studies").exists()

    made = create("shops", *options)
    assert "Created shops: 12 questions, 2 of them shared, for 3 people." in made.output
    study = stores.studies.study("shops")
    assert study.settings.items() >= {
        "set_names": ["Shopping Mall 1", "Shopping Mall 2"], "allow_tie": True, "consent": "I agree.",
        "check": "instruction", "lease_hours": 2.5, "per_person": 6, "form_size": 3}.items()
    assert study.plan.seed == 5 and study.source["methods"] == ["slerp", "text-only", "image-only"]
    assert str(tmp_path) not in json.dumps(dict(study.source))
    items = stores.studies.items(study.study_id)
    assert Counter(item.hidden["category"] for item in items) == {"dress": 4, "shirt": 4, "toptee": 4}
    for item in items:
        assert all(len(set(ids)) == 5 and item.hidden["reference_id"] not in ids for ids in item.hidden["set_ids"])
        assert set(item.hidden["set_ids"][0]) != set(item.hidden["set_ids"][1])
    assert len(stores.studies.assignments(study.study_id)) == 16

    again = json.loads(create("again", *options, "--json").output)
    assert again["pairs"] == dict(study.source["pairs"]) and again["counts"]["items"] == 12
    twin = stores.studies.items(again["id"])
    assert [item.hidden for item in twin] == [item.hidden for item in items]


def test_a_study_of_runs(create, stores, prepared, tmp_path):
    gallery = open_gallery(NAME, home=tmp_path / "home")
    queries = json.loads((prepared / "drawn/captions/cap.dress.test.json").read_text())
    pool = json.loads((prepared / "drawn/image_splits/split.dress.test.json").read_text())
    for start, name in enumerate(("ours", "theirs")):
        lines = [f"dress:{place} Q0 {image_id} {rank} {100 - rank} {name}"
                 for place in range(len(queries)) for rank, image_id in enumerate(pool[start:start + 8], 1)]
        (tmp_path / f"{name}.trec").write_text("\n".join(lines))
    runs = f"{tmp_path / 'ours.trec'},{tmp_path / 'theirs.trec'}"
    made = create("runs", *sample(prepared), "--from-runs", runs, "--queries", 5, "--json")
    content = json.loads(made.output)
    assert content["pairs"] == {"ours|theirs": 5} and content["counts"]["items"] == 5
    item = stores.studies.items(content["id"])[0]
    by_name = dict(zip(item.hidden["methods"], item.hidden["set_ids"], strict=True))
    reference = item.hidden["reference_id"]
    assert by_name == {name: [one for one in pool[start:start + 8] if one != reference][:5]
                       for start, name in enumerate(("ours", "theirs"))}
    # Without a gallery, the pictures of a folder that was named.
    create("folder", "--dataset", "sample", "--annotations", prepared / "drawn", "--images", prepared / "drawn",
           "--from-runs", tmp_path / "ours.trec", "--from-runs", tmp_path / "theirs.trec", "--queries", 5)
    assert len(stores.studies.items(stores.studies.study("folder").study_id)) == 5
    assert gallery.path_of(pool[0]).is_file()


def test_a_study_of_hp_fashioniqs_form(create, stores, prepared, tmp_path):
    pool = json.loads((prepared / "drawn/image_splits/split.dress.test.json").read_text())

    def paths(*ids: str) -> list[str]:
        return [f"/-/image_data/shirt/{image_id}.jpg" for image_id in ids]

    lists = {
        "ref_img_paths": paths(pool[0], "gone"), "targ_img_paths": paths(pool[1], pool[1]),
        "sentences": ["is bluedotmark", "is red"],
        "retrieved_set1": [{"img_path": paths(*pool[2:7]), "user_score": "4"}] * 2,
        "retrieved_set2": [{"img_path": paths(*pool[5:10]), "user_score": "2"}] * 2, "preferred set": ["1", "2"]}
    file = tmp_path / "hpfiq.json"
    file.write_text(json.dumps({"user_1": {"question_set_1": lists}}))
    with pytest.raises(GalleryError, match=r"--images.*There are galleries: atelier"):
        create("hp", "--from-hp", file)
    with pytest.raises(StudyError, match="gone is unavailable"):
        create("hp", "--from-hp", file, "--images", prepared / "drawn")
    made = create("hp", "--from-hp", file, "--images", prepared / "drawn", "--skip-missing", "--shared-every", 0)
    assert "Created hp: 1 question, 0 of them shared, for 1 person." in made.output
    assert "cannot be read: 1." in made.output
    [item] = stores.studies.items(stores.studies.study("hp").study_id)
    assert item.shown["text"] == "is blue." and sorted(item.hidden["set_ids"]) == sorted([pool[2:7], pool[5:10]])


@pytest.mark.parametrize(("arguments", "error", "says"), [
    ((), StudyError, "Specify whose results to compare"),
    (("--methods", "slerp,cirevl"), StudyError, "--methods needs --dataset"),
    (("--methods", "slerp,cirevl", "--from-hp", "x.json"), StudyError, "--methods and --from-hp cannot go together"),
    (("--from-hp", "x.json", "--dataset", "sample"), StudyError, "has its own queries"),
    (("--from-hp", "x.json", "--images", "."), DatasetError, "x.json"),
    (("--dataset", "sample", *METHODS, "--images", "."), StudyError, "--images cannot be combined with --methods"),
    (("--dataset", "cirr", *METHODS), DatasetError, "--annotations PATH"),
    (("--dataset", "none", *METHODS), DatasetError, "no kind of data set 'none'"),
    (("--dataset", "sample", "--gallery", "none", *METHODS), CirqueError, "none"),
    (("--dataset", "sample", "--gallery", NAME, "--methods", "slerp,nonsense"), MethodError, "nonsense"),
    (("--dataset", "sample", "--gallery", NAME, "--methods", "slerp"), StudyError, "two different methods"),
    (("--dataset", "sample", "--from-runs", "a.trec,b.trec"), DatasetError, "a.trec is missing"),
    (("--dataset", "sample", *METHODS, "--set-names", "Mall"), StudyError, "two names with a comma"),
    (("--dataset", "sample", *METHODS, "--forms", 60), StudyError, "into 60 forms"),
    (("--dataset", "sample", *METHODS, "--consent", "none.txt"), SettingsError, "none.txt cannot be read"),
])
def test_what_cannot_be_is_refused_with_a_sentence(create, stores, prepared, arguments, error, says):
    drawn = ("--annotations", prepared / "drawn") if "sample" in arguments and "--from-hp" not in arguments else ()
    with pytest.raises(error, match=says):
        create("one", *arguments, *drawn)
    assert stores.studies.studies() == ()
