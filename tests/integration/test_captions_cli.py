"""``cirque captions`` as a person meets it, and runs that are killed."""

from __future__ import annotations

import shutil
import socket
from collections import Counter

import pytest
from PIL import Image
from typer.testing import CliRunner

from cir_core.captions.caption_build import optimise_captions
from cir_core.captions.stored import captions_folder, captions_path, read_captions
from cir_core.errors import CirqueError, LanguageModelUnavailable
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.sample.atelier.build import build_atelier
from cir_core.settings import get_settings
from cir_core.support.json_lines import read_heading
from cli import console
from cli.galleries.captions import app
from tests.fakes.captioner import ScriptedCaptioner
from tests.fakes.databases import use_home
from tests.fakes.encoder import FakeEncoder
from tests.integration.victims import kill_when, lines_of

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database

IMAGES, SAMPLES, KILLED_AT = 40, 3, (8, 20)
PROGRAM = """
import sys
from pathlib import Path
from cir_core.captions.caption_build import optimise_captions
from cir_core.captions.stored import captions_folder
from cir_core.gallery.gallery import open_gallery
from tests.fakes.captioner import ScriptedCaptioner, numbered
from tests.fakes.encoder import FakeEncoder
from tests.integration.victims import no_further_than
home, log, workers, most = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
gallery = open_gallery("g", home=home)
look = no_further_than(most, captions_folder(gallery) / "texts.jsonl")
model = ScriptedCaptioner(lambda task: look(task) or numbered(task), log=log, delay=0.004)
optimise_captions(gallery, FakeEncoder(), model, samples=3, workers=workers)
"""


@pytest.fixture
def home(tmp_path):
    source = tmp_path / "photos"
    source.mkdir()
    for number in range(IMAGES):
        Image.new("RGB", (9, 9), (6 * number, 250 - 6 * number, 9)).save(source / f"{number:02}.png")
    index_folder(source, name="g", encoder=FakeEncoder(), home=tmp_path / "home")
    return tmp_path / "home"


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.extended), 3])
def test_killed_in_the_middle_the_rerun_asks_only_for_what_is_missing(home, tmp_path, workers):
    log = tmp_path / "asked"
    gallery = open_gallery("g", home=home)
    texts = captions_folder(gallery) / "texts.jsonl"
    for wanted in KILLED_AT:
        # The heading, then a line for each image.
        kill_when(lambda wanted=wanted: lines_of(texts) > wanted, "-c", PROGRAM, home, log, workers, wanted + 4)
    assert read_heading(texts) is not None and read_captions(gallery) is None

    done = lines_of(texts) - 1
    assert KILLED_AT[-1] <= done < IMAGES
    model = ScriptedCaptioner()
    report = optimise_captions(gallery, FakeEncoder(), model, samples=SAMPLES)
    assert (report.resumed, len(model.asked)) == (done, SAMPLES * (IMAGES - done))
    asked = Counter(log.read_text().splitlines()) + Counter(f"{digest} {n}" for digest, n in model.asked)
    assert len(asked) == IMAGES * SAMPLES
    # Only images in flight when a process died may have been asked about twice.
    assert sum(asked.values()) <= IMAGES * SAMPLES + len(KILLED_AT) * workers * SAMPLES

    first = captions_path(gallery).read_bytes().splitlines()[1:]
    undisturbed = optimise_captions(gallery, FakeEncoder(), ScriptedCaptioner(), samples=SAMPLES, restart=True)
    assert undisturbed.header.digest == report.header.digest
    assert captions_path(gallery).read_bytes().splitlines()[1:] == first


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A home with a gallery of three garments, indexed with the bundled encoder, and their pictures."""
    from cir_core.encoders import load_encoder

    folder = tmp_path_factory.mktemp("prepared")
    photos, manifest = folder / "photos", folder / "m.csv"
    photos.mkdir()
    manifest.write_text("id,path,caption\nröd,red.jpg,a [/b] :cat: red dress\ngreen,green.jpg,\nblue,blue.jpg,\n",
                        encoding="utf-8")
    garments = sorted(build_atelier(folder / "drawn", limit=3).images.iterdir())
    for name, garment in zip(("red", "green", "blue"), garments, strict=True):
        shutil.copy(garment, photos / f"{name}.jpg")
    index_folder(photos, name="mine", encoder=load_encoder("atelier"), home=folder / "home", manifest=manifest)
    return folder


@pytest.fixture
def cirque(prepared, tmp_path, monkeypatch):
    """Runs ``cirque captions`` in a copy of that home."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    use_home(monkeypatch, tmp_path / "home")
    monkeypatch.setattr(console.out, "width", 200)  # read once, where the console is made
    get_settings.cache_clear()
    runner = CliRunner()
    yield lambda *arguments, **options: runner.invoke(app, [*arguments], **options)
    get_settings.cache_clear()


