"""A construction that a full disk ends as it begins: nothing is left that cannot be listed, begun again and removed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cir_core.construct.browse.folders import list_constructions, open_construction, remove_construction
from cir_core.construct.describe.sets import SubsetSessions
from cir_core.construct.judging.run import Judging, judge_sessions
from cir_core.construct.judging.sample import Source
from cir_core.construct.judging.scores import DIMENSIONS
from cir_core.construct.sessions.run import construct_sessions
from cir_core.construct.targets.multi_target import find_targets
from cir_core.construct.targets.settings import TargetSettings
from cir_core.construct.targets.single_target import SingleTargets, read_target_files, rewrite_targets
from cir_core.datasets.readers.circled import CircledSession, CircledTurn
from cir_core.datasets.readers.soft import MultiTarget, write_multi_target
from cir_core.errors import CirqueError, DatasetError, UnknownBenchmark
from cir_core.gallery.paths import locked
from cir_core.jobs.job import JobOptions
from cir_core.jobs.journal import is_half_made
from cir_core.language.tasks import JudgeAnswer
from tests.fakes.colour_person import ColourPerson
from tests.fakes.colour_targets import ColourAssessor, colour_targets
from tests.fakes.construction import colour_construction

MOST = 60   # writes until a construction of two queries is done


class FullDisk:
    """Every way to write below ``folder``, of which the ``place``-th and all behind it fail. Removing needs no room."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path, place: int) -> None:
        self.folder, self.place, self.writes = str(folder), place, 0
        real_open, real_mkdir, real_path_open, real_fsync = os.open, Path.mkdir, Path.open, os.fsync

        def path_open(path, mode="r", *args, **options):
            if set(mode) & set("wax+"):
                self.write(path)
            return real_path_open(path, mode, *args, **options)

        def os_open(path, flags, *args, **options):
            if flags & os.O_CREAT:
                self.write(path)
            return real_open(path, flags, *args, **options)

        def mkdir(path, *args, **options):
            if not path.exists():
                self.write(path)
            return real_mkdir(path, *args, **options)

        def fsync(descriptor):
            self.write(Path(f"/proc/self/fd/{descriptor}").readlink())
            real_fsync(descriptor)

        patch.setattr(Path, "open", path_open)
        patch.setattr(Path, "mkdir", mkdir)
        patch.setattr(os, "open", os_open)
        patch.setattr(os, "fsync", fsync)

    def write(self, path: object) -> None:
        if str(path).startswith(self.folder):
            self.writes += 1
            if self.writes >= self.place:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


class Judge:
    name, sees = "judge/1", True

    def complete(self, task, watch=None):
        return JudgeAnswer(**dict.fromkeys(DIMENSIONS, 3), reason="so")


def _sessions(gallery, folder, tmp_path):
    construct_sessions(colour_construction(gallery, ColourPerson(), 2), folder)


def _targets(gallery, folder, tmp_path):
    find_targets(colour_targets(gallery, ColourAssessor(), 2, settings=TargetSettings(keep=6, scored=4)), folder,
                 options=JobOptions())


def _rewriting(gallery, folder, tmp_path):
    path = tmp_path / "cirr_multi_target_selection.json"
    if not path.exists():
        write_multi_target(path, [MultiTarget("r0g0b1", "r3g0b0", ("is red",), 0.85, {
            "r3g0b0": 1.0, "r3g1b0": 0.9, "r2g0b0": 0.9, "r1g0b0": 0.86})])
    rewrite_targets(SingleTargets(read_target_files([path]), gallery, ColourAssessor(
        rewrites=lambda task: f"{task.modification_text} {len(task.rejected)}"), check="text", domain="scene"), folder)


def _judging(gallery, folder, tmp_path):
    session = CircledSession("x_0", "x", (gallery.ids[3],), (
        CircledTurn(gallery.ids[1], "text"), CircledTurn(gallery.ids[2], "more")))
    judge_sessions(Judging([Source("a", (SubsetSessions("x", (session,)),))], {"": gallery}, Judge(), 4), folder)


