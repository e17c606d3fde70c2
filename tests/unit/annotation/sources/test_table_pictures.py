"""Pictures that a table names, in a folder or a ZIP."""

from __future__ import annotations

import stat
import zipfile

import pytest

from annotation.sources.tables import pictures as of_pictures
from annotation.sources.tables.pictures import open_pictures
from cir_core.errors import DatasetError, ImageUnreadable
from tests.fakes.picture_tables import pictures, png, zipped

NAMES = ("shirts/One.PNG", "shirts/two.jpg", "dresses/two.jpg", "Größe.png")


def read(found) -> bytes:
    return found.read_bytes() if hasattr(found, "read_bytes") else found()


@pytest.fixture(params=["folder", "zip", "folder with a zip"])
def source(request, tmp_path):
    folder = pictures(tmp_path / "pics", NAMES)
    if request.param == "folder":
        return open_pictures(folder)
    archive = zipped(tmp_path / "pics.zip", {f"data/{name}": (folder / name).read_bytes() for name in NAMES})
    return open_pictures(archive if request.param == "zip" else tmp_path.joinpath("pics.zip").rename(
        (tmp_path / "only").mkdir() or tmp_path / "only" / "pics.zip").parent)


@pytest.mark.parametrize("name", [
    "shirts/One.PNG", "shirts\\one.png", "./shirts/one", "C:\\Users\\me\\shirts\\One.png", "/data/shirts/One.png",
    "One.png", "one.jpg", "../shirts/one.png"])
def test_names_as_people_write_them(source, name):
    assert source.why_not(name) == "" and name in source
    assert read(source.to_read(name)).startswith(b"\x89PNG")


def test_umlauts_in_either_spelling(source):
    assert source("Gro\u0308ße.png") is not None


@pytest.mark.parametrize(("name", "why"), [
    ("three.png", "is not there"), ("two.jpg", "could be 2 files"), ("https://x.org/three.png", "is an address"),
    ("", "is not there"), ("..", "is not there"), ("shirts", "is not there")])
def test_why_a_picture_is_not_found(source, name, why):
    assert source(name) is None and name not in source and why in source.why_not(name)


def test_a_folder_tells_two_of_one_name_apart(source):
    assert read(source("shirts/two.jpg")) != read(source("dresses/two.jpg"))


def test_nothing_outside_the_folder_is_found(tmp_path):
    pictures(tmp_path, ["secret.png"])
    assert open_pictures(pictures(tmp_path / "in", ["a.png"]))("../secret.png") is None


def test_a_zip_is_never_unpacked(tmp_path):
    """Names that lead out of it, links and rubbish are names like others, or none."""
    path = tmp_path / "p.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../out.png", png())
        archive.writestr("/etc/abs.png", png())
        archive.writestr("__MACOSX/a.png", b"x")
        archive.writestr("._a.png", b"x")
        link = zipfile.ZipInfo("link.png")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    found = open_pictures(path)
    assert read(found("out.png")) == png() and read(found("/etc/abs.png")) == png()
    assert found("a.png") is None and found("link.png") is None
    assert [one.name for one in tmp_path.iterdir()] == ["p.zip"]


def test_a_picture_that_grows_is_stopped(tmp_path, monkeypatch):
    path = zipped(tmp_path / "p.zip", {"bomb.png": bytes(5000), "a.png": png()})
    monkeypatch.setattr(of_pictures, "MOST_PICTURE", 1000)
    found = open_pictures(path)
    with pytest.raises(ImageUnreadable, match=r"bomb\.png has more than"):
        read(found("bomb.png"))
    assert read(found("a.png")) == png()


def test_a_damaged_entry_is_a_picture_that_cannot_be_read(tmp_path):
    path = zipped(tmp_path / "p.zip", {"a.png": png() * 20})
    content = bytearray(path.read_bytes())
    content[60:90] = bytes(30)
    path.write_bytes(content)
    with pytest.raises(ImageUnreadable, match=r"a\.png"):
        read(open_pictures(path)("a.png"))


def test_what_is_no_source_of_pictures(tmp_path, monkeypatch):
    (tmp_path / "half.zip").write_bytes(zipped(tmp_path / "p.zip", {"a.png": png()}).read_bytes()[:40])
    for path, words in ((tmp_path / "none", "is missing"), (tmp_path / "half.zip", "is not a complete ZIP file"),
                        (zipped(tmp_path / "empty.zip", {"a.txt": b"x"}), "has no pictures")):
        with pytest.raises(DatasetError, match=words):
            open_pictures(path)
    locked = bytearray((tmp_path / "p.zip").read_bytes())
    locked[locked.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "locked.zip").write_bytes(locked)
    with pytest.raises(DatasetError, match="password"):
        open_pictures(tmp_path / "locked.zip")
    monkeypatch.setattr(of_pictures, "MOST_ENTRIES", 0)
    with pytest.raises(DatasetError, match="may have 0"):
        open_pictures(tmp_path / "p.zip")
