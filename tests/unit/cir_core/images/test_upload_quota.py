"""What a person may upload in a day: counted over restarts and processes, forgotten with the day."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cir_core.errors import QuotaExceeded
from cir_core.images import upload_quota
from cir_core.images.upload_quota import UploadQuota
from tests.fakes.people import Clock

EVENING = datetime(2026, 11, 22, 23, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _always_look(monkeypatch):
    monkeypatch.setattr(upload_quota, "_LOOK_EVERY", 0.0)


def test_so_many_pictures_of_each_person_and_when_there_are_more(tmp_path: Path):
    clock = Clock(EVENING)
    quota = UploadQuota(tmp_path, pictures=2, now=clock)
    for _ in range(2):
        quota.add_picture("Ada")
    with pytest.raises(QuotaExceeded, match=r"uploaded 2 images today.*0:00 UTC.*CIRQUE_UPLOADS_PER_DAY") as caught:
        quota.add_picture("Ada")
    assert caught.value.seconds == 3600
    quota.add_picture("Ben")
    clock.now += timedelta(hours=1)
    quota.add_picture("Ada")
    assert [path.name for path in tmp_path.iterdir()] == ["2026-11-23.jsonl"]   # nothing piles up


def test_bytes_are_counted_as_they_come(tmp_path: Path):
    quota = UploadQuota(tmp_path, megabytes=1, now=Clock(EVENING))
    quota.add_bytes("Ada", 2**20)
    with pytest.raises(QuotaExceeded, match="uploaded 1 MB today"):
        quota.add_bytes("Ada", 1)
    quota.end_bytes("Ada")
    with pytest.raises(QuotaExceeded):   # before anything comes
        quota.check("Ada")
    quota.check("Ben")


def test_it_survives_a_restart_and_holds_for_all_processes_together(tmp_path: Path):
    one, other = (UploadQuota(tmp_path, pictures=3, megabytes=1, now=Clock(EVENING)) for _ in range(2))
    one.add_picture("Ada")
    other.add_picture("Ada")
    one.add_bytes("Ada", 2**19)
    one.end_bytes("Ada")
    other.add_bytes("Ada", 2**19)
    other.end_bytes("Ada")
    again = UploadQuota(tmp_path, pictures=3, megabytes=1, now=Clock(EVENING))
    again.add_picture("Ada")
    for quota in (one, other, again):
        with pytest.raises(QuotaExceeded):
            quota.add_picture("Ada")
        with pytest.raises(QuotaExceeded):
            quota.check("Ada")


def test_a_journal_that_is_damaged_counts_as_far_as_it_can_be_read(tmp_path: Path):
    lines = [b'["x", "Ada", 1, 0]', b'["x", "Ada"', b"\xff", b"[" * 5000, b'["x", "Ada"']
    (tmp_path / "2026-11-22.jsonl").write_bytes(b"\n".join(lines))
    quota = UploadQuota(tmp_path, pictures=2, now=Clock(EVENING))
    quota.add_picture("Ada")
    with pytest.raises(QuotaExceeded):
        quota.add_picture("Ada")


def test_where_nothing_can_be_written_this_process_goes_on_counting(tmp_path: Path, caplog):
    (tmp_path / "file").write_text("no folder")
    quota = UploadQuota(tmp_path / "file" / "counts", pictures=2, now=Clock(EVENING))
    quota.add_picture("Ada")
    quota.add_picture("Ada")
    with pytest.raises(QuotaExceeded):
        quota.add_picture("Ada")
    assert len(caplog.records) == 1


def test_no_limit_leaves_no_trace(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quota = UploadQuota.unlimited()
    for _ in range(5):
        quota.add_picture("Ada")
        quota.add_bytes("Ada", 2**40)
        quota.check("Ada")
    quota.end_bytes("Ada")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("slow", ["open", "mkdir"])
def test_a_slow_disk_holds_up_no_piece_of_an_upload(tmp_path: Path, monkeypatch, slow: str):
    """Pieces are counted on the event loop, in which everything else would wait, too."""
    quota, begun, may_end = UploadQuota(tmp_path, pictures=3, megabytes=1, now=Clock(EVENING)), *(
        threading.Event() for _ in range(2))
    module = os if slow == "open" else upload_quota.Path
    real = getattr(module, slow)

    def slowly(*given, **named):
        begun.set()
        assert may_end.wait(60)
        return real(*given, **named)

    quota.check("Ben")
    with monkeypatch.context() as patched:
        patched.setattr(module, slow, slowly)
        writer = threading.Thread(target=quota.add_picture, args=("Ada",), daemon=True)
        writer.start()
        assert begun.wait(60)
        counted = threading.Thread(target=quota.add_bytes, args=("Ben", 2**19), daemon=True)
        counted.start()
        counted.join(60)
        assert not counted.is_alive()
        may_end.set()
        writer.join(60)
    quota.end_bytes("Ben")
    assert (tmp_path / "2026-11-22.jsonl").read_bytes().count(b"\n") == 2
