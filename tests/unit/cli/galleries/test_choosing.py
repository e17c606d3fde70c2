"""Which encoder ``cirque index`` takes, with a person at the terminal and without; a small server is the hub."""

from __future__ import annotations

import os
import re

import pytest
from PIL import Image
from typer.testing import CliRunner

from cir_core.encoders.remembered import usual_encoder
from cir_core.encoders.weights import fetched, weights_of
from cir_core.gallery.gallery import list_galleries
from cir_core.settings import get_settings
from cli.galleries import choosing, galleries
from cli.main import app
from tests.fakes.databases import use_home
from tests.fakes.encoder import FakeEncoder
from tests.unit.cir_core.encoders.test_weights import SPEC, content, hub

__all__ = ["content", "hub"]   # fixtures


@pytest.fixture
def cirque(hub, tmp_path, monkeypatch):
    """The command; ``answer`` is what a person at the terminal types, None without one. The photo encoder is tiny."""
    use_home(monkeypatch, tmp_path)
    monkeypatch.setenv("CIRQUE_PHOTO_ENCODER", SPEC)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr(choosing, "_weights", lambda spec: weights_of(spec, tmp_path, endpoint=hub.address)
                        if spec == SPEC else None)
    get_settings.cache_clear()

    def run(*arguments, answer=None):
        monkeypatch.setattr(choosing, "can_ask", lambda: answer is not None)
        result = CliRunner().invoke(app, arguments, input=None if answer is None else f"{answer}\n")
        said = str(result.exception or "") if result.exit_code else ""
        return result.exit_code, " ".join((result.output + " " + said).split())

    yield run
    get_settings.cache_clear()


@pytest.fixture
def photos(tmp_path):
    """A folder of pictures that show no garment."""
    folder = tmp_path / "my photos"
    folder.mkdir()
    for number, colour in enumerate(("red", "green", "blue")):
        Image.linear_gradient("L").resize((80, 60)).convert("RGB").rotate(30 * number, fillcolor=colour).save(
            folder / f"{number}.png")
    return folder


def encoder_of(tmp_path, name):
    return next((one.encoder.spec for one in list_galleries(tmp_path) if one.name == name), None)


def test_without_a_terminal_it_says_what_to_do_and_downloads_nothing(cirque, hub, photos, tmp_path):
    code, said = cirque("index", str(photos), "--name", "mine")
    assert code == 0 and "knows drawn garments only: 3 of 3 pictures" in said
    assert f"cirque index '{photos}' --name mine --encoder {SPEC}" in said
    assert hub.asked == [] and encoder_of(tmp_path, "mine") == "atelier" and usual_encoder(tmp_path) == "atelier"


def test_a_person_is_asked_with_size_source_and_licence_and_a_no_counts(cirque, hub, photos, tmp_path):
    code, said = cirque("index", str(photos), "--name", "mine", answer="n")
    assert code == 0 and re.search(r"Fetch \S+ now \(about \d+ MB from 127\.0\.0\.1:\d+, licence: ", said)
    assert hub.asked == [] and encoder_of(tmp_path, "mine") == "atelier"


@pytest.mark.parametrize(("options", "answer"), [(("--yes",), None), ((), "y")])
def test_a_yes_fetches_indexes_and_is_remembered(cirque, hub, photos, tmp_path, options, answer):
    code, said = cirque("index", str(photos), "--name", "mine", *options, answer=answer)
    assert code == 0, said
    assert len(hub.asked) == 1 and encoder_of(tmp_path, "mine") == fetched(SPEC, tmp_path)
    assert usual_encoder(tmp_path) == SPEC and f"Further galleries are indexed with {SPEC}" in said
    code, said = cirque("index", str(photos), "--name", "second")
    assert code == 0 and f"Encoder: {SPEC}, chosen before" in said and "garments" not in said
    assert encoder_of(tmp_path, "second") == fetched(SPEC, tmp_path) and len(hub.asked) == 1


def test_a_named_encoder_that_is_not_here_is_an_error_with_both_ways(cirque, hub, photos, tmp_path):
    code, said = cirque("index", str(photos), "--name", "mine", "--encoder", SPEC)
    assert code == 1 and f"cirque encoders fetch {SPEC}" in said and f"get {hub.address}/" in said
    assert f"save it as {tmp_path}/encoders/" in said and list_galleries(tmp_path) == [] and hub.asked == []
    code, said = cirque("index", str(photos), "--name", "mine", "--encoder", SPEC, answer="y")
    assert code == 0 and encoder_of(tmp_path, "mine") == fetched(SPEC, tmp_path)


