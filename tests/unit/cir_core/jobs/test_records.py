"""Records of long jobs: which are dead, what is run again, how they are stopped, what they say of the time left."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cir_core.errors import DatasetError
from cir_core.jobs import records as module
from cir_core.jobs.commands import COMMANDS, again, command_of, plain, recordable
from cir_core.jobs.recorder import LINES, JobRecorder, RecentRate
from cir_core.jobs.records import SILENT, JobRecord, JobRecords
from tests.fakes.patience import wait_for

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database

INDEX = ("index", "photos", "--name", "mine")


@pytest.fixture
def jobs(tmp_path: Path) -> JobRecords:
    return JobRecords(tmp_path)


def begun(jobs: JobRecords, command: tuple[str, ...] = INDEX, **options: str) -> JobRecord:
    return jobs.begin(command, "/somewhere", "Ada", **options)


def over(jobs: JobRecords, record: JobRecord, state: module.State = "stopped") -> JobRecord:
    jobs.write(replace(record, state=state))
    return jobs.find(record.job_id)


def test_a_job_of_this_process_runs_and_keeps_what_was_written(jobs: JobRecords) -> None:
    record = begun(jobs)
    jobs.write(replace(record, stage="Indexing", done=3, total=9, rate=1.5, left=(4.0, 3.0, 5.0), log=("a", "b")))
    found = jobs.find(record.job_id)
    assert (found.state, found.kind, found.command, found.started_by) == ("running", "Indexing", INDEX, "Ada")
    assert (found.done, found.total, found.left, found.log) == (3, 9, (4.0, 3.0, 5.0), ("a", "b"))
    assert not found.resumable and (jobs.folder / f"{record.job_id}.json").stat().st_mode & 0o077 == 0


def test_a_job_whose_process_is_gone_is_interrupted(jobs: JobRecords) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        began = module._began(process.pid)
        record = replace(begun(jobs), process=process.pid, process_began=began or 0.0, alive_at=0.0)
        jobs.write(record)
        assert jobs.find(record.job_id).running
        jobs.write(replace(record, process_began=(began or 0.0) - 60))   # another one had this number before
        assert jobs.find(record.job_id).state == "interrupted"
        jobs.write(record)
        process.kill()
        wait_for(lambda: jobs.find(record.job_id).state == "interrupted")   # also before somebody waits for it
    found = jobs.find(record.job_id)
    assert found.state == "interrupted" and found.resumable


def test_a_job_of_another_machine_is_judged_by_its_heartbeat(jobs: JobRecords) -> None:
    record = replace(begun(jobs), host="elsewhere", process=1)
    jobs.write(replace(record, alive_at=time.time()))
    assert jobs.find(record.job_id).running
    jobs.write(replace(record, alive_at=time.time() - SILENT - 1))
    assert jobs.find(record.job_id).state == "interrupted"


def test_a_clock_that_was_set_makes_no_job_dead(jobs: JobRecords) -> None:
    record = begun(jobs)
    jobs.write(replace(record, process_began=record.process_began - 3600, alive_at=time.time()))
    assert jobs.find(record.job_id).running


def test_stop_and_forget(jobs: JobRecords) -> None:
    record = begun(jobs)
    assert jobs.ask_to_stop(record.job_id) and jobs.asked_to_stop(record.job_id)
    with pytest.raises(DatasetError, match="is running"):
        jobs.forget(record.job_id)
    over(jobs, record)
    assert not jobs.asked_to_stop(record.job_id) and not jobs.ask_to_stop(record.job_id)
    jobs.forget(record.job_id)
    assert jobs.all() == []


@pytest.mark.parametrize("job_id", ["", "none", "../../etc/passwd", "aaaaaaaa", "AAAAAAAA", "a" * 300])
def test_ids_that_are_none(jobs: JobRecords, job_id: str) -> None:
    for work in (jobs.find, jobs.ask_to_stop, jobs.forget):
        with pytest.raises(DatasetError, match="There is no job"):
            work(job_id)


def test_the_same_job_continues_its_record_and_another_has_its_own(jobs: JobRecords) -> None:
    first = begun(jobs, ("construct", "sessions", "sample", "--out=x"))
    beside = begun(jobs, ("construct", "sessions", "sample", "--out=x"))     # while it runs
    assert beside.job_id != first.job_id
    over(jobs, replace(first, done=4, total=9, log=("so far",)))
    resumed = begun(jobs, ("construct", "sessions", "sample", "--out=x", "--resume"))
    assert (resumed.job_id, resumed.done, resumed.log, resumed.running) == (first.job_id, 4, ("so far",), True)
    over(jobs, resumed, "done")
    assert begun(jobs, ("construct", "sessions", "sample", "--out=x")).job_id not in (first.job_id, beside.job_id)


def test_a_job_does_not_begin_twice(jobs: JobRecords) -> None:
    stopped = over(jobs, begun(jobs))
    assert begun(jobs, job_id=stopped.job_id).job_id == stopped.job_id
    with pytest.raises(DatasetError, match="is running"):
        begun(jobs, job_id=stopped.job_id)


def test_old_records_go_and_those_of_running_jobs_stay(jobs: JobRecords, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 5)
    running = begun(jobs)
    for number in range(5 + 3):
        record = begun(jobs, ("index", f"f{number}"))
        jobs.write(replace(record, state="done", began_at=float(number)))
    begun(jobs, ("index", "the last"))
    kept = jobs.all()
    assert sum(one.state == "done" for one in kept) == 5 and running.job_id in {one.job_id for one in kept}
    assert min(one.began_at for one in kept) == 3


def test_what_cannot_be_read_hides_nothing_else(jobs: JobRecords) -> None:
    record = begun(jobs)
    (jobs.folder / "damaged1.json").write_text('{"job_id": ')
    (jobs.folder / "damaged2.json").write_bytes((jobs.folder / f"{record.job_id}.json").read_bytes())   # another's
    os.mkfifo(jobs.folder / "damaged3.json")
    assert [one.job_id for one in jobs.all()] == [record.job_id]


# --- commands ---------------------------------------------------------------------------------

@pytest.mark.parametrize(("given", "run"), [
    (INDEX, INDEX),
    (("captions", "build", "mine", "--restart"), ("captions", "build", "mine")),
    (("construct", "sessions", "sample", "-o", "x"), ("construct", "sessions", "sample", "-o", "x", "--resume")),
    (("construct", "judge", "x", "--resume"), ("construct", "judge", "x", "--resume")),
    (("audit", "sample"), ("audit", "sample")),
    (("evaluate", "sample"), ("evaluate", "sample")),
    (("audit", "join", "a", "b"), None), (("serve",), None), (("user", "add", "x"), None), ((), None),
    (("--help", "index"), None), (("db", "restore", "x"), None), (("construct", "filter", "x"), None),
])
def test_only_commands_of_the_table_are_run_again(given: tuple[str, ...], run: tuple[str, ...] | None) -> None:
    assert again(given) == run


def test_commands_of_the_table_exist() -> None:
    from typer.main import get_command

    from cli.main import app

    for job in COMMANDS:
        found = get_command(app)
        for word in job.words:
            found = found.commands[word]  # type: ignore[attr-defined]
        options = {option for one in getattr(found, "params", ()) for option in one.opts}
        assert {*job.adds, *job.drops} <= options and job.kind, job


def test_credentials_are_not_recorded_and_such_a_command_is_not_run() -> None:
    kept = recordable(("index", "s3://me:secret@host/b", "--name", "a@b"))
    assert kept == ("index", "s3://…@host/b", "--name", "a@b") and again(kept) is None
    assert recordable(("index", "s3://me:a/sec@ret@host/b")) == ("index", "s3://…@host/b")
    assert plain(kept) == kept and command_of(kept) is not None


@pytest.mark.parametrize(("given", "kept"), [
    ("s3://KEY@host/b", "s3://…@host/b"), ("a://x/y,b://me:secret@host", "a://x/y,b://…@host"),
    ("http://me:" + "s" * 5_000 + "@host", "http://…@host"),            # however long
    ("s3://bucket/b@2x.png", "s3://bucket/b@2x.png"), ("s3://bucket/a:b@2x", "s3://bucket/a:b@2x"),
    ("see http://host by me:you@there", "see http://host by me:you@there"), ("://", "://"), ("", ""),
])
def test_what_counts_as_credentials(given: str, kept: str) -> None:
    assert recordable((given,)) == (kept,)


# --- while it runs ------------------------------------------------------------------------------

def recorder(jobs: JobRecords, on_stop: Callable[[], None] = lambda: None) -> JobRecorder:
    return JobRecorder(jobs, lambda: begun(jobs), on_stop, tick=0.01)


def test_nothing_is_recorded_before_there_is_progress(jobs: JobRecords) -> None:
    silent = recorder(jobs)
    silent.log("refused")
    silent.end("failed", "refused")
    assert jobs.all() == []


def test_progress_comes_to_the_disk_by_itself_and_the_end_at_once(jobs: JobRecords) -> None:
    one = recorder(jobs)
    one.progress("Encoding", 1, 9)
    [record] = jobs.all()
    for number in range(100):
        one.log(f"line {number}")
    one.progress("Encoding", 4, 9)
    assert wait_for(lambda: jobs.find(record.job_id).done == 4)
    one.end("failed", "no more")
    found = jobs.find(record.job_id)
    assert (found.state, found.error, found.left) == ("failed", "no more", None)
    assert len(found.log) == LINES and found.log[-1] == "line 99"


def test_it_hears_once_that_it_is_to_stop(jobs: JobRecords) -> None:
    heard = threading.Semaphore(0)
    one = recorder(jobs, heard.release)
    one.progress("Encoding", 1, 9)
    [record] = jobs.all()
    assert not one.stopping and jobs.ask_to_stop(record.job_id)
    assert heard.acquire(timeout=60) and one.stopping
    one.end("stopped")
    assert not heard.acquire(blocking=False) and not jobs.asked_to_stop(record.job_id)


def test_a_home_that_cannot_be_written_is_no_reason_to_fail(jobs: JobRecords) -> None:
    jobs.folder.write_text("a file where the folder should be")
    one = recorder(jobs)
    one.progress("Encoding", 1, 9)
    one.progress("Encoding", 2, 9)
    one.end("done")
    assert one.record is None


def test_a_path_that_is_no_text_is_no_reason_to_fail(jobs: JobRecords) -> None:
    for folder, error in (("/photos/\udcff", ""), ("/photos", "cannot read \udcff.png")):
        one = JobRecorder(jobs, lambda folder=folder: jobs.begin(INDEX, folder, "Ada"), tick=0.01)  # type: ignore[misc]
        one.progress("Encoding", 1, 9)
        one.end("failed", error)


def test_the_rate_is_that_of_the_last_blocks_and_not_of_what_was_done_before() -> None:
    now = [0.0]
    rate = RecentRate(lambda: now[0])
    rate.update(500, 1000)                  # of earlier runs
    assert rate.rate is None and rate.left is None
    for _ in range(5):
        now[0] += 2
        rate.update(rate._done + 10, 1000)
    # Blocks of ten in 2 s: 5 a second. The first of the five began them, and all took the same time.
    assert rate.rate == 5
    assert rate.left == ((1000 - 550) / 5, (1000 - 550) / 5, (1000 - 550) / 5)
    now[0] += 8
    rate.update(560, 1000)
    assert rate.rate == pytest.approx(50 / 16)      # 2 + 2 + 2 + 2 + 8 s
    expected, shortest, longest = rate.left or (0, 0, 0)
    assert shortest < expected < longest
    rate.update(0, 70)                      # another stage
    assert rate.rate is None
