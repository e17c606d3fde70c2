"""The command line as a person meets it: sentences, exit codes, clean stops."""

from __future__ import annotations

import json
import signal
import socket
from subprocess import CompletedProcess

import pytest
from PIL import Image

from cir_core.settings import get_settings
from cli import console, main
from tests.fakes.databases import environment_of, settings_of, use_home
from tests.fakes.forked import run, start
from tests.fakes.patience import PATIENCE, wait_for


def cirque(*arguments, home, **variables):
    """The command in a process of its own."""
    return run("-m", "cli.main", *arguments, environment=environment_of(home, COLUMNS="200", **variables))


@pytest.fixture
def cirque_here(tmp_path, monkeypatch, capsys):
    """The command in this process: what it says and ends with is decided after its imports, which take 2 to 6 s."""
    def run(*arguments, **variables):
        use_home(monkeypatch, tmp_path)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        get_settings.cache_clear()
        monkeypatch.setattr("sys.argv", ["cirque", *arguments])
        with pytest.raises(SystemExit) as end:
            main.run()
        return CompletedProcess(arguments, end.value.code or 0, *capsys.readouterr())

    monkeypatch.setattr(console.out, "width", 200)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    yield run
    get_settings.cache_clear()


def test_help_and_version_load_no_model(tmp_path):
    """Nor NumPy, whose threads heed the settings of ``quiet_threads`` only if it is loaded later."""
    code = "import atexit, cli.main, sys; atexit.register(lambda: print(*sys.modules)); cli.main.run()"
    result = run("-c", code, "version", environment=environment_of(tmp_path), plainly=True)
    said, loaded = result.stdout.splitlines()
    assert said.startswith("cirque 0.") and (result.returncode, result.stderr) == (0, "")
    assert not {"torch", "transformers", "open_clip", "gradio", "sqlalchemy", "numpy"} & set(loaded.split())