def test_build_show_remove(cirque, tmp_path):
    assert "has no captions yet" in cirque("show", "mine").output
    built = cirque("build", "mine", "--samples", "2", "--limit", "1", "--model", "built-in")
    assert built.exit_code == 0, built.output
    assert "of 1 images" in built.output and "nothing was published" in built.output
    built = cirque("build", "mine", "--samples", "2", "--model", "built-in")
    assert built.exit_code == 0, built.output
    gallery = open_gallery("mine", home=tmp_path / "home")
    captions = read_captions(gallery)
    assert captions is not None
    assert f"digest {captions.digest}" in built.output and f"{len(captions.texts)} of 3 images" in built.output
    assert "its first caption" in built.output and "the chosen caption" in built.output

    shown = cirque("show", "mine")
    assert shown.exit_code == 0 and captions.digest in shown.output
    for image_id, text in captions.texts.items():
        assert image_id in shown.output and text in shown.output
        one = cirque("show", "mine", "--image", image_id).output
        assert f"{image_id}: {text}" in one and "of 3 (the first caption:" in one
    assert next(iter(captions.texts.values())) not in cirque("show", "mine", "--worst", "0").output

    kept = cirque("remove", "mine", input="n\n")
    assert kept.exit_code == 1 and read_captions(gallery) is not None
    assert "are gone" in cirque("remove", "mine", "--yes").output
    assert read_captions(gallery) is None
    assert "has no captions" in cirque("remove", "mine", "--yes").output


@pytest.mark.parametrize(("arguments", "sentence"), [
    (("build", "nope", "--model", "built-in"), "No gallery 'nope'"),
    (("show", "mine", "--image", "unknown"), "No image 'unknown'"),
    (("remove", "nope", "--yes"), "No gallery 'nope'"),
])
def test_mistakes_are_sentences(cirque, arguments, sentence):
    result = cirque(*arguments)
    assert isinstance(result.exception, CirqueError) and sentence in str(result.exception)


def test_other_parameters_are_refused_and_captions_that_do_not_fit_are_explained(cirque, tmp_path):
    assert cirque("build", "mine", "--samples", "2", "--model", "built-in").exit_code == 0
    refused = cirque("build", "mine", "--samples", "3", "--model", "built-in")
    assert "--restart" in str(refused.exception)
    assert cirque("build", "mine", "--samples", "3", "--model", "built-in", "--restart").exit_code == 0

    from cir_core.encoders import load_encoder

    (tmp_path / "photos" / "green.jpg").unlink()
    index_folder(tmp_path / "photos", name="mine", encoder=load_encoder("atelier"), home=tmp_path / "home",
                 manifest=tmp_path / "m.csv")
    shown = cirque("show", "mine")
    assert shown.exit_code == 0 and "chosen for other images" in shown.output
    again = cirque("build", "mine", "--samples", "3", "--model", "built-in")
    assert again.exit_code == 0 and "2 images were captioned before" in again.output


def test_without_a_server_the_built_in_model_captions(cirque):
    built = cirque("build", "mine", "--samples", "2", "--domain", "dress")
    assert built.exit_code == 0, built.output
    assert "Captions by built-in/" in built.output and "domain dress" in built.output


def test_a_server_that_is_away_is_not_stood_in_for(cirque, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        monkeypatch.setenv("CIRQUE_LLM_BASE_URL", f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        monkeypatch.setenv("CIRQUE_LLM_MODEL", "some-model")
        monkeypatch.setenv("CIRQUE_LLM_RETRIES", "0")
        get_settings.cache_clear()
        result = cirque("build", "mine", "--samples", "2")
    assert isinstance(result.exception, LanguageModelUnavailable)
    assert "Nothing is lost: 0 of 3 images" in str(result.exception)
    assert "some-model" in result.output


@pytest.mark.parametrize("restart", [False, True])
def test_ctrl_c_says_how_to_go_on(cirque, monkeypatch, restart):
    from cir_core.language.builtin import BuiltinLanguageModel

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(BuiltinLanguageModel, "complete", interrupted)
    result = cirque("build", "mine", "--model", "built-in", *(["--restart"] if restart else []))
    if restart:  # "run the same command again" would forget what was kept
        assert result.exit_code == 1 and "again without --restart" in result.output
    else:
        assert result.exit_code == 130