KINDS: dict[str, Callable[..., None]] = {
    "sessions": _sessions, "targets": _targets, "rewriting": _rewriting, "judging": _judging}


@pytest.mark.parametrize("kind", KINDS)
def test_at_whichever_write_the_disk_is_full(kind, gallery, tmp_path, monkeypatch):
    KINDS[kind](gallery, tmp_path / "warm", tmp_path)      # reads what is read once
    root, places = tmp_path / "benchmarks", 0
    for place in range(1, MOST):
        folder = root / f"made{place}"
        with monkeypatch.context() as patch:
            disk = FullDisk(patch, root, place)
            try:
                KINDS[kind](gallery, folder, tmp_path)
            except CirqueError as error:
                assert "space" in str(error) or "disk" in str(error), error
            else:
                assert disk.writes < place
                break
        places += 1
        if folder.exists():
            if is_half_made(folder):
                [listed] = [one for one in list_constructions(root) if one.name == folder.name]
                assert listed.state in ("unreadable", "stopped")
            else:       # something is kept, so it is gone on with, and not begun again
                with pytest.raises(DatasetError, match="Add --resume"):
                    KINDS[kind](gallery, folder, tmp_path)
                continue
        KINDS[kind](gallery, folder, tmp_path)      # with room, the same command begins it
        assert not is_half_made(folder)
    assert places > 5


@pytest.mark.parametrize("left", [
    {}, {"lock": ""}, {"lock": "123", ".journal.jsonl.abc.part": '{"format'}, {"journal.jsonl": "", "lock": ""},
    {"protocol.json": "{}", "lock": "1"}, {"run.json": "{}", "lock": "1"}, {".protocol.json.x.part": ""}])
def test_what_earlier_versions_left_is_listed_begun_again_and_removed(left, gallery, tmp_path):
    root = tmp_path / "benchmarks"
    for name in ("again", "gone"):
        (root / name).mkdir(parents=True)
        for file, content in left.items():
            (root / name / file).write_text(content)
        assert is_half_made(root / name)
    assert {one.name: one.state for one in list_constructions(root)} == {"again": "unreadable", "gone": "unreadable"}
    with pytest.raises(DatasetError, match=r"Construct it again under this name, or remove .* construct remove 'gone'"):
        open_construction(root, "gone")
    remove_construction(root, "gone")
    assert not (root / "gone").exists()
    _sessions(gallery, root / "again", tmp_path)
    assert {one.name: one.state for one in list_constructions(root)} == {"again": "finished"}
    assert not list((root / "again").glob(".*.part"))


@pytest.mark.parametrize("file, content", [
    ("notes.txt", "mine"), ("raw/a.json", "{}"), ("journal.jsonl", "{"),
    ("journal.jsonl", '{"format":1,"card":{}}\n{}\n')])
def test_a_folder_with_anything_else_is_not_half_made(file, content, tmp_path):
    path = tmp_path / "benchmarks" / "kept" / file
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert not is_half_made(tmp_path / "benchmarks" / "kept")


def test_what_is_no_construction_or_at_work_is_not_removed(gallery, tmp_path):
    root = tmp_path / "benchmarks"
    _sessions(gallery, root / "whole", tmp_path)
    (root / "photos").mkdir()
    (root / "photos" / "mine.jpg").write_bytes(b"1")
    with pytest.raises(DatasetError, match="contains no construction"):
        remove_construction(root, "photos")
    with pytest.raises(UnknownBenchmark):
        remove_construction(root, "none")
    (root / "link").symlink_to(root / "photos")
    with pytest.raises(UnknownBenchmark):
        remove_construction(root, "link")
    with locked(root / "whole"), pytest.raises(DatasetError, match="Another process constructs"):
        remove_construction(root, "whole")
    assert json.loads((root / "whole/raw/cirr_val.json").read_text())["results"]
    remove_construction(root, "whole")
    assert sorted(path.name for path in root.iterdir()) == ["link", "photos"]
    assert (root / "photos" / "mine.jpg").exists()