def test_index_a_folder_with_a_bad_file_then_list_then_remove(cirque_here, tmp_path):
    """What loads an encoder does so elsewhere."""
    photos = tmp_path / "my photos"
    photos.mkdir()
    for number, colour in enumerate(["red", "green", "blue"]):
        Image.new("RGB", (60, 80), colour).save(photos / f"{number}.jpg")
    (photos / "broken.jpg").write_bytes(b"\xff\xd8\xff")
    report = tmp_path / "skipped.tsv"
    result = cirque("index", str(photos), "--name", "mine", "--report", str(report), home=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "3 images. 3 added" in result.stdout and "skipped broken.jpg" in result.stdout
    assert report.read_text().startswith("broken.jpg\t")
    assert "0 added, 0 changed, 0 removed, 3 unchanged" in cirque(
        "index", str(photos), "--name", "mine", home=tmp_path).stdout
    assert "mine" in cirque_here("galleries", "list").stdout
    assert cirque_here("galleries", "remove", "mine", "--yes").returncode == 0
    assert "No gallery" in cirque_here("galleries", "list").stdout
    assert len(list(photos.iterdir())) == 4


@pytest.mark.parametrize(("arguments", "sentence"), [
    (("galleries", "remove", "nope", "--yes"), "No gallery 'nope'"),
    (("index", "/nonexistent/folder", "--name", "x"), "/nonexistent/folder"),
    (("index", ".", "--name", "Bad Name"), "cannot be the name of a gallery"),
    (("sample", "build", "/dev/null/drawn", "--split", "dev"), "no split 'dev'"),
    (("sample", "build", "/dev/null/drawn", "--split", "val"), "cannot be drawn to /dev/null/drawn"),
    (("encoders", "show", "ViT-B-32/openia"), "openai"),
    (("encoders", "show", "ViT-B-32/openai"), "cirque encoders fetch ViT-B-32/openai"),
    (("sessions", "export", "unknown"), "session"),
    (("sessions", "import", "/nonexistent/file.json"), "/nonexistent/file.json cannot be read"),
    (("evaluate", "sample", "--methods", "soft,sfot"), "No method 'sfot'. There are: text-only"),
    (("evaluate", "sample", "--against", "base"), "No method 'base'"),
])
def test_mistakes_are_sentences_with_exit_code_1(cirque_here, arguments, sentence):
    result = cirque_here(*arguments)
    assert result.returncode == 1
    assert sentence in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.stderr + result.stdout


@pytest.mark.parametrize("arguments", [("methods",), ("evaluate", "sample")])
def test_a_bad_file_of_methods_is_a_sentence(cirque_here, tmp_path, arguments):
    path = tmp_path / "mine.toml"
    path.write_text("[methods.mine]\nsoft_filter = { weight = 3 }\n")
    result = cirque_here(*arguments, CIRQUE_METHODS=str(path))
    assert result.returncode == 1 and "Traceback" not in result.stderr
    sentence = result.stderr.replace("\n", " ")
    assert "mine.toml" in sentence and "'mine', soft_filter.weight" in sentence


def test_a_wrong_setting_is_named(cirque_here):
    result = cirque_here("galleries", "list", CIRQUE_PORT="eighty")
    assert result.returncode == 1 and "CIRQUE_PORT" in result.stderr


def test_a_taken_port_says_what_to_do(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = cirque("serve", home=tmp_path, CIRQUE_PORT=str(port), CIRQUE_HOST="127.0.0.1")
    assert result.returncode == 1
    assert f"Port {port} is in use" in result.stderr and f"CIRQUE_PORT={port + 1}" in result.stderr


@pytest.mark.parametrize("number", [
    signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.extended)])
def test_ctrl_c_stops_without_a_traceback(tmp_path, number):
    log = tmp_path / "log"
    with log.open("w") as output:
        process = start("-m", "cli.main", "serve", environment=environment_of(
            tmp_path, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1"), output=output)
    wait_for(lambda: log.read_text().count("\n") >= 2, going=lambda: process.poll() is None, told=log.read_text)
    process.send_signal(number)
    assert process.wait(PATIENCE) == 0
    address, door = log.read_text().splitlines()
    assert "cirque is at http://" in address and "No sign-in needed; reachable from this machine only" in door


def test_without_an_account_it_only_opens_on_this_machine(tmp_path):
    result = cirque("serve", home=tmp_path, CIRQUE_PORT="0", CIRQUE_HOST="0.0.0.0")
    assert result.returncode == 1
    assert "cirque user add NAME --role admin" in result.stderr and "Traceback" not in result.stderr


def test_exported_sessions_are_circled_json(cirque_here, tmp_path):
    from storage.sessions.store import open_store
    from tests.fakes.turns import a_session, a_turn

    store = open_store(settings_of(tmp_path))
    sessions = [store.create_session(a_session()).session_id for _ in range(2)]
    for session in sessions:
        store.add_turn(a_turn(session, None, modification_text="in [/red] :cat:"))
    store.close()
    records = json.loads(cirque_here("sessions", "export", *sessions).stdout)
    assert [record["num_turns"] for record in records] == [1, 1]
    assert [record["cirque"]["session_id"] for record in records] == sessions
    assert [record["session_id"] for record in records] == ["atelier_all_0000", "atelier_all_0001"]
    (tmp_path / "file.json").write_text(json.dumps(records))
    elsewhere = cirque_here("sessions", "import", str(tmp_path / "file.json"))
    assert elsewhere.returncode == 1 and "gallery 'atelier'" in elsewhere.stderr and "which is missing here" in (
        elsewhere.stderr.replace("\n", " "))
    listed = cirque_here("sessions", "list").stdout
    assert sessions[0] in listed and "in [/red] :cat:" in listed
    nowhere = cirque_here("sessions", "export", sessions[0], "--out", str(tmp_path / "no/where.json"))
    assert nowhere.returncode == 1 and "cannot be written" in nowhere.stderr
    assert "Traceback" not in nowhere.stderr


def test_ctrl_c_says_how_to_go_on(monkeypatch, capsys):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("cli.galleries.encoders._print_identity", interrupted)
    monkeypatch.setattr("sys.argv", ["cirque", "encoders", "show", "atelier"])
    with pytest.raises(SystemExit) as end:
        main.run()
    assert end.value.code == 130 and "Run the same command again" in capsys.readouterr().err


def test_damage_is_listed_and_repaired(cirque_here, tmp_path, monkeypatch):
    from tests.fakes.colours import colour_gallery
    from tests.fakes.encoder import FakeEncoder

    gallery = colour_gallery(tmp_path)
    (tmp_path / "home" / "galleries").rename(tmp_path / "galleries")
    folder = tmp_path / "galleries" / "colours"
    monkeypatch.setattr("cli.galleries.galleries.open_encoder", lambda spec: FakeEncoder())
    assert (found := cirque_here("galleries", "check")).returncode == 0
    assert found.stdout == "colours: ok, 64 images\n"
    [path] = folder.glob("features-*.f32")
    whole = path.read_bytes()
    path.write_bytes(whole[:300] + b"\x01" + whole[301:])
    found = cirque_here("galleries", "check", "colours")
    assert found.returncode == 1 and "colours: damaged, 64 images" in found.stdout
    assert "(row 2)" in found.stdout and "cirque galleries repair colours" in found.stdout
    assert "1 image was encoded again" in cirque_here("galleries", "repair", "colours").stdout
    [path] = folder.glob("features-*.f32")
    assert path.read_bytes() == whole and cirque_here("galleries", "check").returncode == 0
    assert "in order" in cirque_here("galleries", "repair", "colours").stdout
    captions = folder / "captions" / "captions.jsonl"
    captions.parent.mkdir()
    captions.write_text("{")
    found = cirque_here("galleries", "check")
    assert found.returncode == 1 and "cirque captions build colours" in found.stdout
    (folder / "gallery.json").write_text("{")
    assert cirque_here("galleries", "check").returncode == 1
    assert "gallery.json is damaged" in cirque_here("galleries", "list").stdout
    for arguments in (("check", "none"), ("repair", "none")):
        found = cirque_here("galleries", *arguments)
        assert found.returncode == 1 and "No gallery 'none'" in found.stderr
    assert len(gallery) == 64


def test_what_is_left_of_a_construction_is_listed_and_removed(cirque_here, tmp_path):
    assert "No construction" in cirque_here("construct", "list").stdout
    left = tmp_path / "benchmarks" / "half made"
    left.mkdir(parents=True)
    (left / "lock").write_text("1")
    found = cirque_here("construct", "list")
    assert found.returncode == 0 and "cannot be read" in found.stdout and "construct remove 'half made'" in found.stdout
    assert cirque_here("construct", "remove", "half made").returncode == 0 and not left.exists()
    assert "There is no benchmark" in cirque_here("construct", "remove", "half made").stderr
    other = tmp_path / "mine"
    other.mkdir()
    (other / "a.jpg").write_text("1")
    assert "contains no construction" in cirque_here("construct", "remove", str(other), "--yes").stderr
    assert (other / "a.jpg").exists()
