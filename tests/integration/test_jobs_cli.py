"""``cirque jobs``: a long command is seen, stopped and resumed from another one; what dies is told."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from PIL import Image

from cir_core.errors import EncoderUnavailable
from cir_core.gallery.gallery import open_gallery
from cir_core.jobs.records import JobRecords
from cir_core.settings import get_settings
from cir_core.types.records import Matrix
from cli import console, main, recorded
from tests.fakes.databases import use_home
from tests.fakes.encoder import FakeEncoder
from tests.fakes.patience import wait_for

BATCH, IMAGES = 5, 20
Cirque = Callable[..., CompletedProcess[str]]


class Encoder(FakeEncoder):
    """``then`` is called before a batch of indexing is encoded, with its number from 1."""

    def __init__(self) -> None:
        super().__init__(spec="atelier")
        self.batches = 0
        self.then: Callable[[int], None] = lambda number: None

    def encode_images(self, images: Sequence[Image.Image]) -> Matrix:
        self.batches += 1
        self.then(self.batches)
        return super().encode_images(images)


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> Encoder:
    made = Encoder()
    monkeypatch.setattr("cli.galleries.choosing.open_encoder", lambda spec, **_: made)
    # Before indexing, a look at some of the pictures: it is none of the batches.
    monkeypatch.setattr("cir_core.search.far_pictures.look_at", lambda *_, **__: FakeLook())
    return made


class FakeLook:
    unlike = 0


@pytest.fixture
def cirque(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Cirque]:
    def run(*arguments: str) -> CompletedProcess[str]:
        monkeypatch.setattr("sys.argv", ["cirque", *arguments])
        code: object = 0
        try:
            main.run()
        except SystemExit as end:
            code = end.code
        return CompletedProcess(arguments, int(code or 0), *capsys.readouterr())  # type: ignore[call-overload]

    use_home(monkeypatch, tmp_path / "home")
    get_settings.cache_clear()
    monkeypatch.setattr(console.out, "width", 200)
    monkeypatch.chdir(tmp_path)
    yield run
    get_settings.cache_clear()


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(IMAGES):
        Image.new("RGB", (32, 32), (number * 9, 0, 0)).save(folder / f"{number:02}.png")
    return folder


INDEX = ("index", "photos", "--name", "mine", "--batch-size", str(BATCH))


def stop_at(encoder: Encoder, batch: int, ask: Callable[[str], object]) -> None:
    """Somebody asks for it while this batch is encoded."""
    def then(number: int) -> None:
        job = recorded._current
        if number == batch and job is not None and job.record is not None:
            ask(job.record.job_id)
            wait_for(lambda: job.stopping)

    encoder.then = then


def test_stopped_between_batches_and_resumed_it_encodes_the_rest_alone(
    cirque: Cirque, encoder: Encoder, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "No long job yet" in cirque("jobs").stdout
    jobs = JobRecords(tmp_path / "home")
    stop_at(encoder, 2, jobs.ask_to_stop)
    stopped = cirque(*INDEX)
    assert stopped.returncode == 130 and "Run the same command again to continue" in stopped.stderr
    [record] = jobs.all()
    assert (record.state, record.done, record.total) == ("stopped", 2 * BATCH, IMAGES) and encoder.batches == 2
    assert record.folder == str(tmp_path) and not jobs.asked_to_stop(record.job_id)
    listed = cirque("jobs").stdout
    assert record.job_id in listed and "stopped" in listed and "10 of 20, 50 %" in listed
    shown = cirque("jobs", "show", record.job_id).stdout
    assert f"cirque jobs resume {record.job_id}" in shown and "Indexing mine" in shown
    assert "is over" in cirque("jobs", "stop", record.job_id).stdout

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)    # its paths are relative to where it was begun
    resumed = cirque("jobs", "resume", record.job_id)
    assert resumed.returncode == 0 and "20 images. 20 added" in resumed.stdout, resumed
    [done] = jobs.all()
    assert (done.job_id, done.state, done.done) == (record.job_id, "done", IMAGES) and encoder.batches == IMAGES / BATCH
    assert any("20 added" in line for line in done.log) and Path.cwd() == elsewhere
    assert len(open_gallery("mine", home=tmp_path / "home")) == IMAGES
    assert "1 record removed" in cirque("jobs", "forget", "--all").stdout and jobs.all() == []


def test_sigterm_stops_as_ctrl_c_does(cirque: Cirque, encoder: Encoder, photos: Path, tmp_path: Path) -> None:
    def then(number: int) -> None:
        if number == 3:
            signal.raise_signal(signal.SIGTERM)

    encoder.then = then
    before = signal.getsignal(signal.SIGTERM)
    assert cirque(*INDEX).returncode == 130
    [record] = JobRecords(tmp_path / "home").all()
    assert record.state == "stopped" and signal.getsignal(signal.SIGTERM) == before


def test_an_error_is_in_the_record_and_the_same_command_continues_it(
    cirque: Cirque, encoder: Encoder, photos: Path, tmp_path: Path,
) -> None:
    def then(number: int) -> None:
        if number == 2:
            raise EncoderUnavailable("The encoder is out of memory. Take smaller batches.")

    encoder.then = then
    assert cirque(*INDEX).returncode == 1
    [record] = JobRecords(tmp_path / "home").all()
    assert (record.state, record.error) == ("failed", "The encoder is out of memory. Take smaller batches.")
    encoder.then = lambda number: None
    assert cirque(*INDEX).returncode == 0
    [again] = JobRecords(tmp_path / "home").all()
    assert (again.job_id, again.state, again.error) == (record.job_id, "done", "")


def test_what_is_no_long_job_or_never_begins_has_no_record(cirque: Cirque, tmp_path: Path) -> None:
    assert cirque("index", "nowhere", "--name", "Bad Name").returncode == 1
    assert cirque("galleries", "list").returncode == 0
    assert cirque("captions", "build", "missing").returncode == 1
    assert JobRecords(tmp_path / "home").all() == []
    nothing = cirque("jobs", "resume", "abcdefgh")
    assert nothing.returncode == 1 and "There is no job" in nothing.stderr


def test_a_record_runs_nothing_but_long_commands(cirque: Cirque, tmp_path: Path) -> None:
    jobs = JobRecords(tmp_path / "home")
    for command in (("user", "add", "Mallory", "--role", "admin"), ("jobs", "resume", "abcdefgh"), ("--help",)):
        record = jobs.add(command, str(tmp_path), "Mallory")
        refused = cirque("jobs", "resume", record.job_id)
        assert refused.returncode == 1 and "cannot be run from its record" in refused.stderr
    gone = jobs.add(INDEX, str(tmp_path / "gone"), "Ada")
    assert "no longer exists" in cirque("jobs", "resume", gone.job_id).stderr