def test_a_fetch_that_fails_stops_and_says_how_to_bring_the_file(cirque, hub, photos, tmp_path):
    hub.status = 503
    code, said = cirque("index", str(photos), "--name", "mine", "--yes")
    assert code == 1 and "it answered 503. Without a connection: get " in said and "save it as " in said
    assert list_galleries(tmp_path) == [] and usual_encoder(tmp_path) == "atelier"


def test_a_file_brought_by_hand_is_used_without_a_question(cirque, hub, content, photos, tmp_path):
    file = weights_of(SPEC, tmp_path).file
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    code, said = cirque("index", str(photos), "--name", "mine", "--encoder", SPEC)
    assert code == 0, said
    assert hub.asked == [] and encoder_of(tmp_path, "mine") == fetched(SPEC, tmp_path)


def test_atelier_by_name_is_taken_and_nothing_is_offered(cirque, hub, photos, tmp_path):
    code, said = cirque("index", str(photos), "--name", "mine", "--encoder", "atelier", "--yes")
    assert code == 0 and "knows drawn garments only" in said and hub.asked == []
    assert encoder_of(tmp_path, "mine") == "atelier"


def test_a_gallery_is_updated_with_its_own_encoder(cirque, hub, photos, tmp_path):
    cirque("index", str(photos), "--name", "mine", "--encoder", "atelier")
    cirque("encoders", "default", SPEC)
    for more in ((), ("--yes",)):    # a script that runs every night fetches nothing, either
        code, said = cirque("index", str(photos), "--name", "mine", *more)
        assert code == 0 and "3 unchanged" in said and encoder_of(tmp_path, "mine") == "atelier" and hub.asked == []


def test_encoders_lists_what_is_here_and_default_changes_the_choice(cirque, tmp_path):
    assert cirque("encoders", "fetch", SPEC)[0] == 0
    for command in (("encoders",), ("encoders", "list")):
        code, said = cirque(*command)
        assert code == 0 and fetched(SPEC, tmp_path) in said and "MODEL/TAG" in said
        assert "atelier the bundled model (used if none is named)" in said
    assert f"indexed with {SPEC}" in cirque("encoders", "default", SPEC)[1]
    assert f"indexed with {SPEC}" in cirque("encoders", "default")[1]
    code, said = cirque("encoders", "default", "nonsense")
    assert code == 1 and "nonsense" in said and usual_encoder(tmp_path) == SPEC


# --- what is printed about files that are not in the gallery ---------------------------------

@pytest.fixture
def cirque_index(tmp_path, monkeypatch):
    use_home(monkeypatch, tmp_path / "home")
    get_settings.cache_clear()
    monkeypatch.setattr(galleries, "open_encoder", lambda spec: FakeEncoder())
    yield lambda *arguments: CliRunner().invoke(app, ["index", str(tmp_path / "photos"), "--name", "g", *arguments])
    get_settings.cache_clear()


def test_what_was_left_out_is_summed_up_and_listed(cirque_index, tmp_path):
    photos = tmp_path / "photos"
    (photos / "@eaDir").mkdir(parents=True)
    for name in ("a.png", "b.png", "c.gif", "d.gif"):
        Image.new("RGB", (8, 8), "red").save(photos / name)
    for name in ("a.xmp", ".hidden", os.fsdecode(b"\xff\n.txt")):
        (photos / name).touch()
    (photos / ".cirqueignore").write_text("b.png\n")
    result = cirque_index("--exclude", "*.gif", "--include", "d.gif", "--report", str(tmp_path / "report.tsv"))
    assert result.exit_code == 0, result.output
    assert "Gallery g: 2 images. 2 added" in result.output
    assert "Left out: 4 files and 1 folders" in result.output
    assert "1 excluded by --exclude '*.gif'" in result.output
    assert (tmp_path / "report.tsv").read_text("utf-8").splitlines() == [
        "\\udcff\\n.txt\tis empty (0 bytes).", ".hidden\tleft out: hidden",
        "@eaDir/\tleft out: previews of another program",
        "a.xmp\tleft out: sidecar file", "b.png\tleft out: excluded by .cirqueignore, line 1",
        "c.gif\tleft out: excluded by --exclude '*.gif'"]


def test_nothing_is_said_where_nothing_was_left_out(cirque_index, tmp_path):
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (8, 8), "red").save(tmp_path / "photos" / "a.png")
    assert "Left out" not in cirque_index().output
